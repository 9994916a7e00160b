//! What a guard guards: the settlement transaction, in its published and in its good form.
//!
//! A guard that stands before the job wraps [`job`]; a guard that decides inside the settlement
//! transaction hands its decision to [`atomic_job`].
//!
//! The good body marks first and ranks exactly what it marked: an earning that commits
//! meanwhile belongs to the next period, and nobody's points are taken twice.
//!
//! The published body is the same text on MySQL, where its articles run it, but for `rank`: a
//! reserved word since MySQL 8, it stands in backquotes there, or the INSERT could not run at all.

mod rows;

use crate::id::PeriodId;
use crate::settlement::{Period, RANKED};
use crate::step::Step;
use crate::store::sql::{Param, Returning, Text, aggregate, column, int};
use crate::strategy::context::{Context, Error, WORK};
use crate::strategy::payment::{self, Queued};
use crate::time::WallTime;
use crate::trace::{Belief, StepName};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The steps of [`job`]: five slices of work, the good body in a transaction, direct payout.
pub const JOB_STEPS: [Step; 13] = [
    WORK[0],
    WORK[1],
    WORK[2],
    WORK[3],
    WORK[4],
    Step::database("tx.begin"),
    Step::database("tx.mark"),
    Step::database("tx.ranking"),
    Step::database("tx.points"),
    Step::database("tx.settlement"),
    Step::database("tx.commit"),
    Step::database("tx.rollback"),
    Step::payout("pay"),
];

/// The steps of [`atomic_job`] and [`unfinished`], without those of the decision.
pub const ATOMIC_STEPS: [Step; 17] = [
    Step::database("settled.find"),
    Step::database("outbox.find"),
    WORK[0],
    WORK[1],
    WORK[2],
    WORK[3],
    WORK[4],
    Step::database("tx.begin"),
    Step::database("tx.due"),
    Step::database("tx.mark"),
    Step::database("tx.ranking"),
    Step::database("tx.points"),
    Step::database("tx.outbox"),
    Step::database("tx.commit"),
    Step::database("tx.rollback"),
    Step::payout("outbox.pay"),
    Step::database("outbox.sent"),
];

/// Periods that are settled, with nothing left to deliver.
const FINISHED: Text = Text::new(
    "SELECT period FROM settlement WHERE NOT EXISTS (SELECT 1 FROM outbox WHERE sent = 0 AND id / 10 = settlement.period)",
    // `/` has decimals there.
    "SELECT period FROM settlement WHERE NOT EXISTS (SELECT 1 FROM outbox WHERE sent = 0 AND id DIV 10 = settlement.period)",
);

const MARK: Returning = Returning {
    postgres: "UPDATE earnings SET settled_in = $1 WHERE at < $2 AND settled_in IS NULL RETURNING player, amount",
    mysql_lock: "SELECT player, amount FROM earnings WHERE at < $2 AND settled_in IS NULL FOR UPDATE",
    mysql_update: "UPDATE earnings SET settled_in = $1 WHERE at < $2 AND settled_in IS NULL",
};
const SETTLE: &str = "INSERT INTO settlement (period, node, attempt, at) VALUES ($1, $2, $3, $4)";
const NOW: Text =
    Text::new("SELECT (extract(epoch from clock_timestamp()) * 1000)::bigint", "SELECT CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED)");
const DUE: Text = Text::new(
    "SELECT (extract(epoch from clock_timestamp()) * 1000)::bigint, due FROM task WHERE period = $1",
    "SELECT CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED), due FROM task WHERE period = $1",
);
/// The published body ranks whoever was last active before the end, the end included.
const TOP: &str = "SELECT player, points FROM points WHERE last_active <= $1 AND points > 0 ORDER BY points DESC, player LIMIT 30";
const RESET: &str = "UPDATE points SET points = 0";

/// A ranked player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// From 1.
    pub rank: i64,
    /// Who.
    pub player: i64,
    /// With how many points.
    pub points: i64,
}

/// What a settlement took from whom, and who is on its ranking.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranking {
    /// The first [`RANKED`], by rank.
    pub places: Vec<Place>,
    /// What every player had earned, by player.
    taken: BTreeMap<i64, i64>,
}

