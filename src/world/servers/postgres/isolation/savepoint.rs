//! Places in a transaction to which it can go back.

use super::{Isolation, Rules, SessionId, SqlError, Transaction};

/// Such a place.
#[derive(Clone, Debug)]
pub(super) struct Savepoint {
    name: String,
    /// How much had been changed, and how much locked.
    changes: usize,
    locks: usize,
}

impl Transaction {
    fn savepoint(&self, name: &str) -> Result<usize, SqlError> {
        let found = self.savepoints.iter().rposition(|savepoint| savepoint.name == name);
        found.ok_or_else(|| SqlError::new("3B001", format!("savepoint \"{name}\" does not exist")))
    }
}

impl Isolation {
    fn transaction(&mut self, session: SessionId) -> Result<&mut Transaction, SqlError> {
        let open = self.clients.get_mut(&session).and_then(|client| client.transaction.as_mut());
        open.ok_or_else(|| SqlError::new("25P01", "savepoints can only be used in transaction blocks"))
    }

    /// A place to go back to. One of the same name is replaced by InnoDB, and hidden on PostgreSQL.
    ///
    /// # Errors
    /// No transaction is open.
    pub(in crate::world::servers::postgres) fn set_savepoint(&mut self, session: SessionId, name: &str) -> Result<(), SqlError> {
        let innodb = self.rules.is_innodb();
        let transaction = self.transaction(session)?;
        if innodb {
            transaction.savepoints.retain(|savepoint| savepoint.name != name);
        }
        let (changes, locks) = (transaction.overlay.changes.len(), transaction.held.count());
        transaction.savepoints.push(Savepoint { name: name.to_owned(), changes, locks });
        Ok(())
    }

    /// Forgets a savepoint and those after it; what was done stays.
    ///
    /// # Errors
    /// No transaction is open, or it has no such savepoint.
    pub(in crate::world::servers::postgres) fn release_savepoint(&mut self, session: SessionId, name: &str) -> Result<(), SqlError> {
        let transaction = self.transaction(session)?;
        let at = transaction.savepoint(name)?;
        transaction.savepoints.truncate(at);
        Ok(())
    }

    /// Undoes what was done since a savepoint, which stays. PostgreSQL gives back what was locked since; InnoDB only what was inserted.
    ///
    /// # Errors
    /// No transaction is open, or it has no such savepoint.
    pub(in crate::world::servers::postgres) fn rollback_to_savepoint(&mut self, session: SessionId, name: &str) -> Result<(), SqlError> {
        let transaction = self.transaction(session)?;
        let at = transaction.savepoint(name)?;
        transaction.savepoints.truncate(at + 1);
        self.go_back(session);
        Ok(())
    }

    /// A statement failed on PostgreSQL: everything is undone, or, with savepoints, what came after the last of them.
    pub(in crate::world::servers::postgres) fn abort(&mut self, session: SessionId) {
        match self.transaction(session) {
            Ok(transaction) if !transaction.savepoints.is_empty() => self.go_back(session),
            Ok(_) | Err(_) => self.rollback(session),
        }
    }

    /// Back to the last savepoint.
    fn go_back(&mut self, session: SessionId) {
        let Ok(transaction) = self.transaction(session) else { return };
        let Some(Savepoint { changes, locks, .. }) = transaction.savepoints.last().cloned() else { return };
        transaction.overlay.truncate(changes);
        let since = match transaction.rules {
            // What was inserted is gone, and its lock lives on as a lock of the gap.
            Rules::InnodbRepeatableRead => return,
            Rules::InnodbReadCommitted => transaction.held.inserted_since(locks),
            Rules::PostgresReadCommitted | Rules::PostgresRepeatableRead | Rules::PostgresSerializable => transaction.held.since(locks),
        };
        let since = self.without_advisory(session, since);
        self.locks.release(session, since);
        self.wake(session, false);
    }
}
