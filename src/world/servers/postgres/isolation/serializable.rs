//! PostgreSQL's serializable: a transaction that read what another changed, while a third read
//! what it changed, may stand in no serial order (Cahill, Röhm and Fekete 2008; Ports and Grittner 2012).
//!
//! An approximation: a read is remembered as one primary key or as the whole table, and the
//! transaction that completes the dangerous structure is the one that fails.

use super::{Isolation, Moment, Rules, SessionId, SqlError, Transaction};
use crate::world::servers::postgres::footprint::Footprint;
use crate::world::servers::postgres::image::Change;
use crate::world::servers::postgres::tables::Key;
use rusqlite::types::Value;
use std::collections::BTreeSet;

/// A table of which something was read: one row, or, with `None`, everything.
pub(super) type Read = (usize, Option<Key>);

/// A row that was written, and whether it was inserted.
pub(super) type Written = (Key, bool);

/// What a serializable transaction did that committed while others were open.
#[derive(Debug)]
pub(super) struct Finished {
    pub at: Moment,
    pub reads: BTreeSet<Read>,
    pub writes: BTreeSet<Written>,
}

pub(super) fn failure() -> SqlError {
    SqlError::new("40001", "could not serialize access due to read/write dependencies among transactions")
}

impl Transaction {
    /// Remembers what a statement reads.
    pub(super) fn read(&mut self, footprint: &Footprint, values: &[Value]) {
        for (table, rows) in &footprint.reads {
            self.reads.insert((*table, rows.key(*table, values)));
        }
    }
}

/// Whether somebody read what somebody else wrote. The reader of one key is also disturbed by
/// any insert: PostgreSQL locks the page of the index.
fn disturbs(reads: &BTreeSet<Read>, writes: &BTreeSet<Written>) -> bool {
    writes.iter().any(|(key, inserted)| {
        reads.contains(&(key.table, None))
            || reads.contains(&(key.table, Some(key.clone())))
            || (*inserted && reads.iter().any(|(table, _)| *table == key.table))
    })
}

impl Isolation {
    /// Remembers what a statement wrote.
    pub(super) fn note_writes(&self, transaction: &mut Transaction, changes: &[Change]) {
        for change in changes {
            let table = &self.views.sqlite().tables()[change.table];
            for image in [&change.old, &change.new].into_iter().flatten() {
                transaction.writes.insert((table.row_key(change.table, image), change.old.is_none()));
            }
        }
    }

    /// Whether a transaction both read what was changed beside it and changed what was read beside it.
    pub(super) fn is_dangerous(&self, session: SessionId, transaction: &Transaction) -> bool {
        let (Rules::PostgresSerializable, Some(snapshot)) = (transaction.rules, transaction.snapshot) else { return false };
        let beside = || self.finished.iter().filter(|finished| finished.at > snapshot);
        let others = || self.clients.iter().filter(|(id, _)| **id != session).filter_map(|(_, client)| client.transaction.as_ref());
        beside().any(|other| disturbs(&transaction.reads, &other.writes))
            && (beside().any(|other| disturbs(&other.reads, &transaction.writes))
                || others().any(|other| other.snapshot.is_some() && disturbs(&other.reads, &transaction.writes)))
    }
}
