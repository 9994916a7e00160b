//! The database: one connection, which the tasks of a process share outside transactions, to
//! PostgreSQL or to MySQL ([`Session`]). A host says which ([`Host::database`]); a statement is
//! there in the words of both ([`Text`], [`Returning`]).

mod mysql;
mod postgres;
mod returning;
pub mod session;
mod text;
mod value;

pub use returning::Returning;
pub use text::Text;
pub use value::{Column, Param, Row, aggregate, column, int, text};

use crate::host::{Database, Dialect, Host, within};
use crate::store::{ErrorKind, StoreError};
use mysql::MySql;
use postgres::PostgreSql;
use session::{Call, Session};
use std::cell::{Cell, RefCell};
use std::future::pending;
use std::rc::Rc;
use std::time::Duration;
use tokio_postgres::Client;

/// A client of the database.
pub struct Sql {
    host: Rc<dyn Host>,
    database: Database,
    timeout: Duration,
    session: RefCell<Option<Rc<dyn Session>>>,
    /// A connection was lost inside a transaction, and nobody has been told who may still believe in it.
    lost: Cell<bool>,
}

impl Sql {
    /// A client on `host` that waits for at most `timeout` for a connection or an answer.
    pub fn new(host: Rc<dyn Host>, timeout: Duration) -> Sql {
        Sql { database: host.database(), host, timeout, session: RefCell::default(), lost: Cell::default() }
    }

    /// What the database understands.
    pub fn dialect(&self) -> Dialect {
        self.database.dialect()
    }

    /// Connects, unless a connection is open.
    ///
    /// # Errors
    /// `NotSent`: the database could not be reached. `TransactionAborted`: the connection was
    /// lost inside a transaction; the next call will connect anew.
    pub async fn ready(&self) -> Result<(), StoreError> {
        self.session().await.map(drop)
    }

