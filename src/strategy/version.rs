//! An optimistic version in the task row, as published: whoever raises it runs the job.

use crate::class::FaultClass;
use crate::id::{Letter, PeriodId};
use crate::settlement::{Decides, Period};
use crate::step::{Step, joined};
use crate::store::sql::{column, int};
use crate::strategy::body::{self, JOB_STEPS};
use crate::strategy::{Context, Error, Expectation, Policy, Scope, Strategy, pinned};
use crate::trace::{Belief, StepName, TaskStatus};
use async_trait::async_trait;

const PENDING: &str = "SELECT period FROM task WHERE status = 0 AND due <= $1 ORDER BY period";
const READ: &str = "SELECT status, version FROM task WHERE period = $1";
const CLAIM: &str = "UPDATE task SET status = 1, version = version + 1 WHERE period = $1 AND version = $2";
const SET: &str = "UPDATE task SET status = $2 WHERE period = $1";

/// Periods that are due by the node's own clock and still pending.
pub(super) async fn pending(context: &Context) -> Result<Vec<PeriodId>, Error> {
    let rows = context.sql().query("task.find", PENDING, &[int(&context.wall().0)]).await?;
    let mut pending = Vec::with_capacity(rows.len());
    for row in &rows {
        pending.push(PeriodId(column(row, 0)?));
    }
    Ok(pending)
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

const STEPS: [Step; 18] = joined(&[
    &[Step::database("task.find"), Step::database("task.read"), Step::database("task.claim")],
    &JOB_STEPS,
    &[Step::database("task.done"), Step::database("task.fail")],
]);

/// Read, compare and set, job, completed or failed.
pub struct Published;

#[async_trait(?Send)]
impl Strategy for Published {
    fn name(&self) -> &'static str {
        "version-published"
    }

    fn about(&self) -> &'static str {
        "claim the pending task row by its version, run the job, set the row to completed or failed without looking"
    }

    fn policy(&self) -> Policy {
        Policy::Retry
    }

    fn decides(&self) -> Decides {
        Decides::TaskRow
    }

    fn steps(&self) -> &'static [Step] {
        &STEPS
    }

    fn expectations(&self) -> Vec<Expectation> {
        let stuck = &[Letter::K, Letter::L];
        vec![
            Expectation::Must {
                class: FaultClass::Crash,
                letters: stuck,
                because: "the row says executing, its runner is dead, and only pending rows are claimed",
                plan: pinned::crash_in_the_job,
            },
            Expectation::Must {
                class: FaultClass::Power,
                letters: stuck,
                because: "the row says executing, its runner is dead, and only pending rows are claimed",
                plan: pinned::power_cut_in_the_job,
            },
            Expectation::Must {
                class: FaultClass::ReplyLost,
                letters: stuck,
                because: "the claim was applied, and nobody believes it",
                plan: pinned::claim_reply_lost,
            },
            Expectation::Must { class: FaultClass::JobError, letters: &[Letter::L], because: "failed is final", plan: pinned::job_error },
            Expectation::Never {
                scope: Scope::Every,
                letters: &[Letter::D],
                because: "a pending row is claimed at most once, and a claim is never taken over",
            },
        ]
    }

    async fn unsettled(&self, context: &mut Context) -> Result<Option<Vec<PeriodId>>, Error> {
        pending(context).await.map(Some)
    }

    async fn attempt(&self, context: &mut Context, period: Period) -> Result<Belief, Error> {
        if let Some(not_ours) = claim(context, period).await? {
            return Ok(not_ours);
        }
        match body::job(context, period).await {
            Ok(settled) => {
                set_status(context, "task.done", period, TaskStatus::Completed).await?;
                Ok(settled)
            }
            Err(error) => {
                set_status(context, "task.fail", period, TaskStatus::Failed).await?;
                Err(error)
            }
        }
    }
}
