//! One node puts the task into a list, whoever takes it out asks a third party for the result,
//! and settles. From the moment in which the task is popped, it is nowhere but in that process.
//!
//! The third party works while it is asked: its work is the job's five slices, and takes
//! [`crate::scenario::QueueKnobs::answer`]. A consumer listens for
//! [`crate::scenario::QueueKnobs::listen`] after each boundary, for the reason for which nodes do
//! not poll for ever: a `BRPOP` every five seconds for weeks could not change a verdict.

use super::{TASKS, message, named};
use crate::class::FaultClass;
use crate::id::Letter;
use crate::scenario::Rules;
use crate::settlement::{Decides, Period};
use crate::step::{Step, joined};
use crate::store::StoreError;
use crate::strategy::body::{self, JOB_STEPS};
use crate::strategy::context::WORK;
use crate::strategy::{Context, Error, Expectation, Policy, Strategy, pinned};
use crate::trace::Belief;
use async_trait::async_trait;
use std::pin::pin;

/// Before each question, so many times [`crate::scenario::QueueKnobs::ask_every`]; after the last one the task is discarded.
const GAPS: [u32; 8] = [1, 1, 1, 2, 2, 2, 3, 3];

/// So many failures of the third party are borne; after one more the task is discarded.
const FAILURES: u32 = 3;

const STEPS: [Step; 16] = joined(&[&[Step::lease("queue.offer"), Step::lease("queue.push"), Step::lease("queue.pop")], &JOB_STEPS]);

/// `LPUSH` under a lease, `BRPOP`, ask, settle.
pub struct QueueConsumer;

impl QueueConsumer {
    /// Puts the task into the list, unless somebody has been granted the lease to do so.
    async fn offer(context: &Context, period: Period) -> Result<(), Error> {
        let lease = format!("settlement:offer:{}", period.id.0);
        if context.lease().set_nx_px("queue.offer", &lease, "1", context.guard().lease).await? {
            context.queue().push("queue.push", TASKS, &message(period)).await?;
        }
        Ok(())
    }

    /// The next task, if there is one while the consumer listens. A store that does not answer is asked again.
    async fn next(context: &Context) -> Option<Period> {
        let knobs = context.queue_knobs();
        let began = context.wall();
        while context.wall().since(began) < knobs.listen {
            match context.queue().pop("queue.pop", TASKS, knobs.block).await {
                Ok(popped) => {
                    let task = popped.and_then(|popped| named(context, &popped));
                    if task.is_some() {
                        return task;
                    }
                }
                Err(_) => context.sleep(knobs.ask_every).await,
            }
        }
        None
    }

    /// Asks for the result until it is there: false, if it is discarded.
    async fn ask(context: &Context) -> bool {
        let every = context.queue_knobs().ask_every;
        let (mut third_party, mut failures) = (pin!(work(context)), 0);
        for gap in GAPS {
            let mut result = None;
            let mut wait = context.sleep(every * gap);
            tokio::select! {
                biased;
                done = third_party.as_mut() => {
                    result = Some(done);
                    wait.await;
                }
                () = &mut wait => {}
            }
            match result {
                Some(Ok(())) => return true,
                Some(Err(_)) if failures == FAILURES => return false,
                Some(Err(_)) => {
                    failures += 1;
                    third_party.set(work(context));
                }
                None => {}
            }
        }
        false
    }
}

/// What the third party does from the first question on.
async fn work(context: &Context) -> Result<(), Error> {
    let slice = context.queue_knobs().answer / WORK.len() as u32;
    for step in WORK {
        context.work_step(step.name, context.sleep(slice)).await?;
    }
    Ok(())
}

#[async_trait(?Send)]
impl Strategy for QueueConsumer {
    fn name(&self) -> &'static str {
        "queue-consumer"
    }

    fn about(&self) -> &'static str {
        "one node LPUSHes the task, consumers BRPOP it, ask a third party eight times within 15 s, settle; else they discard it"
    }

    fn policy(&self) -> Policy {
        Policy::Skip
    }

    fn decides(&self) -> Decides {
        Decides::Nothing
    }

    fn steps(&self) -> &'static [Step] {
        &STEPS
    }

    fn expectations(&self, _: Rules) -> Vec<Expectation> {
        let lost = &[Letter::L];
        vec![
            Expectation::must(
                FaultClass::Crash,
                lost,
                "the pop has taken the task out of the store, and its consumer is dead",
                pinned::crash_in_the_job,
            ),
            Expectation::must(
                FaultClass::Slow,
                lost,
                "the third party takes longer than the consumer asks, and the task is discarded",
                pinned::slow_job,
            ),
            Expectation::must(
                FaultClass::ReplyLost,
                lost,
                "the pop has taken the task out of the store, and nobody has heard of it",
                pinned::pop_reply_lost,
            ),
            Expectation::must(
                FaultClass::LeaseLoss,
                lost,
                "the store restarts when it is to be told of the task, and nobody tells it again",
                pinned::emptied_before_the_push,
            ),
            Expectation::must(
                FaultClass::Redelivery,
                &[Letter::D],
                "whoever gets the task settles, and nothing says that somebody has",
                pinned::redelivered_after_the_commit,
            ),
        ]
    }

    async fn attempt(&self, context: &mut Context, period: Period) -> Result<Belief, Error> {
        // Whatever becomes of it, this process is a consumer too.
        let _ = Self::offer(context, period).await;
        let Some(task) = Self::next(context).await else { return Ok(Belief::Busy) };
        if !Self::ask(context).await {
            return Err(StoreError::rejected("the third party had no result in time: the task is discarded").into());
        }
        let settled = body::settle(context, task).await?;
        Ok(if task.id == period.id { settled } else { Belief::Busy })
    }
}
