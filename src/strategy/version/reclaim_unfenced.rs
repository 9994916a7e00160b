//! As published, and one thing more: a claim whose heartbeat is stale is claimed again.
//!
//! Nothing else changes, so that the table shows what this alone is good for and what it costs.
//! A dead claim no longer holds the period up, and a live one that was only held up is no longer
//! alone: neither the settlement nor the final status looks at the version. For the same reason
//! failed stays final here: a failure that gives the row back would be a second way to claim it
//! again, and a node that fails late would give back what is no longer its own.

use crate::class::FaultClass;
use crate::id::{Letter, PeriodId};
use crate::scenario::Rules;
use crate::settlement::{Decides, Period};
use crate::step::Step;
use crate::store::sql::{column, int};
use crate::strategy::context::WORK;
use crate::strategy::{Context, Error, Expectation, Policy, Scope, Strategy, body, claim, pinned, version};
use crate::time::WallTime;
use crate::trace::{Belief, TaskStatus};
use async_trait::async_trait;

/// Executing rows too: their heartbeat may grow stale.
const UNFINISHED: &str = "SELECT period FROM task WHERE status < 2 AND due <= $1 ORDER BY period";
const READ: &str = "SELECT status, version, heartbeat FROM task WHERE period = $1";
const CLAIM: &str = "UPDATE task SET status = 1, version = version + 1, heartbeat = $3 WHERE period = $1 AND version = $2";
const BEAT: &str = "UPDATE task SET heartbeat = $2 WHERE period = $1";

/// Pending or stale by the node's own clock, compare and set, job under a heartbeat, completed or failed.
pub struct ReclaimUnfenced;

impl ReclaimUnfenced {
    /// As [`version::claim`], for stale rows too.
    async fn claim(context: &Context, period: Period) -> Result<Option<Belief>, Error> {
        let rows = context.sql().query("task.read", READ, &[int(&period.id.0)]).await?;
        let Some(row) = rows.first() else { return Ok(Some(Belief::Busy)) };
        let (status, version, heartbeat): (i64, i64, Option<i64>) = (column(row, 0)?, column(row, 1)?, column(row, 2)?);
        let now = context.wall();
        let stale = |beat: i64| context.guard().stale_after < now.since(WallTime(beat));
        match TaskStatus::from_code(status) {
            Some(TaskStatus::Pending) => {}
            Some(TaskStatus::Executing) if heartbeat.is_some_and(stale) => {}
            Some(TaskStatus::Completed) => return Ok(Some(Belief::AlreadySettled)),
            Some(TaskStatus::Executing | TaskStatus::Failed | TaskStatus::Dead) | None => return Ok(Some(Belief::Busy)),
        }
        let claimed = context.sql().execute("task.claim", CLAIM, &[int(&period.id.0), int(&version), int(&now.0)]).await?;
        Ok((claimed == 0).then_some(Belief::Busy))
    }

    /// Work under a heartbeat, then the rest of the job.
    async fn job(context: &Context, period: Period) -> Result<Belief, Error> {
        // The heart stops beating before BEGIN: it shares the connection.
        tokio::select! {
            biased;
            worked = context.work() => worked?,
            never = Self::beat(context, period) => never,
        }
        body::settle(context, period).await
    }

    /// Beats for ever, whosever claim it is by now.
    async fn beat(context: &Context, period: Period) -> ! {
        loop {
            context.until_due(context.guard().heartbeat, async || ()).await;
            // A beat that fails is made up for by the next.
            let _ = context.sql().execute("task.heartbeat", BEAT, &[int(&period.id.0), int(&context.wall().0)]).await;
        }
    }
}

const STEPS: [Step; 19] = [
    Step::database("task.find"),
    Step::database("task.read"),
    Step::database("task.claim"),
    WORK[0],
    WORK[1],
    Step::database("task.heartbeat"),
    WORK[2],
    WORK[3],
    WORK[4],
    Step::database("tx.begin"),
    Step::database("tx.mark"),
    Step::database("tx.ranking"),
    Step::database("tx.points"),
    Step::database("tx.settlement"),
    Step::database("tx.commit"),
    Step::database("tx.rollback"),
    Step::payout("pay"),
    Step::database("task.done"),
    Step::database("task.fail"),
];

#[async_trait(?Send)]
impl Strategy for ReclaimUnfenced {
    fn name(&self) -> &'static str {
        "version-reclaim-unfenced"
    }

    fn about(&self) -> &'static str {
        "version-published with a heartbeat: a stale claim is claimed again, and nothing fences the settlement of the first"
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
        let twice = &[Letter::D];
        vec![
            Expectation::Must {
                class: FaultClass::Crash,
                letters: &[Letter::D, Letter::L],
                because: "the settlement is committed, its node dies before it can pay or say so in the row, and who claims it again settles nothing",
                plan: pinned::crash_after_the_commit,
            },
            Expectation::Must {
                class: FaultClass::Pause,
                letters: twice,
                because: "the heart of a paused claimer stops, another claims and settles, and the claimer wakes and settles again",
                plan: pinned::pause_in_the_job,
            },
            Expectation::Must {
                class: FaultClass::DbCut,
                letters: twice,
                because: "the settlement is committed, its node is cut off before it can say so in the row, and a stale row is claimed again",
                plan: pinned::cut_after_the_commit,
            },
            Expectation::must(
                FaultClass::Shutdown,
                twice,
                "whoever is told to stop beats no longer and works on; its job is late, another claims and settles, and so does the first",
                pinned::stopped_renewals_first_in_a_slow_job,
            ),
            Expectation::Must { class: FaultClass::JobError, letters: &[Letter::L], because: "failed is final", plan: pinned::job_error },
            Expectation::Never { scope: Scope::Every, letters: &[Letter::K], because: "a claim that nobody keeps alive is claimed again" },
        ]
    }

    async fn unsettled(&self, context: &mut Context) -> Result<Option<Vec<PeriodId>>, Error> {
        claim::find(context, UNFINISHED).await.map(Some)
    }

    async fn attempt(&self, context: &mut Context, period: Period) -> Result<Belief, Error> {
        if let Some(not_ours) = Self::claim(context, period).await? {
            return Ok(not_ours);
        }
        match Self::job(context, period).await {
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
