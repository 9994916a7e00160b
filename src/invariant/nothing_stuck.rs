//! nothing_stuck
use crate::id::InvariantId;
use crate::invariant::{History, Invariant, Verdict};

pub struct NothingStuck;

impl Invariant for NothingStuck {
    fn id(&self) -> InvariantId {
        InvariantId::NothingStuck
    }
    fn judge(&self, _: &History<'_>) -> Verdict {
        Verdict::Holds
    }
}
