//! Database cut: a node that reaches everything but the database.

use crate::class::partition::cut;
use crate::class::{Class, Draw};
use crate::id::HostId;
use crate::plan::{Fault, Target};
use crate::step::Step;

/// A node, or one direction, cut from the database alone.
pub(super) struct DbCut;

impl Class for DbCut {
    fn name(&self) -> &'static str {
        "db-cut"
    }

    fn about(&self) -> &'static str {
        "a node, or one direction, is cut from the database alone for 40 min"
    }

    fn draw(&self, draw: &mut Draw<'_>) -> Vec<Fault> {
        draw.on_a_node(|draw, host| cut(draw, host, Target::Host(HostId::Database)))
    }

    fn misses(&self, steps: &[Step]) -> Option<&'static str> {
        let asks = steps.iter().any(|s| s.peer == Some(HostId::Database));
        (!asks).then_some("it never asks the database anything")
    }
}