impl Ranking {
    /// Ranks earnings, given as player and amount: most points first, ties by player.
    pub fn of(earnings: impl IntoIterator<Item = (i64, i64)>) -> Ranking {
        let mut taken = BTreeMap::new();
        for (player, amount) in earnings {
            *taken.entry(player).or_default() += amount;
        }
        let mut best: Vec<(i64, i64)> = taken.iter().map(|(player, points)| (*player, *points)).filter(|(_, points)| *points > 0).collect();
        best.sort_unstable_by_key(|(player, points)| (Reverse(*points), *player));
        let places = (1..).zip(best).take(RANKED).map(|(rank, (player, points))| Place { rank, player, points }).collect();
        Ranking { places, taken }
    }
}

/// The whole job of a guard that trusts its own clock: the work, the good body, direct payout.
///
/// # Errors
/// As every step.
pub async fn job(context: &Context, period: Period) -> Result<Belief, Error> {
    context.work().await?;
    settle(context, period).await
}

/// What of the [`job`] is left after the work: the good body in a transaction, direct payout.
///
/// # Errors
/// As every step.
pub async fn settle(context: &Context, period: Period) -> Result<Belief, Error> {
    let settled = context
        .sql()
        .transaction(async || {
            let ranking = rank(context, period).await?;
            record(context, period, i64::from(context.attempt().number), context.wall()).await?;
            Ok(Some(ranking))
        })
        .await?;
    if let Some(ranking) = settled {
        payment::pay_directly(context, period, &ranking.places).await?;
    }
    Ok(Belief::Settled)
}

/// The whole job of a guard that decides inside the settlement transaction: the work; then, in one
/// transaction, `decide`, which also writes the settlement row ([`record`]), and the good body with
/// its payments in the outbox; last their delivery. If `decide` says no, nothing is committed.
///
/// A period that is settled and has payments left needs no second job: they are delivered first.
///
/// # Errors
/// As every step.
pub async fn atomic_job(
    context: &Context,
    period: Period,
    decide: impl AsyncFnOnce(WallTime) -> Result<bool, Error>,
) -> Result<Belief, Error> {
    if payment::deliver_left(context, period).await? {
        return Ok(Belief::AlreadySettled);
    }
    context.work().await?;
    let settled = context
        .sql()
        .transaction(async || {
            let Some(Due { period, now }) = due(context, period).await? else { return Ok(None) };
            if !decide(now).await? {
                return Ok(None);
            }
            let Ranking { places, .. } = rank(context, period).await?;
            payment::queue(context, period, &places).await.map(Some)
        })
        .await?;
    let Some(queued) = settled else { return Ok(Belief::Busy) };
    payment::deliver(context, &queued).await?;
    Ok(Belief::Settled)
}

/// The due periods that have no settlement row, or have payments left: what
/// [`crate::strategy::Strategy::unsettled`] is for a guard of [`atomic_job`].
///
/// # Errors
/// As every step.
pub async fn unfinished(context: &Context) -> Result<Vec<PeriodId>, Error> {
    let rows = context.sql().query("settled.find", FINISHED, &[]).await?;
    let mut finished = Vec::with_capacity(rows.len());
    for row in &rows {
        finished.push(PeriodId(column(row, 0)?));
    }
    let due = context.calendar().due_at(context.wall()).map(|period| period.id);
    Ok(due.filter(|id| !finished.contains(id)).collect())
}

/// A period that is over, by the schedule and the clock of the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// The period, with the end that the planner has stored. A node that has another time zone works out another one.
    pub period: Period,
    /// The database's clock.
    pub now: WallTime,
}

/// The period, if the database says that it is over: its clock, and the end that it has stored. Inside the settlement
/// transaction this keeps a node with a fast clock, or in another time zone, from settling early, and makes it count
/// what belongs to the period.
///
/// # Errors
/// As every step.
pub async fn due(context: &Context, period: Period) -> Result<Option<Due>, Error> {
    let rows = context.sql().query("tx.due", DUE, &[int(&period.id.0)]).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    let due = Due { now: WallTime(column(row, 0)?), period: Period { due: WallTime(column(row, 1)?), ..period } };
    Ok((due.period.due <= due.now).then_some(due))
}

/// What the database's clock shows.
///
/// # Errors
/// As every step.
pub async fn clock(context: &Context, step: StepName) -> Result<WallTime, Error> {
    let rows = context.sql().query(step, NOW, &[]).await?;
    Ok(WallTime(aggregate(&rows)?))
}

