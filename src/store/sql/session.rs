//! One connection to a database: what a strategy's statements need of it, whichever protocol it
//! speaks. PostgreSQL's is spoken by tokio-postgres, MySQL's by `mysql_async`.

use crate::store::StoreError;
use crate::store::sql::value::{Param, Row};
use futures_util::future::LocalBoxFuture;
use tokio_postgres::Client;

/// What a session answers, later.
pub type Answer<'a, T> = LocalBoxFuture<'a, Result<T, StoreError>>;

/// A statement in the words of the session's dialect, with its parameters.
pub type Call<'a> = (&'a str, &'a [Param<'a>]);

/// One connection to a database. An answer that nobody waits for any longer still comes, and the
/// connection goes on behind it.
pub trait Session {
    /// Runs a statement that returns rows.
    fn query<'a>(&'a self, call: Call<'a>) -> Answer<'a, Vec<Row>>;

    /// Runs a statement; how many rows it changed. In MySQL too a row counts that held the new
    /// values already.
    fn execute<'a>(&'a self, call: Call<'a>) -> Answer<'a, u64>;

    /// Runs words without parameters and without rows: `BEGIN`, `COMMIT`, `ROLLBACK`.
    fn batch<'a>(&'a self, words: &'a str) -> Answer<'a, ()>;

    /// Runs two statements in a transaction of their own, all in one flight; `None` if the protocol does
    /// not allow that. Fails with the error of the first that fails; then nothing was applied.
    fn both<'a>(&'a self, first: Call<'a>, second: Call<'a>) -> Option<Answer<'a, ()>> {
        let _ = (first, second);
        None
    }

    /// Waits until a request has left that the server acts on, counted from this call.
    fn request_left(&self) -> LocalBoxFuture<'static, ()>;

    /// Whether the server has said that a transaction is open.
    fn in_transaction(&self) -> bool;

    /// Whether a transaction is open, or may come to be when what is under way is answered.
    fn may_open_transaction(&self) -> bool;

    /// Whether nothing can be asked any longer.
    fn is_closed(&self) -> bool;

    /// Closes the connection, whatever is under way. The server rolls an open transaction back.
    fn close(&self);

    /// tokio-postgres itself, for statements that are none of ours.
    fn postgres(&self) -> Option<&Client> {
        None
    }
}
