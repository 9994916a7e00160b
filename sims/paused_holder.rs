//! A lease outlived by its holder: it is not scheduled for 40 minutes, its lease of 30 or less
//! runs out, another node takes over and settles. Then the holder wakes, does not know that it
//! has slept, and goes on.

use crate::stage::{Played, before, both, fault, pause};
use onceproof::id::Letter;
use onceproof::plan::Trigger;
use onceproof::time::Span;
use onceproof::trace::{Belief, Event, TaskStatus};

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

fn ended_in(event: &Event, expected: Belief) -> bool {
    matches!(event, Event::AttemptEnded { belief, .. } if *belief == expected)
}

/// It looked before it took the lease, and the table was empty then. Its stale commit is what S means.
#[test]
fn a_bare_lease_settles_twice() {
    holder_sleeps("lease-set-px-checked", before("work.3"), |played| {
        assert_eq!(played.settlements(), 2);
        played.breaks(&[Letter::D, Letter::S]);
    });
}

/// A process that sleeps renews nothing. When it wakes in the middle of its work, the next
/// renewal is refused, and it is told.
#[test]
fn a_watchdog_tells_the_sleeper_while_it_works() {
    holder_sleeps("lease-watchdog", before("work.3"), |played| {
        let resumed = played.first("the holder waking up", |e| matches!(e, Event::Resumed { .. }));
        let given_up = played.records().iter().any(|r| resumed <= r.at && ended_in(&r.event, Belief::Failed));
        assert!(given_up, "nobody gave up after {resumed}");
        assert_eq!(played.settlements(), 1);
        played.holds();
    });
}

/// After its last look it is told nothing, whatever the watchdog finds out.
#[test]
fn a_watchdog_tells_nothing_after_the_last_look() {
    holder_sleeps("lease-watchdog", before("tx.begin"), |played| {
        assert_eq!(played.settlements(), 2);
        played.breaks(&[Letter::D, Letter::S]);
    });
}

/// The same sleep before the same transaction, which asks whether its token is still the newest.
#[test]
fn a_fence_needs_no_last_look() {
    holder_sleeps("lease-fenced", before("tx.begin"), |played| {
        let taken = |number| move |e: &Event| matches!(*e, Event::FenceSet { token, .. } if token == number);
        let second = played.first("a newer token", taken(2));
        assert!(played.first("a token", taken(1)) < second);
        assert!(second < played.first("the holder waking up", |e| matches!(e, Event::Resumed { .. })));
        assert_eq!(played.settlements(), 1);
        played.holds();
    });
}

/// A sleep that ends while the next holder is at work.
fn holder_wakes_early(strategy: &str, tell: impl Fn(&Played)) {
    both(strategy, &fault(pause(110.seconds()), before("work.3")), |played| {
        let expired = played.first("a lease that ran out", |e| matches!(e, Event::LeaseExpired { .. }));
        let resumed = played.first("the holder waking up", |e| matches!(e, Event::Resumed { .. }));
        assert!(expired < resumed && resumed < played.first("a settlement", |e| matches!(e, Event::Settled { .. })));
        tell(played);
    });
}

/// There is a lease, and it can be extended. That it is another's, nobody asks.
#[test]
fn who_renews_whatever_there_is_believes_in_it() {
    holder_wakes_early("lease-watchdog-unowned", |played| {
        played.saw("a lease of another extended", |e| matches!(e, Event::LeaseExtended { by, holder, .. } if by != holder));
        assert_eq!(played.settlements(), 2);
        played.breaks(&[Letter::D, Letter::S]);
    });
}

/// The control: the renewal names its owner.
#[test]
fn who_renews_its_own_is_told() {
    holder_wakes_early("lease-watchdog", |played| {
        played.never_saw("a lease of another extended", |e| matches!(e, Event::LeaseExtended { by, holder, .. } if by != holder));
        assert_eq!(played.settlements(), 1);
        played.holds();
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