/// Marks, ranks, and reduces points: the good body without its settlement row.
///
/// # Errors
/// As every step.
pub async fn rank(context: &Context, period: Period) -> Result<Ranking, Error> {
    let rows = context.sql().returning("tx.mark", &MARK, &[int(&period.id.0), int(&period.due.0)]).await?;
    let mut earnings = Vec::with_capacity(rows.len());
    for row in &rows {
        earnings.push((column(row, 0)?, column(row, 1)?));
    }
    let ranking = Ranking::of(earnings);
    insert_places(context, period, &ranking.places).await?;
    if !ranking.taken.is_empty() {
        let statement = rows::take_points(context.sql().dialect(), ranking.taken.len());
        let params: Vec<Param<'_>> = ranking.taken.iter().flat_map(|(player, points)| [int(player), int(points)]).collect();
        context.sql().execute("tx.points", &*statement, &params).await?;
    }
    Ok(ranking)
}

/// The good body with its settlement row, its payments in the outbox: what is left of a
/// settlement transaction when the guard has decided.
///
/// # Errors
/// As every step.
pub async fn settle_queued(context: &Context, period: Period, attempt: i64, at: WallTime) -> Result<Vec<Queued>, Error> {
    let ranking = rank(context, period).await?;
    record(context, period, attempt, at).await?;
    payment::queue(context, period, &ranking.places).await
}

/// Inserts the settlement row.
///
/// # Errors
/// As every step.
pub async fn record(context: &Context, period: Period, attempt: i64, at: WallTime) -> Result<(), Error> {
    record_as(context, period, i64::from(context.attempt().node.0), attempt, at).await
}

/// Inserts the settlement row of an attempt that another node may have made.
///
/// # Errors
/// As every step.
pub async fn record_as(context: &Context, period: Period, node: i64, attempt: i64, at: WallTime) -> Result<(), Error> {
    context.sql().execute("tx.settlement", SETTLE, &[int(&period.id.0), int(&node), int(&attempt), int(&at.0)]).await?;
    Ok(())
}

/// What whoever finds the period marked does, in the published body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loser {
    /// As it should.
    RollsBack,
    /// Takes the error for a message, goes on, and commits.
    Commits,
}

/// The published body with its marker after the ranking rows. Who is active between the end
/// of the period and now is left out of the ranking, and still reset.
///
/// # Errors
/// As every step; a [`Loser`] that commits passes over what the database says about the marker.
pub async fn published(context: &Context, period: Period, loser: Loser) -> Result<Vec<Place>, Error> {
    let rows = context.sql().query("tx.top", TOP, &[int(&period.due.0)]).await?;
    let mut places = Vec::with_capacity(rows.len());
    for (rank, row) in (1..).zip(&rows) {
        places.push(Place { rank, player: column(row, 0)?, points: column(row, 1)? });
    }
    insert_places(context, period, &places).await?;
    let logged = |outcome: Result<(), Error>| match outcome {
        Err(Error::Store(error)) if loser == Loser::Commits && error.kind.is_refusal() => Ok(()),
        other => other,
    };
    logged(record(context, period, i64::from(context.attempt().number), context.wall()).await)?;
    logged(context.sql().execute("tx.points", RESET, &[]).await.map(drop))?;
    Ok(places)
}

async fn insert_places(context: &Context, period: Period, places: &[Place]) -> Result<(), Error> {
    if places.is_empty() {
        return Ok(());
    }
    let statement = rows::insert_ranking(context.sql().dialect(), places.len());
    let mut params: Vec<Param<'_>> = Vec::with_capacity(1 + 3 * places.len());
    params.push(int(&period.id.0));
    for place in places {
        params.extend([int(&place.rank), int(&place.player), int(&place.points)]);
    }
    context.sql().execute("tx.ranking", &*statement, &params).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Several earnings of one player count together, ties go by player, the 31st is left out but still reduced.
    #[test]
    fn ranks_the_first_thirty_and_takes_from_everybody() {
        let ranking = Ranking::of([(3, 5), (1, 4), (2, 5), (1, 3)]);
        let places: Vec<_> = ranking.places.iter().map(|p| (p.rank, p.player, p.points)).collect();
        assert_eq!(places, [(1, 1, 7), (2, 2, 5), (3, 3, 5)]);

        let crowd = Ranking::of((1..=40).map(|player| (player, 100 - player)));
        assert_eq!(crowd.places.len(), RANKED);
        assert_eq!(crowd.places.last().map(|p| (p.rank, p.player)), Some((30, 30)));
        assert_eq!(crowd.taken.len(), 40);
    }

    #[test]
    fn nobody_earned_means_an_empty_ranking() {
        assert_eq!(Ranking::of([]), Ranking::default());
    }
}
