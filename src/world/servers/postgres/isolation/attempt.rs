//! One statement of a transaction: the view it runs on, what it locks, what stops it.

use super::{Execution, Isolation, SessionId, SqlError, Transaction, serializable};
use crate::world::servers::postgres::image::Change;
use crate::world::servers::postgres::locks::Hold;
use crate::world::servers::postgres::sqlite::Rows;
use crate::world::servers::postgres::tables::Key;

/// Why a statement did not run.
#[derive(Debug)]
pub(super) enum Stop {
    Failed(SqlError),
    Blocked(Block),
}

/// What a statement waits for.
#[derive(Clone, Debug)]
pub(super) struct Block {
    /// Whose transactions have to end.
    pub on: Vec<SessionId>,
    pub key: Key,
    /// How it wants to hold that. To insert is to insert a value of a unique key that somebody else has inserted.
    pub hold: Hold,
    /// How many rows its statement had changed before.
    pub undo: usize,
}

impl From<SqlError> for Stop {
    fn from(error: SqlError) -> Stop {
        Stop::Failed(error)
    }
}

impl Isolation {
    /// Runs a statement: how many rows it returned or changed.
    pub(super) fn attempt(
        &mut self,
        session: SessionId,
        transaction: &mut Transaction,
        execution: Execution<'_>,
        rows: Rows<'_>,
    ) -> Result<u64, Stop> {
        let Execution { statement, values, .. } = execution;
        if let Some(call) = statement.advisory {
            return self.advise(session, transaction, execution, call, rows);
        }
        let plain = !statement.writes && !statement.locks;
        let now = self.views.now();
        let innodb = transaction.rules.is_innodb();
        let by_snapshot = transaction.is_postgres_snapshot() || (transaction.is_innodb_snapshot() && plain);
        let base = if by_snapshot { *transaction.snapshot.get_or_insert(now) } else { now };
        if plain {
            if !self.views.shows_as_much(base, &transaction.overlay, statement.footprint.tables) {
                self.views.show(base, session, &mut transaction.overlay);
            }
            self.note_reads(transaction, &statement.footprint, values)?;
            return self.read(session, transaction, execution, rows);
        }
        if innodb {
            transaction.held.intend(statement.footprint.tables);
            self.wait_for_invisible(session, execution)?;
        }
        self.views.show(base, session, &mut transaction.overlay);
        self.show_found(transaction);
        self.note_reads(transaction, &statement.footprint, values)?;
        if let Some(locked) = &statement.footprint.locked
            && (statement.locks || transaction.is_innodb_snapshot())
        {
            self.lock_rows(session, transaction, statement, locked, values)?;
        }
        if transaction.is_innodb_snapshot() {
            self.lock_searched(session, transaction, execution)?;
        }
        if !statement.writes {
            return self.read(session, transaction, execution, rows);
        }
        self.write(session, transaction, execution, rows)
    }

    fn read(&mut self, session: SessionId, transaction: &Transaction, execution: Execution<'_>, rows: Rows<'_>) -> Result<u64, Stop> {
        let count = self.views.sqlite().run(execution.statement, execution.values, self.wall, rows)?;
        if self.is_dangerous(session, transaction) { Err(serializable::failure().into()) } else { Ok(count) }
    }

    /// Takes a lock for a statement that has changed `undo` rows before.
    pub(super) fn lock(
        &mut self,
        session: SessionId,
        transaction: &mut Transaction,
        key: Key,
        hold: Hold,
        undo: usize,
    ) -> Result<(), Stop> {
        let shared = hold != Hold::Shared && self.locks.shares(session, &key);
        self.locks
            .take(session, &mut transaction.held, &key, hold)
            .map_err(|on| Stop::Blocked(Block { on, key: key.clone(), hold, undo }))?;
        if shared {
            transaction.upgraded.push(key);
        }
        Ok(())
    }

    /// Whether a key was changed since the transaction's snapshot, and if so, whether it is there now.
    pub(super) fn changed_since(&self, transaction: &Transaction, key: &Key) -> Option<bool> {
        let snapshot = transaction.snapshot?;
        self.changed.get(key).filter(|change| change.at > snapshot).map(|change| change.exists)
    }

