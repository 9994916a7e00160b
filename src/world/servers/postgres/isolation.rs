//! Which transaction sees and may change what: the rules of PostgreSQL and of InnoDB.
//!
//! * What a statement sees is a view (`views`): what was committed at some time, and the
//!   transaction's own changes on it. Read committed takes the newest for each statement;
//!   PostgreSQL's repeatable read and serializable one for the whole transaction; InnoDB's
//!   repeatable read one for plain reads, and the newest for writes and locking reads.
//! * What a statement changes it locks: rows, and the values of unique keys that come and go
//!   (`locks`). A statement that meets a lock of another transaction waits for its end, in order
//!   of arrival, and then runs again. A circle of waiting is a deadlock, found at once.
//! * What was seen on real servers decides: PostgreSQL ends a transaction at its first error; InnoDB
//!   undoes one statement and goes on, except after a deadlock, which undoes everything and leaves
//!   the session outside of any transaction.
//!
//! `attempt` runs one statement, `advising` locks numbers for whoever calls them something, `searching` locks what it looks for, `waiting` says what becomes of those that cannot run yet,
//! `prepared` keeps those that wait for the second phase of their commit, `serializable` finds dangerous structures. `DIFFERENCES` in `servers::differences` lists what
//! real servers do otherwise.

mod advising;
mod attempt;
mod prepared;
mod recheck;
mod replica;
mod savepoint;
mod searching;
mod serializable;
#[cfg(test)]
mod tests;
mod transaction;
mod waiting;

use super::changes::Origin;
use super::error::SqlError;
use super::image::Change;
use super::locks::{Held, Locks};
use super::sqlite::{Pooled, Rows, Sqlite};
use super::statement::{Level, Statement};
use super::tables::Key;
use super::views::{Moment, Overlay, Views};
use crate::host::Host;
use crate::scenario::Rules;
use crate::time::{SimTime, WallTime};
use replica::Replica;
use rusqlite::types::Value;
use serializable::Finished;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;
use tokio::sync::Notify;
use transaction::{Client, Transaction};
pub(super) use waiting::Answer;

/// A connection of a client, numbered by the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SessionId(pub u32);

/// How far a statement got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It ran: how many rows it returned or changed.
    Done(u64),
    /// It waits for another transaction. The session's [`Notify`] tells when [`Isolation::answer`] has its result.
    Wait,
}

/// One execution of a statement.
#[derive(Clone, Copy)]
pub(super) struct Execution<'a> {
    pub statement: &'a Rc<Statement>,
    pub values: &'a [Value],
    /// Whose it is, for the history.
    pub origin: Option<Origin>,
}

/// What a commit did to a key while somebody had an older snapshot.
#[derive(Clone, Copy, Debug)]
struct LastChange {
    at: Moment,
    /// The key is there since.
    exists: bool,
}

/// What was committed, and by whom, in order.
pub(super) type Commits = Vec<(Option<Origin>, Vec<Change>)>;

/// The rules, and the database they are kept on.
pub(super) struct Isolation {
    rules: Rules,
    views: Views,
    locks: Locks,
    clients: BTreeMap<SessionId, Client>,
    /// Who keeps the prepared transactions, by their names.
    prepared: BTreeMap<String, SessionId>,
    /// What was committed since somebody asked.
    commits: Commits,
    /// The keys that were changed since the oldest snapshot.
    changed: BTreeMap<Key, LastChange>,
    /// Serializable transactions that committed beside others.
    finished: Vec<Finished>,
    /// How often a serializable transaction has read or written.
    noted: u64,
    /// How many statements have had to wait.
    arrivals: u64,
    /// Decides where a real server leaves it to chance.
    dice: u64,
    /// Who serves plain reads outside of transactions, if that is not this server.
    replica: Option<Replica>,
    /// What the server's clock shows, and when that truly is.
    wall: WallTime,
    now: SimTime,
}

impl Isolation {
    pub(super) fn new(rules: Rules, sqlite: Pooled) -> Isolation {
        Isolation {
            rules,
            views: Views::new(sqlite),
            locks: Locks::default(),
            clients: BTreeMap::new(),
            prepared: BTreeMap::new(),
            commits: Vec::new(),
            changed: BTreeMap::new(),
            finished: Vec::new(),
            noted: 0,
            arrivals: 0,
            dice: 0,
            replica: None,
            wall: WallTime(0),
            now: SimTime::ZERO,
        }
    }

    /// Plain reads outside of transactions show what was committed this long ago.
    pub(super) fn replicated(self, lag: Duration) -> Isolation {
        Isolation { replica: Replica::behind_by(lag), ..self }
    }

