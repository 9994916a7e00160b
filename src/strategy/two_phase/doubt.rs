//! What is in doubt, and how it ends.
//!
//! The decision is a row whose key is the name of the commit: whoever writes it first has decided,
//! and everybody reads the same. No row means that nobody has decided to commit, so whoever finds
//! a part that is old enough to be abandoned may write that it does not (presumed abort: Mohan,
//! Lindsay and Obermarck 1986). A coordinator that wakes up after that reads that its commit is off.
//!
//! A part is old by the database's clock, which its name shows, after
//! [`crate::scenario::GuardKnobs::stale_after`]. Younger ones are left to their coordinator. That
//! only saves work: to decide too early is safe.

use crate::id::PeriodId;
use crate::settlement::Period;
use crate::store::sql::{aggregate, column, int, text};
use crate::store::{ErrorKind, StoreError};
use crate::strategy::body;
use crate::strategy::context::{Context, Error};
use crate::time::{WallTime, millis};
use crate::trace::Belief;
use std::fmt;

const FIND: &str = "SELECT gid FROM pg_prepared_xacts";
const AGAIN: &str = "SELECT count(*) FROM pg_prepared_xacts WHERE gid = $1";
/// The decision that stands: this one, or the one before it.
const DECIDE: &str =
    "INSERT INTO decision (gid, commits) VALUES ($1, $2) ON CONFLICT (gid) DO UPDATE SET gid = excluded.gid RETURNING commits";

/// The name of one two-phase commit, the same in both stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name {
    pub period: PeriodId,
    node: u8,
    attempt: u32,
    /// When it began, by the database's clock.
    began: WallTime,
}

impl Name {
    /// Of this attempt.
    pub(super) fn new(context: &Context, period: Period, began: WallTime) -> Name {
        let attempt = context.attempt();
        Name { period: period.id, node: attempt.node.0, attempt: attempt.number, began }
    }

    /// `None`: it is none of ours.
    fn read(text: &str) -> Option<Name> {
        let mut parts = text.strip_prefix("settle-")?.split('-');
        let mut next = || parts.next();
        let (period, node, attempt, began) = (next()?, next()?, next()?, next()?);
        let began = WallTime(began.parse().ok()?);
        Some(Name { period: PeriodId(period.parse().ok()?), node: node.parse().ok()?, attempt: attempt.parse().ok()?, began })
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "settle-{}-{}-{}-{}", self.period.0, self.node, self.attempt, self.began.0)
    }
}

/// What is in doubt in either store, oldest first.
pub(super) async fn find(context: &Context) -> Result<Vec<Name>, Error> {
    let mut names: Vec<String> = context.payout().in_doubt("doubt.payouts").await?;
    for row in &context.sql().query("doubt.find", FIND, &[]).await? {
        names.push(column(row, 0)?);
    }
    let mut found: Vec<Name> = names.iter().filter_map(|name| Name::read(name)).collect();
    found.sort_unstable_by_key(|name| (name.began, *name));
    found.dedup();
    Ok(found)
}

/// Brings to its end what is in doubt of a period and old: what this attempt comes to by that. `None`: the period has to be settled.
pub(super) async fn recover(context: &Context, period: Period) -> Result<Option<Belief>, Error> {
    let found = find(context).await?;
    let mut young = false;
    for name in found.iter().filter(|name| name.period == period.id) {
        let now = body::clock(context, "doubt.clock").await?;
        if millis(now.since(name.began)) < millis(context.guard().stale_after) {
            young = true;
            continue;
        }
        let name = name.to_string();
        let commits = decide(context, &name, false).await?;
        end(context, &name, commits, true).await?;
    }
    if young {
        return Ok(Some(Belief::Busy));
    }
    let unsettled = body::unfinished(context).await?.contains(&period.id);
    Ok((!unsettled).then_some(Belief::AlreadySettled))
}

/// Decides, unless somebody has decided already: whether it commits.
pub(super) async fn decide(context: &Context, name: &str, commits: bool) -> Result<bool, Error> {
    let wanted = i64::from(commits);
    let rows = context.sql().query("decide", DECIDE, &[text(name), int(&wanted)]).await?;
    let row = rows.first().ok_or_else(|| StoreError::rejected("an upsert returns its row"))?;
    Ok(column::<i64>(row, 0)? == 1)
}

/// Ends both parts, the database first: nobody is paid for a settlement that is not committed.
/// What others have ended meanwhile has ended as they had to, if they `recover` by the decision.
pub(super) async fn end(context: &Context, name: &str, commits: bool, recover: bool) -> Result<(), Error> {
    let (words, phase) = if commits { ("COMMIT", "commit") } else { ("ROLLBACK", "abort") };
    let ended = context.sql().execute("db.end", &*format!("{words} PREPARED '{name}'"), &[]).await;
    match ended {
        Ok(_) => {}
        Err(Error::Store(StoreError { kind: ErrorKind::Rejected, .. })) if recover && is_over(context, name).await? => {}
        Err(error) => return Err(error),
    }
    context.payout().phase("payout.end", name, phase, "").await
}

async fn is_over(context: &Context, name: &str) -> Result<bool, Error> {
    let rows = context.sql().query("doubt.again", AGAIN, &[text(name)]).await?;
    Ok(aggregate(&rows)? == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_as_it_is_written() {
        let name = Name { period: PeriodId(20_260_110), node: 2, attempt: 7, began: WallTime(1_768_000_000_001) };
        assert_eq!(name.to_string(), "settle-20260110-2-7-1768000000001");
        assert_eq!(Name::read(&name.to_string()), Some(name));
        for other in ["", "settle-", "settle-1-2-3", "settle-1-2-3-x", "order-1-2-3-4", "settle-1-999-3-4"] {
            assert_eq!(Name::read(other), None, "{other}");
        }
    }
}
