//! How winners are paid: directly by the node that committed, or from an outbox that any node empties.

use crate::settlement::{Period, REWARDS};
use crate::store::Payment;
use crate::store::sql::{Param, Text, column, int, text};
use crate::strategy::body::Place;
use crate::strategy::context::{Context, Error};

/// How often a direct payment is tried.
const TRIES: u32 = 3;

/// Rows for the outbox. `key` is a reserved word in MySQL.
macro_rules! queue {
    ($rows:literal) => {
        Text::new(
            concat!("INSERT INTO outbox (id, key, payload, sent) VALUES ", $rows),
            concat!("INSERT INTO outbox (id, `key`, payload, sent) VALUES ", $rows),
        )
    };
}

const QUEUE: [Text; REWARDS.len()] =
    [queue!("($1, $2, $3, 0)"), queue!("($1, $2, $3, 0), ($4, $5, $6, 0)"), queue!("($1, $2, $3, 0), ($4, $5, $6, 0), ($7, $8, $9, 0)")];
const FIND: Text = Text::new(
    "SELECT id, key, payload FROM outbox WHERE sent = 0 AND id / 10 = $1 ORDER BY id",
    // `/` has decimals there.
    "SELECT id, `key`, payload FROM outbox WHERE sent = 0 AND id DIV 10 = $1 ORDER BY id",
);
const SENT: &str = "UPDATE outbox SET sent = 1 WHERE id = $1";

/// A payment that was decided in a settlement transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queued {
    /// Ten times the period, plus the rank.
    id: i64,
    /// The idempotency key: period and player.
    key: String,
    /// The request's body.
    payload: String,
}

fn payments(period: Period, places: &[Place]) -> impl Iterator<Item = Payment> {
    let period = period.id.0;
    places.iter().zip(REWARDS).map(move |(place, amount)| Payment { period, rank: place.rank, player: place.player, amount })
}

/// Pays the first three after the commit, each with up to three tries and without a key: a
/// lost answer pays twice, and a crash pays nobody.
///
/// # Errors
/// The job failed at a payment.
pub async fn pay_directly(context: &Context, period: Period, places: &[Place]) -> Result<(), Error> {
    for payment in payments(period, places) {
        let body = payment.json();
        for _ in 0..TRIES {
            match context.payout().pay("pay", &body, None).await {
                Ok(()) => break,
                Err(Error::Store(_)) => {}
                Err(other @ (Error::Job(_) | Error::GuardLost)) => return Err(other),
            }
        }
    }
    Ok(())
}

/// The payments of the first three as one JSON list.
pub fn list(period: Period, places: &[Place]) -> String {
    let payments: Vec<String> = payments(period, places).map(|payment| payment.json()).collect();
    format!("[{}]", payments.join(","))
}

/// Puts the payments of the first three into the outbox, inside the settlement transaction.
///
/// # Errors
/// As every step.
pub async fn queue(context: &Context, period: Period, places: &[Place]) -> Result<Vec<Queued>, Error> {
    let queued: Vec<Queued> = payments(period, places)
        .map(|payment| Queued {
            id: payment.period * 10 + payment.rank,
            key: format!("{}-{}", payment.period, payment.player),
            payload: payment.json(),
        })
        .collect();
    if let Some(statement) = queued.len().checked_sub(1).map(|last| QUEUE[last]) {
        let params: Vec<Param<'_>> = queued.iter().flat_map(|row| [int(&row.id), text(&row.key), text(&row.payload)]).collect();
        context.sql().execute("tx.outbox", statement, &params).await?;
    }
    Ok(queued)
}

/// The payments of a period that nobody has delivered.
///
/// # Errors
/// As every step.
pub async fn undelivered(context: &Context, period: Period) -> Result<Vec<Queued>, Error> {
    let rows = context.sql().query("outbox.find", FIND, &[int(&period.id.0)]).await?;
    let mut queued = Vec::with_capacity(rows.len());
    for row in &rows {
        queued.push(Queued { id: column(row, 0)?, key: column(row, 1)?, payload: column(row, 2)? });
    }
    Ok(queued)
}

/// Delivers what nobody has delivered of a period that is settled: whether there was anything.
///
/// # Errors
/// As every step.
pub async fn deliver_left(context: &Context, period: Period) -> Result<bool, Error> {
    let left = undelivered(context, period).await?;
    deliver(context, &left).await?;
    Ok(!left.is_empty())
}

/// Delivers payments under their keys, and marks each when the service has answered. A crash
/// in between delivers again, and the key makes that harmless.
///
/// # Errors
/// As every step. What was not delivered stays in the outbox.
pub async fn deliver(context: &Context, queued: &[Queued]) -> Result<(), Error> {
    for row in queued {
        context.payout().pay("outbox.pay", &row.payload, Some(&row.key)).await?;
        context.sql().execute("outbox.sent", SENT, &[int(&row.id)]).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Dialect;
    use crate::id::PeriodId;
    use crate::time::WallTime;

    /// A ranking of two pays two; a longer one pays three, in rank order.
    #[test]
    fn the_first_three_are_paid_in_rank_order() {
        let period = Period { id: PeriodId(20_260_110), due: WallTime(0) };
        let places: Vec<Place> = (1..=5).map(|rank| Place { rank, player: 10 * rank, points: 9 - rank }).collect();
        let paid: Vec<_> = payments(period, &places).map(|p| (p.rank, p.player, p.amount)).collect();
        assert_eq!(paid, [(1, 10, 100), (2, 20, 50), (3, 30, 20)]);
        assert_eq!(payments(period, &places[..2]).count(), 2);
    }

    /// Each statement has as many rows as its place in the list says.
    #[test]
    fn outbox_statements_match_the_number_of_winners() {
        for (winners, statement) in (1..).zip(QUEUE) {
            for dialect in [Dialect::PostgreSql, Dialect::MySql] {
                let statement = statement.of(dialect);
                assert_eq!(statement.matches('$').count(), 3 * winners, "{statement}");
            }
        }
    }
}
