//! A session that speaks PostgreSQL's protocol: tokio-postgres, over a stream of the host.
//!
//! Our own statements are sent with their parameter types and never prepared: that saves a
//! round trip, and no process-global statement name reaches the wire. Whoever gets the client
//! itself may prepare: names are no part of any history. Whether a transaction is open is what
//! the server says, so it does not matter who began it.

mod talk;

use crate::host::{Host, Task};
use crate::id::HostId;
use crate::store::StoreError;
use crate::store::sql::session::{Answer, Call, Session};
use crate::store::sql::value::{Param, Row};
use futures_util::TryStreamExt;
use futures_util::future::LocalBoxFuture;
use std::cell::Cell;
use std::sync::Arc;
use talk::{Overheard, Talk};
use tokio_postgres::config::SslMode;
use tokio_postgres::{Client, Config, NoTls};

pub(super) struct PostgreSql {
    client: Client,
    /// It would wait for answers that do not come, and keep the transaction open meanwhile.
    driver: Cell<Option<Task>>,
    talk: Arc<Talk>,
}

impl PostgreSql {
    /// Connects over a stream of `host`, and logs in.
    pub(super) async fn connect(host: &dyn Host, login: Option<&str>) -> Result<PostgreSql, StoreError> {
        let nobody = || Ok(Config::new().user("postgres").dbname("postgres").clone());
        let mut config = login.map_or_else(nobody, str::parse).map_err(StoreError::not_sent)?;
        config.ssl_mode(SslMode::Disable);
        let talk = Talk::new();
        let stream = Overheard::new(host.connect(HostId::Database).await?, Arc::clone(&talk));
        let (client, driver) = config.connect_raw(stream, NoTls).await.map_err(StoreError::not_sent)?;
        let driver = async move {
            // The calls in flight get the error too.
            let _ = driver.await;
        };
        let driver = Cell::new(Some(host.spawn("sql-driver", Box::pin(driver))));
        Ok(PostgreSql { client, driver, talk })
    }

    async fn run(&self, (statement, params): Call<'_>) -> Result<u64, tokio_postgres::Error> {
        let params: Vec<_> = params.iter().map(Param::postgres).collect();
        self.client.execute_typed(statement, &params).await
    }
}

impl Session for PostgreSql {
    fn query<'a>(&'a self, (statement, params): Call<'a>) -> Answer<'a, Vec<Row>> {
        Box::pin(async move {
            let rows = self.client.query_typed_raw(statement, params.iter().map(Param::postgres)).await?;
            Ok(rows.map_ok(Row::PostgreSql).try_collect().await?)
        })
    }

    fn execute<'a>(&'a self, call: Call<'a>) -> Answer<'a, u64> {
        Box::pin(async move { Ok(self.run(call).await?) })
    }

    fn batch<'a>(&'a self, words: &'a str) -> Answer<'a, ()> {
        Box::pin(async move { Ok(self.client.batch_execute(words).await?) })
    }

    /// One round trip.
    fn both<'a>(&'a self, first: Call<'a>, second: Call<'a>) -> Option<Answer<'a, ()>> {
        Some(Box::pin(async move {
            // The requests leave in the order in which they are polled first.
            let (begun, first, second, committed) = tokio::join!(
                biased;
                self.client.batch_execute("BEGIN"),
                self.run(first),
                self.run(second),
                self.client.batch_execute("COMMIT"),
            );
            Ok(begun.and(first).and(second).and(committed)?)
        }))
    }

    fn request_left(&self) -> LocalBoxFuture<'static, ()> {
        Box::pin(Arc::clone(&self.talk).request_left())
    }

    fn in_transaction(&self) -> bool {
        self.talk.in_transaction()
    }

    fn may_open_transaction(&self) -> bool {
        self.talk.may_open_transaction()
    }

    fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    fn close(&self) {
        if let Some(driver) = self.driver.take() {
            driver.abort();
        }
    }

    fn postgres(&self) -> Option<&Client> {
        Some(&self.client)
    }
}
