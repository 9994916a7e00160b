//! no_stale_commit
use crate::id::InvariantId;
use crate::invariant::{History, Invariant, Verdict};

pub struct NoStaleCommit;

impl Invariant for NoStaleCommit {
    fn id(&self) -> InvariantId {
        InvariantId::NoStaleCommit
    }
    fn judge(&self, _: &History<'_>) -> Verdict {
        Verdict::Holds
    }
}
