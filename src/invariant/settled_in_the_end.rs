//! settled_in_the_end
use crate::id::InvariantId;
use crate::invariant::{History, Invariant, Verdict};

pub struct SettledInTheEnd;

impl Invariant for SettledInTheEnd {
    fn id(&self) -> InvariantId {
        InvariantId::SettledInTheEnd
    }
    fn judge(&self, _: &History<'_>) -> Verdict {
        Verdict::Holds
    }
}
