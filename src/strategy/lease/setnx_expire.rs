//! `SETNX`, then `EXPIRE` as a second command. Between the two the lease has no expiry, and
//! afterwards one of ten seconds, which no job of two minutes respects.

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

const STEPS: [Step; 16] =
    joined(&[&[Step::lease("lease.acquire"), Step::lease("lease.expire")], &JOB_STEPS, &[Step::lease("lease.release")]]);

/// Two commands to take a lease, and anybody deletes it.
pub struct LeaseSetnxExpire;

#[async_trait(?Send)]
impl Strategy for LeaseSetnxExpire {
    fn name(&self) -> &'static str {
        "lease-setnx-expire"
    }

    fn about(&self) -> &'static str {
        "SETNX, then EXPIRE 10 s, the job, DEL without looking; one attempt a period"
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
            Expectation::Must {
                class: FaultClass::Skew,
                letters: &[Letter::D],
                because: "the lease is free again when the slow node comes, and it remembers nothing",
                plan: pinned::one_node_slow,
            },
            Expectation::Must {
                class: FaultClass::Crash,
                letters: &[Letter::K, Letter::L],
                because: "who dies between the two commands leaves a lease that never runs out, in this period and in all that follow",
                plan: pinned::crash_before_the_expiry,
            },
            Expectation::Must {
                class: FaultClass::LeaseLoss,
                letters: &[Letter::K, Letter::L],
                because: "the store restarts between the two commands: the key is kept, its expiry never set, and the deletion fails as well",
                plan: pinned::lease_store_restarts_before_the_expiry,
            },
            SETTLES_BY_ITS_OWN_ZONE,
        ]
    }

    async fn attempt(&self, context: &mut Context, period: Period) -> Result<Belief, Error> {
        if !context.lease().setnx("lease.acquire", KEY, "1").await? {
            return Ok(Belief::Busy);
        }
        let done = under_lease(context, period).await;
        // Whatever lease is there now: ours has run out long ago.
        let _ = context.lease().del("lease.release", KEY).await;
        done
    }
}

async fn under_lease(context: &Context, period: Period) -> Result<Belief, Error> {
    context.lease().pexpire("lease.expire", KEY, context.guard().setnx_lease).await?;
    body::job(context, period).await
}
