//! A session that speaks MySQL's protocol, for MariaDB and MySQL: `mysql_async`, which opens its
//! own socket.
//!
//! A task of its own owns the connection and runs one statement after the other. Whoever asks
//! waits for the answer only, so a call that is given up leaves nobody behind in the middle of one.
//!
//! Three settings of a connection change what its statements mean:
//!
//! * **An UPDATE counts the rows that it found**, also those that held the new values already
//!   (`CLIENT_FOUND_ROWS`). The protocol's default is to count changed rows only. MySQL
//!   Connector/J, which published guards run on, asks for found rows unless it is told
//!   `useAffectedRows=true` (its manual says so; that is no fact of this project), and
//!   `PostgreSQL` knows nothing else. With found rows `INSERT … ON DUPLICATE KEY UPDATE` reports
//!   one row whether it inserted or not, so our statements do without it.
//! * **The session's time zone is UTC.** Where clocks are set back in autumn, `UNIX_TIMESTAMP(NOW(3))`
//!   would be ambiguous for an hour in local time.
//! * **The isolation level stays what the server says**: repeatable read, unless somebody changed it.

use crate::host::{Host, Task};
use crate::store::sql::session::{Answer, Call, Session};
use crate::store::sql::text::positional;
use crate::store::sql::value::{Param, Row};
use crate::store::{ErrorKind, StoreError};
use futures_util::future::LocalBoxFuture;
use mysql_async::consts::StatusFlags;
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Opts, OptsBuilder, Params, Value};
use std::cell::Cell;
use std::future::pending;
use std::rc::Rc;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

pub(super) struct MySql {
    requests: UnboundedSender<Request>,
    /// It would wait for answers that do not come, and keep the transaction open meanwhile.
    driver: Cell<Option<Task>>,
    state: Rc<State>,
}

/// What is known about the connection.
#[derive(Default)]
struct State {
    /// What the server said last about a transaction. An error says nothing: after one that ended
    /// the transaction (1213), this stays until `ROLLBACK` is answered, which does no harm.
    open: Cell<bool>,
    /// Requests that have no answer yet.
    due: Cell<usize>,
}

struct Request {
    statement: String,
    /// `None`: words that MySQL does not prepare.
    params: Option<Vec<Value>>,
    answer: oneshot::Sender<Result<Done, StoreError>>,
}

struct Done {
    rows: Vec<Row>,
    changed: u64,
}

impl MySql {
    /// Connects to the server of `url`, and logs in.
    pub(super) async fn connect(host: &dyn Host, url: &str) -> Result<MySql, StoreError> {
        let opts = Opts::from_url(url).map_err(StoreError::not_sent)?;
        // The library would change to the server's Unix socket if it is on the same machine.
        let opts = OptsBuilder::from_opts(opts).prefer_socket(false).client_found_rows(true).init(vec!["SET time_zone = '+00:00'"]);
        let connection = Conn::new(opts).await.map_err(StoreError::not_sent)?;
        let (requests, queue) = unbounded_channel();
        let state = Rc::<State>::default();
        let driver = host.spawn("sql-driver", Box::pin(drive(connection, queue, Rc::clone(&state))));
        Ok(MySql { requests, driver: Cell::new(Some(driver)), state })
    }

    async fn ask(&self, statement: String, params: Option<Vec<Value>>) -> Result<Done, StoreError> {
        let (answer, answered) = oneshot::channel();
        self.requests.send(Request { statement, params, answer }).map_err(|_| StoreError::not_sent("the connection is closed"))?;
        self.state.due.set(self.state.due.get() + 1);
        answered.await.unwrap_or_else(|_| Err(StoreError::maybe_applied("the connection was closed before the answer")))
    }

    async fn call(&self, (statement, params): Call<'_>) -> Result<Done, StoreError> {
        let (statement, order) = positional(statement);
        let values: Option<Vec<Value>> = order.iter().map(|n| params.get(*n).map(Param::mysql)).collect();
        let Some(values) = values else {
            let text = format!("the statement wants more parameters than the {} that it is given: {statement}", params.len());
            return Err(StoreError { kind: ErrorKind::Unusable, text });
        };
        self.ask(statement, Some(values)).await
    }
}

impl Session for MySql {
    fn query<'a>(&'a self, call: Call<'a>) -> Answer<'a, Vec<Row>> {
        Box::pin(async move { Ok(self.call(call).await?.rows) })
    }

    fn execute<'a>(&'a self, call: Call<'a>) -> Answer<'a, u64> {
        Box::pin(async move { Ok(self.call(call).await?.changed) })
    }

    fn batch<'a>(&'a self, words: &'a str) -> Answer<'a, ()> {
        Box::pin(async move { self.ask(words.to_owned(), None).await.map(drop) })
    }

    /// Four round trips: this protocol answers one request before it takes the next.
    /// Never: nobody gets at this client with statements of his own.
    fn request_left(&self) -> LocalBoxFuture<'static, ()> {
        Box::pin(pending())
    }

    fn in_transaction(&self) -> bool {
        self.state.open.get()
    }

    fn may_open_transaction(&self) -> bool {
        self.in_transaction() || self.state.due.get() > 0
    }

    fn is_closed(&self) -> bool {
        self.requests.is_closed()
    }

    fn close(&self) {
        if let Some(driver) = self.driver.take() {
            driver.abort();
        }
    }
}

/// Answers requests, one after the other, for as long as the connection lives and anybody may ask.
async fn drive(mut connection: Conn, mut queue: UnboundedReceiver<Request>, state: Rc<State>) {
    while let Some(Request { statement, params, answer }) = queue.recv().await {
        let outcome = run(&mut connection, &statement, params).await.map_err(StoreError::from);
        if let Some(said) = connection.last_ok_packet() {
            state.open.set(said.status_flags().contains(StatusFlags::SERVER_STATUS_IN_TRANS));
        }
        let lost = outcome.as_ref().is_err_and(StoreError::lost_connection);
        if lost {
            queue.close();
        }
        state.due.set(state.due.get() - 1);
        // Whoever asked may have given up.
        let _ = answer.send(outcome);
        if lost {
            return;
        }
    }
    // Nobody waits for the farewell; if it fails, the server finds out by itself.
    let _ = connection.disconnect().await;
}

async fn run(connection: &mut Conn, statement: &str, params: Option<Vec<Value>>) -> Result<Done, mysql_async::Error> {
    let Some(params) = params else {
        connection.query_drop(statement).await?;
        return Ok(Done { rows: Vec::new(), changed: 0 });
    };
    let params = if params.is_empty() { Params::Empty } else { Params::Positional(params) };
    let mut result = connection.exec_iter(statement, params).await?;
    let changed = result.affected_rows();
    let rows = result.map(|row| Row::MySql(row.unwrap())).await?;
    result.drop_result().await?;
    Ok(Done { rows, changed })
}
