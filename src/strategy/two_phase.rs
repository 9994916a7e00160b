//! Settlement database and payout ledger under a two-phase commit. The node that settles is its
//! coordinator.
//!
//! 1. The settlement transaction, unique marker first, is prepared; then its payments are.
//! 2. Whoever recovers writes down that both commit: from then on nothing else can become of them.
//! 3. The database commits, then the payout service pays.
//!
//! A prepared transaction keeps its locks. If its coordinator dies between the phases, nobody can
//! settle the period, and no player whose points it took can earn, until somebody decides (`doubt`).

mod doubt;

use crate::class::FaultClass;
use crate::id::{Letter, PeriodId};
use crate::scenario::Rules;
use crate::settlement::Period;
use crate::step::{Step, joined};
use crate::strategy::body::Due;
use crate::strategy::context::WORK;
use crate::strategy::{Context, Error, Expectation, Policy, Scope, Strategy, body, marker, payment, pinned};
use crate::trace::Belief;
use async_trait::async_trait;
use doubt::Name;

/// Prepare both, commit both; with or without somebody who ends what is in doubt.
pub struct TwoPhaseCommit {
    recovers: bool,
}

impl TwoPhaseCommit {
    /// The coordinator alone knows what it wants.
    pub const NO_RECOVERY: TwoPhaseCommit = TwoPhaseCommit { recovers: false };
    /// What it wants is written down, and any node can bring it to its end.
    pub const RECOVERS: TwoPhaseCommit = TwoPhaseCommit { recovers: true };
}

const SETTLE: [Step; 17] = [
    Step::database("settled.find"),
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
    Step::database("tx.prepare"),
    Step::database("tx.rollback"),
    Step::payout("payout.prepare"),
    Step::database("db.end"),
    Step::payout("payout.end"),
];

const RECOVER: [Step; 5] = [
    Step::database("doubt.find"),
    Step::payout("doubt.payouts"),
    Step::database("doubt.clock"),
    Step::database("decide"),
    // Whether somebody else has ended it meanwhile.
    Step::database("doubt.again"),
];

const RECOVERING: [Step; 22] = joined(&[&SETTLE, &RECOVER]);

#[async_trait(?Send)]
impl Strategy for TwoPhaseCommit {
    fn name(&self) -> &'static str {
        if self.recovers { "two-phase-commit" } else { "two-phase-commit-no-recovery" }
    }

    fn about(&self) -> &'static str {
        if self.recovers {
            "settlement and payments are prepared, the decision is written down, any node brings it to its end"
        } else {
            "settlement and payments are prepared, then committed by the node that prepared them, and by nobody else"
        }
    }

    fn policy(&self) -> Policy {
        Policy::Retry
    }

    fn steps(&self) -> &'static [Step] {
        if self.recovers { &RECOVERING } else { &SETTLE }
    }

    fn unique_marker(&self) -> bool {
        true
    }

    fn runs_under(&self, rules: Rules) -> bool {
        !rules.is_innodb()
    }

    fn expectations(&self, _: Rules) -> Vec<Expectation> {
        if self.recovers {
            let because = "prepared parts end as the one decision says, which whoever finds them old makes if nobody has; \
                           no decision means no commit";
            return vec![Expectation::never(&Letter::ALL, because)];
        }
        vec![
            Expectation::must(
                FaultClass::Crash,
                &[Letter::K, Letter::L],
                "the coordinator dies between the phases: both parts stay in doubt, and the marker is locked for ever",
                pinned::crash_between_the_phases,
            ),
            Expectation::Never {
                scope: Scope::Every,
                letters: &[Letter::D, Letter::Two, Letter::C, Letter::E, Letter::S],
                because: "what is prepared is whole, and nobody can settle beside a marker that is in doubt",
            },
        ]
    }

    async fn unsettled(&self, context: &mut Context) -> Result<Option<Vec<PeriodId>>, Error> {
        let mut unsettled = body::unfinished(context).await?;
        if self.recovers {
            unsettled.extend(doubt::find(context).await?.iter().map(|name| name.period));
            unsettled.sort_unstable();
            unsettled.dedup();
        }
        Ok(Some(unsettled))
    }

    async fn attempt(&self, context: &mut Context, period: Period) -> Result<Belief, Error> {
        let context = &*context;
        if self.recovers
            && let Some(found) = doubt::recover(context, period).await?
        {
            return Ok(found);
        }
        context.work().await?;
        let prepared = context
            .sql()
            .prepared(async || {
                let Some(Due { period, now }) = body::due(context, period).await? else { return Ok(None) };
                if !marker::mark(context, period, now).await? {
                    return Ok(None);
                }
                let ranking = body::rank(context, period).await?;
                Ok(Some((Name::new(context, period, now).to_string(), ranking.places)))
            })
            .await?;
        let Some((name, places)) = prepared else { return Ok(Belief::Busy) };
        let payments = payment::list(period, &places);
        let promised = context.payout().phase("payout.prepare", &name, "prepare", &payments).await;
        let commits = promised.is_ok();
        let commits = if self.recovers { doubt::decide(context, &name, commits).await? } else { commits };
        doubt::end(context, &name, commits, self.recovers).await?;
        promised.map(|()| if commits { Belief::Settled } else { Belief::Busy })
    }
}
