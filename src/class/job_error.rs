//! Job error: the job itself fails.

use crate::class::{Class, Draw};
use crate::plan::{Fault, Harm};
use crate::step::Step;
use crate::trace::Phase;
use rand::RngExt;

/// The job fails, once or several times.
pub(super) struct JobError;

impl Class for JobError {
    fn name(&self) -> &'static str {
        "job-error"
    }

    fn about(&self) -> &'static str {
        "the job fails at a step, once or several times"
    }

    fn draw(&self, draw: &mut Draw<'_>) -> Vec<Fault> {
        let Some(step) = draw.step(Step::is_work) else { return Vec::new() };
        let times = if draw.rng.random() { 1 } else { draw.rng.random_range(2..=5) };
        vec![Harm::JobError { times }.when(draw.in_phase(step, Phase::Before))]
    }

    fn misses(&self, steps: &[Step]) -> Option<&'static str> {
        steps.iter().all(|s| !s.is_work()).then_some("it declares no step of work")
    }
}
