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

/// The claimer stops right before its transaction, and wakes while its successor is still at
/// work: nothing is settled yet, and only the fence keeps the sleeper from committing on a stale
/// claim. A heartbeat dies five minutes after its last beat, which is at most 30 s before the
/// stop; a poll finds that within another minute; the successor works for two.
#[test]
fn a_sleeper_that_wakes_beside_its_successor_commits_nothing() {
    for strategy in ["version-reclaim", "dual-guard"] {
        both(strategy, &fault(pause(375.seconds()), before("tx.begin")), |played| {
            taken_over(played);
            let woke = played.first("the claimer waking up", |e| matches!(e, Event::Resumed { .. }));
            let settled = played.first("a settlement", |e| matches!(e, Event::Settled { .. }));
            assert!(woke < settled, "the successor was done at {settled}, before {woke}: nothing tested");
            assert_eq!(played.settlements(), 1);
            played.holds();
        });
    }
}

/// The same beside a fence token: the lease lasts 30 s from its last renewal, at most 10 s before the stop.
#[test]
fn an_old_token_that_wakes_beside_a_newer_one_commits_nothing() {
    both("lease-fenced", &fault(pause(115.seconds()), before("tx.begin")), |played| {
        assert_eq!(played.authors(|e| matches!(e, Event::FenceSet { .. })).len(), 2, "nobody took a newer token");
        let woke = played.first("the holder waking up", |e| matches!(e, Event::Resumed { .. }));
        let settled = played.first("a settlement", |e| matches!(e, Event::Settled { .. }));
        assert!(woke < settled, "the successor was done at {settled}, before {woke}: nothing tested");
        assert_eq!(played.settlements(), 1);
        played.holds();
    });
}
