//! The schedule is a row, read and advanced under a lock. Under it a due time is taken once. What
//! becomes of it between the commit and the firing, in the memory of one process, is another matter.

use crate::stage::{Played, after, before, both_of, crash, fault, one_period, pause};
use onceproof::id::Letter;
use onceproof::plan::{FaultPlan, Harm, Target};
use onceproof::scenario::{Acquires, OnMisfire, Reads, Recovers, RowLockKnobs, Scenario};
use onceproof::time::Span;

fn kept(row_lock: RowLockKnobs) -> Scenario {
    Scenario { row_lock, ..one_period("row-lock") }
}

/// Whoever has taken the time dies when that is committed and nothing has fired.
fn dies_before_it_fires(recovers: Recovers, tell: impl Fn(&Played)) {
    both_of(&kept(RowLockKnobs { recovers, ..RowLockKnobs::default() }), &fault(crash(5.minutes()), after("trigger.commit")), tell);
}

#[test]
fn what_is_fired_from_memory_dies_with_it() {
    dies_before_it_fires(Recovers::Nothing, |played| {
        assert_eq!(played.settlements(), 0);
        played.breaks(&[Letter::L]);
    });
}

/// The same death, and a record of what was fired, in the transaction that advanced the row.
#[test]
fn what_was_fired_is_recovered_if_it_was_recorded() {
    dies_before_it_fires(Recovers::Fired, |played| {
        assert_eq!(played.settlements(), 1);
        played.holds();
    });
}

/// It does not check in for forty minutes, and is not dead.
#[test]
fn what_is_recovered_from_the_living_runs_twice() {
    let seems_dead = fault(pause(40.minutes()), before("work.3"));
    both_of(&kept(RowLockKnobs { recovers: Recovers::Fired, ..RowLockKnobs::default() }), &seems_dead, |played| {
        played.breaks(&[Letter::D]);
    });
    both_of(&kept(RowLockKnobs::default()), &seems_dead, Played::holds);
}

/// One node reads that the row is free, and is slow to mark it. Meanwhile another marks it, fires,
/// and sets it free again: free it is, and what was read is another time.
#[test]
fn a_mark_that_comes_and_goes_says_nothing() {
    let slow = |step| fault(Harm::SlowStep { extra: 2.minutes() }, before(step));
    let unlocked = RowLockKnobs { acquires: Acquires::Unlocked, ahead: 30.seconds(), misfire_after: 1.hours(), ..RowLockKnobs::default() };
    both_of(&kept(unlocked.clone()), &slow("trigger.acquire"), |played| {
        assert_eq!(played.settlements(), 2);
        played.breaks(&[Letter::D]);
    });
    let locked = RowLockKnobs { acquires: Acquires::Locked, ..unlocked };
    both_of(&kept(locked), &slow("trigger.lock"), |played| {
        assert_eq!(played.settlements(), 1);
        played.holds();
    });
}

/// The lock is where it should be, and what was read is from before it.
#[test]
fn a_lock_does_not_make_an_old_time_new() {
    let slow = fault(Harm::SlowStep { extra: 20.seconds() }, before("trigger.lock"));
    let knobs = |reads| RowLockKnobs { reads, misfire_after: 1.hours(), ..RowLockKnobs::default() };
    both_of(&kept(knobs(Reads::Before)), &slow, |played| played.breaks(&[Letter::D]));
    both_of(&kept(knobs(Reads::UnderLock)), &slow, Played::holds);
}

/// Nobody was there when it was due: five minutes later it is a misfire.
#[test]
fn what_comes_late_is_missed_or_made_up_for() {
    let down = Harm::Crash { host: Target::AllNodes, back_after: 5.minutes() };
    let plan = FaultPlan::of([down.when(before("trigger.begin"))]);
    both_of(&kept(RowLockKnobs::default()), &plan, |played| played.breaks(&[Letter::L]));
    both_of(&kept(RowLockKnobs { on_misfire: OnMisfire::Fire, ..RowLockKnobs::default() }), &plan, Played::holds);
}
