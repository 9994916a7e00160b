//! A node is cut from the database, and from nothing else, for 40 minutes. It works on, and
//! cannot beat the heart of its claim; to everybody else that claim looks dead.

use crate::stage::{Played, after, before, both, cut, fault};
use onceproof::id::{HostId, Letter};
use onceproof::plan::{FaultPlan, Harm, Trigger};
use onceproof::time::Span;
use onceproof::trace::{Event, TaskStatus};

fn claimer_is_cut_off(strategy: &str, when: Trigger, tell: impl Fn(&Played)) {
    both(strategy, &fault(cut(HostId::Database, 40.minutes()), when), |played| {
        let claimed = played.first("a claim", |e| matches!(e, Event::TaskSet { status: TaskStatus::Executing, version: 1, .. }));
        assert!(claimed <= played.first("a cut", |e| matches!(e, Event::Cut { .. })));
        tell(played);
    });
}

/// It has committed and cannot set the row to completed. Who takes the claim over cannot see the
/// difference. Nothing is stale in that, so it is not a stale commit either.
#[test]
fn a_settlement_that_is_not_marked_is_made_again() {
    claimer_is_cut_off("version-reclaim-unfenced", after("tx.commit"), |played| {
        let authors = played.authors(|e| matches!(e, Event::Settled { .. }));
        assert_eq!(authors.len(), 2);
        assert_ne!(authors[0], authors[1], "it cannot have reached the database");
        played.breaks(&[Letter::D]);
    });
}

/// Settlement and status are one transaction.
#[test]
fn a_settlement_that_is_marked_by_itself_is_not() {
    for strategy in ["version-reclaim", "dual-guard"] {
        claimer_is_cut_off(strategy, after("tx.commit"), |played| {
            assert_eq!(played.settlements(), 1);
            played.holds();
        });
    }
}

/// A job of two minutes is over before the cut is: the transaction cannot begin, the attempt has
/// failed, and when the node is back the period is settled. One settlement, even without a fence.
#[test]
fn a_short_job_does_not_come_back() {
    for strategy in ["version-reclaim-unfenced", "version-reclaim", "dual-guard"] {
        claimer_is_cut_off(strategy, before("work.3"), |played| {
            played.saw("a second claim", |e| matches!(e, Event::TaskSet { status: TaskStatus::Executing, version: 2, .. }));
            assert_eq!(played.settlements(), 1);
            played.holds();
        });
    }
}

/// A job that outlasts the cut: its transaction begins when the node is back.
fn long_job_is_cut_off(strategy: &str, tell: impl Fn(&Played)) {
    let long = Harm::SlowStep { extra: 45.minutes() }.when(before("work.3"));
    both(strategy, &FaultPlan::of([cut(HostId::Database, 40.minutes()).when(before("work.3")), long]), tell);
}

/// Another has claimed the period while the first was cut off.
fn taken_over(played: &Played) {
    let again = played.first("a second claim", |e| matches!(e, Event::TaskSet { status: TaskStatus::Executing, version: 2, .. }));
    assert!(again < played.first("the healing", |e| matches!(e, Event::Healed { .. })));
}

#[test]
fn a_long_job_comes_back_and_settles_again() {
    long_job_is_cut_off("version-reclaim-unfenced", |played| {
        taken_over(played);
        assert_eq!(played.settlements(), 2);
        played.breaks(&[Letter::D, Letter::S]);
    });
}

#[test]
fn the_attempt_number_stops_who_comes_back() {
    long_job_is_cut_off("version-reclaim", |played| {
        taken_over(played);
        assert_eq!(played.settlements(), 1);
        played.holds();
    });
}

/// The claim is stale, and whoever made it still renews its lease: nobody gets so far as to claim again.
#[test]
fn a_lease_in_another_store_keeps_a_stale_claim() {
    long_job_is_cut_off("dual-guard", |played| {
        played.never_saw("a second claim", |e| matches!(e, Event::TaskSet { version: 2, .. }));
        assert_eq!(played.settlements(), 1);
        played.holds();
    });
}

/// The control: the same long job without the cut. Its heart beats, nobody takes it over.
#[test]
fn a_long_job_that_beats_is_alone() {
    both("version-reclaim-unfenced", &fault(Harm::SlowStep { extra: 45.minutes() }, before("work.3")), |played| {
        played.never_saw("a second claim", |e| matches!(e, Event::TaskSet { version: 2, .. }));
        assert_eq!(played.settlements(), 1);
        played.holds();
    });
}
