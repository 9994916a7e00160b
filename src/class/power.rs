//! Power: a host falls silent and comes back.

use crate::class::{Class, Draw};
use crate::plan::{Fault, Harm};
use crate::time::Span;

/// A host loses power and comes back.
pub(super) struct Power;

impl Class for Power {
    fn name(&self) -> &'static str {
        "power"
    }

    fn about(&self) -> &'static str {
        "a host falls silent at a step or a time, back after 5 min"
    }

    fn draw(&self, draw: &mut Draw<'_>) -> Vec<Fault> {
        draw.on_a_node(|draw, host| Harm::Power { host, back_after: draw.length(5.minutes()) })
    }
}
