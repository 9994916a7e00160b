//! Hardened: a dead claim is taken over, and the attempt number that this raises is a fence.
//! All of it is the claim that dual-guard makes too (`claim`), here without a lease before it.

use crate::id::{Letter, PeriodId};
use crate::scenario::Rules;
use crate::settlement::{Decides, Period};
use crate::step::Step;
use crate::strategy::context::WORK;
use crate::strategy::{Context, Error, Expectation, Policy, Strategy, claim};
use crate::trace::Belief;
use async_trait::async_trait;
use std::future::pending;

/// Version claim with attempt fence, good body, outbox, compensation.
pub struct Reclaim;

const STEPS: [Step; 24] = [
    Step::database("task.find"),
    Step::database("task.claim"),
    WORK[0],
    WORK[1],
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
];

#[async_trait(?Send)]
impl Strategy for Reclaim {
    fn name(&self) -> &'static str {
        "version-reclaim"
    }

    fn about(&self) -> &'static str {
        "an attempt number in the task row decides, stale claims are taken over, payments go through an outbox, failures back off"
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
        claim::attempt(context, period, pending()).await
    }
}
