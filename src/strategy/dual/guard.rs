//! The hardened dual guard: a short lease with a random owner, renewed by its owner only,
//! keeps the other nodes from working in vain. It saves work and decides nothing; what decides
//! is the claim under it (`claim`).

use super::key;
use crate::id::{Letter, PeriodId};
use crate::scenario::Rules;
use crate::settlement::{Decides, Period};
use crate::step::Step;
use crate::strategy::context::WORK;
use crate::strategy::owned_lease::OwnedLease;
use crate::strategy::{Context, Error, Expectation, Policy, Strategy, claim};
use crate::trace::Belief;
use async_trait::async_trait;

/// Watchdog lease, version claim with attempt fence, good body, outbox, compensation.
pub struct Guard;

const STEPS: [Step; 27] = [
    Step::database("task.find"),
    Step::lease("lease.acquire"),
    Step::database("task.claim"),
    WORK[0],
    WORK[1],
    Step::lease("lease.renew"),
    Step::database("task.heartbeat"),
    WORK[2],
    WORK[3],
    WORK[4],
    Step::database("tx.begin"),
    Step::database("tx.due"),
    Step::database("tx.mark"),
    Step::database("tx.ranking"),
    Step::database("tx.points"),
    Step::database("tx.settlement"),
    Step::database("tx.outbox"),
    Step::database("tx.done"),
    Step::database("tx.commit"),
    Step::database("tx.rollback"),
    Step::database("outbox.find"),
    Step::payout("outbox.pay"),
    Step::database("outbox.sent"),
    Step::database("task.fail"),
    Step::database("task.alert"),
    Step::database("task.give-back"),
    Step::lease("lease.release"),
];

#[async_trait(?Send)]
impl Strategy for Guard {
    fn name(&self) -> &'static str {
        "dual-guard"
    }

    fn about(&self) -> &'static str {
        "a renewed lease saves work, an attempt number in the task row decides, payments go through an outbox, failures back off"
    }

    fn policy(&self) -> Policy {
        Policy::Retry
    }

    fn decides(&self) -> Decides {
        Decides::TaskRow
    }

    fn steps(&self) -> &'static [Step] {
        &STEPS
    }

    fn expectations(&self, _: Rules) -> Vec<Expectation> {
        vec![Expectation::never(
            &Letter::ALL,
            "the transaction commits only for the newest attempt and a period that is due, a dead claim is taken over, and what was decided is delivered under a key",
        )]
    }

    async fn unsettled(&self, context: &mut Context) -> Result<Option<Vec<PeriodId>>, Error> {
        claim::unsettled(context).await.map(Some)
    }

    async fn attempt(&self, context: &mut Context, period: Period) -> Result<Belief, Error> {
        let (ttl, every) = (context.guard().dual_lease, context.guard().dual_renew_every);
        let Some(lease) = OwnedLease::acquire(context, key(period), ttl, every).await? else { return Ok(Belief::Busy) };
        let done = claim::attempt(context, period, lease.watch(context, async || lease.renew(context).await)).await;
        lease.release(context).await;
        done
    }
}
