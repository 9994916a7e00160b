//! What a statement that has waited may still find, where each statement has a snapshot of its own.
//!
//! PostgreSQL's read committed looks only at the rows that it had found before it waited, each in
//! its newest version; what others committed meanwhile to other rows it does not see. So does
//! InnoDB's read committed with an `UPDATE`, as far as it had come: a row that it could not lock is
//! judged by what was committed then (a semi-consistent read).

use super::{Isolation, Moment, Overlay, Rules, SessionId, SqlError, Transaction};
use crate::world::servers::postgres::image::{Change, Image};
use crate::world::servers::postgres::statement::Statement;
use std::collections::{BTreeMap, BTreeSet};

/// What a statement had found before it waited.
#[derive(Clone, Debug)]
pub(super) struct Recheck {
    /// When that was.
    since: Moment,
    table: usize,
    /// Rows by rowid.
    found: BTreeSet<i64>,
    /// Rows behind this one are looked at anew.
    until: Option<i64>,
}

impl Isolation {
    /// Remembers what a statement has found, before it waits for the first time. `blocked` is the row at which it waits.
    pub(super) fn remember_found(
        &self,
        transaction: &mut Transaction,
        statement: &Statement,
        found: impl Iterator<Item = (usize, i64)>,
        blocked: Option<i64>,
    ) {
        let footprint = &statement.footprint;
        let applies = match transaction.rules {
            Rules::PostgresReadCommitted => footprint.scans || statement.locks,
            Rules::InnodbReadCommitted => footprint.scans && statement.tag == "UPDATE",
            Rules::PostgresRepeatableRead | Rules::PostgresSerializable | Rules::InnodbRepeatableRead => false,
        };
        if !applies || transaction.recheck.is_some() {
            return;
        }
        let mut found = found.peekable();
        let Some((table, _)) = found.peek().copied() else { return };
        let until = blocked.filter(|_| transaction.rules.is_innodb());
        let found = found.filter(|(of, _)| *of == table).map(|(_, rowid)| rowid).collect();
        transaction.recheck = Some(Recheck { since: self.views.now(), table, found, until });
    }

    /// Takes out of the view what a statement that has waited may not find.
    pub(super) fn show_found(&mut self, transaction: &Transaction) {
        let Some(Recheck { since, table, found, until }) = &transaction.recheck else { return };
        // What others have made of each row since: its image then, if it was there, and whether it was deleted meanwhile.
        let mut rows: BTreeMap<i64, (Option<Image>, bool)> = BTreeMap::new();
        for change in self.views.committed_since(*since).filter(|change| change.table == *table) {
            let Some(rowid) = change.old.as_ref().or(change.new.as_ref()).map(|image| image.rowid) else { continue };
            let row = rows.entry(rowid).or_insert_with(|| (change.old.clone(), false));
            row.1 |= change.new.is_none();
        }
        let hidden: Vec<Change> = rows
            .into_iter()
            .filter(|(rowid, (_, deleted))| if found.contains(rowid) { *deleted } else { until.is_none_or(|until| *rowid < until) })
            .map(|(rowid, (before, _))| {
                let new = before.filter(|_| !found.contains(&rowid));
                Change { table: *table, old: self.views.image(*table, rowid), new }
            })
            .collect();
        self.views.replace(&hidden);
    }

    /// After a statement ran on what [`Isolation::show_found`] left: its changes, on the newest rows.
    ///
    /// # Errors
    /// They meet a unique key that the statement could not see.
    pub(super) fn settle_found(&mut self, session: SessionId, overlay: &mut Overlay, changes: &[Change]) -> Result<(), SqlError> {
        self.views.hide();
        let now = self.views.now();
        self.views.show(now, session, overlay);
        self.views.open();
        self.views.apply(changes)
    }
}
