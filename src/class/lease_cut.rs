//! Lease store cut: a node that reaches everything but the lease store.

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
        draw.on_a_node(|draw, host| cut(draw, host, Target::Host(HostId::Lease)))
    }

    fn misses(&self, steps: &[Step]) -> Option<&'static str> {
        let asks = steps.iter().any(|s| s.peer == Some(HostId::Lease));
        (!asks).then_some("it never asks the lease store anything")
    }
}
