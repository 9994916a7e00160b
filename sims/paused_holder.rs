//! A lease outlived by its holder: it is not scheduled for 40 minutes, its lease of 30 or less
//! runs out, another node takes over and settles. Then the holder wakes, does not know that it
//! has slept, and goes on.

use crate::stage::{Played, before, both, fault, pause};
use onceproof::id::Letter;
use onceproof::plan::Trigger;
use onceproof::time::Span;
use onceproof::trace::{Event, TaskStatus};

fn holder_sleeps(strategy: &str, when: Trigger, tell: impl Fn(&Played)) {
    both(strategy, &fault(pause(40.minutes()), when), |played| {
        let paused = played.first("a paused holder", |e| matches!(e, Event::Paused { .. }));
        let expired = played.first("a lease that ran out", |e| matches!(e, Event::LeaseExpired { .. }));
        let resumed = played.first("the holder waking up", |e| matches!(e, Event::Resumed { .. }));
        assert!(paused < expired && expired < resumed);
        assert!(played.count(|e| matches!(e, Event::LeaseGranted { .. })) > 1, "nobody took the lease over");
        tell(played);
    });
}

/// It looked before it took the lease, and the table was empty then. Its stale commit is what S means.
#[test]
fn a_bare_lease_settles_twice() {
    holder_sleeps("lease-set-px-checked", before("work.3"), |played| {
        assert_eq!(played.settlements(), 2);
        played.breaks(&[Letter::D, Letter::S]);
    });
}

/// Between lease and claim it is easily replaced: the next holder claims the row and settles.
/// The sleeper has read nothing yet; when it does, the row says completed.
#[test]
fn the_version_decides_whatever_happens_to_the_lease() {
    holder_sleeps("dual-published", before("task.read"), |played| {
        assert_eq!(played.settlements(), 1);
        played.holds();
    });
}

/// Between reading the row and claiming it, the sleeper's version is old when it wakes.
#[test]
fn an_old_version_claims_nothing() {
    holder_sleeps("dual-published", before("task.claim"), |played| {
        assert_eq!(played.settlements(), 1);
        played.holds();
    });
}

/// The claim grows stale and is taken over under a new attempt number; the sleeper's
/// transaction, or its heartbeat before that, finds that its own number is old.
#[test]
fn the_attempt_number_stops_the_sleeper() {
    holder_sleeps("dual-guard", before("work.3"), |played| {
        let claimed =
            |number| move |e: &Event| matches!(*e, Event::TaskSet { status: TaskStatus::Executing, attempt, .. } if attempt == number);
        played.saw("a claim", claimed(1));
        played.saw("a claim that was taken over", claimed(2));
        assert_eq!(played.settlements(), 1);
        played.holds();
    });
}
