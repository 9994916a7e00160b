//! PostgreSQL's serializable: a transaction that read what another changed, while a third read
//! what it changed, may stand in no serial order (Cahill, Röhm and Fekete 2008; Ports and Grittner 2012).
//!
//! An approximation: the transaction that completes the dangerous structure is the one that fails,
//! and nobody is doomed whom the real server would doom later.

use super::{Isolation, Moment, Rules, SessionId, SqlError, Transaction};
use crate::world::servers::postgres::footprint::{Footprint, Rows};
use crate::world::servers::postgres::image::Change;
use crate::world::servers::postgres::tables::Key;
use rusqlite::types::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What a serializable transaction read.
#[derive(Debug, Default)]
pub(super) struct Reads {
    /// Tables of which it read everything.
    tables: BTreeSet<usize>,
    /// Rows, and keys that were not there.
    keys: BTreeSet<Key>,
    /// Tables whose index it searched, and since when: PostgreSQL locks the page, so any later insert disturbs it.
    indices: BTreeMap<usize, u64>,
}

/// What it wrote; what it inserted, with the time.
pub(super) type Writes = BTreeMap<Key, Option<u64>>;

/// What a serializable transaction did that committed while others were open.
#[derive(Debug)]
pub(super) struct Finished {
    pub at: Moment,
    pub reads: Reads,
    pub writes: Writes,
}

pub(super) fn failure() -> SqlError {
    SqlError::new("40001", "could not serialize access due to read/write dependencies among transactions")
}

/// Whether somebody read what somebody else wrote.
fn disturbs(reads: &Reads, writes: &Writes) -> bool {
    let later = |table: &usize, inserted: u64| reads.indices.get(table).is_some_and(|searched| *searched < inserted);
    writes.iter().any(|(key, inserted)| {
        reads.tables.contains(&key.table) || reads.keys.contains(key) || inserted.is_some_and(|inserted| later(&key.table, inserted))
    })
}

impl Isolation {
    /// Remembers what a statement of a serializable transaction reads on the view that is shown.
    pub(super) fn note_reads(&mut self, transaction: &mut Transaction, footprint: &Footprint, values: &[Value]) -> Result<(), SqlError> {
        if transaction.rules != Rules::PostgresSerializable {
            return Ok(());
        }
        self.noted += 1;
        for (table, rows) in &footprint.reads {
            let reads = &mut transaction.reads;
            match rows {
                Rows::All => {
                    reads.tables.insert(*table);
                    continue;
                }
                Rows::Literal(_) | Rows::Parameter(_) => reads.keys.extend(rows.key(*table, values)),
                Rows::Range(range) => {
                    let sqlite = self.views.sqlite();
                    let images = sqlite.images(*table, &range.rows, values)?;
                    reads.keys.extend(images.iter().map(|image| sqlite.tables()[*table].row_key(*table, image)));
                }
            }
            reads.indices.entry(*table).or_insert(self.noted);
        }
        Ok(())
    }

    /// Remembers what a statement of a serializable transaction writes.
    pub(super) fn note_writes(&mut self, transaction: &mut Transaction, changes: &[Change]) {
        if transaction.rules != Rules::PostgresSerializable {
            return;
        }
        self.noted += 1;
        for change in changes {
            let table = &self.views.sqlite().tables()[change.table];
            for image in [&change.old, &change.new].into_iter().flatten() {
                let inserted = change.old.is_none().then_some(self.noted);
                transaction.writes.entry(table.row_key(change.table, image)).or_insert(inserted);
            }
        }
    }

    /// Whether a transaction both read what was changed beside it and changed what was read beside it.
    pub(super) fn is_dangerous(&self, session: SessionId, transaction: &Transaction) -> bool {
        let (Rules::PostgresSerializable, Some(snapshot)) = (transaction.rules, transaction.snapshot) else { return false };
        // What is prepared counts as committed: it cannot be the one that fails.
        let prepared = || self.prepared.values().filter_map(|heir| self.clients.get(heir)?.transaction.as_ref());
        let prepared = || prepared().filter(|other| other.snapshot.is_some()).map(|other| (&other.reads, &other.writes));
        let finished = || self.finished.iter().filter(|finished| finished.at > snapshot).map(|other| (&other.reads, &other.writes));
        let beside = || finished().chain(prepared());
        let others = || self.clients.iter().filter(|(id, _)| **id != session).filter_map(|(_, client)| client.transaction.as_ref());
        beside().any(|(_, writes)| disturbs(&transaction.reads, writes))
            && (beside().any(|(reads, _)| disturbs(reads, &transaction.writes))
                || others().any(|other| other.snapshot.is_some() && disturbs(&other.reads, &transaction.writes)))
    }
}
