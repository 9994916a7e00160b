//! Database restart: every connection dies, what was committed stays.

use crate::class::{Class, Draw};
use crate::id::HostId;
use crate::plan::{Fault, Harm, Target};
use crate::step::Step;
use crate::time::Span;

/// The database's process dies and comes back.
pub(super) struct DbRestart;

impl Class for DbRestart {
    fn name(&self) -> &'static str {
        "db-restart"
    }

    fn about(&self) -> &'static str {
        "the database restarts at a step or a time: its connections die, commits stay, back after 10 s"
    }

    fn draw(&self, draw: &mut Draw<'_>) -> Vec<Fault> {
        let asks = |step: Step| step.peer == Some(HostId::Database);
        draw.on_a_node_in(asks, |draw, _| Harm::Crash { host: Target::Host(HostId::Database), back_after: draw.length(10.seconds()) })
    }

    fn misses(&self, steps: &[Step]) -> Option<&'static str> {
        let asks = steps.iter().any(|s| s.peer == Some(HostId::Database));
        (!asks).then_some("it never asks the database anything")
    }
}
