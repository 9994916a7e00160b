//! Calm: nothing goes wrong.

use crate::class::{Class, Draw, Mixes};
use crate::plan::Fault;

/// Nothing goes wrong.
pub(super) struct Calm;

impl Class for Calm {
    fn name(&self) -> &'static str {
        "calm"
    }

    fn about(&self) -> &'static str {
        "nothing goes wrong"
    }

    fn draw(&self, _: &mut Draw<'_>) -> Vec<Fault> {
        Vec::new()
    }

    fn mixes(&self) -> Mixes {
        Mixes::Never
    }
}
