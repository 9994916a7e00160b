//! not_early
use crate::id::InvariantId;
use crate::invariant::{History, Invariant, Verdict};

pub struct NotEarly;

impl Invariant for NotEarly {
    fn id(&self) -> InvariantId {
        InvariantId::NotEarly
    }
    fn judge(&self, _: &History<'_>) -> Verdict {
        Verdict::Holds
    }
}
