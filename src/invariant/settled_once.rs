//! settled_once
use crate::id::InvariantId;
use crate::invariant::{History, Invariant, Verdict};

pub struct SettledOnce;

impl Invariant for SettledOnce {
    fn id(&self) -> InvariantId {
        InvariantId::SettledOnce
    }
    fn judge(&self, _: &History<'_>) -> Verdict {
        Verdict::Holds
    }
}
