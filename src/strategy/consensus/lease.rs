//! A lease from a log that no crash and no failover makes forget: nobody else is granted it while
//! it lasts. That is all it says. Its holder may stop, its lease runs out by the log's time, and
//! when the holder wakes it commits: the database does not know of the log. (So do the leases of
//! etcd and the sessions of Consul and `ZooKeeper`, which is why those give out revisions and
//! `zxid`s to fence with.)
//!
//! The worker is told that the lease is lost until `BEGIN`, as with the watchdog's.

use super::grant::Grant;
use crate::class::FaultClass;
use crate::id::Letter;
use crate::scenario::Rules;
use crate::settlement::{Decides, Period};
use crate::step::{Step, joined};
use crate::store::log::WHOLE_JOB;
use crate::strategy::body::{self, JOB_STEPS};
use crate::strategy::{Context, Error, Expectation, Policy, Strategy, pinned};
use crate::trace::Belief;
use async_trait::async_trait;

const STEPS: [Step; 17] =
    joined(&[&[Step::database("check.settled"), Step::log("log.grant"), Step::log("log.renew")], &JOB_STEPS, &[Step::log("log.release")]]);

/// A lease in a replicated log, renewed beside the job.
pub struct ConsensusLease;

#[async_trait(?Send)]
impl Strategy for ConsensusLease {
    fn name(&self) -> &'static str {
        "consensus-lease"
    }

    fn about(&self) -> &'static str {
        "a lease of 90 s granted by a replicated log of three members, renewed every 30 s beside the job; reading the settlement table first"
    }

    fn policy(&self) -> Policy {
        Policy::RetryChecked
    }

    fn decides(&self) -> Decides {
        Decides::Log
    }

    fn steps(&self) -> &'static [Step] {
        &STEPS
    }

    fn expectations(&self, _: Rules) -> Vec<Expectation> {
        vec![Expectation::Must {
            class: FaultClass::Pause,
            letters: &[Letter::D],
            because: "consensus says who may begin, not who may commit: the holder stops after its last look, another is granted the lease and settles, and the holder wakes and commits",
            plan: pinned::pause_before_the_transaction,
        }]
    }

    async fn attempt(&self, context: &mut Context, period: Period) -> Result<Belief, Error> {
        let context = &*context;
        let Ok(lease) = Grant::ask(context, WHOLE_JOB).await? else { return Ok(Belief::Busy) };
        let done = async {
            lease.work(context).await?;
            body::settle(context, period).await
        }
        .await;
        lease.release(context).await;
        done
    }
}
