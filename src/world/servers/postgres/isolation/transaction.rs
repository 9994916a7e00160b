//! A client's transaction, and what else is known of a client.

use super::recheck::Recheck;
use super::savepoint::Savepoint;
use super::serializable::{Reads, Writes};
use super::waiting::{Answer, Waiting};
use super::{Held, Moment, Origin, Overlay, Rules, SqlError};
use crate::world::servers::postgres::tables::Key;
use std::collections::BTreeMap;
use std::rc::Rc;
use tokio::sync::Notify;

/// A client.
#[derive(Debug, Default)]
pub(super) struct Client {
    /// Notified when `answer` is there.
    pub turn: Rc<Notify>,
    pub transaction: Option<Transaction>,
    /// The statement that waits.
    pub waiting: Option<Waiting>,
    /// The numbers that its session has locked, and how often.
    pub advisory: BTreeMap<Key, u32>,
    /// The result of the statement that waited.
    pub answer: Option<Result<Answer, SqlError>>,
}

/// An open transaction.
#[derive(Debug)]
pub(super) struct Transaction {
    pub rules: Rules,
    /// It is one statement, which commits by itself.
    pub alone: bool,
    /// Whose it is, from its first statement on.
    pub origin: Option<Origin>,
    /// What its reads see, if that stays the same.
    pub snapshot: Option<Moment>,
    /// What it changed.
    pub overlay: Overlay,
    /// What it locked.
    pub held: Held,
    /// Where it can go back to, the latest last.
    pub savepoints: Vec<Savepoint>,
    /// What it read, and what it wrote, if it is serializable.
    pub reads: Reads,
    pub writes: Writes,
    /// What its statement had found before it waited.
    pub recheck: Option<Recheck>,
    /// Keys that it went from sharing to excluding: whoever waits for the same is in a deadlock.
    pub upgraded: Vec<Key>,
}

impl Transaction {
    pub(super) fn new(rules: Rules) -> Transaction {
        Transaction {
            rules,
            alone: false,
            origin: None,
            snapshot: None,
            overlay: Overlay::default(),
            held: Held::default(),
            savepoints: Vec::new(),
            reads: Reads::default(),
            writes: Writes::new(),
            recheck: None,
            upgraded: Vec::new(),
        }
    }

    /// PostgreSQL: one snapshot for everything.
    pub(super) fn is_postgres_snapshot(&self) -> bool {
        matches!(self.rules, Rules::PostgresRepeatableRead | Rules::PostgresSerializable)
    }

    /// InnoDB: a snapshot for plain reads, and locks on what is searched.
    pub(super) fn is_innodb_snapshot(&self) -> bool {
        self.rules == Rules::InnodbRepeatableRead
    }
}
