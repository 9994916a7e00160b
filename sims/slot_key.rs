//! A key that names the slot of the schedule, kept beyond the run. Whoever comes late finds it, if
//! everybody calls the slot the same.

use crate::stage::{N0, both_of, one_period};
use onceproof::id::Letter;
use onceproof::plan::{FaultPlan, Harm, Trigger};
use onceproof::scenario::{Scenario, SlotKeyKnobs, SlotTime};
use onceproof::time::Span;
use onceproof::trace::{Belief, Event};
use std::time::Duration;

fn named(time: SlotTime, rounded_to: Duration) -> Scenario {
    Scenario { slot_key: SlotKeyKnobs { time, rounded_to, ..SlotKeyKnobs::default() }, ..one_period("slot-key") }
}

/// It comes when the job of the first is long over, for the same boundary.
#[test]
fn a_slow_clock_finds_the_slot_taken() {
    let slow = FaultPlan::of([Harm::ClockOffset { host: N0, by_ms: -270_000 }.when(Trigger::start())]);
    both_of(&named(SlotTime::Nominal, 1.minutes()), &slow, |played| {
        played.saw("a refusal", |e| matches!(e, Event::LeaseRefused { .. }));
        assert_eq!(played.believed(Belief::Busy), 2);
        played.holds();
    });
}

/// Nobody's clock is wrong: the nodes wake within five seconds of each other, and each second is a slot.
#[test]
fn an_observed_second_is_a_slot_for_each_node() {
    both_of(&named(SlotTime::Observed, 1.seconds()), &FaultPlan::none(), |played| played.breaks(&[Letter::D]));
}

/// The control: the same nodes, and the minute in which they look.
#[test]
fn an_observed_minute_is_one_slot() {
    both_of(&named(SlotTime::Observed, 1.minutes()), &FaultPlan::none(), |played| {
        assert_eq!(played.settlements(), 1);
        played.holds();
    });
}
