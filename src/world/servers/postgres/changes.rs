//! What a committed transaction tells the history: which rows it left changed.
//!
//! Everything is in the images of its changes: what a row was before the first of them, and what
//! it is after the last.

use super::image::{Change, Image};
use crate::id::{HostId, NodeId, PeriodId, PlayerId, TxId};
use crate::time::{SimTime, WallTime};
use crate::trace::{Event, TaskStatus};
use std::collections::BTreeMap;

/// How many tables there are. Three of them, `marker`, `decision` and `schedule_row`, tell nothing.
pub(super) const TABLES: usize = 12;

/// Their places in the schema.
const POINTS: usize = 0;
const EARNINGS: usize = 1;
const SETTLEMENT: usize = 2;
const RANKING: usize = 3;
const TASK: usize = 4;
const FENCE: usize = 5;
const OUTBOX: usize = 6;
const ALERT: usize = 8;
const LEASE: usize = 10;

/// Who committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    pub tx: TxId,
    pub by: HostId,
    pub began: SimTime,
}

/// What became of one row: its first old image and its last new one.
#[derive(Clone, Copy)]
struct Fate<'c> {
    old: Option<&'c Image>,
    new: &'c Image,
}

impl Fate<'_> {
    fn inserted(self) -> bool {
        self.old.is_none()
    }

    /// What a column was before; `None` if the row is new or the column was null.
    fn before(self, column: usize) -> Option<i64> {
        self.old.and_then(|old| old.int(column))
    }
}

/// The rows of each table that are left changed, by rowid. A deleted row is told of by nobody.
fn fates(changes: &[Change]) -> [BTreeMap<i64, Fate<'_>>; TABLES] {
    let mut fates: [BTreeMap<i64, Fate<'_>>; TABLES] = Default::default();
    for Change { table, old, new } in changes {
        let Some(rows) = fates.get_mut(*table) else { continue };
        let known = old.as_ref().and_then(|old| rows.remove(&old.rowid));
        let before = known.map_or(old.as_ref(), |fate| fate.old);
        if let Some(new) = new {
            rows.insert(new.rowid, Fate { old: before, new });
        }
    }
    fates
}

/// The events of a transaction that has just committed, `Committed` first; none if it left
/// nothing to tell. A row that cannot be typed tells nothing.
pub(super) fn events(changes: &[Change], origin: Origin) -> Vec<Event> {
    let Origin { tx, by, began } = origin;
    let fates = fates(changes);
    let settles = fates[SETTLEMENT].values().any(|fate| fate.inserted());
    let mut events = vec![Event::Committed { tx, by, began }];
    let mut tell = |table: usize, event: &dyn Fn(Fate<'_>) -> Option<Event>| {
        events.extend(fates[table].values().filter_map(|fate| event(*fate)));
    };
    tell(EARNINGS, &|fate| fate.inserted().then(|| earned(tx, fate.new)).flatten());
    tell(EARNINGS, &|fate| marked(tx, fate));
    tell(POINTS, &|fate| settles.then(|| taken(tx, fate)).flatten());
    tell(RANKING, &|fate| fate.inserted().then(|| ranked(tx, fate.new)).flatten());
    tell(SETTLEMENT, &|fate| fate.inserted().then(|| settled(tx, fate.new)).flatten());
    tell(TASK, &|fate| task(tx, fate.new));
    tell(FENCE, &|fate| Some(Event::FenceSet { tx, token: fate.new.int(1)? }));
    tell(OUTBOX, &|fate| fate.inserted().then(|| Some(Event::Queued { tx, row: fate.new.int(0)? })).flatten());
    tell(OUTBOX, &|fate| delivered(tx, fate));
    tell(ALERT, &|fate| alert(tx, fate.new));
    tell(LEASE, &|fate| lease(tx, fate));
    if events.len() == 1 {
        events.clear();
    }
    events
}

fn earned(tx: TxId, row: &Image) -> Option<Event> {
    let (earning, player, at) = (row.int(0)?, PlayerId(row.int(1)?), WallTime(row.int(3)?));
    Some(Event::Earned { tx, earning, player, amount: row.int(2)?, at })
}

/// An earning is marked once; another mark over it tells nothing.
fn marked(tx: TxId, fate: Fate<'_>) -> Option<Event> {
    const SETTLED_IN: usize = 4;
    let period = PeriodId(fate.new.int(SETTLED_IN)?);
    fate.before(SETTLED_IN).is_none().then_some(Event::Marked { tx, earning: fate.new.int(0)?, period })
}

fn taken(tx: TxId, fate: Fate<'_>) -> Option<Event> {
    const BALANCE: usize = 1;
    let (before, now) = (fate.before(BALANCE).unwrap_or(0), fate.new.int(BALANCE)?);
    (now < before).then_some(Event::Taken { tx, player: PlayerId(fate.new.int(0)?), points: before.saturating_sub(now) })
}

fn ranked(tx: TxId, row: &Image) -> Option<Event> {
    let (period, player) = (PeriodId(row.int(0)?), PlayerId(row.int(2)?));
    Some(Event::Ranked { tx, period, rank: row.int(1)?, player, points: row.int(3)? })
}

fn settled(tx: TxId, row: &Image) -> Option<Event> {
    let (period, node) = (PeriodId(row.int(0)?), NodeId(row.int(1)?.try_into().ok()?));
    Some(Event::Settled { tx, period, node, attempt: row.int(2)? })
}

fn task(tx: TxId, row: &Image) -> Option<Event> {
    let status = TaskStatus::from_code(row.int(2)?)?;
    Some(Event::TaskSet { tx, period: PeriodId(row.int(0)?), status, version: row.int(3)?, attempt: row.int(6)? })
}

fn alert(tx: TxId, row: &Image) -> Option<Event> {
    let period = PeriodId(row.int(0)?);
    Some(if row.int(1)? == 0 { Event::Alerted { tx, period } } else { Event::AlertHandled { tx, period } })
}

/// A lease row is granted when it is new or taken again; extended or given back, only its end changes.
fn lease(tx: TxId, fate: Fate<'_>) -> Option<Event> {
    const UNTIL: usize = 1;
    const SINCE: usize = 2;
    const OWNER: usize = 3;
    let (owner, until) = (NodeId(fate.new.int(OWNER)?.try_into().ok()?), WallTime(fate.new.int(UNTIL)?));
    let granted = [SINCE, OWNER].into_iter().any(|column| fate.before(column) != fate.new.int(column));
    Some(Event::LeaseRowSet { tx, owner, until, granted })
}

fn delivered(tx: TxId, fate: Fate<'_>) -> Option<Event> {
    const SENT: usize = 3;
    let before = fate.before(SENT).unwrap_or(0);
    (fate.new.int(SENT)? != 0 && before == 0).then_some(Event::Delivered { tx, row: fate.new.int(0)? })
}
