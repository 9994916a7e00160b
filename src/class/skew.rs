//! Skew: clocks that are wrong from the beginning, and stay so.

use crate::class::{Class, Draw, Mixes};
use crate::id::HostId;
use crate::plan::{Fault, Harm, Target, Trigger};
use rand::RngExt;

/// Offsets lie between minus and plus this, in real milliseconds.
const MOST_MS: i64 = 5 * 60_000;

/// One pair of clocks is at least this far apart, in real milliseconds.
const APART_MS: i64 = 4 * 60_000;

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
        let mut hosts: Vec<HostId> = (0..draw.scenario.nodes).map(HostId::node).chain([HostId::Lease]).collect();
        let (most, apart) = (draw.milliseconds(MOST_MS), draw.milliseconds(APART_MS));
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
