//! Step: a clock of a node jumps, as when a time service corrects it, or somebody does.

use crate::class::{Class, Draw, Mixes};
use crate::id::HostId;
use crate::plan::{Fault, Harm, Target, Trigger};
use crate::time::{SimTime, Span};
use rand::RngExt;

/// A jump is at least this long, in real milliseconds.
const LEAST_MS: i64 = 60_000;

/// And at most this.
const MOST_MS: i64 = 3_600_000;

/// One or two nodes' clocks jump, at a step or within an hour before a boundary.
pub(super) struct Step;

impl Class for Step {
    fn name(&self) -> &'static str {
        "step"
    }

    fn about(&self) -> &'static str {
        "the wall clock of one node or two jumps by 1 min to 1 h, forward or back, at a step or in the hour before a boundary"
    }

    fn draw(&self, draw: &mut Draw<'_>) -> Vec<Fault> {
        let mut nodes: Vec<HostId> = (0..draw.scenario.nodes).map(HostId::node).collect();
        let mut faults = Vec::new();
        for _ in 0..draw.rng.random_range(1..=nodes.len().min(2)) {
            let host = nodes.swap_remove(draw.rng.random_range(0..nodes.len()));
            let (by_ms, forward) = (draw.rng.random_range(LEAST_MS..=MOST_MS), draw.rng.random());
            let by_ms = draw.milliseconds(by_ms).max(1) * if forward { 1 } else { -1 };
            let jump = |host| Harm::ClockOffset { host, by_ms };
            // Who has done its job looks at its clock again at the next boundary, if there is one.
            let step = (draw.at_a_step() && draw.calendar.periods.len() > 1).then(|| draw.step(|_| true)).flatten();
            faults.push(if let Some(step) = step {
                jump(Target::Self_).when(draw.in_step(step))
            } else {
                let before = draw.boundary() - draw.between(0.ms()..=1.hours());
                jump(Target::Host(host)).when(Trigger::At { at_ms: before.max(SimTime::ZERO) })
            });
        }
        faults
    }

    fn mixes(&self) -> Mixes {
        Mixes::Once
    }
}
