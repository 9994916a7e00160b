//! A process dies between claim and commit. The claim is in the database, and whoever made it is gone.

use crate::stage::{Played, before, both, crash, fault};
use onceproof::id::Letter;
use onceproof::time::Span;
use onceproof::trace::{Event, TaskStatus};

/// Only a node whose claim was applied begins to work.
fn claimer_dies(strategy: &str, tell: impl Fn(&Played)) {
    both(strategy, &fault(crash(5.minutes()), before("work.1")), |played| {
        let claimed = played.first("a claim", |e| matches!(e, Event::TaskSet { status: TaskStatus::Executing, .. }));
        let died = played.first("a dead claimer", |e| matches!(e, Event::Crashed { .. }));
        assert!(claimed <= died);
        tell(played);
    });
}

/// Only pending rows are claimed, and this one says executing for ever.
#[test]
fn a_claim_without_a_way_back_is_stuck() {
    for strategy in ["version-published", "dual-published"] {
        claimer_dies(strategy, |played| {
            played.saw("the process that comes back", |e| matches!(e, Event::Booted { incarnation: 1, .. }));
            assert_eq!(played.settlements(), 0);
            played.breaks(&[Letter::K, Letter::L]);
        });
    }
}

/// After five minutes without a heartbeat the claim is anybody's.
#[test]
fn a_claim_with_a_heartbeat_is_taken_over() {
    for strategy in ["version-reclaim-unfenced", "version-reclaim", "dual-guard"] {
        claimer_dies(strategy, |played| {
            played.saw("a second claim", |e| matches!(e, Event::TaskSet { status: TaskStatus::Executing, version: 2, .. }));
            assert_eq!(played.settlements(), 1);
            played.holds();
        });
    }
}