    /// The database as far as nothing depends on who asks.
    pub(super) fn sqlite(&self) -> &Sqlite {
        self.views.sqlite()
    }

    /// The database as it is committed.
    pub(super) fn committed(&mut self) -> &Sqlite {
        self.views.hide();
        self.views.sqlite()
    }

    /// What the server's clock shows from now on.
    pub(super) fn clock(&mut self, host: &dyn Host) {
        (self.wall, self.now) = (host.wall(), host.now());
    }

    /// What was committed since this was last asked, in order.
    pub(super) fn take_commits(&mut self) -> Commits {
        std::mem::take(&mut self.commits)
    }

    /// The server's process has just begun: nobody is connected. What was prepared is kept.
    pub(super) fn restarted(&mut self, dice: u64) {
        self.views.hide();
        self.views.forget();
        self.replica_caught_up();
        self.keep_prepared();
        self.changed.clear();
        self.finished.clear();
        self.dice = dice;
    }

    /// From now on, races are decided by other dice.
    pub(super) fn reseed(&mut self, dice: u64) {
        self.dice = dice;
    }

    /// A session begins; what it gets back is notified when a statement that waited has its answer.
    pub(super) fn connected(&mut self, session: SessionId) -> Rc<Notify> {
        self.clients.entry(session).or_default().turn.clone()
    }

    /// Whether a session's transaction is open.
    pub(super) fn in_transaction(&self, session: SessionId) -> bool {
        self.clients.get(&session).is_some_and(|client| client.transaction.is_some())
    }

    /// Whether a session's transaction has changed anything.
    pub(super) fn has_changed(&self, session: SessionId) -> bool {
        let transaction = self.clients.get(&session).and_then(|client| client.transaction.as_ref());
        transaction.is_some_and(|transaction| !transaction.overlay.changes.is_empty())
    }

    /// A transaction begins.
    ///
    /// # Errors
    /// These rules know no such level.
    pub(super) fn begin(&mut self, session: SessionId, level: Option<Level>) -> Result<(), SqlError> {
        let rules = match (level, self.rules.is_innodb()) {
            (None, _) => self.rules,
            // PostgreSQL has no READ UNCOMMITTED but by name.
            (Some(Level::ReadCommitted | Level::ReadUncommitted), false) => Rules::PostgresReadCommitted,
            (Some(Level::RepeatableRead), false) => Rules::PostgresRepeatableRead,
            (Some(Level::Serializable), false) => Rules::PostgresSerializable,
            (Some(Level::ReadCommitted), true) => Rules::InnodbReadCommitted,
            (Some(Level::RepeatableRead), true) => Rules::InnodbRepeatableRead,
            (Some(Level::Serializable | Level::ReadUncommitted), true) => {
                return Err(SqlError::unsupported("InnoDB's SERIALIZABLE or READ UNCOMMITTED"));
            }
        };
        if let Some(client) = self.clients.get_mut(&session)
            && client.transaction.is_none()
        {
            client.transaction = Some(Transaction::new(rules));
        }
        Ok(())
    }

    /// Runs a statement, or lets it wait.
    ///
    /// # Errors
    /// The statement failed. What that means for its transaction has been done already.
    pub(super) fn execute(&mut self, session: SessionId, execution: Execution<'_>, rows: Rows<'_>) -> Result<Outcome, SqlError> {
        if let Some(read) = self.read_behind(session, execution, rows) {
            return read.map(Outcome::Done);
        }
        let Some(client) = self.clients.get_mut(&session) else { return Err(SqlError::new("57P01", "the session is over")) };
        let mut transaction = match client.transaction.take() {
            Some(open) => open,
            None if execution.statement.advisory.is_none() && self.nobody_else(session) => {
                return self.by_itself(execution, rows).map(Outcome::Done);
            }
            None => Transaction { alone: true, ..Transaction::new(self.rules) },
        };
        transaction.origin = transaction.origin.or(execution.origin);
        match self.attempt(session, &mut transaction, execution, rows) {
            Ok(count) => {
                self.ran(session, transaction);
                Ok(Outcome::Done(count))
            }
            Err(attempt::Stop::Failed(error)) => {
                self.failed(session, transaction, &error);
                Err(error)
            }
            Err(attempt::Stop::Blocked(block)) => {
                self.wait(session, transaction, execution, block);
                Ok(Outcome::Wait)
            }
        }
    }

