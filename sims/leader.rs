//! One node leads, and only its schedule fires, from memory. What becomes of a boundary depends
//! on who leads when it comes, and on what a new leader knows of the old one's schedule.

use crate::stage::{N0, Played, both_of, boundary, fault, one_period};
use onceproof::id::{HostId, Letter};
use onceproof::plan::{Direction, FaultPlan, Harm, Target, Trigger};
use onceproof::scenario::{HeldIn, LeaderKnobs, OnError, Remembers, Renews, Scenario};
use onceproof::time::Span;
use onceproof::trace::{Event, Phase};

fn led(leader: LeaderKnobs) -> Scenario {
    Scenario { leader, ..one_period("leader") }
}

/// The leader stops being there after so many renewals, for this long.
fn leader_pauses(nth: u32, seconds: u64) -> FaultPlan {
    fault(Harm::Pause { host: Target::Self_, lasts: seconds.seconds() }, Trigger::nth("lease.renew", Phase::After, nth))
}

fn leader_dies() -> FaultPlan {
    fault(Harm::Crash { host: Target::Self_, back_after: 5.minutes() }, Trigger::nth("lease.renew", Phase::After, 10))
}

/// Its lease outlives the boundary: nobody leads then.
#[test]
fn a_boundary_without_a_leader_is_missed() {
    both_of(&led(LeaderKnobs::default()), &leader_dies(), |played| {
        assert_eq!(played.settlements(), 0);
        played.breaks(&[Letter::L]);
    });
}

/// The same death, and a schedule that says when it fired last: who is elected later looks back.
#[test]
fn a_leader_that_looks_back_fires_what_was_missed() {
    for remembers in [Remembers::LastTick, Remembers::Slot] {
        both_of(&led(LeaderKnobs { remembers, ..LeaderKnobs::default() }), &leader_dies(), |played| {
            assert_eq!(played.settlements(), 1);
            played.holds();
        });
    }
}

/// It sleeps through the end of its term, its successor's election and the boundary. Its timer is overdue when it wakes.
#[test]
fn a_leader_that_wakes_late_fires_what_its_successor_has_fired() {
    both_of(&led(LeaderKnobs::default()), &leader_pauses(3, 2_400), |played| {
        assert!(played.count(|e| matches!(e, Event::LeaseGranted { .. })) > 1, "nobody was elected in its place");
        assert_eq!(played.settlements(), 2);
        played.breaks(&[Letter::D]);
    });
}

/// The same sleep, and slots that fire once by name.
#[test]
fn a_slot_with_a_name_fires_once() {
    let named = LeaderKnobs { remembers: Remembers::Slot, ..LeaderKnobs::default() };
    both_of(&led(named), &leader_pauses(3, 2_400), |played| {
        assert_eq!(played.settlements(), 1);
        played.holds();
    });
}

/// It wakes before the boundary, and its next renewal tells it that it leads no more, unless it renews whatever lease there is.
#[test]
fn who_renews_whatever_lease_there_is_leads_beside_its_successor() {
    let any = LeaderKnobs { renews: Renews::Any, ..LeaderKnobs::default() };
    both_of(&led(any), &leader_pauses(3, 60), |played| {
        played.saw("a lease of another extended", |e| matches!(e, Event::LeaseExtended { by, holder, .. } if by != holder));
        played.breaks(&[Letter::D]);
    });
    both_of(&led(LeaderKnobs::default()), &leader_pauses(3, 60), Played::holds);
}

/// n0 cannot ask who leads. Somebody else does.
#[test]
fn an_error_is_not_an_election() {
    let cut = Harm::Partition { host: N0, from: Target::Host(HostId::Lease), direction: Direction::Both, lasts: 40.minutes() };
    let plan = fault(cut, Trigger::At { at_ms: boundary() - 5.minutes() });
    // Longer than it takes to know that no answer comes.
    let ahead = 4.minutes();
    both_of(&led(LeaderKnobs { on_error: OnError::Lead, ahead, ..LeaderKnobs::default() }), &plan, |played| played.breaks(&[Letter::D]));
    both_of(&led(LeaderKnobs { ahead, ..LeaderKnobs::default() }), &plan, Played::holds);
}

/// The only node loses the election and wins it again: its schedule is there twice.
#[test]
fn who_is_elected_again_fires_once_unless_it_adds_its_schedule_again() {
    let alone = |adds_again| Scenario { nodes: 1, ..led(LeaderKnobs { adds_again, ..LeaderKnobs::default() }) };
    let evicted = fault(Harm::LeaseEvict { store: HostId::Lease }, Trigger::nth("lease.renew", Phase::After, 2));
    both_of(&alone(true), &evicted, |played| played.breaks(&[Letter::D]));
    both_of(&alone(false), &evicted, Played::holds);
}

/// The same election in a row of the database.
#[test]
fn a_row_elects_as_a_lease_store_does() {
    let row = led(LeaderKnobs { held_in: HeldIn::Row, ..LeaderKnobs::default() });
    both_of(&row, &FaultPlan::none(), |played| {
        played.never_saw("a lease", |e| matches!(e, Event::LeaseGranted { .. }));
        assert_eq!(played.count(|e| matches!(e, Event::LeaseRowSet { granted: true, .. })), 1);
        played.holds();
    });
    let dies = Harm::Crash { host: Target::Self_, back_after: 5.minutes() };
    both_of(&row, &fault(dies, Trigger::nth("row.extend", Phase::After, 10)), |played| played.breaks(&[Letter::L]));
}
