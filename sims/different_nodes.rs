//! Nodes whose configuration differs: one beats less often than the others think the living do,
//! and some do not know the schedule.

use crate::stage::{Played, both_of, one_period};
use onceproof::id::{HostId, Letter};
use onceproof::plan::FaultPlan;
use onceproof::scenario::{GuardKnobs, NodeKnobs, Override, Part, Scenario};
use onceproof::time::Span;
use onceproof::trace::{Event, TaskStatus};

/// The first to claim beats every 15 min and works for 10; for the others whoever has not beaten for 2 min is dead.
/// Each of the configurations is good by itself.
fn thresholds_differ(strategy: &str, tell: impl Fn(&Played)) {
    let usual = one_period(strategy);
    let guard = |heartbeat, stale_after| Part::differing(&GuardKnobs { heartbeat, stale_after, ..GuardKnobs::default() }, &usual.guard);
    let first = NodeKnobs { jitter: 0.ms(), ..usual.node.clone() };
    let slow =
        Override { guard: guard(15.minutes(), 40.minutes()), behaviour: Part::differing(&first, &usual.node), ..Override::default() };
    let impatient = |node| Override { node, guard: guard(30.seconds(), 2.minutes()), ..Override::default() };
    let node = NodeKnobs { work: 10.minutes(), ..usual.node.clone() };
    let scenario = Scenario { overrides: vec![slow, impatient(1), impatient(2)], node, ..usual };
    both_of(&scenario, &FaultPlan::none(), |played| {
        let claimers = played.authors(|e| matches!(e, Event::TaskSet { status: TaskStatus::Executing, .. }));
        assert_eq!(claimers.first(), Some(&HostId::node(0)), "{claimers:?}");
        assert!(claimers.iter().any(|by| *by != HostId::node(0)), "nobody took over from the living: {claimers:?}");
        tell(played);
    });
}

#[test]
fn who_beats_less_often_than_others_expect_is_taken_for_dead() {
    thresholds_differ("version-reclaim-unfenced", |played| {
        assert!(played.settlements() > 1);
        assert!(played.broke("settled-once").contains("settled"), "{}", played.broke("settled-once"));
    });
}

/// The control: it is taken for dead all the same, and its fence keeps its work out.
#[test]
fn a_fence_keeps_out_whoever_was_taken_for_dead() {
    thresholds_differ("version-reclaim", |played| {
        assert_eq!(played.settlements(), 1);
        played.holds();
    });
}

fn only_so_many_know(strategy: &str, knowing: u8, tell: impl Fn(&Played)) {
    let usual = one_period(strategy);
    let overrides = (knowing..usual.nodes).map(|node| Override { node, unscheduled: true, ..Override::default() }).collect();
    both_of(&Scenario { overrides, ..usual }, &FaultPlan::none(), |played| {
        let others = |e: &Event| matches!(e, Event::AttemptBegan { attempt, .. } if knowing <= attempt.node.0);
        played.never_saw("an attempt of who does not know", others);
        tell(played);
    });
}

/// What is due stands in the database, and nobody can make anything of it.
#[test]
fn what_nobody_knows_is_not_done() {
    for strategy in ["lease-set-px", "table-key", "dual-guard"] {
        only_so_many_know(strategy, 0, |played| played.breaks(&[Letter::L]));
    }
}

/// The control.
#[test]
fn one_who_knows_is_enough() {
    for strategy in ["lease-set-px", "table-key", "dual-guard"] {
        only_so_many_know(strategy, 1, Played::holds);
    }
}
