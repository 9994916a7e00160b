//! What a committed transaction tells the history: which rows it left changed.
//!
//! SQLite's update hook names the rows while statements run ([`Touched`]); at the commit they
//! are read once, table by table, in runs of neighbouring rows. What SQLite does not keep,
//! the values before, is remembered in a [`Mirror`] of the committed state.

use super::sqlite::Sqlite;
use crate::id::{HostId, NodeId, PeriodId, PlayerId, TxId};
use crate::time::{SimTime, WallTime};
use crate::trace::{Event, TaskStatus};
use rusqlite::Row;
use rusqlite::hooks::Action;
use std::collections::{BTreeMap, BTreeSet};

/// How many tables there are.
pub(super) const TABLES: usize = 7;

/// Rows at most this far apart are read in one query.
const NEIGHBOURS: i64 = 8;

/// The rows of one table: row id, and whether the row was inserted.
type RowIds = Vec<(i64, bool)>;

/// Rows that an open transaction inserted or updated.
#[derive(Debug, Default)]
pub(super) struct Touched {
    points: RowIds,
    earnings: RowIds,
    settlement: RowIds,
    ranking: RowIds,
    task: RowIds,
    fence: RowIds,
    outbox: RowIds,
}

impl Touched {
    pub(super) fn note(&mut self, action: Action, table: &str, rowid: i64) {
        let rows = match table {
            "points" => &mut self.points,
            "earnings" => &mut self.earnings,
            "settlement" => &mut self.settlement,
            "ranking" => &mut self.ranking,
            "task" => &mut self.task,
            "fence" => &mut self.fence,
            "outbox" => &mut self.outbox,
            _ => return,
        };
        match action {
            Action::SQLITE_INSERT => rows.push((rowid, true)),
            Action::SQLITE_UPDATE => rows.push((rowid, false)),
            // A deleted row is told of by nobody, and what cannot be read at the commit is not told.
            _ => {}
        }
    }
}

/// Who committed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    pub tx: TxId,
    pub by: HostId,
    pub began: SimTime,
}

/// What had been committed before, as far as events tell differences.
#[derive(Debug, Default)]
pub(super) struct Mirror {
    /// Points of accounts that are not zero, by row id.
    points: BTreeMap<i64, i64>,
    /// Earnings that were marked, by row id.
    marked: BTreeSet<i64>,
    /// Outbox rows that were delivered, by row id.
    delivered: BTreeSet<i64>,
}

impl Mirror {
    /// The events of a transaction that has just committed, `Committed` first; none if it left nothing to tell.
    pub(super) fn commit(&mut self, sqlite: &Sqlite, touched: Touched, origin: Origin) -> Vec<Event> {
        let Origin { tx, by, began } = origin;
        let mut events = vec![Event::Committed { tx, by, began }];
        self.earnings(sqlite, touched.earnings, tx, &mut events);
        let settles = touched.settlement.iter().any(|(_, inserted)| *inserted);
        self.points(sqlite, touched.points, tx, settles, &mut events);
        ranking(sqlite, touched.ranking, tx, &mut events);
        settlement(sqlite, touched.settlement, tx, &mut events);
        task(sqlite, touched.task, tx, &mut events);
        fence(sqlite, touched.fence, tx, &mut events);
        self.outbox(sqlite, touched.outbox, tx, &mut events);
        if events.len() == 1 {
            events.clear();
        }
        events
    }

    fn earnings(&mut self, sqlite: &Sqlite, rows: RowIds, tx: TxId, events: &mut Vec<Event>) {
        const SQL: &str = "SELECT rowid, id, player, amount, at, settled_in FROM earnings WHERE rowid BETWEEN ?1 AND ?2 ORDER BY rowid";
        let mut marks = Vec::new();
        each(sqlite, SQL, rows, |row, inserted| {
            let (rowid, earning) = (row.get(0)?, row.get(1)?);
            if inserted {
                let (player, at) = (PlayerId(row.get(2)?), WallTime(row.get(4)?));
                events.push(Event::Earned { tx, earning, player, amount: row.get(3)?, at });
            }
            match row.get::<_, Option<i64>>(5)? {
                None => _ = self.marked.remove(&rowid),
                Some(period) if self.marked.insert(rowid) => marks.push(Event::Marked { tx, earning, period: PeriodId(period) }),
                Some(_) => {}
            }
            Ok(())
        });
        events.append(&mut marks);
    }

