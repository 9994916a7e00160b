//! The claim is applied and its answer never arrives: the node believes that it failed, and the
//! row says that somebody is at it.

use crate::stage::{N0, Played, both};
use onceproof::id::{HostId, Letter};
use onceproof::plan::{FaultPlan, Harm, Target, Trigger};
use onceproof::trace::{Event, Phase, TaskStatus};

/// The clocks of the others are a minute slow, so that it is the first node's claim that is applied.
fn nobody_believes_the_claim(strategy: &str, tell: impl Fn(&Played)) {
    let slow = |node| Harm::ClockOffset { host: Target::Host(HostId::node(node)), by_ms: -60_000 }.when(Trigger::start());
    let claims = Trigger::Step { step: "task.claim".to_owned(), phase: Phase::Before, nth: 1, node: Some(HostId::node(0)) };
    let lost = Harm::ReplyLost { host: N0, from: Target::Host(HostId::Database) }.when(claims);
    let plan = FaultPlan::of([slow(1), slow(2), lost]);
    both(strategy, &plan, |played| {
        let claimed = played.first("a claim", |e| matches!(e, Event::TaskSet { status: TaskStatus::Executing, .. }));
        let lost = played.first("a lost answer", |e| matches!(e, Event::ReplyLost { from: HostId::Database, .. }));
        assert!(claimed <= lost);
        tell(played);
    });
}

#[test]
fn a_claim_that_nobody_believes_is_stuck() {
    for strategy in ["version-published", "dual-published"] {
        nobody_believes_the_claim(strategy, |played| {
            assert_eq!(played.settlements(), 0);
            played.breaks(&[Letter::K, Letter::L]);
        });
    }
}

/// Nobody beats the heart of a claim that nobody believes in, so it is taken over.
#[test]
fn a_claim_that_nobody_believes_grows_stale() {
    for strategy in ["version-reclaim-unfenced", "version-reclaim", "dual-guard"] {
        nobody_believes_the_claim(strategy, |played| {
            played.saw("a second claim", |e| matches!(e, Event::TaskSet { status: TaskStatus::Executing, version: 2, .. }));
            assert_eq!(played.settlements(), 1);
            played.holds();
        });
    }
}
