//! The claim is applied and its answer never arrives: the node believes that it failed, and the
//! row says that somebody is at it.

use crate::stage::{Played, both, reply_lost};
use onceproof::id::{HostId, Letter};
use onceproof::plan::{FaultPlan, Trigger};
use onceproof::trace::{Event, Phase, TaskStatus};

/// The first claim is the one that is applied: it raises the version that the others have read.
fn nobody_believes_the_claim(strategy: &str, tell: impl Fn(&Played)) {
    let plan = FaultPlan::of([reply_lost(HostId::Database).when(Trigger::first("task.claim", Phase::Sent))]);
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
    nobody_believes_the_claim("dual-guard", |played| {
        played.saw("a second claim", |e| matches!(e, Event::TaskSet { status: TaskStatus::Executing, attempt: 2, .. }));
        assert_eq!(played.settlements(), 1);
        played.holds();
    });
}
