//! The plan that breaks a timestamp for a version: a write and two claims in one second.

use crate::id::HostId;
use crate::plan::{Fault, FaultPlan, Harm, Target, Trigger};
use crate::scenario::Scenario;
use crate::settlement::Calendar;
use crate::strategy::context::WORK;
use crate::time::{SimTime, Span, millis};
use crate::trace::{Phase, StepName};
use std::time::Duration;

/// What takes time on the way from one event to another.
struct Path {
    /// Segments that are waited for, one after the other.
    ways: u32,
    /// Operations, with a pause of step jitter before each.
    pauses: u32,
    /// Slices of work. Their own length is not counted.
    slices: u32,
}

/// From the boot of n0 until its write is applied: 4 ways to connect, 6 for find, read and claim, 1 for the write.
const UNTIL_WRITTEN: Path = Path { ways: 11, pauses: 4, slices: WORK.len() as u32 };

/// From the boot of another until it is about to claim: 4 ways to connect, 4 for find and read.
const UNTIL_READ: Path = Path { ways: 8, pauses: 2, slices: 0 };

impl Path {
    /// How long it takes at most, in whole milliseconds. Where time passes in ticks, which are half
    /// of the smallest latency, everything takes up to a tick more.
    fn longest(&self, scenario: &Scenario) -> Duration {
        let Path { ways, pauses, slices } = *self;
        let ticks = scenario.network.latency_min / 2 * (ways + pauses + slices);
        Duration::from_millis(millis(scenario.network.latency_max * ways + scenario.node.step_jitter * pauses + ticks))
    }
}

/// Needs no luck, for whoever boots after a boundary comes at once, without jitter:
///
/// 1. From five minutes before the first boundary nobody is alive. n0 boots two minutes after
///    it, and so much later that its work ends with a whole second. The last slice fails, and n0
///    writes the row back in the second that begins. Then it is paused: where minutes are short,
///    it would be back before the others have claimed.
/// 2. When the write must have been applied, the others boot.
/// 3. When they must have read the row and hold the second of their own claim, it is still the
///    same. There each stops for as long as that took, so that none claims before all have read.
///
/// In the default deployment 19 ways of 50 ms, 6 pauses of 2 ms and 30 ticks of 0.5 ms are 977 ms;
/// scaled for turmoil 19 ways of 18 ms, 6 pauses of 1 ms and 30 ticks of 6 ms are 528 ms: less than a second.
pub(super) fn same_second(scenario: &Scenario, calendar: &Calendar) -> FaultPlan {
    let Some(&first) = calendar.periods.first() else { return FaultPlan::none() };
    let scaled = |real: Duration| real / scenario.time_scale.max(1);
    let slices = WORK.len() as u32;
    let work = Duration::from_millis(millis(scenario.node.work / slices)) * slices;
    let dies = calendar.due(first) - scaled(5.minutes());
    let written = next_second(calendar, calendar.due(first) + scaled(2.minutes()) + work);

    let mut faults = vec![
        down(0, dies, written - work),
        Harm::JobError { times: 1 }.when(first_of(0, WORK[4].name, Phase::After)),
        pause(scaled(40.minutes())).when(first_of(0, "task.give-back", Phase::After)),
    ];
    for other in 1..scenario.nodes {
        faults.push(down(other, dies, written + UNTIL_WRITTEN.longest(scenario)));
        faults.push(pause(UNTIL_READ.longest(scenario)).when(first_of(other, "task.claim", Phase::Before)));
    }
    FaultPlan::of(faults)
}

/// The node has no process from one true time to another.
fn down(node: u8, from: SimTime, to: SimTime) -> Fault {
    Harm::Crash { host: Target::Host(HostId::node(node)), back_after: to.since(from) }.when(Trigger::At { at_ms: from })
}

fn pause(lasts: Duration) -> Harm {
    Harm::Pause { host: Target::Self_, lasts }
}

/// The first time that this node is in this phase of this step.
fn first_of(node: u8, step: StepName, phase: Phase) -> Trigger {
    Trigger::Step { step: step.to_owned(), phase, nth: 1, node: Some(HostId::node(node)) }
}

/// The first time from `at` on at which a perfect clock shows a whole second.
fn next_second(calendar: &Calendar, at: SimTime) -> SimTime {
    at + (-calendar.origin.wall(at).0).rem_euclid(1_000).unsigned_abs().ms()
}
