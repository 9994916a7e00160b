//! `SET key value NX PX`, the job, `DEL` without looking.
//!
//! The same guard under three policies makes the dilemma visible: a lease excludes overlap,
//! not repetition.

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

/// The published value is the id of the thread that runs the scheduler: the same in every
/// process. Nobody looks at it anyway.
const THREAD: &str = "scheduling-1";

const STEPS: [Step; 15] = joined(&[&[Step::lease("lease.acquire")], &JOB_STEPS, &[Step::lease("lease.release")]]);

const STEPS_CHECKED: [Step; 16] = joined(&[&[Step::database("check.settled")], &STEPS]);

/// A lease that is never renewed, under one of the three policies.
pub struct LeaseSetPx {
    policy: Policy,
}

impl LeaseSetPx {
    /// One attempt a period.
    pub const SKIP: LeaseSetPx = LeaseSetPx { policy: Policy::Skip };
    /// Again until an own attempt has settled.
    pub const RETRY: LeaseSetPx = LeaseSetPx { policy: Policy::Retry };
    /// Again until the settlement table shows the period.
    pub const CHECKED: LeaseSetPx = LeaseSetPx { policy: Policy::RetryChecked };
}

#[async_trait(?Send)]
impl Strategy for LeaseSetPx {
    fn name(&self) -> &'static str {
        match self.policy {
            Policy::Skip => "lease-set-px",
            Policy::Retry => "lease-set-px-retry",
            Policy::RetryChecked => "lease-set-px-checked",
        }
    }

    fn about(&self) -> &'static str {
        match self.policy {
            Policy::Skip => "SET NX PX 30 min, the job, DEL without looking; one attempt a period",
            Policy::Retry => "SET NX PX 30 min, the job, DEL without looking; again every minute until an own attempt has settled",
            Policy::RetryChecked => {
                "SET NX PX 30 min, the job, DEL without looking; again every minute, reading the settlement table first"
            }
        }
    }

    fn policy(&self) -> Policy {
        self.policy
    }

    fn decides(&self) -> Decides {
        Decides::LeaseStore
    }

    fn steps(&self) -> &'static [Step] {
        match self.policy {
            Policy::Skip | Policy::Retry => &STEPS,
            Policy::RetryChecked => &STEPS_CHECKED,
        }
    }

    fn expectations(&self, _: Rules) -> Vec<Expectation> {
        match self.policy {
            Policy::Skip => vec![
                Expectation::Must {
                    class: FaultClass::Skew,
                    letters: &[Letter::D],
                    because: "the lease is free again when the slow node comes, and it remembers nothing",
                    plan: pinned::one_node_slow,
                },
                Expectation::Must {
                    class: FaultClass::Crash,
                    letters: &[Letter::L],
                    because: "the others were refused and do not come back, and the holder is dead",
                    plan: pinned::crash_in_the_job,
                },
                SETTLES_BY_ITS_OWN_ZONE,
            ],
            Policy::Retry => vec![
                Expectation::Must {
                    class: FaultClass::Calm,
                    letters: &[Letter::D],
                    because: "a lease excludes overlap, not repetition: the next node settles as soon as the holder lets go",
                    plan: pinned::calm,
                },
                SETTLES_BY_ITS_OWN_ZONE,
            ],
            Policy::RetryChecked => vec![
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
            ],
        }
    }

    async fn attempt(&self, context: &mut Context, period: Period) -> Result<Belief, Error> {
        if !context.lease().set_nx_px("lease.acquire", KEY, THREAD, context.guard().lease).await? {
            return Ok(Belief::Busy);
        }
        let done = body::job(context, period).await;
        // The published `finally`: it deletes whatever lease is there, and its failure changes nothing.
        let _ = context.lease().del("lease.release", KEY).await;
        done
    }
}
