//! As published: whoever raises the version runs the job, and only pending rows are claimed.

use crate::class::FaultClass;
use crate::id::{Letter, PeriodId};
use crate::scenario::Rules;
use crate::settlement::{Decides, Period};
use crate::step::{Step, joined};
use crate::strategy::body::{self, JOB_STEPS};
use crate::strategy::{Context, Error, Expectation, Policy, Scope, Strategy, pinned, version};
use crate::trace::{Belief, TaskStatus};
use async_trait::async_trait;

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

    fn expectations(&self, _: Rules) -> Vec<Expectation> {
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
            Expectation::must(
                FaultClass::DbError,
                &[Letter::L],
                "a commit that is refused is a failure of the job, and failed is final",
                pinned::commit_refused,
            ),
            Expectation::Never {
                scope: Scope::Every,
                letters: &[Letter::D],
                because: "a pending row is claimed at most once, and a claim is never taken over",
            },
        ]
    }

    async fn unsettled(&self, context: &mut Context) -> Result<Option<Vec<PeriodId>>, Error> {
        version::pending(context).await.map(Some)
    }

    async fn attempt(&self, context: &mut Context, period: Period) -> Result<Belief, Error> {
        if let Some(not_ours) = version::claim(context, period).await? {
            return Ok(not_ours);
        }
        match body::job(context, period).await {
            Ok(settled) => {
                version::set_status(context, "task.done", period, TaskStatus::Completed).await?;
                Ok(settled)
            }
            Err(error) => {
                version::set_status(context, "task.fail", period, TaskStatus::Failed).await?;
                Err(error)
            }
        }
    }
}
