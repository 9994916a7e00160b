//! PostgreSQL's advisory lock around the job: the session is the lease. It cannot run out, so
//! whoever sleeps keeps it, and whoever loses the connection has lost it without being told. A client
//! that falls silent keeps it until the server's kernel finds that out, two hours later. Who
//! sleeps between its look at the settlement table and the lock finds the lock free, and settles again.

use crate::class::FaultClass;
use crate::id::Letter;
use crate::scenario::Rules;
use crate::settlement::Period;
use crate::step::{Step, joined};
use crate::strategy::body::{self, JOB_STEPS};
use crate::strategy::{Context, Error, Expectation, Policy, Strategy, pinned};
use crate::trace::Belief;
use async_trait::async_trait;

/// The number that means the settlement.
const TAKE: &str = "SELECT pg_try_advisory_lock(20260110)";
const GIVE_BACK: &str = "SELECT pg_advisory_unlock(20260110)";

const STEPS: [Step; 16] =
    joined(&[&[Step::database("check.settled"), Step::database("advisory.take")], &JOB_STEPS, &[Step::database("advisory.give-back")]]);

/// Take, job, give back, on one connection.
pub struct AdvisoryLock;

#[async_trait(?Send)]
impl Strategy for AdvisoryLock {
    fn name(&self) -> &'static str {
        "advisory-lock"
    }

    fn about(&self) -> &'static str {
        "a session's advisory lock around the job; the database gives it to the next when the connection is gone"
    }

    fn policy(&self) -> Policy {
        Policy::RetryChecked
    }

    fn steps(&self) -> &'static [Step] {
        &STEPS
    }

    fn runs_under(&self, rules: Rules) -> bool {
        !rules.is_innodb()
    }

    fn expectations(&self, _: Rules) -> Vec<Expectation> {
        vec![
            Expectation::must(
                FaultClass::Pause,
                &[Letter::D],
                "who stops between its look at the settlement table and the lock finds the lock free, and settles again",
                pinned::pause_before_the_lock,
            ),
            Expectation::must(
                FaultClass::DbRestart,
                &[Letter::D],
                "the lock dies with its session; the holder works on, connects anew and settles, and so does the next holder",
                pinned::database_restarts_in_the_job,
            ),
        ]
    }

    async fn attempt(&self, context: &mut Context, period: Period) -> Result<Belief, Error> {
        let rows = context.sql().query("advisory.take", TAKE, &[]).await?;
        let taken = rows.first().is_some_and(|row| crate::store::sql::column(row, 0).unwrap_or(false));
        if !taken {
            return Ok(Belief::Busy);
        }
        let done = body::job(context, period).await;
        // If this fails, the lock goes with the connection.
        let _ = context.sql().query("advisory.give-back", GIVE_BACK, &[]).await;
        done
    }
}
