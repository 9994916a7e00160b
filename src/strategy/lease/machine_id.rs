//! `SETNX` and `EXPIRE` with the id of the machine as value, which is made when its process
//! starts. The owner is compared before it deletes, but in two commands; and a process that
//! starts deletes what is there without looking, for it might be its own from before.

use super::KEY;
use crate::class::FaultClass;
use crate::id::Letter;
use crate::scenario::Rules;
use crate::settlement::{Decides, Period};
use crate::step::{Step, joined};
use crate::strategy::body::{self, JOB_STEPS};
use crate::strategy::{Context, Error, Expectation, Policy, SETTLES_BY_ITS_OWN_ZONE, Strategy, pinned};
use crate::trace::Belief;
use async_trait::async_trait;

const STEPS: [Step; 19] = joined(&[
    &[Step::lease("lease.reset"), Step::database("check.settled"), Step::lease("lease.acquire"), Step::lease("lease.expire")],
    &JOB_STEPS,
    &[Step::lease("lease.read"), Step::lease("lease.release")],
]);

/// A lease with its holder's name on it, and a start-up that does not read it.
pub struct LeaseMachineId;

#[async_trait(?Send)]
impl Strategy for LeaseMachineId {
    fn name(&self) -> &'static str {
        "lease-machine-id"
    }

    fn about(&self) -> &'static str {
        "SETNX with an id made at start, EXPIRE 10 min, the job, GET, compare, DEL; DEL without looking at start-up; reading the settlement table first"
    }

    fn policy(&self) -> Policy {
        Policy::RetryChecked
    }

    fn decides(&self) -> Decides {
        Decides::LeaseStore
    }

    fn steps(&self) -> &'static [Step] {
        &STEPS
    }

    fn expectations(&self, _: Rules) -> Vec<Expectation> {
        vec![
            Expectation::Must {
                class: FaultClass::Crash,
                letters: &[Letter::D],
                because: "a node that starts frees the lease of the one at work, takes it, and both settle",
                plan: pinned::restart_during_the_job,
            },
            Expectation::Must {
                class: FaultClass::Pause,
                letters: &[Letter::D],
                because: "the holder sleeps through its lease, another settles, and the holder wakes and settles again",
                plan: pinned::pause_in_the_job,
            },
            Expectation::Must {
                class: FaultClass::Slow,
                letters: &[Letter::D],
                because: "the job outlasts its lease: another takes over, and both settle",
                plan: pinned::slow_job,
            },
            Expectation::Must {
                class: FaultClass::LeaseLoss,
                letters: &[Letter::D],
                because: "the store forgets the lease while the job goes on, grants it again, and both settle",
                plan: pinned::evicted_in_the_job,
            },
            SETTLES_BY_ITS_OWN_ZONE,
        ]
    }

    async fn started(&self, context: &mut Context) -> Result<(), Error> {
        context.lease().del("lease.reset", KEY).await?;
        Ok(())
    }

    async fn attempt(&self, context: &mut Context, period: Period) -> Result<Belief, Error> {
        let id = format!("{:016x}", context.process().id());
        if !context.lease().setnx("lease.acquire", KEY, &id).await? {
            return Ok(Belief::Busy);
        }
        let done = under_lease(context, period).await;
        // If this fails, the lease runs out by itself, or is deleted when somebody starts.
        let _ = release(context, &id).await;
        done
    }
}

async fn under_lease(context: &Context, period: Period) -> Result<Belief, Error> {
    context.lease().pexpire("lease.expire", KEY, context.guard().machine_lease).await?;
    body::job(context, period).await
}

/// Reads, compares, deletes: by then it may be somebody else's.
async fn release(context: &Context, id: &str) -> Result<(), Error> {
    if context.lease().get("lease.read", KEY).await?.as_deref() == Some(id) {
        context.lease().del("lease.release", KEY).await?;
    }
    Ok(())
}
