//! Redelivery: a message that was handed out is handed out again, as brokers promise (at least once).

use crate::class::{Class, Draw};
use crate::plan::{Fault, Harm, Trigger};
use crate::step::Step;
use crate::trace::Phase;
use rand::seq::IndexedRandom;

/// The message that was taken last is there once more, most often while somebody works on it, or just after.
pub(super) struct Redelivery;

impl Class for Redelivery {
    fn name(&self) -> &'static str {
        "redelivery"
    }

    fn about(&self) -> &'static str {
        "the queue hands out once more what was taken last, while somebody works on it or afterwards"
    }

    fn draw(&self, draw: &mut Draw<'_>) -> Vec<Fault> {
        vec![Harm::Redeliver.when(after_a_delivery(draw))]
    }

    fn misses(&self, steps: &[Step]) -> Option<&'static str> {
        (!steps.iter().any(|step| takes(*step))).then_some("it takes nothing out of a queue")
    }
}

/// Whether a step takes a message: by its name, which is all that a plan knows of it.
fn takes(step: Step) -> bool {
    step.name.strip_prefix("queue.").is_some_and(|what| matches!(what, "pop" | "take"))
}

/// At a step behind the one that takes the message: who is there has it.
fn after_a_delivery(draw: &mut Draw<'_>) -> Trigger {
    let taken = draw.steps.iter().position(|step| takes(*step)).map_or(0, |place| place + 1);
    // Rolling back belongs to no calm attempt, and would hardly ever strike.
    let behind: Vec<Step> = draw.steps[taken..].iter().copied().filter(|step| step.name != "tx.rollback").collect();
    match behind.choose(&mut draw.rng) {
        Some(step) => draw.in_phase(*step, Phase::After),
        None => draw.near_a_boundary(),
    }
}
