//! A claim in the task row that numbers its attempt, and what follows from one.
//!
//! 1. The claim raises the attempt number, by the database's clock: pending rows, failed rows
//!    whose backoff has passed, and executing rows whose heartbeat is stale.
//! 2. The settlement transaction ends with an update of the row that names the attempt. If a
//!    newer claim was made meanwhile, it finds no row, and everything is rolled back.
//! 3. Payments go through the outbox, so a crash after the commit leaves them to any node.
//! 4. Compensation: a job error waits for a backoff that doubles, and becomes a dead letter
//!    that waits for a human, who is called by an alert in the same transaction; any other failure gives the claim back at once.

use crate::id::PeriodId;
use crate::scenario::GuardKnobs;
use crate::settlement::Period;
use crate::store::sql::{Returning, Text, column, int};
use crate::strategy::body::Due;
use crate::strategy::payment::{self, Queued};
use crate::strategy::{Context, Error, body};
use crate::time::millis;
use crate::trace::{Belief, TaskStatus};
use std::time::Duration;

/// The database's clock, in milliseconds since the epoch.
macro_rules! now {
    (postgres) => {
        "(extract(epoch from clock_timestamp()) * 1000)::bigint"
    };
    (mysql) => {
        "CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED)"
    };
}
pub(super) use now;

/// Which rows may be claimed: pending, failed with the backoff over, executing with a stale heartbeat.
/// While a row is failed, its heartbeat is the earliest time of the next attempt.
macro_rules! claimable {
    ($dialect:ident) => {
        concat!(
            "WHERE period = $1 AND due <= ",
            now!($dialect),
            " AND (status = 0 OR (status = 3 AND heartbeat <= ",
            now!($dialect),
            ") OR (status = 1 AND heartbeat < ",
            now!($dialect),
            " - $3))"
        )
    };
}

/// Due periods with something left to do: not settled, or settled with payments left. A human may
/// give back what was given up, so nodes go on asking for it.
const FIND: Text = Text::new(
    "SELECT period FROM task WHERE due <= $1 AND (status <> 2 OR EXISTS (SELECT 1 FROM outbox WHERE sent = 0 AND id / 10 = task.period)) ORDER BY period",
    // `/` has decimals there.
    "SELECT period FROM task WHERE due <= $1 AND (status <> 2 OR EXISTS (SELECT 1 FROM outbox WHERE sent = 0 AND id DIV 10 = task.period)) ORDER BY period",
);
const CLAIM: Returning = Returning {
    postgres: concat!(
        "UPDATE task SET status = 1, version = version + 1, attempt = attempt + 1, owner = $2, heartbeat = ",
        now!(postgres),
        " ",
        claimable!(postgres),
        " RETURNING attempt, failures"
    ),
    mysql_lock: concat!("SELECT attempt + 1, failures FROM task ", claimable!(mysql), " FOR UPDATE"),
    mysql_update: concat!(
        "UPDATE task SET status = 1, version = version + 1, attempt = attempt + 1, owner = $2, heartbeat = ",
        now!(mysql),
        " WHERE period = $1"
    ),
};
const BEAT: Text = Text::new(
    concat!("UPDATE task SET heartbeat = ", now!(postgres), " WHERE period = $1 AND attempt = $2 AND status = 1"),
    concat!("UPDATE task SET heartbeat = ", now!(mysql), " WHERE period = $1 AND attempt = $2 AND status = 1"),
);
const DONE: &str = "UPDATE task SET status = 2 WHERE period = $1 AND attempt = $2 AND status = 1";
const GIVE_BACK: &str = "UPDATE task SET status = 0 WHERE period = $1 AND attempt = $2 AND status = 1";
const FAIL: Text = Text::new(
    concat!(
        "UPDATE task SET status = $3, failures = failures + 1, heartbeat = ",
        now!(postgres),
        " + $4 WHERE period = $1 AND attempt = $2 AND status = 1"
    ),
    concat!(
        "UPDATE task SET status = $3, failures = failures + 1, heartbeat = ",
        now!(mysql),
        " + $4 WHERE period = $1 AND attempt = $2 AND status = 1"
    ),
);
/// An alert that was closed is open again.
const ALERT: Text = Text::new(
    "INSERT INTO alert (period, handled) VALUES ($1, 0) ON CONFLICT (period) DO UPDATE SET handled = 0",
    "INSERT INTO alert (period, handled) VALUES ($1, 0) ON DUPLICATE KEY UPDATE handled = 0",
);

/// Due periods, by the node's own clock, that have something left to do.
pub async fn unsettled(context: &Context) -> Result<Vec<PeriodId>, Error> {
    find(context, FIND).await
}

/// The periods that `statement` finds when it is given what the node's own clock shows.
pub async fn find(context: &Context, statement: impl Into<Text<'static>>) -> Result<Vec<PeriodId>, Error> {
    let rows = context.sql().query("task.find", statement, &[int(&context.wall().0)]).await?;
    let mut found = Vec::with_capacity(rows.len());
    for row in &rows {
        found.push(PeriodId(column(row, 0)?));
    }
    Ok(found)
}

/// One attempt under a claim, for as long as `lost` does not come to its end. It is not polled before the claim is made.
pub async fn attempt(context: &Context, period: Period, lost: impl Future<Output = ()>) -> Result<Belief, Error> {
    let Some(claim) = Claim::make(context, period).await? else {
        // Settled with payments left, or claimed by somebody who may be dead.
        let delivered = payment::deliver_left(context, period).await?;
        return Ok(if delivered { Belief::AlreadySettled } else { Belief::Busy });
    };
    let done = tokio::select! {
        biased;
        done = claim.run(context) => done,
        () = lost => Err(Error::GuardLost),
    };
    if let Err(error) = &done {
        claim.compensate(context, error).await;
    }
    done
}

