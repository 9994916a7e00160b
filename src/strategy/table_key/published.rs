//! Check by count, work, published body, marker after the ranking rows; the boundary lives in
//! memory. As an article publishes it, and with two mistakes that readers of it make.

use super::COUNT;
use crate::class::FaultClass;
use crate::id::Letter;
use crate::scenario::Rules;
use crate::settlement::{Decides, Period};
use crate::step::Step;
use crate::store::sql::{aggregate, int};
use crate::strategy::body::Loser;
use crate::strategy::context::WORK;
use crate::strategy::{Context, Error, Expectation, Policy, SETTLES_BY_ITS_OWN_ZONE, Strategy, body, payment, pinned};
use crate::trace::Belief;
use async_trait::async_trait;

/// What the table does about a second marker, and what its loser does about that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Marker {
    /// It is unique, and the loser rolls back: as published.
    Unique,
    /// It is unique; the loser logs the duplicate key, goes on, and commits.
    Ignored,
    /// It is not unique: the count decides alone.
    Checked,
}

/// Check by count, work, published body, marker after the ranking rows.
pub struct Published {
    name: &'static str,
    about: &'static str,
    marker: Marker,
}

impl Published {
    /// As published.
    pub const UNIQUE: Published = Published {
        name: "table-key-published",
        about: "count the period's rows; if none: rank whoever was last active in it, insert the unique marker, reset everybody's points",
        marker: Marker::Unique,
    };
    /// The error of the second marker is logged and nothing else.
    pub const IGNORES_ERROR: Published = Published {
        name: "table-key-ignores-error",
        about: "as table-key-published, but the loser logs the duplicate key and commits",
        marker: Marker::Ignored,
    };
    /// There is no unique key.
    pub const CHECK_ONLY: Published = Published {
        name: "table-key-check-only",
        about: "as table-key-published, but the marker is not unique: the count decides",
        marker: Marker::Checked,
    };
}

const STEPS: [Step; 14] = [
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
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn policy(&self) -> Policy {
        Policy::Skip
    }

    fn decides(&self) -> Decides {
        Decides::Nothing
    }

    fn steps(&self) -> &'static [Step] {
        &STEPS
    }

    fn unique_marker(&self) -> bool {
        self.marker != Marker::Checked
    }

    fn wakes_late(&self) -> bool {
        true
    }

    fn also_under(&self) -> &'static [Rules] {
        &[Rules::InnodbRepeatableRead]
    }

    /// Who begins after the winner's commit finds an empty board, or, with a snapshot, fails beside it.
    fn races(&self, rules: Rules) -> bool {
        match self.marker {
            Marker::Unique => false,
            Marker::Ignored => rules.is_innodb(),
            Marker::Checked => rules.refuses_changed_rows(),
        }
    }

    fn expectations(&self, rules: Rules) -> Vec<Expectation> {
        let left_out = "a player active between boundary and settlement is left out of the ranking and still reset";
        let fast = "a node that is fast by more than its wait settles before the period has ended";
        let in_memory = "the boundary lives in memory: a process that starts after it computes the next one";
        let mut claims = vec![
            Expectation::must(FaultClass::Calm, &[Letter::C], left_out, pinned::calm),
            Expectation::must(FaultClass::Skew, &[Letter::E], fast, pinned::one_node_fast),
            Expectation::must(FaultClass::Outage, &[Letter::L], in_memory, pinned::outage),
            SETTLES_BY_ITS_OWN_ZONE,
        ];
        claims.push(match self.marker {
            Marker::Unique => Expectation::never(&[Letter::D], "the marker is unique, and its loser rolls back"),
            Marker::Ignored if rules.is_innodb() => {
                let because =
                    "a duplicate key undoes one statement of InnoDB's transaction; the rest of it, the second ranking, is committed";
                Expectation::must(FaultClass::Calm, &[Letter::D], because, pinned::calm)
            }
            Marker::Ignored => {
                Expectation::never(&[Letter::D], "a duplicate key ends PostgreSQL's transaction: the COMMIT that follows is a rollback")
            }
            Marker::Checked if rules.refuses_changed_rows() => Expectation::must(
                FaultClass::Calm,
                &[Letter::D],
                "all have counted before any commits; who begins after that commit has a newer snapshot, and settles again",
                pinned::calm,
            ),
            Marker::Checked => Expectation::must(FaultClass::Calm, &[Letter::D], "all have counted before any commits", pinned::calm),
        });
        claims
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
        let loser = if self.marker == Marker::Ignored { Loser::Commits } else { Loser::RollsBack };
        let places = context.sql().transaction(async || body::published(context, period, loser).await.map(Some)).await?;
        payment::pay_directly(context, period, places.as_deref().unwrap_or_default()).await?;
        Ok(Belief::Settled)
    }
}
