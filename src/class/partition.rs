//! Partition: a node, or one direction, cut from everything.

use crate::class::{Class, Draw};
use crate::plan::{Direction, Fault, Harm, Target};
use crate::time::Span;
use rand::seq::IndexedRandom;

/// A node, or one direction, cut from everything.
pub(super) struct Partition;

impl Class for Partition {
    fn name(&self) -> &'static str {
        "partition"
    }

    fn about(&self) -> &'static str {
        "a node, or one direction, is cut from everything for 40 min"
    }

    fn draw(&self, draw: &mut Draw<'_>) -> Vec<Fault> {
        draw.on_a_node(|draw, host| cut(draw, host, Target::Everyone))
    }
}

/// A cut of 40 minutes between a node and the other side: both ways in half of the draws, one way in the others.
pub(super) fn cut(draw: &mut Draw<'_>, host: Target, from: Target) -> Harm {
    let direction = *[Direction::Both, Direction::Both, Direction::Outbound, Direction::Inbound].choose(&mut draw.rng).expect("four");
    Harm::Partition { host, from, direction, lasts: draw.length(40.minutes()) }
}
