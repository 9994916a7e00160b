//! paid_once
use crate::id::InvariantId;
use crate::invariant::{History, Invariant, Verdict};

pub struct PaidOnce;

impl Invariant for PaidOnce {
    fn id(&self) -> InvariantId {
        InvariantId::PaidOnce
    }
    fn judge(&self, _: &History<'_>) -> Verdict {
        Verdict::Holds
    }
}
