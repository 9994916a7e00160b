//! The queue that may lose, repeat and forget what it likes.
//!
//! 1. What is to be done is read from the database; the queue only spreads the work. Whoever finds
//!    a period unsettled puts it into the queue, at most once in a visibility timeout.
//! 2. A consumer moves the message to a list of those that are being worked on, in one command: at
//!    no time it is in no list. It is acknowledged, that is removed, when the work is done.
//! 3. A message whose consumer is dead is put in again when the visibility timeout is over: the
//!    reaper is whoever finds the period still unsettled. If the consumer is merely slow, two work.
//! 4. The marker is in the transaction of the effect, and unique: of two that work, one settles.
//! 5. Payments go through the outbox.

use super::{TASKS, message, named};
use crate::id::{Letter, PeriodId};
use crate::scenario::Rules;
use crate::settlement::{Decides, Period};
use crate::step::Step;
use crate::strategy::context::WORK;
use crate::strategy::{Context, Error, Expectation, Policy, Strategy, body, marker, payment};
use crate::trace::Belief;
use async_trait::async_trait;

/// The list of messages that somebody works on.
const TAKEN: &str = "settlement:taken";

const STEPS: [Step; 23] = [
    Step::database("settled.find"),
    Step::database("outbox.find"),
    Step::lease("queue.offer"),
    Step::lease("queue.reap"),
    Step::lease("queue.push"),
    Step::lease("queue.take"),
    WORK[0],
    WORK[1],
    WORK[2],
    WORK[3],
    WORK[4],
    Step::database("tx.begin"),
    Step::database("tx.due"),
    Step::database("tx.marker"),
    Step::database("tx.mark"),
    Step::database("tx.ranking"),
    Step::database("tx.points"),
    Step::database("tx.outbox"),
    Step::database("tx.commit"),
    Step::database("tx.rollback"),
    Step::payout("outbox.pay"),
    Step::database("outbox.sent"),
    Step::lease("queue.ack"),
];

/// `BLMOVE`, unique marker, good body, outbox, `LREM`.
pub struct QueueReliable;

impl QueueReliable {
    /// Puts the message of a period into the queue, unless somebody has within the visibility timeout.
    async fn offer(context: &Context, period: Period) -> Result<(), Error> {
        let (offer, visibility) = (format!("settlement:offer:{}", period.id.0), context.queue_knobs().visibility);
        if context.lease().set_nx_px("queue.offer", &offer, "1", visibility).await? {
            let message = message(period);
            context.queue().remove("queue.reap", TAKEN, &message).await?;
            context.queue().push("queue.push", TASKS, &message).await?;
        }
        Ok(())
    }

    /// Works on one message. Whoever comes too late, or too early, has nothing to do.
    async fn work(context: &Context, task: Period) -> Result<Belief, Error> {
        if !body::unfinished(context).await?.contains(&task.id) {
            return Ok(Belief::Busy);
        }
        body::atomic_job(context, task, async |now| marker::mark(context, task, now).await).await
    }
}

#[async_trait(?Send)]
impl Strategy for QueueReliable {
    fn name(&self) -> &'static str {
        "queue-reliable"
    }

    fn about(&self) -> &'static str {
        "BLMOVE to a list of what is worked on, acknowledged afterwards, put in again after a visibility timeout; a unique marker in the transaction decides, payments through an outbox"
    }

    fn policy(&self) -> Policy {
        Policy::Retry
    }

    fn decides(&self) -> Decides {
        Decides::Nothing
    }

    fn steps(&self) -> &'static [Step] {
        &STEPS
    }

    fn unique_marker(&self) -> bool {
        true
    }

    fn expectations(&self, _: Rules) -> Vec<Expectation> {
        vec![Expectation::never(
            &Letter::ALL,
            "what is unsettled is put into the queue again, the marker is in the transaction of the effect and unique, due by the database's clock, and payments are delivered under a key",
        )]
    }

    async fn unsettled(&self, context: &mut Context) -> Result<Option<Vec<PeriodId>>, Error> {
        body::unfinished(context).await.map(Some)
    }

    async fn attempt(&self, context: &mut Context, period: Period) -> Result<Belief, Error> {
        // A settled period with something left to deliver needs no queue.
        if payment::deliver_left(context, period).await? {
            return Ok(Belief::AlreadySettled);
        }
        Self::offer(context, period).await?;
        let block = context.queue_knobs().block;
        let Some(taken) = context.queue().take("queue.take", TASKS, TAKEN, block).await? else { return Ok(Belief::Busy) };
        let task = named(context, &taken);
        let done = match task {
            Some(task) => Self::work(context, task).await?,
            None => Belief::Busy,
        };
        // If this fails, the message is removed with the next of its period, or stays and says nothing.
        let _ = context.queue().remove("queue.ack", TAKEN, &taken).await;
        Ok(if task.is_some_and(|task| task.id == period.id) { done } else { Belief::Busy })
    }
}