    /// A statement on a database that nobody else uses: no view, no lock.
    fn by_itself(&mut self, execution: Execution<'_>, rows: Rows<'_>) -> Result<u64, SqlError> {
        let Execution { statement, values, origin } = execution;
        self.views.hide();
        let sqlite = self.views.sqlite();
        if !statement.writes {
            return sqlite.run(statement, values, self.wall, rows);
        }
        sqlite.capture().start();
        let count = sqlite.run(statement, values, self.wall, rows);
        let mut changes = sqlite.capture().stop();
        let count = count?;
        self.forget_idle(&mut changes);
        if !changes.is_empty() {
            let changes = self.views.committed(changes, self.replica.is_some());
            self.commits.push((origin, changes));
            self.replicate();
        }
        Ok(count)
    }

    /// InnoDB makes no version of a row that is written as it was. An `UPDATE` counts it all the
    /// same: clients ask for found rows, as MySQL's connectors for Java do unless told otherwise.
    fn forget_idle(&self, changes: &mut Vec<Change>) {
        if self.rules.is_innodb() {
            changes.retain(|change| !change.is_idle());
        }
    }

    /// Ends a session's transaction with success.
    ///
    /// # Errors
    /// The transaction cannot be placed in any serial order; it is rolled back.
    pub(super) fn commit(&mut self, session: SessionId) -> Result<(), SqlError> {
        let Some(transaction) = self.clients.get_mut(&session).and_then(|client| client.transaction.take()) else { return Ok(()) };
        if self.is_dangerous(session, &transaction) {
            self.finish(session, transaction, false);
            return Err(serializable::failure());
        }
        self.finish(session, transaction, true);
        Ok(())
    }

    /// Ends a session's transaction, or its waiting, without a trace.
    pub(super) fn rollback(&mut self, session: SessionId) {
        let Some(client) = self.clients.get_mut(&session) else { return };
        client.waiting = None;
        client.answer = None;
        if let Some(transaction) = client.transaction.take() {
            self.finish(session, transaction, false);
        }
    }

    /// A client has left: its transaction is rolled back, and whoever waited for it goes on.
    pub(super) fn left(&mut self, session: SessionId) {
        self.rollback(session);
        self.forget_advisory(session);
        self.clients.remove(&session);
    }

    /// A session's task was killed, as all of them are when the server dies: nobody goes on.
    pub(super) fn dropped(&mut self, session: SessionId) {
        let Some(Client { transaction, advisory, .. }) = self.clients.remove(&session) else { return };
        for key in advisory.keys() {
            self.locks.unlock(session, key);
        }
        if let Some(transaction) = transaction {
            self.views.leave(session);
            self.locks.release(session, transaction.held);
        }
    }

    fn nobody_else(&self, session: SessionId) -> bool {
        self.clients.iter().all(|(id, client)| *id == session || client.transaction.is_none())
    }

    /// Ends a transaction that has been taken from its client.
    fn finish(&mut self, session: SessionId, transaction: Transaction, commit: bool) {
        let Transaction { rules, origin, snapshot, overlay, held, reads, writes, .. } = transaction;
        let open = || self.clients.values().filter_map(|client| client.transaction.as_ref());
        let (others, snapshots) = (open().next().is_some(), open().any(|other| other.snapshot.is_some()));
        // Who waits may have to know what has changed meanwhile.
        let keep = snapshots || self.clients.values().any(|client| client.waiting.is_some());
        if commit {
            let changes = self.views.commit(session, overlay, keep || self.replica.is_some());
            if snapshots {
                self.note_changes(&changes);
            }
            if !changes.is_empty() {
                self.commits.push((origin, changes));
                self.replicate();
            }
            if rules == Rules::PostgresSerializable && snapshot.is_some() && others {
                self.finished.push(Finished { at: self.views.now(), reads, writes });
            }
        } else {
            self.views.leave(session);
        }
        if !keep {
            self.forget_old();
        }
        if !snapshots {
            self.changed.clear();
        }
        if !others {
            self.finished.clear();
        }
        let held = self.without_advisory(session, held);
        self.locks.release(session, held);
        self.wake(session, commit);
    }

    fn note_changes(&mut self, changes: &[Change]) {
        let at = self.views.now();
        for change in changes {
            let table = &self.views.sqlite().tables()[change.table];
            let stays = change.old.is_some() && change.new.is_some();
            if let Some(old) = &change.old {
                self.changed.insert(table.row_key(change.table, old), LastChange { at, exists: stays });
            }
            for index in 0..table.keys.len() {
                if let Some(old) = change.old.as_ref().filter(|_| index > 0).and_then(|old| table.key(change.table, index, old)) {
                    self.changed.insert(old, LastChange { at, exists: false });
                }
                if let Some(new) = change.new.as_ref().and_then(|new| table.key(change.table, index, new)) {
                    self.changed.insert(new, LastChange { at, exists: true });
                }
            }
        }
    }
}