    /// Runs a statement that returns rows.
    ///
    /// # Errors
    /// As every call to a store.
    pub async fn query(&self, statement: Text<'_>, params: &[Param<'_>]) -> Result<Vec<Row>, StoreError> {
        let session = self.session().await?;
        self.call(&session, session.query((statement.of(self.dialect()), params))).await
    }

    /// Runs a statement; how many rows it changed. A row that held the new values already counts.
    ///
    /// # Errors
    /// As every call to a store.
    pub async fn execute(&self, statement: Text<'_>, params: &[Param<'_>]) -> Result<u64, StoreError> {
        let session = self.session().await?;
        self.call(&session, session.execute((statement.of(self.dialect()), params))).await
    }

    /// Runs an UPDATE that returns rows.
    ///
    /// # Errors
    /// As every call to a store. `Serialization`: on MySQL, other rows came to fit meanwhile.
    pub async fn returning(&self, update: &Returning<'_>, params: &[Param<'_>]) -> Result<Vec<Row>, StoreError> {
        let session = self.session().await?;
        match self.dialect() {
            Dialect::PostgreSql => self.call(&session, session.query((update.postgres, params))).await,
            Dialect::MySql => {
                let own = !session.in_transaction();
                let outcome = self.call(&session, Box::pin(update.locked(&*session, params))).await;
                if own {
                    self.transaction_over();
                }
                outcome
            }
        }
    }

    /// Begins a transaction.
    ///
    /// # Errors
    /// As every call to a store.
    pub async fn begin(&self) -> Result<(), StoreError> {
        self.batch("BEGIN").await
    }

    /// Commits the open transaction.
    ///
    /// # Errors
    /// `MaybeApplied`: only the database knows whether the transaction was committed.
    pub async fn commit(&self) -> Result<(), StoreError> {
        self.batch("COMMIT").await
    }

    /// Prepares the open transaction under a name, which has no quotes in it.
    ///
    /// # Errors
    /// `MaybeApplied`: only the database knows whether the transaction was prepared.
    pub async fn prepare(&self, name: &str) -> Result<(), StoreError> {
        self.batch(&format!("PREPARE TRANSACTION '{name}'")).await
    }

    /// Rolls the open transaction back.
    ///
    /// # Errors
    /// The connection was lost; so is the transaction.
    pub async fn rollback(&self) -> Result<(), StoreError> {
        self.batch("ROLLBACK").await
    }

    /// Runs two statements that both dialects understand in a transaction of their own, if the
    /// protocol allows it all in one flight.
    ///
    /// # Errors
    /// The error of the first statement that failed; then nothing was applied.
    pub async fn both(&self, first: Call<'_>, second: Call<'_>) -> Result<(), StoreError> {
        let session = self.session().await?;
        let Some(flight) = session.both(first, second) else { return self.one_by_one(first, second).await };
        let outcome = self.call(&session, flight).await;
        self.transaction_over();
        outcome
    }

    /// As [`Sql::both`], but nothing is sent before the answer to what comes before it: what a
    /// transaction needs that survives a failed statement, as InnoDB's does, and would commit the rest.
    ///
    /// # Errors
    /// The error of the first statement that failed; then nothing was applied.
    pub async fn one_by_one(&self, first: Call<'_>, second: Call<'_>) -> Result<(), StoreError> {
        let done = async {
            self.begin().await?;
            self.execute(first.0.into(), first.1).await?;
            self.execute(second.0.into(), second.1).await?;
            self.commit().await
        }
        .await;
        if done.is_err() && self.in_transaction() {
            // If this fails, the connection is dropped, and the server rolls back.
            let _ = self.rollback().await;
        }
        self.transaction_over();
        done
    }

    /// Does anything with tokio-postgres itself: `work` as a whole has the client timeout.
    ///
    /// # Errors
    /// As every call to a store. `Unusable`: the database is none that speaks PostgreSQL.
    pub async fn with<T>(&self, work: impl AsyncFnOnce(&Client) -> Result<T, tokio_postgres::Error>) -> Result<T, StoreError> {
        self.is_postgres()?;
        let session = self.session().await?;
        let client = session.postgres().ok_or_else(no_postgres)?;
        self.call(&session, async { Ok(work(client).await?) }).await
    }

    /// Whether [`Sql::with`] is offered.
    ///
    /// # Errors
    /// `Unusable`: the database is none that speaks PostgreSQL.
    pub fn is_postgres(&self) -> Result<(), StoreError> {
        match self.dialect() {
            Dialect::PostgreSql => Ok(()),
            Dialect::MySql => Err(no_postgres()),
        }
    }

    /// Waits until a request has left that the server acts on. Without a connection, for ever.
    pub async fn request_left(&self) {
        let left = self.session.borrow().as_ref().map(|session| session.request_left());
        match left {
            Some(left) => left.await,
            None => pending().await,
        }
    }

    /// Whether the server has said that a transaction is open on the connection.
    pub fn in_transaction(&self) -> bool {
        self.session.borrow().as_ref().is_some_and(|session| session.in_transaction())
    }

    /// Drops the connection if a transaction is open on it, or may come to be when what is under way is answered.
    pub fn give_up_transaction(&self) {
        let open = self.session.borrow().clone();
        if let Some(session) = open.filter(|session| session.may_open_transaction()) {
            self.forget(&session);
        }
        self.transaction_over();
    }

    /// Whoever was in a transaction knows that it is over, if only because its connection was lost.
    pub fn transaction_over(&self) {
        self.lost.set(false);
    }

    async fn batch(&self, words: &str) -> Result<(), StoreError> {
        let session = self.session().await?;
        self.call(&session, session.batch(words)).await
    }

    async fn session(&self) -> Result<Rc<dyn Session>, StoreError> {
        let open = self.session.borrow().clone();
        match open {
            Some(session) if !session.is_closed() => return Ok(session),
            Some(session) => self.forget(&session),
            None => {}
        }
        if self.lost.take() {
            return Err(StoreError::transaction_lost());
        }
        let session =
            within(&*self.host, self.timeout, Box::pin(self.connect())).await.unwrap_or_else(|| Err(StoreError::not_sent("timed out")))?;
        *self.session.borrow_mut() = Some(Rc::clone(&session));
        Ok(session)
    }

    /// Rare and large: callers box it, so that every statement's future stays small.
    async fn connect(&self) -> Result<Rc<dyn Session>, StoreError> {
        Ok(match &self.database {
            Database::PostgreSql { login } => Rc::new(PostgreSql::connect(&*self.host, login.as_deref()).await?),
            Database::MySql { url } => Rc::new(MySql::connect(&*self.host, url).await?),
        })
    }

    async fn call<T>(&self, session: &Rc<dyn Session>, call: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
        let failed = match within(&*self.host, self.timeout, call).await {
            Some(Ok(value)) => return Ok(value),
            Some(Err(error)) => error,
            None => StoreError::timed_out(),
        };
        if failed.lost_connection() || session.is_closed() {
            self.forget(session);
        }
        Err(failed)
    }

    /// Closes this session's connection, and makes room for another.
    fn forget(&self, session: &Rc<dyn Session>) {
        session.close();
        let mut open = self.session.borrow_mut();
        if open.as_ref().is_some_and(|s| Rc::ptr_eq(s, session)) {
            *open = None;
            self.lost.set(session.in_transaction());
        }
    }
}

fn no_postgres() -> StoreError {
    let text = "the database speaks MySQL, and tokio-postgres does not: write the statement for both dialects (`Text`) and run it with `Context::sql`";
    StoreError { kind: ErrorKind::Unusable, text: text.to_owned() }
}
