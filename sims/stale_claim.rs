//! A claim that only looks dead: whoever made it is not scheduled for 40 minutes, nobody beats
//! its heart, and it grows stale. Then it wakes, does not know that it has slept, and goes on.

use crate::stage::{Played, before, both, fault, pause};
use onceproof::id::Letter;
use onceproof::time::Span;
use onceproof::trace::{Event, TaskStatus};

fn claimer_sleeps(strategy: &str, tell: impl Fn(&Played)) {
    both(strategy, &fault(pause(40.minutes()), before("work.3")), |played| {
        let claimed = played.first("a claim", |e| matches!(e, Event::TaskSet { status: TaskStatus::Executing, version: 1, .. }));
        let paused = played.first("a paused claimer", |e| matches!(e, Event::Paused { .. }));
        assert!(claimed <= paused);
        tell(played);
    });
}

/// The second claim, and the claimer of the first waking up after it.
fn taken_over(played: &Played) {
    let again = played.first("a second claim", |e| matches!(e, Event::TaskSet { status: TaskStatus::Executing, version: 2, .. }));
    assert!(again < played.first("the claimer waking up", |e| matches!(e, Event::Resumed { .. })));
}

/// Nothing in the settlement says whose claim it is under.
#[test]
fn a_claim_that_is_claimed_again_settles_twice() {
    claimer_sleeps("version-reclaim-unfenced", |played| {
        taken_over(played);
        assert_eq!(played.settlements(), 2);
        played.breaks(&[Letter::D, Letter::S]);
    });
}

/// The sleeper's transaction, or its heartbeat before that, finds that its own number is old.
#[test]
fn the_attempt_number_stops_the_sleeper() {
    claimer_sleeps("version-reclaim", |played| {
        taken_over(played);
        assert_eq!(played.settlements(), 1);
        played.holds();
    });
}

/// The control: a claim that nobody may take over waits for its claimer, and nothing is lost when it only sleeps.
#[test]
fn a_claim_that_is_never_stale_waits() {
    claimer_sleeps("version-published", |played| {
        let resumed = played.first("the claimer waking up", |e| matches!(e, Event::Resumed { .. }));
        assert!(resumed <= played.first("a settlement", |e| matches!(e, Event::Settled { .. })));
        played.holds();
    });
}
