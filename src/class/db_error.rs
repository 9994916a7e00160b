//! Database error: a commit is refused, or a session ended.

use crate::class::{Class, Draw};
use crate::id::HostId;
use crate::plan::{Fault, Harm, Target};
use crate::step::Step;
use rand::RngExt;

/// The database refuses a commit, or ends a session in the middle of its transaction.
pub(super) struct DbError;

impl Class for DbError {
    fn name(&self) -> &'static str {
        "db-error"
    }

    fn about(&self) -> &'static str {
        "the database refuses a commit (its disk is full), or ends a node's session in the middle of a transaction"
    }

    fn draw(&self, draw: &mut Draw<'_>) -> Vec<Fault> {
        let asks = |step: &Step| step.peer == Some(HostId::Database) && step.name != "tx.rollback";
        let refuses = draw.rng.random();
        let fits = |step: &Step| {
            asks(step) && if refuses { step.name == "tx.commit" } else { step.name.starts_with("tx.") && step.name != "tx.begin" }
        };
        let fitting = draw.steps.iter().any(fits);
        let Some(step) = draw.step(|step| if fitting { fits(&step) } else { asks(&step) }) else { return Vec::new() };
        let harm = if refuses { Harm::CommitFails { host: Target::Self_ } } else { Harm::SessionEnds { host: Target::Self_ } };
        vec![harm.when(draw.in_phase(step, crate::trace::Phase::Before))]
    }

    fn misses(&self, steps: &[Step]) -> Option<&'static str> {
        let asks = steps.iter().any(|s| s.peer == Some(HostId::Database));
        (!asks).then_some("it never asks the database anything")
    }
}
