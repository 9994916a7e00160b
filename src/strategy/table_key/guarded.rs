//! The marker first, in the transaction of the effect: the row that holds.

use crate::id::{Letter, PeriodId};
use crate::scenario::Rules;
use crate::settlement::{Decides, Period};
use crate::step::Step;
use crate::strategy::context::WORK;
use crate::strategy::{Context, Error, Expectation, Policy, Strategy, body, marker};
use crate::trace::Belief;
use async_trait::async_trait;

/// The marker first, on conflict do nothing; then the good body; payments through the outbox.
pub struct TableKey;

const STEPS: [Step; 18] = [
    Step::database("settled.find"),
    Step::database("outbox.find"),
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
];

#[async_trait(?Send)]
impl Strategy for TableKey {
    fn name(&self) -> &'static str {
        "table-key"
    }

    fn about(&self) -> &'static str {
        "unique marker first, on conflict do nothing; then the good body, payments through an outbox"
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

    fn also_under(&self) -> &'static [Rules] {
        &[Rules::InnodbRepeatableRead]
    }

    fn expectations(&self, _: Rules) -> Vec<Expectation> {
        vec![Expectation::never(
            &Letter::ALL,
            "marker, ranking, points and payments are one transaction, due by the database's clock; whoever comes later finds the marker",
        )]
    }

    async fn unsettled(&self, context: &mut Context) -> Result<Option<Vec<PeriodId>>, Error> {
        body::unfinished(context).await.map(Some)
    }

    async fn attempt(&self, context: &mut Context, period: Period) -> Result<Belief, Error> {
        let context = &*context;
        body::atomic_job(context, period, async |now| marker::mark(context, period, now).await).await
    }
}
