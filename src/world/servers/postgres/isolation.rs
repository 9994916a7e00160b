//! Which transaction sees and may change what: read committed with one writer at a time.
//!
//! * `BEGIN` takes nothing. Plain reads see what is committed, and a session's own writes;
//!   they never wait.
//! * The first write, or locking read, takes the gate of the whole database, in order of
//!   arrival, and keeps it until its transaction ends.
//!
//! All sessions share one SQLite connection. When another session must read while the writer
//! is in the middle of its transaction, the writer's savepoint is rolled back, and its
//! statements run again before it goes on. The gate keeps what is committed as it was, and
//! each statement's clock reading is kept with it, so running again is exact.
//!
//! Coarser than PostgreSQL, which locks rows. This file alone decides it: other rules replace
//! [`OneWriter`] and keep its methods.

use super::changes::Touched;
use super::error::SqlError;
use super::sqlite::{Pooled, Rows, Sqlite};
use super::statement::Statement;
use crate::time::WallTime;
use rusqlite::types::Value;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use tokio::sync::Notify;

/// A connection of a client, numbered by the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SessionId(pub u32);

/// How far a statement got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It ran: how many rows it returned or changed.
    Done(u64),
    /// Somebody else writes. The session is in the queue; its [`Notify`] tells when it is its turn.
    Wait,
}

/// One execution of a statement.
#[derive(Clone, Copy)]
pub(super) struct Execution<'a> {
    pub statement: &'a Rc<Statement>,
    pub values: &'a [Value],
    /// What the server's clock shows.
    pub wall: WallTime,
    /// It is a transaction by itself: `commit` or `rollback` follows at once.
    pub alone: bool,
}

/// A statement of the writer that may have to run again.
struct Done {
    statement: Rc<Statement>,
    values: Vec<Value>,
    wall: WallTime,
}

struct Writer {
    session: SessionId,
    /// Whether `SAVEPOINT tx` is open.
    savepoint: bool,
    /// Whether the connection shows the writer's changes, not only what is committed.
    shown: bool,
    writes: Vec<Done>,
}

/// The rules, and the database they are kept on.
pub(super) struct OneWriter {
    sqlite: Pooled,
    writer: Option<Writer>,
    /// Who waits for the gate, in order of arrival.
    queue: VecDeque<SessionId>,
    /// How each session is told that it has the gate now.
    turns: BTreeMap<SessionId, Rc<Notify>>,
}

impl OneWriter {
    pub(super) fn new(sqlite: Pooled) -> OneWriter {
        OneWriter { sqlite, writer: None, queue: VecDeque::new(), turns: BTreeMap::new() }
    }

    /// The database as far as nothing depends on who asks.
    pub(super) fn sqlite(&self) -> &Sqlite {
        &self.sqlite
    }

    /// The database as it is committed.
    pub(super) fn committed(&mut self) -> &Sqlite {
        self.hide();
        &self.sqlite
    }

    /// A session begins; what it gets back is notified when the gate becomes its own.
    pub(super) fn connected(&mut self, session: SessionId) -> Rc<Notify> {
        self.turns.entry(session).or_default().clone()
    }

    /// Runs a statement, or puts the session into the queue.
    ///
    /// # Errors
    /// The statement failed. The caller must roll back.
    pub(super) fn execute(&mut self, session: SessionId, execution: Execution<'_>, rows: Rows<'_>) -> Result<Outcome, SqlError> {
        let Execution { statement, values, wall, alone } = execution;
        if statement.writes || statement.locks {
            if !self.enter(session) {
                return Ok(Outcome::Wait);
            }
            self.show();
            if !alone && statement.writes {
                self.open_savepoint();
            }
            let count = self.sqlite.run(statement, values, wall, rows)?;
            if let Some(writer) = &mut self.writer
                && writer.savepoint
                && statement.writes
            {
                writer.writes.push(Done { statement: statement.clone(), values: values.to_vec(), wall });
            }
            return Ok(Outcome::Done(count));
        }
        if self.writes(session) {
            self.show();
        } else {
            self.hide();
        }
        self.sqlite.run(statement, values, wall, rows).map(Outcome::Done)
    }

    /// Ends a session's transaction with success: what it changed, if it had the gate.
    pub(super) fn commit(&mut self, session: SessionId) -> Option<Touched> {
        if !self.writes(session) {
            return None;
        }
        self.show();
        if self.writer.as_ref().is_some_and(|writer| writer.savepoint) {
            self.sqlite.control("RELEASE tx");
        }
        let touched = self.sqlite.take_touched();
        self.hand_over();
        Some(touched)
    }

    /// Ends a session's transaction, or its waiting, without a trace.
    pub(super) fn rollback(&mut self, session: SessionId) {
        self.queue.retain(|waiting| *waiting != session);
        if !self.writes(session) {
            return;
        }
        if self.writer.as_ref().is_some_and(|writer| writer.savepoint) {
            self.sqlite.control("ROLLBACK TO tx");
            self.sqlite.control("RELEASE tx");
        }
        self.sqlite.take_touched();
        self.hand_over();
    }

    /// A session has waited for too long. False if the gate was handed to it just now.
    pub(super) fn give_up(&mut self, session: SessionId) -> bool {
        self.queue.retain(|waiting| *waiting != session);
        !self.writes(session)
    }

    /// A session is over, however it ended.
    pub(super) fn ended(&mut self, session: SessionId) {
        self.rollback(session);
        self.turns.remove(&session);
    }

    /// The server's process is over: nobody is connected any more.
    pub(super) fn restarted(&mut self) {
        self.queue.clear();
        while let Some((session, _)) = self.turns.pop_first() {
            self.rollback(session);
        }
    }

    fn writes(&self, session: SessionId) -> bool {
        self.writer.as_ref().is_some_and(|writer| writer.session == session)
    }

    /// Takes the gate, or queues for it; tells whether the session has it.
    fn enter(&mut self, session: SessionId) -> bool {
        if self.writer.is_none() {
            self.writer = Some(Writer { session, savepoint: false, shown: true, writes: Vec::new() });
        }
        let mine = self.writes(session);
        if !mine && !self.queue.contains(&session) {
            self.queue.push_back(session);
        }
        mine
    }

    /// Gives the gate to the session that has waited longest.
    fn hand_over(&mut self) {
        self.writer = self.queue.pop_front().map(|session| {
            if let Some(turn) = self.turns.get(&session) {
                turn.notify_one();
            }
            Writer { session, savepoint: false, shown: true, writes: Vec::new() }
        });
    }

    fn open_savepoint(&mut self) {
        if let Some(writer) = self.writer.as_mut().filter(|writer| !writer.savepoint) {
            self.sqlite.control("SAVEPOINT tx");
            writer.savepoint = true;
        }
    }

    /// Takes the writer's changes off the connection.
    fn hide(&mut self) {
        if let Some(writer) = self.writer.as_mut().filter(|writer| writer.shown && !writer.writes.is_empty()) {
            self.sqlite.control("ROLLBACK TO tx");
            self.sqlite.take_touched();
            writer.shown = false;
        }
    }

    /// Makes the writer's changes again, if they were taken off.
    fn show(&mut self) {
        if let Some(writer) = self.writer.as_mut().filter(|writer| !writer.shown) {
            for Done { statement, values, wall } in &writer.writes {
                self.sqlite
                    .run(statement, values, *wall, &mut |_| Ok(()))
                    .unwrap_or_else(|error| panic!("a write that ran once runs again, for the gate keeps what is committed: {error:?}"));
            }
            writer.shown = true;
        }
    }
}
