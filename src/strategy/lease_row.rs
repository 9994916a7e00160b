//! A lease in a row of the database, taken for one attempt a period: `UPDATE … WHERE lock_until
//! <= now`, insert if there is none, the job, and back with it, but not before its least time.
//!
//! By the nodes' own clocks a row says more than it means to. Whoever comes for a period compares
//! it with a clock that shows the boundary, and whoever took it wrote down a time after the same
//! boundary by his: how far the two clocks are apart does not matter. By the database's clock it
//! does. What neither survives is a node that comes later than the row is kept, its clock right.

use crate::class::FaultClass;
use crate::id::Letter;
use crate::scenario::{LeaseRowKnobs, RowKey, Rules};
use crate::settlement::{Decides, Period};
use crate::step::Step;
use crate::strategy::context::WORK;
use crate::strategy::row_lease::RowLease;
use crate::strategy::{Context, Error, Expectation, Policy, Strategy, body, pinned};
use crate::trace::Belief;
use async_trait::async_trait;
use std::future::pending;
use std::time::Duration;

const STEPS: [Step; 17] = [
    Step::database("row.update"),
    Step::database("row.insert"),
    WORK[0],
    WORK[1],
    Step::database("row.extend"),
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
    Step::database("row.release"),
];

/// One attempt a period under a lease row.
pub struct LeaseRow;

impl LeaseRow {
    fn lease(knobs: &LeaseRowKnobs, period: Period) -> RowLease {
        let key = match knobs.key {
            RowKey::Job => "settlement".to_owned(),
            RowKey::Period => format!("settlement-{}", period.id.0),
        };
        RowLease { key, lasts: knobs.at_most, clock: knobs.clock, over: knobs.over }
    }

    /// The job, with the lease extended while it is at work.
    async fn job(context: &Context, period: Period, lease: &RowLease) -> Result<Belief, Error> {
        // From BEGIN on nothing is extended: it shares the connection.
        tokio::select! {
            biased;
            worked = context.work() => worked?,
            never = Self::keep_alive(context, lease, context.scenario().lease_row.keep_alive) => never,
        }
        body::settle(context, period).await
    }

    /// Extends until that fails. The job is not told.
    async fn keep_alive(context: &Context, lease: &RowLease, every: Duration) -> ! {
        while !every.is_zero() {
            context.sleep(every).await;
            if !matches!(lease.extend(context).await, Ok(true)) {
                break;
            }
        }
        pending().await
    }
}

#[async_trait(?Send)]
impl Strategy for LeaseRow {
    fn name(&self) -> &'static str {
        "lease-row"
    }

    fn about(&self) -> &'static str {
        "a lease in a row: UPDATE where lock_until <= now, insert if missing, the job, kept for at least 10 min; one attempt a period"
    }

    fn policy(&self) -> Policy {
        Policy::Skip
    }

    fn decides(&self) -> Decides {
        Decides::LeaseStore
    }

    fn steps(&self) -> &'static [Step] {
        &STEPS
    }

    fn expectations(&self, _: Rules) -> Vec<Expectation> {
        vec![
            Expectation::must(
                FaultClass::Skew,
                &[Letter::E],
                "nothing but a node's own clock says that the period has ended",
                pinned::one_node_fast,
            ),
            Expectation::never_under(
                FaultClass::Skew,
                &[Letter::D],
                "whoever comes finds the row kept until some time after the boundary that its own clock shows now",
            ),
            Expectation::must(
                FaultClass::Pause,
                &[Letter::D],
                "a node sleeps through the boundary, its timer is overdue when it wakes, and the row is over",
                pinned::pause_over_the_boundary,
            ),
            Expectation::must(
                FaultClass::Crash,
                &[Letter::L],
                "the others were refused and do not come back, and the holder is dead",
                pinned::crash_in_the_job,
            ),
            Expectation::must(FaultClass::JobError, &[Letter::L], "the others were refused and do not come back", pinned::job_error),
        ]
    }

    async fn attempt(&self, context: &mut Context, period: Period) -> Result<Belief, Error> {
        let knobs = &context.scenario().lease_row;
        let lease = Self::lease(knobs, period);
        let Some(since) = lease.take(context).await? else { return Ok(Belief::Busy) };
        let done = Self::job(context, period, &lease).await;
        // What is left of a failed transaction would swallow the release.
        context.sql().give_up_transaction();
        // If this fails, the row is over by itself.
        let _ = lease.give_back(context, since, knobs.at_least).await;
        done
    }
}
