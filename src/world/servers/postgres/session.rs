//! One client's session: its transaction, its statements and portals, its answers.

mod extended;

use super::changes::Origin;
use super::error::SqlError;
use super::isolation::{Execution, Outcome, SessionId};
use super::statement::{Kind, Statement};
use super::wire::{self, Body, Message, format};
use super::{Database, lexer};
use crate::host::{Host, within};
use crate::id::{HostId, TxId};
use crate::time::SimTime;
use bytes::{BufMut, BytesMut};
use extended::Portal;
use rusqlite::Row;
use rusqlite::types::Value;
use std::collections::BTreeMap;
use std::rc::Rc;
use tokio::sync::Notify;

/// What becomes of the connection after a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum After {
    GoOn,
    Close,
}

/// Whether the session is in a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Block {
    /// No: each statement is one by itself.
    None,
    /// For the rest of a query text with several statements.
    Implicit,
    /// Since `BEGIN`.
    Open,
    /// Since `BEGIN`, and something in it failed.
    Failed,
}

pub(super) struct Session {
    host: Rc<dyn Host>,
    db: Rc<Database>,
    /// The client's host.
    by: HostId,
    id: SessionId,
    /// Notified when the gate becomes this session's.
    turn: Rc<Notify>,
    block: Block,
    /// Number and beginning of the transaction, from its first statement on.
    transaction: Option<(TxId, SimTime)>,
    statements: BTreeMap<String, Rc<Statement>>,
    portals: Vec<Portal>,
    out: BytesMut,
    /// An extended query failed: nothing is done until `Sync`.
    skipping: bool,
}

impl Session {
    pub(super) fn new(host: Rc<dyn Host>, db: Rc<Database>, by: HostId) -> Session {
        let id = db.next_session();
        let turn = db.isolation.borrow_mut().connected(id);
        Session {
            host,
            db,
            by,
            id,
            turn,
            block: Block::None,
            transaction: None,
            statements: BTreeMap::new(),
            portals: Vec::new(),
            out: BytesMut::with_capacity(1024),
            skipping: false,
        }
    }

    /// What is to be sent.
    pub(super) fn out(&mut self) -> &mut BytesMut {
        &mut self.out
    }

    pub(super) fn in_transaction(&self) -> bool {
        self.block != Block::None
    }

    /// Ends the session from the server's side.
    pub(super) fn end(&mut self, why: &SqlError) {
        self.db.isolation.borrow_mut().rollback(self.id);
        wire::put_error(&mut self.out, "FATAL", why);
    }

    /// Answers one message.
    pub(super) async fn message(&mut self, message: Message<'_>) -> After {
        let Message { kind, mut body, .. } = message;
        if self.skipping && !matches!(kind, b'S' | b'X') {
            return After::GoOn;
        }
        let done = match kind {
            b'X' => return After::Close,
            b'Q' => {
                self.query(body).await;
                Ok(())
            }
            b'P' => self.parse(body),
            b'B' => self.bind(body),
            b'D' => self.describe(body),
            b'E' => self.execute(body).await,
            b'C' => self.close(&mut body),
            b'S' => {
                self.skipping = false;
                self.ready();
                Ok(())
            }
            // Flush: what is written leaves in any case. Copy messages outside of a copy are ignored.
            b'H' | b'd' | b'c' | b'f' => Ok(()),
            b'F' => Err(SqlError::unsupported("the function call message")),
            other => {
                self.end(&SqlError::protocol(format!("invalid frontend message type {other}")));
                return After::Close;
            }
        };
        if let Err(error) = done {
            self.fail(&error);
            self.skipping = true;
        }
        After::GoOn
    }

    /// A statement failed: nothing of its transaction remains, its locks included.
    fn fail(&mut self, error: &SqlError) {
        if error.is_ours() {
            self.host.not_offered(error.message.clone());
        }
        self.db.isolation.borrow_mut().rollback(self.id);
        self.transaction = None;
        self.block = match self.block {
            Block::None | Block::Implicit => Block::None,
            Block::Open | Block::Failed => Block::Failed,
        };
        wire::put_error(&mut self.out, "ERROR", error);
    }

    fn ready(&mut self) {
        let status = match self.block {
            Block::None | Block::Implicit => b'I',
            Block::Open => b'T',
            Block::Failed => b'E',
        };
        if self.block == Block::None {
            self.portals.clear();
        }
        wire::put_ready(&mut self.out, status);
    }

    /// The simple protocol: a text with any number of statements, which stand or fall together.
    async fn query(&mut self, mut body: Body<'_>) {
        if let Err(error) = self.query_text(&mut body).await {
            self.fail(&error);
        }
        if self.block == Block::Implicit {
            self.commit();
            self.block = Block::None;
        }
        self.ready();
    }

