//! Pause: a process stops for longer than any lease.

use crate::class::{Class, Draw};
use crate::plan::{Fault, Harm};
use crate::time::Span;

/// A process stops for longer than any lease.
pub(super) struct Pause;

impl Class for Pause {
    fn name(&self) -> &'static str {
        "pause"
    }

    fn about(&self) -> &'static str {
        "a whole process stops for 40 min at a step or a time"
    }

    fn draw(&self, draw: &mut Draw<'_>) -> Vec<Fault> {
        draw.on_a_node(|draw, host| Harm::Pause { host, lasts: draw.length(40.minutes()) })
    }
}
