//! What a run leaves behind in the stores, typed.

use crate::id::{HostId, PeriodId, PlayerId, TxId};
use crate::time::WallTime;
use crate::trace::TaskStatus;

/// The stores when the run is over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FinalState {
    /// `settlement`, in insertion order.
    pub settlements: Vec<SettlementRow>,
    /// `ranking`, in insertion order.
    pub rankings: Vec<RankingRow>,
    /// `points.points` of every player whose account is not zero, by player.
    pub points: Vec<(PlayerId, i64)>,
    /// `earnings`, in insertion order.
    pub earnings: Vec<EarningRow>,
    /// `task`, by period.
    pub tasks: Vec<TaskRow>,
    /// `outbox`, in insertion order.
    pub outbox: Vec<OutboxRow>,
    /// The lease store's live keys.
    pub leases: Vec<LeaseKey>,
    /// What was prepared and never ended: first the database's, then the payout service's.
    pub in_doubt: Vec<InDoubt>,
}

/// A row of `settlement`.
#[expect(missing_docs, reason = "the fields are the columns; `schema` says what they hold")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettlementRow {
    pub period: PeriodId,
    pub node: i64,
    pub attempt: i64,
    pub at: WallTime,
}

/// A row of `ranking`.
#[expect(missing_docs, reason = "the fields are the columns; `schema` says what they hold")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankingRow {
    pub period: PeriodId,
    pub rank: i64,
    pub player: PlayerId,
    pub points: i64,
}

/// A row of `earnings`.
#[expect(missing_docs, reason = "the fields are the columns; `schema` says what they hold")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EarningRow {
    pub id: i64,
    pub player: PlayerId,
    pub amount: i64,
    pub at: WallTime,
    pub settled_in: Option<PeriodId>,
}

/// A row of `task`.
#[expect(missing_docs, reason = "the fields are the columns; `schema` says what they hold")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskRow {
    pub period: PeriodId,
    pub status: TaskStatus,
    pub version: i64,
    pub attempt: i64,
}

/// A row of `outbox`.
#[expect(missing_docs, reason = "the fields are the columns; `schema` says what they hold")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutboxRow {
    pub id: i64,
    pub sent: bool,
}

/// A key in the lease store at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseKey {
    /// The host whose client it was granted to.
    pub holder: HostId,
    /// Whether it runs out by itself.
    pub expires: bool,
}

/// A part of a two-phase commit of which nobody has said how it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InDoubt {
    /// A prepared transaction of the database.
    Database(TxId),
    /// Prepared payments, by the number that the payout service gave them.
    Payout(u32),
}
