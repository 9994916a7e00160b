//! What a statement locks because it looks for it, before it changes anything: the rows of a
//! locking read, and, on InnoDB, rows that others have not committed, and the gaps around.

use super::attempt::{Block, Stop, concurrent_update};
use super::{Execution, Isolation, SessionId, SqlError, Transaction};
use crate::world::servers::postgres::footprint::{Locked, Range, Rows as Found};
use crate::world::servers::postgres::image::Image;
use crate::world::servers::postgres::locks::{Gap, Hold};
use crate::world::servers::postgres::statement::Statement;
use crate::world::servers::postgres::tables::{Key, Table};
use rusqlite::types::Value;
use std::ops::Bound;
use std::slice;

impl Isolation {
    /// InnoDB finds a row by its key also where this view does not show it yet: it waits for whoever inserted it.
    pub(super) fn wait_for_invisible(&self, session: SessionId, execution: Execution<'_>) -> Result<(), Stop> {
        let footprint = &execution.statement.footprint;
        if !footprint.scans && !execution.statement.locks {
            return Ok(());
        }
        let Some((table, rows)) = footprint.reads.first() else { return Ok(()) };
        let Some(key) = rows.key(*table, execution.values) else { return Ok(()) };
        match self.locks.holder(&key).filter(|holder| *holder != session) {
            Some(holder) => Err(Stop::Blocked(Block { on: vec![holder], key, hold: Hold::Exclusive, undo: 0 })),
            None => Ok(()),
        }
    }

    /// Locks the rows that a locking clause, or the source of an `INSERT … SELECT`, finds.
    pub(super) fn lock_rows(
        &mut self,
        session: SessionId,
        transaction: &mut Transaction,
        statement: &Statement,
        locked: &Locked,
        values: &[Value],
    ) -> Result<(), Stop> {
        let Locked { table, sql, shared } = locked;
        let images = self.views.sqlite().images(*table, sql, values)?;
        let taken = self.lock_images(session, transaction, &images, &Search { table: *table, hold: hold(*shared), changes: false });
        if let Err(Stop::Blocked(_)) = &taken {
            self.remember_found(transaction, statement, images.iter().map(|image| (*table, image.rowid)), None);
        }
        taken
    }

    /// InnoDB's repeatable read locks whatever it has to look at, and the gaps between.
    pub(super) fn lock_searched(
        &mut self,
        session: SessionId,
        transaction: &mut Transaction,
        execution: Execution<'_>,
    ) -> Result<(), Stop> {
        let (footprint, values) = (&execution.statement.footprint, execution.values);
        let source = footprint.locked.as_ref();
        let [(table, rows)] = &footprint.reads[..] else { return Ok(()) };
        if !footprint.scans && source.is_none() {
            return Ok(());
        }
        let search = Search { table: *table, hold: hold(source.is_some_and(|locked| locked.shared)), changes: footprint.scans };
        match rows {
            Found::All => self.lock_table(session, transaction, &search),
            Found::Range(range) => self.lock_range(session, transaction, &search, range, values),
            // A key that is there is locked by whoever finds it; one that is not must not appear.
            Found::Literal(value) if search.hold == Hold::Exclusive => self.close_around(session, *table, value),
            Found::Parameter(n) if search.hold == Hold::Exclusive => self.close_around(session, *table, &values[*n]),
            Found::Literal(_) | Found::Parameter(_) => Ok(()),
        }
    }

    /// Everything, and what others have inserted and not committed.
    fn lock_table(&mut self, session: SessionId, transaction: &mut Transaction, search: &Search) -> Result<(), Stop> {
        let table = search.table;
        let Table { name, .. } = &self.views.sqlite().tables()[table];
        let images = self.views.sqlite().images(table, &format!("SELECT rowid FROM \"{name}\""), &[])?;
        self.lock_images(session, transaction, &images, search)?;
        for (other, client) in self.clients.iter().filter(|(other, _)| **other != session) {
            let inserted = client.transaction.as_ref().and_then(|transaction| transaction.overlay.first_inserted(table));
            if let Some(image) = inserted {
                let key = self.views.sqlite().tables()[table].row_key(table, image);
                let undo = if search.changes { images.len() } else { 0 };
                return Err(Stop::Blocked(Block { on: vec![*other], key, hold: search.hold, undo }));
            }
        }
        self.locks.close(session, Gap::everywhere(table));
        Ok(())
    }

    /// The rows of a range of keys and the one behind it, before which nobody may insert.
    fn lock_range(
        &mut self,
        session: SessionId,
        transaction: &mut Transaction,
        search: &Search,
        range: &Range,
        values: &[Value],
    ) -> Result<(), Stop> {
        let table = search.table;
        let sqlite = self.views.sqlite();
        let mut images = sqlite.images(table, &range.rows, values)?;
        let behind = range.behind.as_ref().map_or(Ok(Vec::new()), |behind| sqlite.images(table, behind, values))?;
        let to = behind.first().map_or(Bound::Unbounded, |image| Bound::Excluded(sqlite.tables()[table].row_key(table, image)));
        images.extend(behind);
        self.lock_images(session, transaction, &images, search)?;
        self.locks.close(session, Gap { table, from: Bound::Unbounded, to });
        Ok(())
    }

    /// The gap between the neighbours of a key, if it is not there.
    fn close_around(&mut self, session: SessionId, table: usize, value: &Value) -> Result<(), Stop> {
        let sqlite = self.views.sqlite();
        let Table { name, columns, keys, .. } = &sqlite.tables()[table];
        let [column] = keys[0][..] else { return Ok(()) };
        let column = &columns[column];
        let nearest = |condition: &str, order: &str| -> Result<Option<Key>, SqlError> {
            let sql = format!("SELECT rowid FROM \"{name}\" WHERE \"{column}\" {condition} ?1 ORDER BY \"{column}\" {order} LIMIT 1");
            let found = sqlite.images(table, &sql, slice::from_ref(value))?;
            Ok(found.first().map(|image| sqlite.tables()[table].row_key(table, image)))
        };
        if nearest("=", "ASC")?.is_none() {
            let bound = |key: Option<Key>| key.map_or(Bound::Unbounded, Bound::Excluded);
            let gap = Gap { table, from: bound(nearest("<", "DESC")?), to: bound(nearest(">", "ASC")?) };
            self.locks.close(session, gap);
        }
        Ok(())
    }

    fn lock_images(&mut self, session: SessionId, transaction: &mut Transaction, images: &[Image], search: &Search) -> Result<(), Stop> {
        for (before, image) in images.iter().enumerate() {
            let key = self.views.sqlite().tables()[search.table].row_key(search.table, image);
            if transaction.is_postgres_snapshot() && self.changed_since(transaction, &key).is_some() {
                return Err(concurrent_update().into());
            }
            self.lock(session, transaction, key, search.hold, if search.changes { before } else { 0 })?;
        }
        Ok(())
    }
}

/// How a table is searched.
struct Search {
    table: usize,
    hold: Hold,
    /// What is found is changed at once.
    changes: bool,
}

fn hold(shared: bool) -> Hold {
    if shared { Hold::Shared } else { Hold::Exclusive }
}
