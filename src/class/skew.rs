//! Skew: clocks that are wrong from the beginning, and stay so.

use crate::class::draw::lease_stores;
use crate::class::{Class, Draw, Mixes};
use crate::id::HostId;
use crate::plan::{Fault, Harm, Target, Trigger};
use crate::time::millis;
use rand::RngExt;

/// One pair of clocks is at least so many fifths of the largest offset ([`crate::scenario::ClockKnobs::error`]) apart.
const APART: i64 = 4;

/// Constant offsets of all nodes and the lease store, two of them far apart.
pub(super) struct Skew;

impl Class for Skew {
    fn name(&self) -> &'static str {
        "skew"
    }

    fn about(&self) -> &'static str {
        "constant clock offsets of nodes and lease store within ±5 min, one pair at least 4 min apart"
    }

    fn draw(&self, draw: &mut Draw<'_>) -> Vec<Fault> {
        let further = lease_stores(draw.steps).into_iter().filter(|store| *store != HostId::Lease);
        let mut hosts: Vec<HostId> = (0..draw.scenario.nodes).map(HostId::node).chain([HostId::Lease]).chain(further).collect();
        if !draw.scenario.clocks.are_usual() {
            // Whoever says how wrong clocks can be means it in a mix of faults as well.
            draw.unstretched();
        }
        let error = millis(draw.scenario.clocks.error).cast_signed();
        let (most, apart) = (draw.milliseconds(error), draw.milliseconds(error * APART / 5));
        let slow = draw.rng.random_range(-most..=most - apart);
        let fast = draw.rng.random_range(slow + apart..=most);
        let mut faults = Vec::with_capacity(hosts.len());
        for n in 0..hosts.len() {
            let host = hosts.swap_remove(draw.rng.random_range(0..hosts.len()));
            let by_ms = match n {
                0 => slow,
                1 => fast,
                _ => draw.rng.random_range(-most..=most),
            };
            faults.push(Harm::ClockOffset { host: Target::Host(host), by_ms }.when(Trigger::start()));
        }
        faults
    }

    fn mixes(&self) -> Mixes {
        Mixes::Once
    }
}
