//! Transactions that have been prepared: the first phase of a two-phase commit.
//!
//! A prepared transaction belongs to no session any more. It cannot fail, keeps everything that
//! it locked, and outlives the session that made it and the server's process, until somebody
//! commits it or rolls it back by its name, from whatever session. Here it has a client of its own, which never connects.
//!
//! What PostgreSQL does is in its documentation of `PREPARE TRANSACTION`; the codes are those
//! of `twophase.c`.

use super::{Client, Isolation, Origin, SessionId, SqlError, Transaction, serializable};
use crate::id::TxId;
use crate::scenario::Rules;

/// `GIDSIZE` of PostgreSQL, with the byte that ends it.
const LONGEST: usize = 200;

impl Isolation {
    /// Takes a session's transaction from it and keeps it under a name, for `heir`, a client that nobody is.
    ///
    /// # Errors
    /// The name is too long or in use, or the transaction cannot be placed in any serial order: it is rolled back.
    pub(in crate::world::servers::postgres) fn prepare(
        &mut self,
        session: SessionId,
        name: &str,
        origin: Origin,
        heir: SessionId,
    ) -> Result<(), SqlError> {
        let Some(transaction) = self.clients.get_mut(&session).and_then(|client| client.transaction.take()) else { return Ok(()) };
        let refused = if name.len() >= LONGEST {
            Some(SqlError::new("22023", format!("transaction identifier \"{name}\" is too long")))
        } else if self.prepared.contains_key(name) {
            Some(SqlError::new("42710", format!("transaction identifier \"{name}\" is already in use")))
        } else {
            self.is_dangerous(session, &transaction).then(serializable::failure)
        };
        if let Some(refused) = refused {
            self.finish(session, transaction, false);
            return Err(refused);
        }
        // It reads nothing any more; only the order of serializable transactions still asks when it began.
        let snapshot = transaction.snapshot.filter(|_| transaction.rules == Rules::PostgresSerializable);
        let transaction = Transaction { origin: Some(origin), snapshot, savepoints: Vec::new(), ..transaction };
        self.views.hand_over(session, heir);
        let kept = self.clients.get(&session).map(|client| client.advisory.clone()).unwrap_or_default();
        self.locks.hand_over(session, heir, |key| kept.contains_key(key));
        for client in self.clients.values_mut() {
            client.waits_for_another(session, heir);
        }
        self.clients.insert(heir, Client { transaction: Some(transaction), ..Client::default() });
        self.prepared.insert(name.to_owned(), heir);
        self.list_prepared();
        Ok(())
    }

    /// Ends a prepared transaction, and tells which it was.
    ///
    /// # Errors
    /// There is none of this name.
    pub(in crate::world::servers::postgres) fn end_prepared(&mut self, name: &str, commit: bool) -> Result<Option<Origin>, SqlError> {
        let heir = self.prepared.remove(name);
        let Some((heir, transaction)) = heir.and_then(|heir| Some((heir, self.clients.remove(&heir)?.transaction?))) else {
            return Err(SqlError::new("42704", format!("prepared transaction with identifier \"{name}\" does not exist")));
        };
        let origin = transaction.origin;
        self.list_prepared();
        self.finish(heir, transaction, commit);
        Ok(origin)
    }

    /// The transactions in doubt, in the order of their names.
    pub(in crate::world::servers::postgres) fn in_doubt(&self) -> impl Iterator<Item = TxId> + '_ {
        let transaction = |heir| self.clients.get(heir)?.transaction.as_ref()?.origin.map(|origin| origin.tx);
        self.prepared.values().filter_map(transaction)
    }

    /// The server's process has just begun: of all clients only those are left that never connected.
    pub(super) fn keep_prepared(&mut self) {
        let kept = |session: &SessionId| self.prepared.values().any(|heir| heir == session);
        self.clients.retain(|session, _| kept(session));
        self.locks.retain(kept);
    }

    /// `pg_prepared_xacts` shows what there is, to whatever snapshot.
    fn list_prepared(&mut self) {
        self.views.hide();
        self.views.sqlite().list_prepared(self.prepared.keys());
    }
}
