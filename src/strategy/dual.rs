//! Both at once: a lease that saves work, and a version in the task row that decides. As an
//! article publishes it ([`Published`]), and hardened ([`Guard`]).

mod guard;

pub use guard::Guard;

use crate::class::FaultClass;
use crate::id::{Letter, PeriodId};
use crate::scenario::Rules;
use crate::settlement::{Decides, Period};
use crate::step::{Step, joined};
use crate::strategy::body::{self, JOB_STEPS};
use crate::strategy::{Context, Error, Expectation, Policy, Scope, Strategy, pinned, version};
use crate::trace::{Belief, TaskStatus};
use async_trait::async_trait;

const STEPS: [Step; 19] = joined(&[
    &[Step::database("task.find"), Step::lease("lease.acquire"), Step::database("task.read"), Step::database("task.claim")],
    &JOB_STEPS,
    &[Step::database("task.done"), Step::lease("lease.release")],
]);

/// The lease of a period's job.
fn key(period: Period) -> String {
    format!("job:{}", period.id.0)
}

/// Lease, status check, version update, job, `DEL` without looking.
pub struct Published;

impl Published {
    async fn under_lease(context: &Context, period: Period) -> Result<Belief, Error> {
        if let Some(not_ours) = version::claim(context, period).await? {
            return Ok(not_ours);
        }
        let settled = body::job(context, period).await?;
        version::set_status(context, "task.done", period, TaskStatus::Completed).await?;
        Ok(settled)
    }
}

#[async_trait(?Send)]
impl Strategy for Published {
    fn name(&self) -> &'static str {
        "dual-published"
    }

    fn about(&self) -> &'static str {
        "SET NX PX 30 min, claim the pending task row by its version, the job, DEL without looking"
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
                because: "the lease runs out, but the row says executing for ever",
                plan: pinned::crash_in_the_job,
            },
            Expectation::Must {
                class: FaultClass::ReplyLost,
                letters: stuck,
                because: "the claim was applied, and nobody believes it",
                plan: pinned::claim_reply_lost,
            },
            Expectation::Must {
                class: FaultClass::JobError,
                letters: stuck,
                because: "a failed job leaves the row executing, and only pending rows are claimed",
                plan: pinned::job_error,
            },
            Expectation::Never {
                scope: Scope::Every,
                letters: &[Letter::D],
                because: "the version decides, whatever happens to the lease",
            },
        ]
    }

    async fn unsettled(&self, context: &mut Context) -> Result<Option<Vec<PeriodId>>, Error> {
        version::pending(context).await.map(Some)
    }

    async fn attempt(&self, context: &mut Context, period: Period) -> Result<Belief, Error> {
        let key = key(period);
        if !context.lease().set_nx_px("lease.acquire", &key, "1", context.guard().lease).await? {
            return Ok(Belief::Busy);
        }
        let done = Self::under_lease(context, period).await;
        // Whatever lease is there now: ours may have run out long ago.
        let _ = context.lease().del("lease.release", &key).await;
        done
    }
}
