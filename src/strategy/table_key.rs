//! A unique key on the settlement table: as an article publishes it, and with the marker first.

use crate::class::FaultClass;
use crate::id::{Letter, PeriodId};
use crate::scenario::Rules;
use crate::settlement::{Decides, Period};
use crate::step::Step;
use crate::store::sql::{Text, aggregate, int};
use crate::strategy::context::WORK;
use crate::strategy::{Context, Error, Expectation, Policy, Scope, Strategy, body, payment, pinned};
use crate::time::WallTime;
use crate::trace::Belief;
use async_trait::async_trait;

/// Check by count, work, published body, marker after the ranking rows; the boundary lives in memory.
pub struct Published;

const COUNT: &str = "SELECT count(*) FROM settlement WHERE period = $1";

const PUBLISHED_STEPS: [Step; 14] = [
    Step::database("table.check"),
    WORK[0],
    WORK[1],
    WORK[2],
    WORK[3],
    WORK[4],
    Step::database("tx.begin"),
    Step::database("tx.top"),
    Step::database("tx.ranking"),
    Step::database("tx.settlement"),
    Step::database("tx.points"),
    Step::database("tx.commit"),
    Step::database("tx.rollback"),
    Step::payout("pay"),
];

#[async_trait(?Send)]
impl Strategy for Published {
    fn name(&self) -> &'static str {
        "table-key-published"
    }

    fn about(&self) -> &'static str {
        "count the period's rows; if none: rank whoever was last active in it, insert the unique marker, reset everybody's points"
    }

    fn policy(&self) -> Policy {
        Policy::Skip
    }

    fn decides(&self) -> Decides {
        Decides::Nothing
    }

    fn steps(&self) -> &'static [Step] {
        &PUBLISHED_STEPS
    }

    fn unique_marker(&self) -> bool {
        true
    }

    fn wakes_late(&self) -> bool {
        true
    }

    fn expectations(&self, _: Rules) -> Vec<Expectation> {
        vec![
            Expectation::Must {
                class: FaultClass::Calm,
                letters: &[Letter::C],
                because: "a player active between boundary and settlement is left out of the ranking and still reset",
                plan: pinned::calm,
            },
            Expectation::Must {
                class: FaultClass::Skew,
                letters: &[Letter::E],
                because: "a node that is fast by more than its wait settles before the period has ended",
                plan: pinned::one_node_fast,
            },
            Expectation::Must {
                class: FaultClass::Outage,
                letters: &[Letter::L],
                because: "the boundary lives in memory: a process that starts after it computes the next one",
                plan: pinned::outage,
            },
            Expectation::Never { scope: Scope::Every, letters: &[Letter::D], because: "the marker is unique, and its loser rolls back" },
        ]
    }

    async fn attempt(&self, context: &mut Context, period: Period) -> Result<Belief, Error> {
        if context.wall() <= period.due {
            return Ok(Belief::Busy);
        }
        let rows = context.sql().query("table.check", COUNT, &[int(&period.id.0)]).await?;
        if aggregate(&rows)? > 0 {
            return Ok(Belief::AlreadySettled);
        }
        context.work().await?;
        let places = context.sql().transaction(async || body::published(context, period).await.map(Some)).await?;
        payment::pay_directly(context, period, places.as_deref().unwrap_or_default()).await?;
        Ok(Belief::Settled)
    }
}

/// The marker first, on conflict do nothing; then the good body; payments through the outbox.
pub struct TableKey;

/// MySQL has no ON CONFLICT. Of its two ways to pass over a duplicate, `ON DUPLICATE KEY UPDATE`
/// reports one row in both cases to a client that counts found rows. `IGNORE` reports none for a
/// duplicate; it would turn other errors into warnings too, but four numbers that are never NULL
/// in four `bigint` columns leave it none.
const MARKER: Text = Text::new(
    "INSERT INTO settlement (period, node, attempt, at) VALUES ($1, $2, $3, $4) ON CONFLICT (period) DO NOTHING",
    "INSERT IGNORE INTO settlement (period, node, attempt, at) VALUES ($1, $2, $3, $4)",
);

impl TableKey {
    async fn mark(context: &Context, period: Period, now: WallTime) -> Result<bool, Error> {
        let (node, attempt) = (i64::from(context.attempt().node.0), i64::from(context.attempt().number));
        let marker = [int(&period.id.0), int(&node), int(&attempt), int(&now.0)];
        Ok(context.sql().execute("tx.marker", MARKER, &marker).await? == 1)
    }
}

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

    fn expectations(&self, _: Rules) -> Vec<Expectation> {
        vec![Expectation::Never {
            scope: Scope::Every,
            letters: &Letter::ALL,
            because: "marker, ranking, points and payments are one transaction, due by the database's clock; whoever comes later finds the marker",
        }]
    }

    async fn unsettled(&self, context: &mut Context) -> Result<Option<Vec<PeriodId>>, Error> {
        body::unfinished(context).await.map(Some)
    }

    async fn attempt(&self, context: &mut Context, period: Period) -> Result<Belief, Error> {
        let context = &*context;
        body::atomic_job(context, period, async |now| Self::mark(context, period, now).await).await
    }
}
