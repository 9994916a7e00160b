//! "A message in the task's queue means done": look, run the job, leave the message. What two
//! nodes find that look at the same time is nothing.

use super::message;
use crate::class::FaultClass;
use crate::id::{Letter, PeriodId};
use crate::scenario::Rules;
use crate::settlement::{Decides, Period};
use crate::step::{Step, joined};
use crate::strategy::body::{self, JOB_STEPS};
use crate::strategy::{Context, Error, Expectation, Policy, Strategy, pinned};
use crate::trace::Belief;
use async_trait::async_trait;

/// The list of what is done.
const DONE: &str = "settlement:done";

const STEPS: [Step; 16] = joined(&[&[Step::lease("queue.find"), Step::lease("queue.read")], &JOB_STEPS, &[Step::lease("queue.push")]]);

/// Whoever finds no message settles, and leaves one.
pub struct QueueMarker;

#[async_trait(?Send)]
impl Strategy for QueueMarker {
    fn name(&self) -> &'static str {
        "queue-marker"
    }

    fn about(&self) -> &'static str {
        "a message in the queue means done: LRANGE, the job if there is none, then LPUSH; again every minute until there is one"
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

    fn expectations(&self, _: Rules) -> Vec<Expectation> {
        vec![Expectation::must(
            FaultClass::Calm,
            &[Letter::D],
            "the message comes after the job: whoever looks meanwhile finds none, and does the job too",
            pinned::calm,
        )]
    }

    async fn unsettled(&self, context: &mut Context) -> Result<Option<Vec<PeriodId>>, Error> {
        let done = context.queue().messages("queue.find", DONE).await?;
        let due = context.calendar().due_at(context.wall());
        Ok(Some(due.filter(|period| !done.contains(&message(*period))).map(|period| period.id).collect()))
    }

    async fn attempt(&self, context: &mut Context, period: Period) -> Result<Belief, Error> {
        if context.queue().messages("queue.read", DONE).await?.contains(&message(period)) {
            return Ok(Belief::AlreadySettled);
        }
        let settled = body::job(context, period).await?;
        context.queue().push("queue.push", DONE, &message(period)).await?;
        Ok(settled)
    }
}