    async fn query_text(&mut self, body: &mut Body<'_>) -> Result<(), SqlError> {
        let text = body.text()?;
        body.end()?;
        let statements = if text.contains(';') { lexer::statements(text)? } else { vec![text] };
        if statements.is_empty() {
            wire::put_empty(&mut self.out, b'I');
        }
        if statements.len() > 1 && self.block == Block::None {
            self.block = Block::Implicit;
        }
        for text in &statements {
            let statement = match self.statement(text, &[]) {
                Err(error) if self.block == Block::Failed && error.code != "42601" => return Err(aborted()),
                parsed => parsed?,
            };
            if !statement.columns.is_empty() && self.block != Block::Failed {
                wire::put_columns(&mut self.out, &statement.columns, &[]);
            }
            self.run(&statement, &[], &[]).await?;
            // A COMMIT in the middle: what follows is a transaction again.
            if statements.len() > 1 && self.block == Block::None {
                self.block = Block::Implicit;
            }
        }
        Ok(())
    }

    fn statement(&self, text: &str, given: &[u32]) -> Result<Rc<Statement>, SqlError> {
        self.db.isolation.borrow().sqlite().statement(text, given)
    }

    /// Runs one statement of either protocol and writes its answer.
    async fn run(&mut self, statement: &Rc<Statement>, values: &[Value], formats: &[bool]) -> Result<(), SqlError> {
        let failed = self.block == Block::Failed;
        match statement.kind {
            Kind::Commit | Kind::Rollback => {
                let keeps = statement.kind == Kind::Commit && !failed;
                if keeps {
                    self.commit();
                } else {
                    self.db.isolation.borrow_mut().rollback(self.id);
                }
                self.transaction = None;
                self.block = Block::None;
                wire::put_complete(&mut self.out, if keeps { "COMMIT" } else { "ROLLBACK" }, None);
            }
            Kind::Begin | Kind::Set | Kind::Query if failed => {
                return Err(aborted());
            }
            Kind::Empty => wire::put_empty(&mut self.out, b'I'),
            Kind::Begin => {
                self.block = Block::Open;
                wire::put_complete(&mut self.out, statement.tag, None);
            }
            Kind::Set => wire::put_complete(&mut self.out, statement.tag, None),
            Kind::Query => self.run_query(statement, values, formats).await?,
        }
        Ok(())
    }

    async fn run_query(&mut self, statement: &Rc<Statement>, values: &[Value], formats: &[bool]) -> Result<(), SqlError> {
        if statement.parameters.len() != values.len() {
            return Err(SqlError::new("42P02", "there is no parameter $1"));
        }
        let alone = self.block == Block::None;
        if self.transaction.is_none() && (!alone || statement.writes || statement.locks) {
            self.transaction = Some((self.db.next_transaction(), self.host.now()));
        }
        let count = loop {
            let execution = Execution { statement, values, wall: self.host.wall(), alone };
            let out = &mut self.out;
            let mut put_row = |row: &Row<'_>| put_row(out, statement, row, formats);
            let outcome = self.db.isolation.borrow_mut().execute(self.id, execution, &mut put_row)?;
            match outcome {
                Outcome::Done(count) => break count,
                Outcome::Wait => self.wait().await?,
            }
        };
        if alone {
            self.commit();
        }
        wire::put_complete(&mut self.out, statement.tag, Some(count));
        Ok(())
    }

    /// Waits for the gate. A client that hangs up meanwhile is not noticed, as on a real server.
    async fn wait(&self) -> Result<(), SqlError> {
        let granted = within(&*self.host, self.db.knobs.lock_timeout, self.turn.notified()).await;
        if granted.is_none() && self.db.isolation.borrow_mut().give_up(self.id) {
            return Err(SqlError::new("55P03", "canceling statement due to lock timeout"));
        }
        Ok(())
    }

    /// Makes what the transaction did permanent, and tells it.
    fn commit(&mut self) {
        let touched = self.db.isolation.borrow_mut().commit(self.id);
        if let (Some(touched), Some((tx, began))) = (touched, self.transaction.take()) {
            self.db.tell(&*self.host, Origin { tx, by: self.by, began }, touched);
        }
    }
}

/// The client is gone, or the server's process is: what was not committed is undone.
impl Drop for Session {
    fn drop(&mut self) {
        self.db.isolation.borrow_mut().ended(self.id);
    }
}

fn aborted() -> SqlError {
    SqlError::new("25P02", "current transaction is aborted, commands ignored until end of transaction block")
}

fn put_row(out: &mut BytesMut, statement: &Statement, row: &Row<'_>, formats: &[bool]) -> Result<(), SqlError> {
    let start = out.len();
    let done = wire::put(out, b'D', |out| {
        out.put_u16(u16::try_from(statement.columns.len()).expect("SQLite returns at most 2000 columns"));
        for (i, column) in statement.columns.iter().enumerate() {
            column.of.encode(row.get_ref(i)?, format(formats, i), out)?;
        }
        Ok(())
    });
    if done.is_err() {
        // Half a row is no message.
        out.truncate(start);
    }
    done
}
