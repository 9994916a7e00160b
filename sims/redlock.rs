//! A lock of most of five stores: one of them may forget, die or be out of reach, and it is held
//! all the same. What three of them forget they grant again, and whoever stops for longer than it
//! lasts wakes without it.

use crate::stage::{after, before, both, both_of, fault, one_period, pause};
use onceproof::id::{HostId, Letter};
use onceproof::plan::{Direction, Fault, FaultPlan, Harm, Target};
use onceproof::scenario::Scenario;
use onceproof::time::Span;
use onceproof::trace::{Event, Vote};

fn store(n: u8) -> HostId {
    if n == 0 { HostId::Lease } else { HostId::FurtherLease(n) }
}

fn granted(event: &Event) -> bool {
    matches!(event, Event::LeaseGranted { .. })
}

fn vote_granted(event: &Event) -> bool {
    matches!(event, Event::Voted { vote: Vote::Granted { .. }, .. })
}

fn wiped(n: u8) -> Harm {
    Harm::LeaseWipe { store: store(n), back_after: 10.seconds() }
}

/// Two nodes that come so far apart that the first gets all five votes: where several ask at once, they share them.
fn apart() -> Scenario {
    let mut scenario = Scenario { nodes: 2, ..one_period("redlock") };
    scenario.node.jitter = 2.minutes();
    scenario
}

/// Five votes are one lease, and it is given back once.
#[test]
fn five_votes_are_one_lease() {
    both("redlock", &FaultPlan::none(), |played| {
        assert!(played.count(vote_granted) >= 5);
        assert_eq!(played.count(granted), 1);
        assert_eq!(played.count(|e| matches!(e, Event::LeaseReleased { .. })), 1);
        assert_eq!(played.settlements(), 1);
        played.holds();
    });
}

/// Two stores are dead from before the first request: three votes are enough.
#[test]
fn two_dead_stores_are_not_missed() {
    let dead = |n| -> Fault { Harm::Crash { host: Target::Host(store(n)), back_after: 10.minutes() }.when(before("redlock.lock")) };
    both("redlock", &FaultPlan::of([dead(0), dead(3)]), |played| {
        assert_eq!((played.count(granted), played.settlements()), (1, 1));
        played.holds();
    });
}

/// The control: with three of them nobody gets the lock until they are back.
#[test]
fn three_dead_stores_are_waited_for() {
    let dead = |n| -> Fault { Harm::Crash { host: Target::Host(store(n)), back_after: 10.minutes() }.when(before("redlock.lock")) };
    both("redlock", &FaultPlan::of([dead(0), dead(2), dead(3)]), |played| {
        let back = played.first("a store that is back", |e| matches!(e, Event::Booted { incarnation: 1, .. }));
        assert!(back < played.first("a lease", granted));
        assert_eq!(played.settlements(), 1);
        played.holds();
    });
}

/// One store loses its vote, and nobody loses the lock.
#[test]
fn a_store_that_forgets_is_outvoted() {
    for harm in [wiped(2), Harm::LeaseEvict { store: store(4) }] {
        both_of(&apart(), &fault(harm, before("work.3")), |played| {
            played.saw("a vote that was lost", |e| matches!(e, Event::Voted { vote: Vote::Lost { .. }, .. }));
            played.never_saw("a lease that was lost", |e| matches!(e, Event::LeaseLost { .. }));
            assert_eq!((played.count(granted), played.settlements()), (1, 1));
            played.holds();
        });
    }
}

/// Three forget while the holder takes its time between its last look and its transaction.
#[test]
fn what_most_of_the_stores_forget_they_grant_again() {
    let slow = Harm::SlowStep { extra: 150.seconds() }.when(before("tx.begin"));
    let wiped = [0, 1, 4].map(|n| wiped(n).when(before("tx.begin")));
    both_of(&apart(), &FaultPlan::of(wiped.into_iter().chain([slow])), |played| {
        played.saw("a lease that was lost", |e| matches!(e, Event::LeaseLost { .. }));
        assert_eq!((played.count(granted), played.settlements()), (2, 2));
        played.breaks(&[Letter::D, Letter::S]);
    });
}

/// The holder stops behind its last look, five stores or one.
#[test]
fn a_holder_that_stops_settles_on_a_lock_that_is_over() {
    both("redlock", &fault(pause(40.minutes()), before("tx.begin")), |played| {
        played.saw("a lease that ran out", |e| matches!(e, Event::LeaseExpired { .. }));
        assert_eq!(played.settlements(), 2);
        played.breaks(&[Letter::D, Letter::S]);
    });
}

/// Cut from two stores, the holder keeps the lock; cut from three, it is told, and another settles.
#[test]
fn a_holder_needs_most_of_the_stores() {
    let cut = |n| -> Fault {
        let from = Target::Host(store(n));
        Harm::Partition { host: Target::Self_, from, direction: Direction::Both, lasts: 40.minutes() }.when(after("work.1"))
    };
    both_of(&apart(), &FaultPlan::of([cut(1), cut(2)]), |played| {
        assert_eq!((played.count(granted), played.settlements()), (1, 1));
        played.holds();
    });
    both_of(&apart(), &FaultPlan::of([cut(0), cut(1), cut(2)]), |played| {
        assert_eq!((played.count(granted), played.settlements()), (2, 1));
        played.holds();
    });
}
