//! A centre that hands out the work: each run goes to one node, and to another one when nothing
//! was heard of it for too long.
//!
//! Here nodes ask for work, as the workers of Celery and the consumers of a queue with a
//! visibility timeout do. In others the centre calls its nodes, as xxl-job's does over HTTP. It
//! comes to the same: the centre knows what it has heard, and a timeout says nothing about what
//! a node still does.

use crate::class::FaultClass;
use crate::id::HostId;
use crate::id::{Letter, PeriodId};
use crate::scenario::Rules;
use crate::settlement::Period;
use crate::step::{Step, joined};
use crate::store::StoreError;
use crate::store::centre::{Ask, Told};
use crate::strategy::body::{self, JOB_STEPS};
use crate::strategy::{Context, Error, Expectation, Policy, Strategy, pinned};
use crate::trace::Belief;
use async_trait::async_trait;

const STEPS: [Step; 17] = joined(&[
    &[Step::of("centre.runs", HostId::Centre), Step::of("centre.take", HostId::Centre)],
    &JOB_STEPS,
    &[Step::of("centre.done", HostId::Centre), Step::of("centre.failed", HostId::Centre)],
]);

/// Runs from a centre, with a timeout.
pub struct DispatchCentre;

#[async_trait(?Send)]
impl Strategy for DispatchCentre {
    fn name(&self) -> &'static str {
        "dispatch-center"
    }

    fn about(&self) -> &'static str {
        "a centre gives each run to one node that asks, and again to whoever asks if it hears nothing for 10 min; its memory dies with it"
    }

    fn policy(&self) -> Policy {
        Policy::Retry
    }

    fn steps(&self) -> &'static [Step] {
        &STEPS
    }

    fn expectations(&self, _: Rules) -> Vec<Expectation> {
        vec![
            Expectation::Must {
                class: FaultClass::Slow,
                letters: &[Letter::D],
                because: "the centre calls a run failed that only takes long, gives it to another node, and both settle",
                plan: pinned::slow_job,
            },
            Expectation::Must {
                class: FaultClass::Partition,
                letters: &[Letter::D],
                because: "the node that has settled cannot say so, and the centre gives its run to another",
                plan: pinned::cut_off_after_the_commit,
            },
            Expectation::Must {
                class: FaultClass::Crash,
                letters: &[Letter::L],
                because: "a period that ends while the centre is down never becomes a run, and nobody else looks",
                plan: pinned::centre_down_at_the_boundary,
            },
        ]
    }

    async fn unsettled(&self, context: &mut Context) -> Result<Option<Vec<PeriodId>>, Error> {
        let Told::Runs { open, reached } = context.centre("centre.runs", Ask::Runs).await? else {
            return Err(StoreError::rejected("the centre did not say which runs there are").into());
        };
        // Who comes before the centre's clock has reached the boundary waits for it.
        let runs = context.calendar().due_at(context.wall()).filter(|p| open.contains(&p.id.0) || reached < p.due);
        Ok(Some(runs.map(|period| period.id).collect()))
    }

    async fn attempt(&self, context: &mut Context, period: Period) -> Result<Belief, Error> {
        match context.centre("centre.take", Ask::Take(period.id.0)).await? {
            Told::Assigned => {}
            Told::Nothing => return Ok(Belief::AlreadySettled),
            Told::Wait | Told::Runs { .. } => return Ok(Belief::Busy),
        }
        let done = body::job(context, period).await;
        // Said once. If it is not heard, the timeout decides.
        let _ = match done {
            Ok(_) => context.centre("centre.done", Ask::Done(period.id.0)).await,
            Err(_) => context.centre("centre.failed", Ask::Failed(period.id.0)).await,
        };
        done
    }
}
