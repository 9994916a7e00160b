//! A timestamp for a version: the second in which the row was last written.
//!
//! Two writes in one second leave it as it was, and then a claim does not see the one before it.
//! As code with such a column does, every write sets it from the writer's own clock, the status
//! is looked at when the row is read and not when it is claimed, and a failed job puts the row
//! back to pending.

use crate::class::FaultClass;
use crate::id::{Letter, PeriodId};
use crate::scenario::Rules;
use crate::settlement::{Decides, Period};
use crate::step::{Step, joined};
use crate::store::sql::{column, int};
use crate::strategy::body::{self, JOB_STEPS};
use crate::strategy::version::{self, same_second::same_second};
use crate::strategy::{Context, Error, Expectation, Policy, Strategy};
use crate::trace::{Belief, StepName, TaskStatus};
use async_trait::async_trait;

const READ: &str = "SELECT status, updated FROM task WHERE period = $1";
/// Nothing is decided by the attempts that the row counts.
const CLAIM: &str = "UPDATE task SET status = 1, attempt = attempt + 1, updated = $3 WHERE period = $1 AND updated = $2";
const SET: &str = "UPDATE task SET status = $2, updated = $3 WHERE period = $1";

const STEPS: [Step; 18] = joined(&[
    &[Step::database("task.find"), Step::database("task.read"), Step::database("task.claim")],
    &JOB_STEPS,
    &[Step::database("task.done"), Step::database("task.give-back")],
]);

/// Read, compare and set by the second of the last write, job, completed or pending again.
pub struct Timestamp;

impl Timestamp {
    /// As [`version::claim`], with the second of the last write in the place of the version.
    async fn claim(context: &Context, period: Period) -> Result<Option<Belief>, Error> {
        let rows = context.sql().query("task.read", READ, &[int(&period.id.0)]).await?;
        let Some(row) = rows.first() else { return Ok(Some(Belief::Busy)) };
        let (status, updated): (i64, i64) = (column(row, 0)?, column(row, 1)?);
        match TaskStatus::from_code(status) {
            Some(TaskStatus::Pending) => {}
            Some(TaskStatus::Completed) => return Ok(Some(Belief::AlreadySettled)),
            Some(TaskStatus::Executing | TaskStatus::Failed | TaskStatus::Dead) | None => return Ok(Some(Belief::Busy)),
        }
        let claimed = context.sql().execute("task.claim", CLAIM, &[int(&period.id.0), int(&updated), int(&second(context))]).await?;
        Ok((claimed == 0).then_some(Belief::Busy))
    }

    /// Sets the row's status without looking at the version.
    async fn set_status(context: &Context, step: StepName, period: Period, status: TaskStatus) -> Result<(), Error> {
        context.sql().execute(step, SET, &[int(&period.id.0), int(&status.code()), int(&second(context))]).await?;
        Ok(())
    }
}

/// The second that the node's own clock shows, counted from the epoch.
fn second(context: &Context) -> i64 {
    context.wall().0.div_euclid(1_000)
}

#[async_trait(?Send)]
impl Strategy for Timestamp {
    fn name(&self) -> &'static str {
        "version-timestamp"
    }

    fn about(&self) -> &'static str {
        "claim the pending task row by the second of its last write, run the job, set the row to completed, or to pending on error"
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

    fn expectations(&self, rules: Rules) -> Vec<Expectation> {
        if rules.refuses_changed_rows() {
            // Both claims are made, but their settlements meet, and one of them fails.
            return Vec::new();
        }
        vec![Expectation::Must {
            class: FaultClass::Swarm,
            letters: &[Letter::D],
            because: "the row was last written in the second of two claims, and neither sees the other",
            plan: same_second,
        }]
    }

    async fn unsettled(&self, context: &mut Context) -> Result<Option<Vec<PeriodId>>, Error> {
        version::pending(context).await.map(Some)
    }

    async fn attempt(&self, context: &mut Context, period: Period) -> Result<Belief, Error> {
        if let Some(not_ours) = Self::claim(context, period).await? {
            return Ok(not_ours);
        }
        match body::job(context, period).await {
            Ok(settled) => {
                Self::set_status(context, "task.done", period, TaskStatus::Completed).await?;
                Ok(settled)
            }
            Err(error) => {
                Self::set_status(context, "task.give-back", period, TaskStatus::Pending).await?;
                Err(error)
            }
        }
    }
}
