//! The claims in task rows, as the database committed them.

use crate::id::{HostId, PeriodId};
use crate::invariant::settlements::transactions;
use crate::time::SimTime;
use crate::trace::{Event, TaskStatus, Trace};

/// A node took a period for itself by setting its task row to executing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    pub period: PeriodId,
    /// The host of the session that wrote it.
    pub by: HostId,
    pub at: SimTime,
    /// The order of commits.
    pub position: usize,
}

/// All claims, in the order of their commits. A write that leaves status, version and
/// attempt as they were is a heartbeat, whoever sent it, and claims nothing.
pub fn claims(trace: &Trace) -> Vec<Claim> {
    let mut rows: Vec<(PeriodId, TaskStatus, i64, i64)> = Vec::with_capacity(8);
    let mut found = Vec::with_capacity(8);
    for tx in transactions(trace) {
        for record in tx.rows {
            let Event::TaskSet { period, status, version, attempt, .. } = record.event else { continue };
            let new = (period, status, version, attempt);
            let changed = if let Some(row) = rows.iter_mut().find(|row| row.0 == period) {
                std::mem::replace(row, new) != new
            } else {
                rows.push(new);
                true
            };
            if changed && status == TaskStatus::Executing {
                found.push(Claim { period, by: tx.by, at: tx.at, position: tx.position });
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariant::script::{N0, N1, P1, Script};
    use crate::time::Span;

    /// n0 claims, n1 reclaims, and the late heartbeat of n0 changes nothing in the row.
    #[test]
    fn a_heartbeat_is_no_claim() {
        let mut told = Script::new();
        told.after(P1, 1.minutes()).task(HostId::Traffic, P1, TaskStatus::Pending, 0).claim(N0, P1, 1);
        told.after(P1, 9.minutes()).claim(N1, P1, 2);
        told.after(P1, 10.minutes()).claim(N0, P1, 2);
        assert_eq!(claims(&told.trace).iter().map(|c| c.by).collect::<Vec<_>>(), [N0, N1]);
    }
}
