//! A connection pooler between clients and server, in transaction mode, as `PgBouncer`'s
//! `pool_mode = transaction`: a client has a session of the server for one statement or one
//! transaction, and whoever comes next gets it as it was left. What belongs to a session and not to a
//! transaction, such as an advisory lock, stays behind on the session on which it was made.

use super::Database;
use super::isolation::SessionId;
use crate::scenario::PoolKnobs;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use tokio::sync::Notify;

/// A session of the server.
#[derive(Clone, Debug)]
pub(super) struct Pooled {
    pub id: SessionId,
    /// Notified when a statement that waited has its answer.
    pub turn: Rc<Notify>,
}

/// The sessions that nobody has.
#[derive(Debug)]
pub(super) struct Pool {
    knobs: PoolKnobs,
    free: RefCell<VecDeque<Pooled>>,
    /// Notified when one is given back.
    freed: Notify,
}

impl Pool {
    pub(super) fn new(knobs: PoolKnobs) -> Pool {
        Pool { knobs, free: RefCell::default(), freed: Notify::new() }
    }

    /// The server's process has just begun.
    pub(super) fn open(&self, db: &Database) {
        *self.free.borrow_mut() = (0..self.knobs.sessions).map(|_| fresh(db)).collect();
    }

    /// A session, when there is one.
    pub(super) async fn take(&self) -> Pooled {
        loop {
            if let Some(session) = self.free.borrow_mut().pop_front() {
                return session;
            }
            self.freed.notified().await;
        }
    }

    /// Gives a session back. `PgBouncer` hands out the one that was used last, unless it is told to go round (`server_round_robin`).
    pub(super) fn give_back(&self, session: Pooled) {
        if self.knobs.round_robin {
            self.free.borrow_mut().push_back(session);
        } else {
            self.free.borrow_mut().push_front(session);
        }
        self.freed.notify_one();
    }

    /// A client has left in the middle of a transaction: its session is closed, and another one opened.
    pub(super) fn replace(&self, db: &Database) {
        self.give_back(fresh(db));
    }
}

fn fresh(db: &Database) -> Pooled {
    let id = db.next_session();
    Pooled { id, turn: db.isolation.borrow_mut().connected(id) }
}
