//! The database: tokio-postgres over one connection, which the tasks of a process share
//! outside transactions.
//!
//! Our own statements are sent with their parameter types and never prepared: that saves a
//! round trip, and no process-global statement name reaches the wire. Whoever gets the client
//! itself ([`Sql::with`]) may prepare: names are no part of any history. Whether a transaction is
//! open is what the server says, so it does not matter who began it.

mod talk;

use crate::host::{Host, Task, within};
use crate::id::HostId;
use crate::store::StoreError;
use std::cell::{Cell, RefCell};
use std::future::pending;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use talk::{Overheard, Talk};
use tokio_postgres::config::SslMode;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Config, NoTls};

pub use tokio_postgres::Row;

/// A statement's parameter with its type.
pub type Param<'a> = (&'a (dyn ToSql + Sync), Type);

/// A `bigint` parameter.
pub fn int(value: &i64) -> Param<'_> {
    (value, Type::INT8)
}

/// A `text` parameter.
pub fn text(value: &String) -> Param<'_> {
    (value, Type::TEXT)
}

/// The value of a column; `T` is `i64` for `bigint` and `String` for `text`.
///
/// # Errors
/// `Rejected`: the server sent another type.
pub fn column<'r, T: tokio_postgres::types::FromSql<'r>>(row: &'r Row, index: usize) -> Result<T, StoreError> {
    row.try_get(index).map_err(StoreError::rejected)
}

/// The only value of an aggregate.
///
/// # Errors
/// `Rejected`: the server sent no row, or another type.
pub fn aggregate(rows: &[Row]) -> Result<i64, StoreError> {
    let row = rows.first().ok_or_else(|| StoreError::rejected("the server answered an aggregate without a row"))?;
    column(row, 0)
}

/// A client of the database.
pub struct Sql {
    host: Rc<dyn Host>,
    timeout: Duration,
    session: RefCell<Option<Rc<Session>>>,
    /// A connection was lost inside a transaction, and nobody has been told who may still believe in it.
    lost: Cell<bool>,
}

struct Session {
    client: Client,
    /// It would wait for answers that do not come, and keep the transaction open meanwhile.
    driver: Cell<Option<Task>>,
    talk: Arc<Talk>,
}

