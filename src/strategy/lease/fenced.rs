//! The renewed lease with a fence behind it.
//!
//! 1. The lease keeps the other nodes from working in vain. It decides nothing.
//! 2. Whoever is granted it takes a token: the fence row counts up. From then on every older
//!    token is stale, whatever its holder believes.
//! 3. The settlement transaction locks the fence row if its token is still the newest and the
//!    period is not settled, in one statement; else it rolls back. A node that wants a newer
//!    token waits until the transaction has ended, so nothing can change before its commit.
//! 4. Payments go through the outbox, so a crash after the commit leaves them to any node.

use super::KEY;
use super::watchdog::{Ask, Watchdog};
use crate::id::{Letter, PeriodId};
use crate::scenario::Rules;
use crate::settlement::{Decides, Period};
use crate::step::Step;
use crate::store::StoreError;
use crate::store::sql::{Returning, column, int};
use crate::strategy::body::Due;
use crate::strategy::context::WORK;
use crate::strategy::owned_lease::OwnedLease;
use crate::strategy::payment::{self, Queued};
use crate::strategy::{Context, Error, Expectation, Policy, Strategy, body};
use crate::trace::Belief;
use async_trait::async_trait;

const TOKEN: Returning = Returning {
    postgres: "UPDATE fence SET token = token + 1 WHERE name = 'settlement' RETURNING token",
    mysql_lock: "SELECT token + 1 FROM fence WHERE name = 'settlement' FOR UPDATE",
    mysql_update: "UPDATE fence SET token = token + 1 WHERE name = 'settlement'",
};
const CURRENT: &str = "SELECT token FROM fence WHERE name = 'settlement' AND token = $1 \
     AND NOT EXISTS (SELECT 1 FROM settlement WHERE period = $2) FOR UPDATE";

/// Watchdog lease, fence token, good body, outbox.
pub struct LeaseFenced;

impl LeaseFenced {
    async fn under_lease(context: &Context, period: Period, watchdog: &Watchdog) -> Result<Belief, Error> {
        let token = Self::token(context).await?;
        watchdog.work(context).await?;
        let Some(queued) = Self::settle(context, period, token).await? else { return Ok(Belief::Busy) };
        payment::deliver(context, &queued).await?;
        Ok(Belief::Settled)
    }

    /// A token newer than all before.
    async fn token(context: &Context) -> Result<i64, Error> {
        let rows = context.sql().returning("fence.token", &TOKEN, &[]).await?;
        let row = rows.first().ok_or_else(|| StoreError::rejected("the fence row is missing"))?;
        Ok(column(row, 0)?)
    }

    /// The settlement transaction; `None` if the period is not due or settled, or a newer token was taken.
    async fn settle(context: &Context, period: Period, token: i64) -> Result<Option<Vec<Queued>>, Error> {
        context
            .sql()
            .transaction(async || {
                let Some(Due { period, now }) = body::due(context, period).await? else { return Ok(None) };
                if context.sql().query("tx.fence", CURRENT, &[int(&token), int(&period.id.0)]).await?.is_empty() {
                    return Ok(None);
                }
                body::settle_queued(context, period, i64::from(context.attempt().number), now).await.map(Some)
            })
            .await
    }
}

const STEPS: [Step; 23] = [
    Step::database("settled.find"),
    Step::database("outbox.find"),
    Step::lease("lease.acquire"),
    Step::database("fence.token"),
    WORK[0],
    Step::lease("lease.renew"),
    WORK[1],
    WORK[2],
    WORK[3],
    WORK[4],
    Step::database("tx.begin"),
    Step::database("tx.due"),
    Step::database("tx.fence"),
    Step::database("tx.mark"),
    Step::database("tx.ranking"),
    Step::database("tx.points"),
    Step::database("tx.settlement"),
    Step::database("tx.outbox"),
    Step::database("tx.commit"),
    Step::database("tx.rollback"),
    Step::payout("outbox.pay"),
    Step::database("outbox.sent"),
    Step::lease("lease.release"),
];

#[async_trait(?Send)]
impl Strategy for LeaseFenced {
    fn name(&self) -> &'static str {
        "lease-fenced"
    }

    fn about(&self) -> &'static str {
        "a renewed lease saves work, a token in the fence row decides, payments go through an outbox"
    }

    fn policy(&self) -> Policy {
        Policy::Retry
    }

    fn decides(&self) -> Decides {
        Decides::FenceRow
    }

    fn steps(&self) -> &'static [Step] {
        &STEPS
    }

    fn expectations(&self, _: Rules) -> Vec<Expectation> {
        vec![Expectation::never(
            &Letter::ALL,
            "the transaction commits only for the newest token and a period that is due and not settled, a lease of the dead runs out, and what was decided is delivered under a key",
        )]
    }

    async fn unsettled(&self, context: &mut Context) -> Result<Option<Vec<PeriodId>>, Error> {
        body::unfinished(context).await.map(Some)
    }

    async fn attempt(&self, context: &mut Context, period: Period) -> Result<Belief, Error> {
        // A settled period with something left to deliver needs neither lease nor job.
        if payment::deliver_left(context, period).await? {
            return Ok(Belief::AlreadySettled);
        }
        let (ttl, every) = (context.guard().watchdog_lease, context.guard().renew_every);
        let Some(lease) = OwnedLease::acquire(context, KEY.to_owned(), ttl, every).await? else { return Ok(Belief::Busy) };
        let watchdog = Watchdog::start(context, lease.clone(), Ask::Ours);
        let done = Self::under_lease(context, period, &watchdog).await;
        watchdog.stop();
        lease.release(context).await;
        done
    }
}
