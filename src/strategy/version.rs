//! An optimistic version in the task row: whoever raises it runs the job. As an article
//! publishes it, with a way back for dead claims that nothing fences, with an attempt number
//! that fences, and with a timestamp for a version.

mod published;
mod reclaim;
mod reclaim_unfenced;
mod same_second;
mod timestamp;

pub use published::Published;
pub use reclaim::Reclaim;
pub use reclaim_unfenced::ReclaimUnfenced;
pub use timestamp::Timestamp;

use crate::id::PeriodId;
use crate::settlement::Period;
use crate::store::sql::{column, int};
use crate::strategy::{Context, Error, claim};
use crate::trace::{Belief, StepName, TaskStatus};

const PENDING: &str = "SELECT period FROM task WHERE status = 0 AND due <= $1 ORDER BY period";
const READ: &str = "SELECT status, version FROM task WHERE period = $1";
const CLAIM: &str = "UPDATE task SET status = 1, version = version + 1 WHERE period = $1 AND version = $2";
const SET: &str = "UPDATE task SET status = $2 WHERE period = $1";

/// Periods that are due by the node's own clock and still pending.
pub(super) async fn pending(context: &Context) -> Result<Vec<PeriodId>, Error> {
    claim::find(context, PENDING).await
}

/// Reads the row and raises its version: `None` if the claim is ours, else why it is not. An
/// answer that is lost counts as a failure, although the claim may have been applied.
pub(super) async fn claim(context: &Context, period: Period) -> Result<Option<Belief>, Error> {
    let rows = context.sql().query("task.read", READ, &[int(&period.id.0)]).await?;
    let Some(row) = rows.first() else { return Ok(Some(Belief::Busy)) };
    let (status, version): (i64, i64) = (column(row, 0)?, column(row, 1)?);
    match TaskStatus::from_code(status) {
        Some(TaskStatus::Pending) => {}
        Some(TaskStatus::Completed) => return Ok(Some(Belief::AlreadySettled)),
        Some(TaskStatus::Executing | TaskStatus::Failed | TaskStatus::Dead) | None => return Ok(Some(Belief::Busy)),
    }
    let claimed = context.sql().execute("task.claim", CLAIM, &[int(&period.id.0), int(&version)]).await?;
    Ok((claimed == 0).then_some(Belief::Busy))
}

/// Sets the row's status without looking at the version.
pub(super) async fn set_status(context: &Context, step: StepName, period: Period, status: TaskStatus) -> Result<(), Error> {
    context.sql().execute(step, SET, &[int(&period.id.0), int(&status.code())]).await?;
    Ok(())
}
