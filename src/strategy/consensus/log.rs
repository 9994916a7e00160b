//! Claim and settlement as entries of the log: a settlement is decided there, once and for all,
//! and the database is brought to what was decided.
//!
//! 1. A grant for the period keeps the others from working in vain. It runs out, and decides nothing.
//! 2. When the work is done, the log decides the period for the newest grant. No other grant is
//!    given afterwards, and none decides: a sleeper that wakes is told so.
//! 3. A database that is no member cannot be written in the same step. So the decision is carried
//!    out like an entry on any other state machine: by anybody, exactly once, because the
//!    transaction notes in the task row that it was carried out, and commits only if that was
//!    not noted before. The settlement row names the grant that was decided, whoever writes it.
//! 4. Payments go through the outbox. When nothing is left of it the log is told, and nobody asks again.
//!
//! What the log cannot give is the third step's condition: without it, a node that was decided for
//! and stopped before its commit would settle after another had done so in its place.

use super::grant::{Grant, unexpected};
use crate::id::{HostId, Letter, PeriodId};
use crate::scenario::Rules;
use crate::settlement::{Decides, Period};
use crate::step::Step;
use crate::store::log::{Answer, Command};
use crate::store::sql::int;
use crate::strategy::body::Due;
use crate::strategy::context::WORK;
use crate::strategy::payment;
use crate::strategy::{Context, Error, Expectation, Policy, Strategy, body};
use crate::trace::Belief;
use async_trait::async_trait;

/// Notes that the decision was carried out; no row if it was before.
const CARRIED_OUT: &str = "UPDATE task SET status = 2, version = version + 1, attempt = $2 WHERE period = $1 AND status <> 2";

/// Claim, decision and completion in the log; the effect in the database, once for each decision.
pub struct ConsensusLog;

/// What the log decided: the grant of this host, with this token.
#[derive(Clone, Copy, Debug)]
struct Decision {
    by: HostId,
    token: i64,
}

impl ConsensusLog {
    /// Works under a grant until the log has decided: what it decided, unless that was for nobody.
    async fn decided(context: &Context, grant: Grant) -> Result<Option<Decision>, Error> {
        let done = async {
            grant.work(context).await?;
            grant.decide(context).await
        }
        .await;
        match done {
            Ok(true) => Ok(Some(Decision { by: HostId::Node(context.attempt().node), token: grant.token })),
            Ok(false) => Ok(None),
            Err(why) => {
                // If it was decided after all, this changes nothing.
                grant.release(context).await;
                Err(why)
            }
        }
    }

    /// Brings the database to what was decided, unless somebody has, and delivers what is left: what this node believes then.
    async fn carry_out(context: &Context, period: Period, decision: Decision) -> Result<Belief, Error> {
        let node = decision.by.as_node().map_or(-1, |node| i64::from(node.0));
        let carried = context
            .sql()
            .transaction(async || {
                let Some(Due { period, now }) = body::due(context, period).await? else { return Ok(None) };
                if context.sql().execute("tx.carried", CARRIED_OUT, &[int(&period.id.0), int(&decision.token)]).await? == 0 {
                    return Ok(Some(None));
                }
                let places = body::rank(context, period).await?.places;
                body::record_as(context, period, node, decision.token, now).await?;
                payment::queue(context, period, &places).await.map(|queued| Some(Some(queued)))
            })
            .await?;
        let belief = match carried {
            // Decided by a clock that was fast; it is carried out when the period is over.
            None => return Ok(Belief::Busy),
            Some(None) => {
                payment::deliver_left(context, period).await?;
                Belief::AlreadySettled
            }
            Some(Some(queued)) => {
                payment::deliver(context, &queued).await?;
                Belief::Settled
            }
        };
        context.log().ask("log.finish", Command::Finish { key: period.id.0 }).await?;
        Ok(belief)
    }
}

const STEPS: [Step; 24] = [
    Step::log("log.finished"),
    Step::log("log.grant"),
    WORK[0],
    WORK[1],
    Step::log("log.renew"),
    WORK[2],
    WORK[3],
    WORK[4],
    Step::log("log.decide"),
    Step::database("tx.begin"),
    Step::database("tx.due"),
    Step::database("tx.carried"),
    Step::database("tx.mark"),
    Step::database("tx.ranking"),
    Step::database("tx.points"),
    Step::database("tx.settlement"),
    Step::database("tx.outbox"),
    Step::database("tx.commit"),
    Step::database("tx.rollback"),
    Step::database("outbox.find"),
    Step::payout("outbox.pay"),
    Step::database("outbox.sent"),
    Step::log("log.finish"),
    Step::log("log.release"),
];

#[async_trait(?Send)]
impl Strategy for ConsensusLog {
    fn name(&self) -> &'static str {
        "consensus-log"
    }

    fn about(&self) -> &'static str {
        "claim and settlement are entries of a replicated log; the database carries each decision out once, payments go through an outbox"
    }

    fn policy(&self) -> Policy {
        Policy::Retry
    }

    fn decides(&self) -> Decides {
        Decides::Log
    }

    fn steps(&self) -> &'static [Step] {
        &STEPS
    }

    fn expectations(&self, _: Rules) -> Vec<Expectation> {
        vec![Expectation::never(
            &Letter::ALL,
            "the log decides each period once, the database carries a decision out once and not before the period is over, and anybody carries out what is left",
        )]
    }

    async fn unsettled(&self, context: &mut Context) -> Result<Option<Vec<PeriodId>>, Error> {
        let finished = match context.log().ask("log.finished", Command::Finished).await? {
            Answer::Finished(keys) => keys,
            other => return Err(unexpected(&other)),
        };
        let due = context.calendar().due_at(context.wall()).map(|period| period.id);
        Ok(Some(due.filter(|id| !finished.contains(&id.0)).collect()))
    }

    async fn attempt(&self, context: &mut Context, period: Period) -> Result<Belief, Error> {
        let context = &*context;
        let decision = match Grant::ask(context, period.id.0).await? {
            Ok(grant) => match Self::decided(context, grant).await? {
                Some(decision) => decision,
                None => return Ok(Belief::Busy),
            },
            Err(Answer::Decided { by, token }) => Decision { by, token },
            Err(Answer::Over) => return Ok(Belief::AlreadySettled),
            Err(Answer::Held) => return Ok(Belief::Busy),
            Err(other) => return Err(unexpected(&other)),
        };
        Self::carry_out(context, period, decision).await
    }
}
