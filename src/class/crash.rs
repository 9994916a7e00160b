//! Crash: a process dies and comes back.

use crate::class::{Class, Draw};
use crate::plan::{Fault, Harm};
use crate::time::Span;

/// A process dies and comes back.
pub(super) struct Crash;

impl Class for Crash {
    fn name(&self) -> &'static str {
        "crash"
    }

    fn about(&self) -> &'static str {
        "a process dies at a step or a time (its kernel closes the sockets), back after 5 min"
    }

    fn draw(&self, draw: &mut Draw<'_>) -> Vec<Fault> {
        draw.on_a_node(|draw, host| Harm::Crash { host, back_after: draw.length(5.minutes()) })
    }
}
