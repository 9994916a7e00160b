//! Advisory locks: numbers that sessions and transactions lock, and of which only they know what they mean.
//!
//! A session may lock a number several times, and has to give it back as often; it keeps it
//! whatever becomes of its transactions, and loses it with its connection.

use super::attempt::{Block, Stop};
use super::{Execution, Held, Isolation, SessionId, SqlError, Transaction};
use crate::world::servers::postgres::advisory::{Call, NUMBERS, Said, What};
use crate::world::servers::postgres::locks::Hold;
use crate::world::servers::postgres::sqlite::Rows;
use crate::world::servers::postgres::tables::Key;

impl Isolation {
    /// Makes a call.
    pub(super) fn advise(
        &mut self,
        session: SessionId,
        transaction: &mut Transaction,
        execution: Execution<'_>,
        call: Call,
        rows: Rows<'_>,
    ) -> Result<u64, Stop> {
        if transaction.is_postgres_snapshot() {
            transaction.snapshot.get_or_insert(self.views.now());
        }
        let key = call.key(execution.values);
        let said = match (call.what, key) {
            (What::UnlockAll, _) => {
                self.unlock_all(session, &transaction.held);
                Said::Nothing
            }
            (_, None) => return Err(SqlError::unsupported("an advisory lock of NULL").into()),
            (What::Unlock, Some(key)) => self.unlock(session, &transaction.held, &key),
            (What::Take { session: true, waits }, Some(key)) => {
                let taken = self.locks.take(session, &mut Held::default(), &key, Hold::Exclusive);
                if taken.is_ok()
                    && let Some(client) = self.clients.get_mut(&session)
                {
                    *client.advisory.entry(key.clone()).or_default() += 1;
                }
                said(taken, waits, key)?
            }
            (What::Take { session: false, waits }, Some(key)) => {
                let taken = self.locks.take(session, &mut transaction.held, &key, Hold::Exclusive);
                if taken.is_ok() {
                    transaction.held.note(&key);
                }
                said(taken, waits, key)?
            }
        };
        let sqlite = self.views.sqlite();
        sqlite.advise(said);
        Ok(sqlite.run(execution.statement, execution.values, self.wall, rows)?)
    }

    /// Gives one lock of a session back, if its transaction does not have the same.
    fn unlock(&mut self, session: SessionId, own: &Held, key: &Key) -> Said {
        let Some(client) = self.clients.get_mut(&session) else { return Said::No };
        let Some(times) = client.advisory.get_mut(key) else { return Said::No };
        *times -= 1;
        if *times == 0 {
            client.advisory.remove(key);
            if !own.has(key) {
                self.locks.unlock(session, key);
                self.wake(session, true);
            }
        }
        Said::Yes
    }

    fn unlock_all(&mut self, session: SessionId, own: &Held) {
        let Some(client) = self.clients.get_mut(&session) else { return };
        for (key, _) in std::mem::take(&mut client.advisory) {
            if !own.has(&key) {
                self.locks.unlock(session, &key);
            }
        }
        self.wake(session, true);
    }

    /// A session is over.
    pub(super) fn forget_advisory(&mut self, session: SessionId) {
        if self.advises(session) {
            self.unlock_all(session, &Held::default());
        }
    }

    /// Whether a session holds an advisory lock.
    pub(in crate::world::servers::postgres) fn advises(&self, session: SessionId) -> bool {
        self.clients.get(&session).is_some_and(|client| !client.advisory.is_empty())
    }

    /// What a transaction gives back when it is over: not what its session keeps.
    pub(super) fn without_advisory(&self, session: SessionId, held: Held) -> Held {
        match self.clients.get(&session) {
            Some(client) if !client.advisory.is_empty() => held.without(|key| client.advisory.contains_key(key)),
            _ => held,
        }
    }
}

/// What is answered to whoever wants a lock.
fn said(taken: Result<(), Vec<SessionId>>, waits: bool, key: Key) -> Result<Said, Stop> {
    match taken {
        Ok(()) if waits => Ok(Said::Nothing),
        Ok(()) => Ok(Said::Yes),
        Err(on) if waits => Err(Stop::Blocked(Block { on, key, hold: Hold::Exclusive, undo: 0 })),
        Err(_) => Ok(Said::No),
    }
}

/// Whether a key is a number that is locked by agreement.
pub(super) fn is_advisory(key: &Key) -> bool {
    key.table == NUMBERS
}
