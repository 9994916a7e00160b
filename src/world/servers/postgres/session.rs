//! One client's session: its transaction, its statements and portals, its answers.

mod extended;

use super::changes::Origin;
use super::error::SqlError;
use super::isolation::{Answer, Execution, Outcome, SessionId};
use super::pool::Pooled;
use super::statement::{Kind, Statement};
use super::trouble::Line;
use super::wire::{self, Body, Message, format};
use super::{Database, lexer};
use crate::host::{Host, within};
use crate::id::{HostId, TxId};
use crate::time::SimTime;
use crate::trace::Event;
use bytes::{BufMut, BytesMut};
use extended::Portal;
use rusqlite::types::{Value, ValueRef};
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
    /// The client's connection.
    client: SessionId,
    /// The session of the server: the client's own, or what a pooler lends it. Nobody's, while it has none.
    id: SessionId,
    /// Notified when the session has to end.
    pub(super) told_to_end: Rc<Notify>,
    /// What the kernel knows of the client.
    pub(super) line: Rc<Line>,
    /// Notified when a statement that waited has its answer.
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
        let turn = if db.pool.is_some() { Rc::default() } else { db.isolation.borrow_mut().connected(id) };
        let (told_to_end, line) = db.trouble.connected(id, by, host.now());
        Session {
            host,
            db,
            by,
            client: id,
            id,
            told_to_end,
            line,
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
        self.rollback();
        wire::put_error(&mut self.out, "FATAL", why);
    }

    /// Answers one message.
    pub(super) async fn message(&mut self, message: Message<'_>) -> After {
        let Message { kind, mut body, .. } = message;
        if self.skipping && !matches!(kind, b'S' | b'X') {
            return After::GoOn;
        }
        if kind != b'X' {
            self.borrow_session().await;
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

    /// A pooler lends a session, as it was left, until the server says that no transaction is open.
    async fn borrow_session(&mut self) {
        let db = Rc::clone(&self.db);
        if let Some(pool) = db.pool.as_ref().filter(|_| self.id == self.client) {
            let Pooled { id, turn } = pool.take().await;
            (self.id, self.turn) = (id, turn);
        }
    }

    fn return_session(&mut self) {
        if let Some(pool) = self.db.pool.as_ref().filter(|_| self.id != self.client) {
            pool.give_back(Pooled { id: self.id, turn: Rc::clone(&self.turn) });
            self.id = self.client;
        }
    }

    /// Ends the session because a fault says so.
    pub(super) fn is_ended(&mut self) {
        if self.in_transaction() || self.transaction.is_some() || self.db.isolation.borrow().advises(self.id) {
            self.db.trouble.ended(self.client);
            self.host.record(Event::SessionEnded { by: self.by });
        }
        self.end(&SqlError::new("57P01", "terminating connection due to administrator command"));
    }

    /// The client is gone: what it did not commit is undone, and whoever waited for it goes on.
    pub(super) fn leave(&mut self) {
        self.db.isolation.borrow_mut().clock(&*self.host);
        self.db.isolation.borrow_mut().left(self.id);
        self.db.tell(&*self.host);
        if let Some(pool) = self.db.pool.as_ref().filter(|_| self.id != self.client) {
            pool.replace(&self.db);
            self.id = self.client;
        }
    }

    /// A statement failed. PostgreSQL: nothing of its transaction remains, its locks included.
    /// InnoDB: the transaction goes on, unless it is gone.
    fn fail(&mut self, error: &SqlError) {
        if error.is_ours() {
            self.host.not_offered(error.message.clone());
        }
        match self.block {
            Block::Open if self.is_innodb() && self.db.isolation.borrow().in_transaction(self.id) => {}
            Block::Open if !self.is_innodb() => {
                // Locks are given back at once; with a savepoint the transaction can still go back to it.
                self.block = Block::Failed;
                self.db.isolation.borrow_mut().clock(&*self.host);
                self.db.isolation.borrow_mut().abort(self.id);
                self.db.tell(&*self.host);
            }
            Block::Failed if !self.is_innodb() => {}
            Block::None | Block::Implicit | Block::Open | Block::Failed => {
                self.block = Block::None;
                self.rollback();
            }
        }
        wire::put_error(&mut self.out, "ERROR", error);
    }

    fn is_innodb(&self) -> bool {
        self.db.knobs.rules.is_innodb()
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
        if self.block == Block::None {
            self.return_session();
        }
        wire::put_ready(&mut self.out, status);
    }

    /// The simple protocol: a text with any number of statements, which stand or fall together.
    async fn query(&mut self, mut body: Body<'_>) {
        if let Err(error) = self.query_text(&mut body).await {
            self.fail(&error);
        }
        if self.block == Block::Implicit {
            self.block = Block::None;
            if let Err(error) = self.commit() {
                self.fail(&error);
            }
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
        // MySQL commits each by itself.
        let together = statements.len() > 1 && !self.is_innodb();
        if together {
            self.begin_implicitly()?;
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
            if together {
                self.begin_implicitly()?;
            }
        }
        Ok(())
    }

    fn begin_implicitly(&mut self) -> Result<(), SqlError> {
        if self.block == Block::None {
            self.db.isolation.borrow_mut().begin(self.id, None)?;
            self.block = Block::Implicit;
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
                self.block = Block::None;
                if keeps {
                    self.commit()?;
                } else {
                    self.rollback();
                }
                wire::put_complete(&mut self.out, if keeps { "COMMIT" } else { "ROLLBACK" }, None);
            }
            Kind::RollbackTo if failed && !self.db.isolation.borrow().in_transaction(self.id) => {
                return Err(SqlError::new("3B001", format!("savepoint \"{}\" does not exist", statement.name)));
            }
            Kind::RollbackTo => {
                self.db.isolation.borrow_mut().clock(&*self.host);
                self.db.isolation.borrow_mut().rollback_to_savepoint(self.id, &statement.name)?;
                self.db.tell(&*self.host);
                self.block = Block::Open;
                wire::put_complete(&mut self.out, statement.tag, None);
            }
            Kind::Prepare | Kind::CommitPrepared | Kind::RollbackPrepared if self.is_innodb() => {
                return Err(SqlError::unsupported(format!("{} under InnoDB's rules (XA)", statement.tag)));
            }
            Kind::Prepare => {
                let tag = if self.prepare(&statement.name)? { statement.tag } else { "ROLLBACK" };
                wire::put_complete(&mut self.out, tag, None);
            }
            Kind::Begin | Kind::Savepoint | Kind::Release | Kind::CommitPrepared | Kind::RollbackPrepared | Kind::Set | Kind::Query
                if failed =>
            {
                return Err(aborted());
            }
            Kind::Empty => wire::put_empty(&mut self.out, b'I'),
            Kind::Begin => {
                // MySQL commits what is open; PostgreSQL warns, and the transaction goes on.
                if self.is_innodb() {
                    self.commit()?;
                }
                self.db.isolation.borrow_mut().begin(self.id, statement.level)?;
                self.block = Block::Open;
                wire::put_complete(&mut self.out, statement.tag, None);
            }
            Kind::Savepoint => {
                self.db.isolation.borrow_mut().set_savepoint(self.id, &statement.name)?;
                wire::put_complete(&mut self.out, statement.tag, None);
            }
            Kind::Release => {
                self.db.isolation.borrow_mut().release_savepoint(self.id, &statement.name)?;
                wire::put_complete(&mut self.out, statement.tag, None);
            }
            Kind::CommitPrepared | Kind::RollbackPrepared => {
                if self.block != Block::None {
                    return Err(SqlError::new("25001", format!("{} cannot run inside a transaction block", statement.tag)));
                }
                self.end_prepared(&statement.name, statement.kind == Kind::CommitPrepared)?;
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
        if statement.footprint.locks_aggregates && !self.is_innodb() {
            return Err(SqlError::new("0A000", "FOR UPDATE is not allowed with aggregate functions, DISTINCT, GROUP BY or UNION"));
        }
        if statement.advisory.is_some() && self.is_innodb() {
            return Err(SqlError::unsupported("PostgreSQL's advisory locks under InnoDB's rules (GET_LOCK)"));
        }
        let alone = self.block == Block::None;
        if self.transaction.is_none() && (!alone || statement.writes || statement.locks) {
            self.transaction = Some((self.db.next_transaction(), self.host.now()));
        }
        if alone && statement.writes {
            self.is_refused()?;
        }
        let origin = self.transaction.map(|(tx, began)| Origin { tx, by: self.by, began });
        let begin = self.out.len();
        let outcome = {
            let out = &mut self.out;
            let mut put = |row: &rusqlite::Row<'_>| put_row(out, statement, formats, |i| Ok(row.get_ref(i)?));
            let mut isolation = self.db.isolation.borrow_mut();
            isolation.clock(&*self.host);
            isolation.execute(self.id, Execution { statement, values, origin }, &mut put)
        };
        if !matches!(outcome, Ok(Outcome::Done(_))) {
            // Rows of a statement that was stopped on its way are no answer.
            self.out.truncate(begin);
        }
        self.db.tell(&*self.host);
        let count = match outcome? {
            Outcome::Done(count) => count,
            Outcome::Wait => {
                let Answer { count, rows } = self.wait().await?;
                for row in &rows {
                    put_row(&mut self.out, statement, formats, |i| Ok(ValueRef::from(&row[i])))?;
                }
                count
            }
        };
        if alone {
            self.transaction = None;
        }
        wire::put_complete(&mut self.out, statement.tag, Some(count));
        Ok(())
    }

    /// Waits for other transactions. A client that hangs up meanwhile is not noticed, as on a real server.
    async fn wait(&self) -> Result<Answer, SqlError> {
        let answered = async {
            loop {
                self.turn.notified().await;
                if let Some(answer) = self.db.isolation.borrow_mut().answer(self.id) {
                    return answer;
                }
            }
        };
        if let Some(answer) = within(&*self.host, self.db.knobs.lock_timeout, answered).await {
            return answer;
        }
        self.db.isolation.borrow_mut().clock(&*self.host);
        let answer = self.db.isolation.borrow_mut().give_up(self.id);
        self.db.tell(&*self.host);
        answer
    }

    /// Makes what the transaction did permanent, and tells it.
    fn commit(&mut self) -> Result<(), SqlError> {
        if self.db.isolation.borrow().has_changed(self.id)
            && let Err(refused) = self.is_refused()
        {
            self.rollback();
            return Err(refused);
        }
        self.transaction = None;
        self.db.isolation.borrow_mut().clock(&*self.host);
        let committed = self.db.isolation.borrow_mut().commit(self.id);
        self.db.tell(&*self.host);
        committed
    }

    /// Gives the transaction away, to be ended by its name. A transaction that has failed is
    /// rolled back instead, and where there is none nothing happens: whether it was prepared.
    fn prepare(&mut self, name: &str) -> Result<bool, SqlError> {
        let (block, began) = (self.block, self.transaction);
        self.block = Block::None;
        match block {
            Block::Open => {}
            Block::Implicit => return self.commit().map(|()| false),
            Block::None | Block::Failed => {
                self.rollback();
                return Ok(false);
            }
        }
        if self.db.isolation.borrow().has_changed(self.id) {
            self.is_refused()?;
        }
        self.transaction = None;
        let (tx, began) = began.unwrap_or_else(|| (self.db.next_transaction(), self.host.now()));
        let heir = self.db.next_session();
        self.db.isolation.borrow_mut().clock(&*self.host);
        let prepared = self.db.isolation.borrow_mut().prepare(self.id, name, Origin { tx, by: self.by, began }, heir);
        self.db.tell(&*self.host);
        prepared?;
        self.host.record(Event::Prepared { tx, by: self.by });
        Ok(true)
    }

    /// The second phase, of whoever's transaction.
    fn end_prepared(&mut self, name: &str, commit: bool) -> Result<(), SqlError> {
        self.db.isolation.borrow_mut().clock(&*self.host);
        let ended = self.db.isolation.borrow_mut().end_prepared(name, commit)?;
        self.db.tell(&*self.host);
        if let Some(Origin { tx, .. }) = ended {
            self.host.record(Event::PreparedEnded { tx, by: self.by, committed: commit });
        }
        Ok(())
    }

    /// Whether a fault says that this transaction cannot be committed.
    fn is_refused(&self) -> Result<(), SqlError> {
        if !self.db.trouble.refuses(self.by) {
            return Ok(());
        }
        self.host.record(Event::CommitRefused { by: self.by });
        Err(SqlError::new("53100", "could not extend file: No space left on device"))
    }

    /// Undoes what the transaction did; others who waited for it may commit now.
    fn rollback(&mut self) {
        self.transaction = None;
        self.db.isolation.borrow_mut().clock(&*self.host);
        self.db.isolation.borrow_mut().rollback(self.id);
        self.db.tell(&*self.host);
    }
}

/// The server's process is over. A client that leaves while it lives says so by [`Session::leave`].
impl Drop for Session {
    fn drop(&mut self) {
        self.db.isolation.borrow_mut().dropped(self.id);
        self.db.trouble.left(self.client);
    }
}

fn aborted() -> SqlError {
    SqlError::new("25P02", "current transaction is aborted, commands ignored until end of transaction block")
}

fn put_row<'v>(
    out: &mut BytesMut,
    statement: &Statement,
    formats: &[bool],
    value: impl Fn(usize) -> Result<ValueRef<'v>, SqlError>,
) -> Result<(), SqlError> {
    let start = out.len();
    let done = wire::put(out, b'D', |out| {
        out.put_u16(u16::try_from(statement.columns.len()).expect("SQLite returns at most 2000 columns"));
        for (i, column) in statement.columns.iter().enumerate() {
            column.of.encode(value(i)?, format(formats, i), out)?;
        }
        Ok(())
    });
    if done.is_err() {
        // Half a row is no message.
        out.truncate(start);
    }
    done
}
