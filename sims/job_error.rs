//! The job itself fails once, in the middle. Nothing is broken, and it would succeed the next time.

use crate::stage::{Played, before, both, fault};
use onceproof::id::Letter;
use onceproof::plan::Harm;
use onceproof::trace::{Belief, Event, TaskStatus};

fn job_fails(strategy: &str, tell: impl Fn(&Played)) {
    both(strategy, &fault(Harm::JobError { times: 1 }, before("work.3")), |played| {
        assert!(played.believed(Belief::Failed) > 0, "no attempt failed");
        tell(played);
    });
}

/// Failed is final, and only pending rows are claimed.
#[test]
fn a_failure_that_is_final_loses_the_period() {
    for strategy in ["version-published", "version-reclaim-unfenced"] {
        job_fails(strategy, |played| {
            played.saw("a failed task", |e| matches!(e, Event::TaskSet { status: TaskStatus::Failed, .. }));
            played.breaks(&[Letter::L]);
        });
    }
}

/// Nobody writes down that it failed: the row says executing for ever.
#[test]
fn a_failure_that_nobody_writes_down_is_stuck() {
    job_fails("dual-published", |played| played.breaks(&[Letter::K, Letter::L]));
}

/// The job is gone, its renewal is not: the lease never runs out, and keeps its own node out too.
#[test]
fn a_renewal_that_outlives_its_worker_loses_the_period() {
    job_fails("lease-watchdog-orphan", |played| {
        played.never_saw("a lease that ran out", |e| matches!(e, Event::LeaseExpired { .. }));
        let renewed = played.count(|e| matches!(e, Event::LeaseExtended { .. }));
        assert!(renewed > 300, "a renewal every 10 s for as long as anybody polls, not {renewed}");
        assert_eq!(played.settlements(), 0);
        played.breaks(&[Letter::L]);
    });
}

/// The control: a worker that fails gives the lease back, and the next poll makes up for it.
#[test]
fn a_renewal_that_ends_with_its_worker_does_not() {
    for strategy in ["lease-watchdog", "lease-fenced"] {
        job_fails(strategy, |played| {
            assert_eq!(played.settlements(), 1);
            played.holds();
        });
    }
}

/// The control: a failed row becomes anybody's when its backoff has passed.
#[test]
fn a_failure_with_a_backoff_is_made_up_for() {
    for strategy in ["version-reclaim", "dual-guard"] {
        job_fails(strategy, |played| {
            let failed = played.first("a failed task", |e| matches!(e, Event::TaskSet { status: TaskStatus::Failed, .. }));
            let again = played.first("a second claim", |e| matches!(e, Event::TaskSet { status: TaskStatus::Executing, attempt: 2, .. }));
            assert!(failed < again);
            played.holds();
        });
    }
}
