//! ranking_right
use crate::id::InvariantId;
use crate::invariant::{History, Invariant, Verdict};

pub struct RankingRight;

impl Invariant for RankingRight {
    fn id(&self) -> InvariantId {
        InvariantId::RankingRight
    }
    fn judge(&self, _: &History<'_>) -> Verdict {
        Verdict::Holds
    }
}
