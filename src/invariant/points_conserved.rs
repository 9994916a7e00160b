//! points_conserved
use crate::id::InvariantId;
use crate::invariant::{History, Invariant, Verdict};

pub struct PointsConserved;

impl Invariant for PointsConserved {
    fn id(&self) -> InvariantId {
        InvariantId::PointsConserved
    }
    fn judge(&self, _: &History<'_>) -> Verdict {
        Verdict::Holds
    }
}