/// A claim that this node made.
#[derive(Clone, Copy, Debug)]
struct Claim {
    period: Period,
    /// The attempt number of the task row: the fence.
    attempt: i64,
    /// Job errors before this attempt.
    failures: i64,
}

impl Claim {
    async fn make(context: &Context, period: Period) -> Result<Option<Claim>, Error> {
        let owner = i64::from(context.attempt().node.0);
        let stale_after = millis(context.guard().stale_after).cast_signed();
        let rows = context.sql().returning("task.claim", &CLAIM, &[int(&period.id.0), int(&owner), int(&stale_after)]).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        Ok(Some(Claim { period, attempt: column(row, 0)?, failures: column(row, 1)? }))
    }

    /// Work, transaction, delivery.
    async fn run(self, context: &Context) -> Result<Belief, Error> {
        // The heart stops beating before BEGIN: it shares the connection, and from there on the fence is enough.
        tokio::select! {
            biased;
            worked = context.work() => worked?,
            () = self.beat(context) => return Err(Error::GuardLost),
        }
        let Some(queued) = self.settle(context).await? else { return Err(Error::GuardLost) };
        payment::deliver(context, &queued).await?;
        Ok(Belief::Settled)
    }

    /// Beats until the claim has passed to somebody else.
    async fn beat(self, context: &Context) {
        loop {
            context.until_due(context.guard().heartbeat, async || self.give_back(context).await).await;
            // A beat that fails is made up for by the next.
            if let Ok(0) = context.sql().execute("task.heartbeat", BEAT, &[int(&self.period.id.0), int(&self.attempt)]).await {
                return;
            }
        }
    }

    /// The settlement transaction; `None` if the period is not due or a newer claim was made.
    async fn settle(self, context: &Context) -> Result<Option<Vec<Queued>>, Error> {
        let period = self.period;
        context
            .sql()
            .transaction(async || {
                let Some(Due { period, now }) = body::due(context, period).await? else { return Ok(None) };
                let queued = body::settle_queued(context, period, self.attempt, now).await?;
                let current = context.sql().execute("tx.done", DONE, &[int(&period.id.0), int(&self.attempt)]).await?;
                Ok((current == 1).then_some(queued))
            })
            .await
    }

    /// What is left to do with a claim after a failure. All of it is fenced by the attempt: if
    /// it was lost on its way, or the settlement was committed after all, nothing changes.
    async fn compensate(self, context: &Context, error: &Error) {
        context.sql().give_up_transaction();
        let (period, attempt) = (&self.period.id.0, &self.attempt);
        // If this fails too, the heartbeat grows stale, and the claim is taken over then.
        let _ = match error {
            Error::Job(_) => {
                let (status, wait) = self.after_job_error(context.guard());
                let code = status.code();
                let fail = async || context.sql().execute("task.fail", FAIL, &[int(period), int(attempt), int(&code), int(&wait)]).await;
                match status {
                    TaskStatus::Dead => {
                        context.sql().transaction(async || Self::give_up(context, period, fail().await?).await).await.map(drop)
                    }
                    _ => fail().await.map(drop),
                }
            }
            Error::Store(_) | Error::GuardLost => {
                self.give_back(context).await;
                Ok(())
            }
        };
    }

    /// Calls a human, if the row was given up; inside that transaction.
    async fn give_up(context: &Context, period: &i64, changed: u64) -> Result<Option<()>, Error> {
        if changed == 0 {
            return Ok(None);
        }
        context.sql().execute("task.alert", ALERT, &[int(period)]).await.map(|_| Some(()))
    }

    /// The row is anybody's again, if the claim is still ours.
    async fn give_back(self, context: &Context) {
        let _ = context.sql().execute("task.give-back", GIVE_BACK, &[int(&self.period.id.0), int(&self.attempt)]).await;
    }

    /// The row's status after one more job error, and the milliseconds until the next attempt.
    fn after_job_error(self, knobs: &GuardKnobs) -> (TaskStatus, i64) {
        let failures = u32::try_from(self.failures).unwrap_or(u32::MAX);
        let status = if failures.saturating_add(1) >= knobs.dead_letter_after { TaskStatus::Dead } else { TaskStatus::Failed };
        let wait: Duration = knobs.backoff.saturating_mul(2_u32.saturating_pow(failures)).min(knobs.backoff_max);
        (status, millis(wait).cast_signed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::{Span, WallTime};

    /// 30 s, 1 min, 2 min … 10 min, then a dead letter with the twentieth error.
    #[test]
    fn job_errors_back_off_and_end_as_a_dead_letter() {
        let knobs = GuardKnobs::default();
        let after = |failures| {
            let claim = Claim { period: Period { id: PeriodId(1), due: WallTime(0) }, attempt: 1, failures };
            claim.after_job_error(&knobs)
        };
        assert_eq!(after(0), (TaskStatus::Failed, millis(30.seconds()) as i64));
        assert_eq!(after(1), (TaskStatus::Failed, millis(1.minutes()) as i64));
        assert_eq!(after(5), (TaskStatus::Failed, millis(10.minutes()) as i64), "16 min is more than the longest wait");
        assert_eq!(after(18).0, TaskStatus::Failed);
        assert_eq!(after(19).0, TaskStatus::Dead);
        assert_eq!(after(i64::MAX), (TaskStatus::Dead, millis(10.minutes()) as i64));
    }
}
