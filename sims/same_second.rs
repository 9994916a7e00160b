//! A version that is a timestamp in seconds. A row that is written twice in a second keeps its
//! version, and a claim does not see the write before it.

use crate::stage::{Played, both, both_made, one_period, pause};
use onceproof::class::FaultClass;
use onceproof::explore::Subject;
use onceproof::id::{HostId, Letter};
use onceproof::plan::{FaultPlan, Harm, Trigger};
use onceproof::time::Span;
use onceproof::trace::{Event, Phase, TaskStatus};
use onceproof::world::Deployment;
use std::time::Duration;

/// The strategy's own plan: n0 gives the row back, n1 and n2 come in the same second, and read before either claims.
/// Here they come `later` than that.
fn plan(deployment: &Deployment, later: Duration) -> FaultPlan {
    let mut plan = Subject::pinned(deployment, FaultClass::Swarm).remove(0);
    for (fault, place) in plan.faults.iter_mut().zip(0..) {
        if let Harm::Crash { back_after, .. } = &mut fault.harm
            && place > 0
        {
            *back_after += later;
        }
    }
    plan
}

fn given_back(played: &Played) {
    let given_back = played.first("a row given back", |e| matches!(e, Event::TaskSet { status: TaskStatus::Pending, attempt: 1, .. }));
    let claims = played.records().iter().filter(|r| matches!(r.event, Event::Step { step: "task.claim", phase: Phase::Before, .. }));
    assert_eq!(claims.filter(|r| r.at > given_back).count(), 2, "both have read that it is pending");
}

#[test]
fn two_claims_in_the_second_of_a_write_are_both_good() {
    both_made(
        &one_period("version-timestamp"),
        |deployment| plan(deployment, Duration::ZERO),
        |played| {
            given_back(played);
            played.saw("a second claim", |e| matches!(e, Event::TaskSet { status: TaskStatus::Executing, attempt: 3, .. }));
            assert_eq!(played.settlements(), 2);
            played.breaks(&[Letter::D, Letter::S]);
        },
    );
}

/// The control: a second later the first of the two claims changes the version, and the other finds that out.
#[test]
fn a_second_later_one_of_them_is_refused() {
    both_made(
        &one_period("version-timestamp"),
        |deployment| plan(deployment, 1.seconds()),
        |played| {
            given_back(played);
            played.never_saw("another claim", |e| matches!(e, Event::TaskSet { status: TaskStatus::Executing, attempt: 3, .. }));
            assert_eq!(played.settlements(), 1);
            played.holds();
        },
    );
}

/// A row that nobody has written for a long time: all three read it before one of them claims,
/// and one of them gets it, whether versions are counted or are timestamps.
#[test]
fn a_row_that_has_rested_is_claimed_once() {
    let stops = |node| {
        pause(1.minutes()).when(Trigger::Step {
            step: "task.claim".to_owned(),
            phase: Phase::Before,
            nth: 1,
            node: Some(HostId::node(node)),
        })
    };
    let plan = FaultPlan::of((0..3).map(stops));
    for strategy in ["version-published", "version-reclaim-unfenced", "version-timestamp"] {
        both(strategy, &plan, |played| {
            let claimed = played.first("a claim", |e| matches!(e, Event::TaskSet { status: TaskStatus::Executing, .. }));
            let read = played.records().iter().filter(|r| matches!(r.event, Event::Step { step: "task.read", phase: Phase::After, .. }));
            assert_eq!(read.filter(|r| r.at < claimed).count(), 3);
            assert_eq!(played.settlements(), 1);
            played.holds();
        });
    }
}
