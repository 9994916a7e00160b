//! Drift: clocks of nodes that run at wrong rates for some hours around a boundary.

use crate::class::{Class, Draw, Mixes, outage};
use crate::id::HostId;
use crate::plan::{Fault, Harm, Target, Trigger};
use crate::time::{SimTime, Span, millis};
use rand::RngExt;

/// One pair of rates is at least so many quarters of the largest ([`crate::scenario::ClockKnobs::drift_ppm`]) apart.
const APART: i32 = 3;

/// All nodes' clocks at rates of their own. It begins up to two hours before a boundary and
/// ends, when a time service sets the clocks right, up to two hours after it: at 2 % for
/// longer, a node would come hours late without any time service noticing.
pub(super) struct Drift;

impl Class for Drift {
    fn name(&self) -> &'static str {
        "drift"
    }

    fn about(&self) -> &'static str {
        "node clocks run up to 2 % fast or slow, from up to 2 h before a boundary to up to 2 h after it; timers follow"
    }

    fn draw(&self, draw: &mut Draw<'_>) -> Vec<Fault> {
        draw.unstretched();
        let boundary = draw.boundary();
        let begins = boundary - draw.between(30.minutes()..=2.hours());
        let ends = boundary + draw.between(30.minutes()..=millis(outage::ENDS).ms());
        let most = draw.scenario.clocks.drift_ppm.cast_signed();
        let apart = most * APART / 4;
        let slow = draw.rng.random_range(-most..=most - apart);
        let fast = draw.rng.random_range(slow + apart..=most);
        let mut nodes: Vec<HostId> = (0..draw.scenario.nodes).map(HostId::node).collect();
        let mut faults = Vec::with_capacity(nodes.len());
        for n in 0..nodes.len() {
            let host = nodes.swap_remove(draw.rng.random_range(0..nodes.len()));
            let ppm = match n {
                0 => slow,
                1 => fast,
                _ => draw.rng.random_range(-most..=most),
            };
            let when = Trigger::At { at_ms: begins.max(SimTime::ZERO) };
            faults.push(Harm::ClockDrift { host: Target::Host(host), ppm, lasts: Some(ends.since(begins)) }.when(when));
        }
        faults
    }

    fn mixes(&self) -> Mixes {
        Mixes::Once
    }
}
