//! The unique marker of a period: its settlement row, inserted unless it is there. In the
//! transaction of the effect it lets one settlement commit, whoever begins one.

use crate::settlement::Period;
use crate::store::sql::{Text, int};
use crate::strategy::{Context, Error};
use crate::time::WallTime;

/// MySQL has no ON CONFLICT. Of its two ways to pass over a duplicate, `ON DUPLICATE KEY UPDATE`
/// reports one row in both cases to a client that counts found rows. `IGNORE` reports none for a
/// duplicate; it would turn other errors into warnings too, but four numbers that are never NULL
/// in four `bigint` columns leave it none.
const MARKER: Text = Text::new(
    "INSERT INTO settlement (period, node, attempt, at) VALUES ($1, $2, $3, $4) ON CONFLICT (period) DO NOTHING",
    "INSERT IGNORE INTO settlement (period, node, attempt, at) VALUES ($1, $2, $3, $4)",
);

/// Marks a period as settled, as the step `tx.marker`; false: it was before. The strategy has a
/// unique marker ([`crate::strategy::Strategy::unique_marker`]).
///
/// # Errors
/// As every step.
pub async fn mark(context: &Context, period: Period, now: WallTime) -> Result<bool, Error> {
    let (node, attempt) = (i64::from(context.attempt().node.0), i64::from(context.attempt().number));
    let marker = [int(&period.id.0), int(&node), int(&attempt), int(&now.0)];
    Ok(context.sql().execute("tx.marker", MARKER, &marker).await? == 1)
}
