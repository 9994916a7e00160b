//! Reply lost: a request applied, its answer lost.

use crate::class::{Class, Draw};
use crate::plan::{Fault, Harm, Target};
use crate::step::Step;
use crate::trace::Phase;

/// The answer to one client operation is lost.
pub(super) struct ReplyLost;

impl Class for ReplyLost {
    fn name(&self) -> &'static str {
        "reply-lost"
    }

    fn about(&self) -> &'static str {
        "one request is applied, its answer never arrives"
    }

    fn draw(&self, draw: &mut Draw<'_>) -> Vec<Fault> {
        let Some(step) = draw.step(|s| !s.is_work()) else { return Vec::new() };
        // In the middle of the step: what a client library says before the request that counts is answered as usual.
        vec![Harm::ReplyLost { host: Target::Self_, from: Target::Peer }.when(draw.in_phase(step, Phase::Sent))]
    }

    fn misses(&self, steps: &[Step]) -> Option<&'static str> {
        steps.iter().all(|s| s.is_work()).then_some("it asks no server anything")
    }
}
