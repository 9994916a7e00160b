//! What the settlement table and the outbox tell a node about what is left to do.

use crate::id::PeriodId;
use crate::store::sql::column;
use crate::strategy::{Context, Error};

/// Periods that are settled, with nothing left to deliver.
const FINISHED: &str =
    "SELECT period FROM settlement WHERE NOT EXISTS (SELECT 1 FROM outbox WHERE sent = 0 AND id / 10 = settlement.period)";

/// Periods that are due by the node's own clock, and not finished.
///
/// # Errors
/// As every step.
pub async fn unfinished(context: &Context) -> Result<Vec<PeriodId>, Error> {
    let rows = context.sql().query("settled.find", FINISHED, &[]).await?;
    let mut finished = Vec::with_capacity(rows.len());
    for row in &rows {
        finished.push(PeriodId(column(row, 0)?));
    }
    let due = context.calendar().due_at(context.wall()).map(|period| period.id);
    Ok(due.filter(|id| !finished.contains(id)).collect())
}