    fn write(&mut self, session: SessionId, transaction: &mut Transaction, execution: Execution<'_>, rows: Rows<'_>) -> Result<u64, Stop> {
        let Execution { statement, values, .. } = execution;
        self.views.open();
        let sqlite = self.views.sqlite();
        sqlite.capture().start();
        let count = sqlite.run(statement, values, self.wall, rows);
        let mut changes = sqlite.capture().stop();
        let count = match count {
            Ok(count) => count,
            Err(error) if error.code == "23505" => return Err(self.in_the_way(session, transaction, execution, error)),
            Err(error) => return Err(error.into()),
        };
        // An insert is looked at before its keys wait for anybody, other changes when their rows are free.
        let inserts = changes.iter().all(|change| change.old.is_none());
        let mut allowed = if inserts { self.disturbs_nobody(session, transaction, &changes) } else { Ok(()) };
        allowed = allowed.and_then(|()| self.lock_changes(session, transaction, execution, &changes));
        if !inserts {
            allowed = allowed.and_then(|()| self.disturbs_nobody(session, transaction, &changes));
        }
        if let Err(stop) = allowed {
            self.views.hide();
            if let Stop::Blocked(block) = &stop {
                let found = changes.iter().filter_map(|change| Some((change.table, change.old.as_ref()?.rowid)));
                let blocked = changes.get(block.undo).and_then(|change| change.old.as_ref()).map(|old| old.rowid);
                self.remember_found(transaction, statement, found, blocked);
            }
            return Err(stop);
        }
        if transaction.recheck.is_some() {
            self.settle_found(session, &mut transaction.overlay, &changes)?;
        }
        self.forget_idle(&mut changes);
        transaction.overlay.extend(changes);
        self.views.shows(session, &transaction.overlay);
        Ok(count)
    }

    /// A serializable transaction writes: whether that may be.
    fn disturbs_nobody(&mut self, session: SessionId, transaction: &mut Transaction, changes: &[Change]) -> Result<(), Stop> {
        self.note_writes(transaction, changes);
        if self.is_dangerous(session, transaction) { Err(serializable::failure().into()) } else { Ok(()) }
    }

    fn lock_changes(
        &mut self,
        session: SessionId,
        transaction: &mut Transaction,
        execution: Execution<'_>,
        changes: &[Change],
    ) -> Result<(), Stop> {
        for (before, change) in changes.iter().enumerate() {
            let table = &self.views.sqlite().tables()[change.table];
            let own =
                change.old.as_ref().is_some_and(|old| table.keys[0].is_empty() && transaction.overlay.inserted(change.table, old.rowid));
            for (key, appears) in table.locks(change) {
                // A row without a key that only this transaction can see.
                if key.index == 0 && self.views.sqlite().tables()[change.table].keys[0].is_empty() && (own || change.old.is_none()) {
                    continue;
                }
                let changed = if transaction.is_postgres_snapshot() { self.changed_since(transaction, &key) } else { None };
                if changed.is_some() && !appears {
                    return Err(concurrent_update().into());
                }
                self.lock(session, transaction, key.clone(), if appears { Hold::Insert } else { Hold::Exclusive }, before)?;
                if changed == Some(true) {
                    return Err(if execution.statement.footprint.on_conflict { concurrent_update() } else { duplicate(&key, self) }.into());
                }
            }
        }
        Ok(())
    }

    /// Which rows made a unique key fail: they may be about to vanish.
    fn in_the_way(&mut self, session: SessionId, transaction: &mut Transaction, execution: Execution<'_>, error: SqlError) -> Stop {
        let Execution { statement, values, .. } = execution;
        let Some(probe) = &statement.footprint.probe else { return error.into() };
        let sqlite = self.views.sqlite();
        sqlite.capture().start();
        sqlite.probe(probe, values);
        let hit = sqlite.capture().stop();
        self.views.hide();
        // PostgreSQL looks for dangerous structures before it complains about the key.
        let tried: Vec<Change> = hit.iter().filter(|change| change.old.is_none()).cloned().collect();
        if let Err(stop) = self.disturbs_nobody(session, transaction, &tried) {
            return stop;
        }
        for (table, old) in hit.iter().filter(|change| change.new.is_none()).filter_map(|change| Some((change.table, change.old.as_ref()?)))
        {
            let key = self.views.sqlite().tables()[table].row_key(table, old);
            let innodb = transaction.rules.is_innodb();
            match self.locks.holder(&key).filter(|holder| *holder != session) {
                // PostgreSQL does not mind a row that is only locked.
                Some(holder) if innodb || self.changes(holder, table, old.rowid) => {
                    return Stop::Blocked(Block { on: vec![holder], key, hold: Hold::Shared, undo: 0 });
                }
                None if innodb => {
                    if let Err(stop) = self.lock(session, transaction, key, Hold::Shared, 0) {
                        return stop;
                    }
                }
                Some(_) | None => {}
            }
        }
        error.into()
    }

    /// Whether a session's open transaction changes a row.
    fn changes(&self, session: SessionId, table: usize, rowid: i64) -> bool {
        let transaction = self.clients.get(&session).and_then(|client| client.transaction.as_ref());
        transaction.is_some_and(|transaction| transaction.overlay.touches(table, rowid))
    }
}

pub(super) fn concurrent_update() -> SqlError {
    SqlError::new("40001", "could not serialize access due to concurrent update")
}

fn duplicate(key: &Key, isolation: &Isolation) -> SqlError {
    let table = &isolation.views.sqlite().tables()[key.table];
    let columns: Vec<String> = table.keys[key.index].iter().map(|column| format!("{}.{}", table.name, table.columns[*column])).collect();
    SqlError::new("23505", format!("duplicate key value violates unique constraint ({})", columns.join(", ")))
}