impl Sql {
    /// A client on `host` that waits for at most `timeout` for a connection or an answer.
    pub fn new(host: Rc<dyn Host>, timeout: Duration) -> Sql {
        Sql { host, timeout, session: RefCell::default(), lost: Cell::default() }
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
    pub async fn query(&self, statement: &str, params: &[Param<'_>]) -> Result<Vec<Row>, StoreError> {
        let session = self.session().await?;
        self.call(&session, session.client.query_typed(statement, params)).await
    }

    /// Runs a statement; how many rows it changed.
    ///
    /// # Errors
    /// As every call to a store.
    pub async fn execute(&self, statement: &str, params: &[Param<'_>]) -> Result<u64, StoreError> {
        let session = self.session().await?;
        self.call(&session, session.client.execute_typed(statement, params)).await
    }

    /// Begins a transaction.
    ///
    /// # Errors
    /// As every call to a store.
    pub async fn begin(&self) -> Result<(), StoreError> {
        let session = self.session().await?;
        self.call(&session, session.client.batch_execute("BEGIN")).await
    }

    /// Commits the open transaction.
    ///
    /// # Errors
    /// `MaybeApplied`: only the database knows whether the transaction was committed.
    pub async fn commit(&self) -> Result<(), StoreError> {
        self.end("COMMIT").await
    }

    /// Rolls the open transaction back.
    ///
    /// # Errors
    /// The connection was lost; so is the transaction.
    pub async fn rollback(&self) -> Result<(), StoreError> {
        self.end("ROLLBACK").await
    }

    /// Runs two statements in a transaction of their own, all in one flight: one round trip.
    ///
    /// # Errors
    /// The error of the first statement that failed; then nothing was applied.
    pub async fn both(&self, first: (&str, &[Param<'_>]), second: (&str, &[Param<'_>])) -> Result<(), StoreError> {
        let session = self.session().await?;
        let client = &session.client;
        let flight = async {
            // The requests leave in the order in which they are polled first.
            let (begun, first, second, committed) = tokio::join!(
                biased;
                client.batch_execute("BEGIN"),
                client.execute_typed(first.0, first.1),
                client.execute_typed(second.0, second.1),
                client.batch_execute("COMMIT"),
            );
            begun.and(first).and(second).and(committed)
        };
        let outcome = self.call(&session, flight).await;
        self.transaction_over();
        outcome
    }

    /// Does anything with the client itself: `work` as a whole has the client timeout.
    ///
    /// # Errors
    /// As every call to a store.
    pub async fn with<T>(&self, work: impl AsyncFnOnce(&Client) -> Result<T, tokio_postgres::Error>) -> Result<T, StoreError> {
        let session = self.session().await?;
        self.call(&session, work(&session.client)).await
    }

    /// Waits until a request has left that the server acts on. Without a connection, for ever.
    pub async fn request_left(&self) {
        let open = self.session.borrow().as_ref().map(|session| Arc::clone(&session.talk));
        match open {
            Some(talk) => talk.request_left().await,
            None => pending().await,
        }
    }

    /// Whether the server has said that a transaction is open on the connection.
    pub fn in_transaction(&self) -> bool {
        self.session.borrow().as_ref().is_some_and(|session| session.talk.in_transaction())
    }

    /// Drops the connection if a transaction is open on it, or may come to be when what is under way is answered.
    pub fn give_up_transaction(&self) {
        let open = self.session.borrow().clone();
        if let Some(session) = open.filter(|session| session.talk.may_open_transaction()) {
            self.forget(&session);
        }
        self.transaction_over();
    }

    /// Whoever was in a transaction knows that it is over, if only because its connection was lost.
    pub fn transaction_over(&self) {
        self.lost.set(false);
    }

    async fn end(&self, word: &str) -> Result<(), StoreError> {
        let session = self.session().await?;
        self.call(&session, session.client.batch_execute(word)).await
    }

    async fn session(&self) -> Result<Rc<Session>, StoreError> {
        let open = self.session.borrow().clone();
        match open {
            Some(session) if !session.client.is_closed() => return Ok(session),
            Some(session) => self.forget(&session),
            None => {}
        }
        if self.lost.take() {
            return Err(StoreError::transaction_lost());
        }
        let session =
            within(&*self.host, self.timeout, Box::pin(self.connect())).await.unwrap_or_else(|| Err(StoreError::not_sent("timed out")))?;
        let session = Rc::new(session);
        *self.session.borrow_mut() = Some(Rc::clone(&session));
        Ok(session)
    }

    /// Rare and large: callers box it, so that every statement's future stays small.
    async fn connect(&self) -> Result<Session, StoreError> {
        let talk = Talk::new();
        let stream = Overheard::new(self.host.connect(HostId::Database).await?, Arc::clone(&talk));
        let mut config = Config::new();
        config.user("postgres").dbname("postgres").ssl_mode(SslMode::Disable);
        let (client, driver) = config.connect_raw(stream, NoTls).await.map_err(StoreError::not_sent)?;
        let driver = async move {
            // The calls in flight get the error too.
            let _ = driver.await;
        };
        let driver = Cell::new(Some(self.host.spawn("sql-driver", Box::pin(driver))));
        Ok(Session { client, driver, talk })
    }

    async fn call<T>(&self, session: &Rc<Session>, call: impl Future<Output = Result<T, tokio_postgres::Error>>) -> Result<T, StoreError> {
        let failed = match within(&*self.host, self.timeout, call).await {
            Some(Ok(value)) => return Ok(value),
            Some(Err(error)) => StoreError::from(error),
            None => StoreError::timed_out(),
        };
        if failed.lost_connection() || session.client.is_closed() {
            self.forget(session);
        }
        Err(failed)
    }

    /// Closes this session's connection, and makes room for another.
    fn forget(&self, session: &Rc<Session>) {
        if let Some(driver) = session.driver.take() {
            driver.abort();
        }
        let mut open = self.session.borrow_mut();
        if open.as_ref().is_some_and(|s| Rc::ptr_eq(s, session)) {
            *open = None;
            self.lost.set(session.talk.in_transaction());
        }
    }
}
