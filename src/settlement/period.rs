//! A settlement period, and what decides who may settle it.

use crate::id::PeriodId;
use crate::time::WallTime;

/// One settlement period. It is half-open: what is earned exactly at `due` belongs to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    /// Its name.
    pub id: PeriodId,
    /// The calendar instant at which it ends and its settlement becomes due.
    pub due: WallTime,
}

/// The record by which a strategy decides whose settlement is current. An invariant needs
/// it to tell a stale commit from a good one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decides {
    /// No claim is recorded anywhere before the settlement itself.
    Nothing,
    /// The newest grant of the lease store, or of a lease row.
    LeaseStore,
    /// The newest claim in the period's task row.
    TaskRow,
    /// The newest token in the fence row.
    FenceRow,
    /// The newest grant of the replicated log.
    Log,
}
