//! Lease store cut: a node that reaches everything but the lease store.

use crate::class::draw::{is_lease_store, lease_stores};
use crate::class::partition::cut;
use crate::class::{Class, Draw};
use crate::id::HostId;
use crate::plan::{Fault, Target};
use crate::step::Step;

/// A node, or one direction, cut from the lease store alone.
pub(super) struct LeaseCut;

impl Class for LeaseCut {
    fn name(&self) -> &'static str {
        "lease-cut"
    }

    fn about(&self) -> &'static str {
        "a node, or one direction, is cut from the lease store alone for 40 min"
    }

    fn draw(&self, draw: &mut Draw<'_>) -> Vec<Fault> {
        // Behind the last question to the store a cut disturbs nobody.
        let steps = draw.steps;
        let last = steps.iter().rposition(|step| step.peer.is_some_and(is_lease_store)).unwrap_or(0);
        let until = &steps[..steps.len().min(last + 1)];
        let cut = draw.on_a_node_in(|step| until.contains(&step), |draw, host| cut(draw, host, Target::Host(HostId::Lease)));
        cut.iter().flat_map(|fault| draw.at_stores(fault)).collect()
    }

    fn misses(&self, steps: &[Step]) -> Option<&'static str> {
        lease_stores(steps).is_empty().then_some("it never asks the lease store anything")
    }
}
