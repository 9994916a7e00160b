//! The row of the schedule, and what is said about it.

use crate::settlement::Period;
use crate::store::StoreError;
use crate::store::sql::{column, int};
use crate::strategy::{Context, Error};
use crate::time::WallTime;
use crate::trace::StepName;

/// Later than every run: the schedule has no further boundary.
const NEVER: i64 = i64::MAX / 2;

const LOCK: &str = "SELECT token FROM fence WHERE name = 'settlement' FOR UPDATE";
const READ: &str = "SELECT next_fire, acquired, fired, seen FROM schedule_row WHERE name = 'settlement'";
/// Whether it is free is all that is asked: not which time it was that was read.
const ACQUIRE: &str = "UPDATE schedule_row SET acquired = 1, owner = $1, seen = $2 WHERE name = 'settlement' AND acquired = 0";
const SET_FREE: &str = "UPDATE schedule_row SET acquired = 0 WHERE name = 'settlement' AND acquired = 1 AND seen < $1";
const FIRE: &str = "UPDATE schedule_row SET next_fire = $1, acquired = 0, fired = $2, owner = $3, seen = $4 WHERE name = 'settlement'";
const SKIP: &str = "UPDATE schedule_row SET next_fire = $1, acquired = 0 WHERE name = 'settlement'";
const CHECK_IN: &str = "UPDATE schedule_row SET seen = $2 WHERE name = 'settlement' AND owner = $1";
const RECOVER: &str = "UPDATE schedule_row SET owner = $2, seen = $3 WHERE name = 'settlement' AND fired = $1 AND seen < $4";
const DONE: &str = "UPDATE schedule_row SET fired = NULL WHERE name = 'settlement' AND fired = $1 AND owner = $2";

/// What the row said when it was read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub next_fire: WallTime,
    pub acquired: bool,
    pub fired: Option<WallTime>,
    seen: Option<WallTime>,
}

impl Row {
    /// Whether whoever wrote last has not checked in for too long, by the clock of whoever asks.
    pub fn seems_dead(&self, context: &Context) -> bool {
        self.seen.is_none_or(|seen| seen < dead_before(context))
    }
}

fn me(context: &Context) -> i64 {
    i64::from(context.attempt().node.0)
}

fn dead_before(context: &Context) -> WallTime {
    context.wall() - context.scenario().row_lock.dead_after
}

/// Waits for the lock, until the transaction ends.
pub(super) async fn lock(context: &Context) -> Result<(), Error> {
    context.sql().query("trigger.lock", LOCK, &[]).await.map(drop)
}

pub(super) async fn read(context: &Context, step: StepName) -> Result<Row, Error> {
    let rows = context.sql().query(step, READ, &[]).await?;
    let row = rows.first().ok_or_else(|| StoreError::rejected("the schedule row is missing"))?;
    let (fired, seen): (Option<i64>, Option<i64>) = (column(row, 2)?, column(row, 3)?);
    let acquired: i64 = column(row, 1)?;
    Ok(Row { next_fire: WallTime(column(row, 0)?), acquired: acquired != 0, fired: fired.map(WallTime), seen: seen.map(WallTime) })
}

/// Marks the row as acquired by this node: whether it was free.
pub(super) async fn acquire(context: &Context) -> Result<bool, Error> {
    Ok(context.sql().execute("trigger.acquire", ACQUIRE, &[int(&me(context)), int(&context.wall().0)]).await? == 1)
}

/// Takes the mark of a node away that seems dead: whether there was one.
pub(super) async fn set_free(context: &Context) -> Result<bool, Error> {
    Ok(context.sql().execute("trigger.recover", SET_FREE, &[int(&dead_before(context).0)]).await? == 1)
}

/// Advances the row beyond a period, which this node fires, or nobody does.
pub(super) async fn advance(context: &Context, period: Period, fires: bool) -> Result<(), Error> {
    let now = context.wall();
    // What was missed on the way is missed too.
    let after = if fires { period.due } else { period.due.max(now) };
    let next = context.calendar().periods.iter().map(|p| p.due).find(|due| after < *due).map_or(NEVER, |due| due.0);
    if fires {
        let owner = me(context);
        let fire = [int(&next), int(&period.due.0), int(&owner), int(&now.0)];
        context.sql().execute("trigger.advance", FIRE, &fire).await?;
    } else {
        context.sql().execute("trigger.advance", SKIP, &[int(&next)]).await?;
    }
    Ok(())
}

/// Says that this node is alive.
pub(super) async fn check_in(context: &Context) -> Result<(), Error> {
    context.sql().execute("trigger.check-in", CHECK_IN, &[int(&me(context)), int(&context.wall().0)]).await.map(drop)
}

/// Takes over what a node has fired that seems dead: whether it was there to take.
pub(super) async fn recover(context: &Context, period: Period) -> Result<bool, Error> {
    let (owner, now, dead) = (me(context), context.wall(), dead_before(context));
    let params = [int(&period.due.0), int(&owner), int(&now.0), int(&dead.0)];
    Ok(context.sql().execute("trigger.recover", RECOVER, &params).await? == 1)
}

/// Says that a period has been fired to its end. Whoever has taken it over goes on.
pub(super) async fn done(context: &Context, period: Period) -> Result<(), Error> {
    context.sql().execute("trigger.done", DONE, &[int(&period.due.0), int(&me(context))]).await.map(drop)
}
