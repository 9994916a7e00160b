//! The client libraries themselves, for strategies that bring their own commands and statements.

use crate::id::HostId;
use crate::strategy::context::{Context, Error};
use crate::trace::StepName;
use redis::aio::MultiplexedConnection;
use std::pin::pin;
use tokio_postgres::Client;

impl Context {
    /// Does something with redis-rs as one step: `work` gets the node's connection, has the client
    /// timeout as a whole, and should make one request, for a fault strikes before it, while it is
    /// under way, or after it.
    ///
    /// A connection on which an answer was lost is dropped, and the next step connects anew.
    ///
    /// # Errors
    /// What the library said, by its meaning for the request ([`crate::store::ErrorKind`]).
    pub async fn redis<T>(
        &self,
        step: StepName,
        work: impl AsyncFnOnce(MultiplexedConnection) -> redis::RedisResult<T>,
    ) -> Result<T, Error> {
        let store = &self.lease().store;
        // Boxed: the library's futures are large, and would be moved through every layer.
        self.operation(step, HostId::Lease, pin!(store.ready()), Box::pin(store.with(work))).await
    }

    /// Does something with tokio-postgres as one step: `work` gets the node's client, has the client
    /// timeout as a whole, and should run one statement. Preparing does not count: a fault that
    /// strikes in the middle of the step waits until a statement has left that the server acts on.
    ///
    /// All steps of a node share one connection, so `BEGIN` … `COMMIT` may be steps of their own, and
    /// inside [`crate::strategy::SqlSteps::transaction`] the statements of `work` belong to its
    /// transaction. If its connection is lost the next step is refused, rather than run outside of it.
    /// What an attempt leaves open is rolled back before the next one. Only `tokio_postgres::Transaction` cannot be had: it wants the client for itself.
    ///
    /// # Errors
    /// What the library said, by its meaning for the statement ([`crate::store::ErrorKind`]);
    /// `Unusable`, and no step, if the database of this deployment does not speak PostgreSQL.
    pub async fn postgres<T>(
        &self,
        step: StepName,
        work: impl AsyncFnOnce(&Client) -> Result<T, tokio_postgres::Error>,
    ) -> Result<T, Error> {
        let store = &self.sql().store;
        store.is_postgres()?;
        let request = Box::pin(store.with(work));
        self.operation_of(step, HostId::Database, pin!(store.ready()), store.request_left(), request).await
    }
}

impl From<redis::RedisError> for Error {
    /// For what is read from an answer outside of its step.
    fn from(error: redis::RedisError) -> Error {
        Error::Store(error.into())
    }
}

impl From<tokio_postgres::Error> for Error {
    /// For what is read from a row outside of its step.
    fn from(error: tokio_postgres::Error) -> Error {
        Error::Store(error.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Database;
    use crate::id::{AttemptId, NodeId};
    use crate::real::Network;
    use crate::scenario::Scenario;
    use crate::seed::Seed;
    use crate::store::ErrorKind;
    use futures_util::FutureExt;
    use std::rc::Rc;
    use std::sync::Arc;

    /// It is said before anything is tried: nobody listens there, and no step is made.
    #[test]
    fn there_is_no_postgres_client_for_a_database_that_speaks_mysql() {
        let scenario = Scenario::default();
        let calendar = scenario.schedule.calendar().expect("a schedule");
        let network = Rc::new(Network::new(Seed(1), Database::MySql { url: "mysql://127.0.0.1:1/none".into() }).expect("a host"));
        let attempt = AttemptId { node: NodeId(0), number: 1 };
        let context = Context::new(network.host(HostId::node(0)), Arc::new(scenario), Arc::new(calendar), attempt);
        let asked = context.postgres("ask", async |db| db.query_one("SELECT 1", &[]).await).now_or_never();
        let refused = asked.expect("an answer at once").expect_err("no such client");
        assert!(
            matches!(&refused, Error::Store(why) if why.kind == ErrorKind::Unusable && why.text.contains("`Context::sql`")),
            "{refused}"
        );
        assert_eq!(network.records(), []);
    }
}
