//! The database: SQLite behind the PostgreSQL wire, so that an unmodified tokio-postgres works
//! against it.
//!
//! Bytes come in through `connection` and are cut into messages by `wire`; a `session`
//! answers them. SQL text is cut by `lexer`, turned into SQLite's words by `dialect` and
//! kept as a `statement`; `columns` finds the types that SQLite does not know, `value`
//! reads and writes them. `isolation` decides who may run what when, on the one connection of
//! `sqlite`, which `views` moves between what different transactions see; `image` and `tables` are
//! what it moves. `changes` tells the history what was committed; `state` reads what is left
//! in the end.
//!
//! What differs from PostgreSQL, beyond `isolation`: outside of a transaction each `Execute`
//! commits by itself, not at `Sync`; columns hold any type that is bound to them; there are no
//! savepoints, cursors, row limits, `numeric` or `timestamp`. What is not offered is refused
//! with `0A000`, never ignored.

mod advisory;
mod changes;
mod columns;
mod connection;
mod dialect;
mod error;
mod footprint;
mod image;
mod isolation;
mod lexer;
mod locks;
mod pool;
mod session;
mod sqlite;
mod state;
mod statement;
mod tables;
#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the test host runs on paused tokio time")]
mod tests;
mod trouble;
mod value;
mod views;
mod wire;

use crate::host::Host;
use crate::id::TxId;
use crate::scenario::DatabaseKnobs;
use crate::settlement::{FinalState, InDoubt, Period};
use isolation::{Isolation, SessionId};
use pool::Pool;
use sqlite::{Pooled, Template};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
pub(in crate::world) use trouble::Line;
use trouble::Trouble;

/// What the database holds and how it behaves when a run begins.
#[derive(Clone, Debug)]
pub struct DatabaseSetup {
    /// Players 1 to `players`, without points.
    pub players: u32,
    /// Whether the settlement row of a period is unique.
    pub unique_marker: bool,
    /// The periods that a planner has put into the task table, all pending.
    pub tasks: Vec<Period>,
    /// The server's own limits.
    pub knobs: DatabaseKnobs,
    /// Further tables, and what is in them: statements that run before the first session.
    pub tables: &'static [&'static str],
}

/// The database. What is committed survives the server's process.
pub struct Database {
    knobs: DatabaseKnobs,
    isolation: RefCell<Isolation>,
    trouble: Trouble,
    /// Who stands between the clients and its sessions.
    pool: Option<Pool>,
    /// How many transactions have begun.
    transactions: Cell<u32>,
    /// How many sessions there have been.
    sessions: Cell<u32>,
}

impl Database {
    /// A database as `setup` says. Its connection comes from this thread's pool and goes back there, clean, with the last `Rc`.
    pub fn new(setup: &DatabaseSetup) -> Rc<Database> {
        let DatabaseSetup { players, unique_marker, tasks, knobs, tables } = setup.clone();
        let sqlite = Pooled::take(Template { players, unique_marker, tasks, tables });
        let (rules, lag) = (knobs.rules, knobs.replica_lag);
        let pool = knobs.pool.map(Pool::new);
        Rc::new(Database {
            knobs,
            pool,
            isolation: RefCell::new(Isolation::new(rules, sqlite).replicated(lag)),
            trouble: Trouble::default(),
            transactions: Cell::new(0),
            sessions: Cell::new(0),
        })
    }

    /// What is committed, typed. `leases` is empty: another store has them.
    #[must_use]
    pub fn state(&self) -> FinalState {
        let mut end = state::read(self.isolation.borrow_mut().committed());
        end.in_doubt = self.isolation.borrow().in_doubt().map(InDoubt::Database).collect();
        end
    }

    /// What faults make it do to its clients.
    pub(in crate::world) fn trouble(&self) -> &Trouble {
        &self.trouble
    }

    /// From now on, what it leaves to luck is decided by other dice.
    pub(in crate::world) fn reseed(&self, dice: u64) {
        self.isolation.borrow_mut().reseed(dice);
    }

    fn next_session(&self) -> SessionId {
        self.sessions.set(self.sessions.get() + 1);
        SessionId(self.sessions.get())
    }

    fn next_transaction(&self) -> TxId {
        self.transactions.set(self.transactions.get() + 1);
        TxId(self.transactions.get())
    }

    /// Tells the history what was committed since this was last called.
    fn tell(&self, host: &dyn Host) {
        for (origin, changes) in self.isolation.borrow_mut().take_commits() {
            let events = origin.map_or_else(Vec::new, |origin| changes::events(&changes, origin));
            for event in events {
                host.record(event);
            }
        }
    }
}

/// The process of the database server: accepts connections for as long as it lives. Sessions
/// that an earlier process left behind are rolled back, but for those that were prepared.
pub async fn serve(host: Rc<dyn Host>, db: Rc<Database>) {
    db.isolation.borrow_mut().restarted(host.random());
    if let Some(pool) = &db.pool {
        pool.open(&db);
    }
    let Ok(mut listener) = host.listen().await else { return };
    while let Ok((stream, by)) = listener.accept().await {
        host.spawn("database-connection", Box::pin(connection::serve(host.clone(), db.clone(), stream, by))).detach();
    }
}