    fn points(&mut self, sqlite: &Sqlite, rows: RowIds, tx: TxId, settles: bool, events: &mut Vec<Event>) {
        const SQL: &str = "SELECT rowid, player, points FROM points WHERE rowid BETWEEN ?1 AND ?2 ORDER BY rowid";
        each(sqlite, SQL, rows, |row, _| {
            let (rowid, player, now): (i64, _, i64) = (row.get(0)?, PlayerId(row.get(1)?), row.get(2)?);
            let before = if now == 0 { self.points.remove(&rowid) } else { self.points.insert(rowid, now) }.unwrap_or(0);
            if settles && now < before {
                events.push(Event::Taken { tx, player, points: before.saturating_sub(now) });
            }
            Ok(())
        });
    }

    fn outbox(&mut self, sqlite: &Sqlite, rows: RowIds, tx: TxId, events: &mut Vec<Event>) {
        const SQL: &str = "SELECT rowid, id, sent FROM outbox WHERE rowid BETWEEN ?1 AND ?2 ORDER BY rowid";
        each(sqlite, SQL, rows, |row, inserted| {
            let (rowid, id, sent): (i64, _, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
            if inserted {
                events.push(Event::Queued { tx, row: id });
            }
            if sent == 0 {
                self.delivered.remove(&rowid);
            } else if self.delivered.insert(rowid) {
                events.push(Event::Delivered { tx, row: id });
            }
            Ok(())
        });
    }
}

fn ranking(sqlite: &Sqlite, rows: RowIds, tx: TxId, events: &mut Vec<Event>) {
    const SQL: &str = "SELECT rowid, period, rank, player, points FROM ranking WHERE rowid BETWEEN ?1 AND ?2 ORDER BY rowid";
    each(sqlite, SQL, rows, |row, inserted| {
        let (period, player) = (PeriodId(row.get(1)?), PlayerId(row.get(3)?));
        if inserted {
            events.push(Event::Ranked { tx, period, rank: row.get(2)?, player, points: row.get(4)? });
        }
        Ok(())
    });
}

fn settlement(sqlite: &Sqlite, rows: RowIds, tx: TxId, events: &mut Vec<Event>) {
    const SQL: &str = "SELECT rowid, period, node, attempt FROM settlement WHERE rowid BETWEEN ?1 AND ?2 ORDER BY rowid";
    each(sqlite, SQL, rows, |row, inserted| {
        let (period, node) = (PeriodId(row.get(1)?), NodeId(row.get(2)?));
        if inserted {
            events.push(Event::Settled { tx, period, node, attempt: row.get(3)? });
        }
        Ok(())
    });
}

fn task(sqlite: &Sqlite, rows: RowIds, tx: TxId, events: &mut Vec<Event>) {
    const SQL: &str = "SELECT rowid, period, status, version, attempt FROM task WHERE rowid BETWEEN ?1 AND ?2 ORDER BY rowid";
    each(sqlite, SQL, rows, |row, _| {
        let (period, version, attempt) = (PeriodId(row.get(1)?), row.get(3)?, row.get(4)?);
        if let Some(status) = TaskStatus::from_code(row.get(2)?) {
            events.push(Event::TaskSet { tx, period, status, version, attempt });
        }
        Ok(())
    });
}

fn fence(sqlite: &Sqlite, rows: RowIds, tx: TxId, events: &mut Vec<Event>) {
    const SQL: &str = "SELECT rowid, token FROM fence WHERE rowid BETWEEN ?1 AND ?2 ORDER BY rowid";
    each(sqlite, SQL, rows, |row, _| {
        events.push(Event::FenceSet { tx, token: row.get(1)? });
        Ok(())
    });
}

/// Reads touched rows in the order of their row ids and hands each over, with whether it was
/// inserted. A row that cannot be typed tells nothing.
fn each(sqlite: &Sqlite, sql: &'static str, mut rows: RowIds, mut tell: impl FnMut(&Row<'_>, bool) -> rusqlite::Result<()>) {
    // A row that was inserted and then updated counts as inserted: `true` first.
    rows.sort_unstable_by_key(|(rowid, inserted)| (*rowid, !*inserted));
    rows.dedup_by_key(|(rowid, _)| *rowid);
    for run in rows.chunk_by(|a, b| b.0.saturating_sub(a.0) <= NEIGHBOURS) {
        let (Some((first, _)), Some((last, _))) = (run.first(), run.last()) else { continue };
        let mut wanted = run.iter().peekable();
        sqlite.read(sql, &[*first, *last], |row| {
            let rowid: i64 = row.get(0)?;
            // Rows that were touched and are gone, and neighbours that were not touched, are passed over.
            while wanted.next_if(|(touched, _)| *touched < rowid).is_some() {}
            match wanted.next_if(|(touched, _)| *touched == rowid) {
                Some((_, inserted)) => tell(row, *inserted),
                None => Ok(()),
            }
        });
    }
}
