//! Lease store cut: a node that reaches everything but the lease store.

use crate::class::draw::lease_stores;
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
        let last = draw.steps.iter().rposition(|step| matches!(step.peer, Some(HostId::Lease | HostId::FurtherLease(_)))).unwrap_or(0);
        let until: Vec<Step> = draw.steps.iter().take(last + 1).copied().collect();
        let cut = draw.on_a_node_in(|step| until.contains(&step), |draw, host| cut(draw, host, Target::Host(HostId::Lease)));
        cut.iter().flat_map(|fault| draw.at_stores(fault)).collect()
    }

    fn misses(&self, steps: &[Step]) -> Option<&'static str> {
        lease_stores(steps).is_empty().then_some("it never asks the lease store anything")
    }
}
