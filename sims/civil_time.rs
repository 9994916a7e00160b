//! Boundaries in civil time: a node that takes another zone's for its own, and a local time that comes twice.

use crate::stage::{N0, Played, both_of, fault, one_period};
use onceproof::id::{HostId, Letter, NodeId};
use onceproof::plan::{FaultPlan, Harm, Trigger};
use onceproof::scenario::{Override, Scenario};
use onceproof::seed::Seed;
use onceproof::settlement::{Fold, Gap, Schedule};
use onceproof::trace::{Event, Proof};
use onceproof::world::{Deployment, EngineKind};

/// Midnight comes an hour earlier in Tokyo than in Shanghai.
fn in_tokyo() -> FaultPlan {
    fault(Harm::Zone { host: N0, zone: "Asia/Tokyo".to_owned() }, Trigger::start())
}

fn comes_early(strategy: &str, nodes: u8, tell: impl Fn(&Played)) {
    // Few earnings: none falls into the settlement transaction, which is another story (`late_earning`).
    both_of(&Scenario { earnings: 2, nodes, ..one_period(strategy) }, &in_tokyo(), |played| {
        let proof = |e: &Event| matches!(e, Event::Felt { proof: Proof::OtherZone { host: HostId::Node(NodeId(0)), by_ms: ..0, .. }, .. });
        assert!(played.first("the proof", proof) < played.due());
        tell(played);
    });
}

/// Its clock is right, and its lease is its own. The period has not ended. It is alone, for what others make of an early
/// settlement is another story.
#[test]
fn who_works_out_the_boundary_itself_settles_early() {
    for strategy in ["table-key-published", "lease-set-px", "lease-watchdog"] {
        comes_early(strategy, 1, |played| {
            assert!(played.first("a settlement", |e| matches!(e, Event::Settled { .. })) < played.due());
            assert!(played.broke("not-early").contains("before it ended"));
            played.breaks(&[Letter::E]);
        });
    }
}

/// The control: the boundary stands in the database, once for all of them, and so does what belongs to the period.
#[test]
fn a_boundary_that_is_stored_once_is_the_same_for_all() {
    for strategy in ["table-key", "lease-fenced", "version-reclaim", "dual-guard"] {
        comes_early(strategy, 3, |played| {
            assert_eq!(played.settlements(), 1);
            assert!(played.first("a settlement", |e| matches!(e, Event::Settled { .. })) >= played.due());
            played.holds();
        });
    }
}

/// The same as a part of the deployment, to the west: when it comes, the lease is free again.
#[test]
fn who_comes_late_finds_the_lease_free() {
    let west = |strategy| {
        let usual = one_period(strategy);
        Scenario { overrides: vec![Override { zone: Some("Asia/Bangkok".to_owned()), ..Override::default() }], ..usual }
    };
    both_of(&west("lease-set-px"), &FaultPlan::none(), |played| {
        let authors = played.authors(|e| matches!(e, Event::Settled { .. }));
        assert_eq!(authors.last(), Some(&HostId::node(0)), "{authors:?}");
        assert!(played.broke("settled-once").contains("n0"));
    });
    for strategy in ["lease-fenced", "dual-guard"] {
        both_of(&west(strategy), &FaultPlan::none(), Played::holds);
    }
}

/// Settlements of the first of two periods, whose midnight comes twice in Havana; the calendar has no such night on turmoil.
fn midnight_twice(strategy: &str, fold: Fold) -> usize {
    let (cron, zone) = ("0 0 1,15 * *".to_owned(), "America/Havana".to_owned());
    let from = jiff::civil::date(2026, 10, 31).at(0, 0, 0, 0);
    let schedule = Schedule::Cron { cron, zone, from, periods: 1, gap: Gap::End, fold };
    let deployment = Deployment::new(&Scenario { schedule, ..Scenario::calm(strategy) }, EngineKind::Event).expect("a good schedule");
    let run = deployment.run(Seed(2026), &FaultPlan::none()).expect("nothing to refuse");
    run.trace.events().filter(|e| matches!(e, Event::Settled { .. })).count()
}

/// A scheduler that fires twice in such a night settles twice, unless the guard remembers.
#[test]
fn who_fires_twice_in_a_fold_settles_twice_unless_it_remembers() {
    assert_eq!([Fold::First, Fold::Second, Fold::Both].map(|fold| midnight_twice("lease-set-px", fold)), [1, 1, 2]);
    for strategy in ["table-key", "lease-fenced", "version-reclaim", "dual-guard"] {
        assert_eq!(midnight_twice(strategy, Fold::Both), 1, "{strategy}");
    }
}
