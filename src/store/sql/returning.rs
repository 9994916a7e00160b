//! An UPDATE that tells what became of its rows.
//!
//! PostgreSQL has a word for it. MySQL and MariaDB have not (`UPDATE … RETURNING` came to MariaDB
//! after 10.11), so there the rows are locked and read first, and changed then. Between the two
//! no row can change that was read; one that was not read may come to fit, where the isolation
//! level takes no gap locks. Then the UPDATE finds more rows than were read, and all of it is
//! undone: nothing is ever changed that is not told.

use crate::store::sql::session::Session;
use crate::store::sql::value::{Param, Row};
use crate::store::{ErrorKind, StoreError};

/// An UPDATE that returns rows, in both dialects, with the same parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Returning<'t> {
    /// `UPDATE … RETURNING` some values.
    pub postgres: &'t str,
    /// `SELECT … FOR UPDATE` the same values of the same rows, as they will be.
    pub mysql_lock: &'t str,
    /// `UPDATE` of the same rows.
    pub mysql_update: &'t str,
}

impl Returning<'_> {
    /// Locks, reads and changes, in the open transaction, or else in one of its own.
    pub(super) async fn locked(&self, session: &dyn Session, params: &[Param<'_>]) -> Result<Vec<Row>, StoreError> {
        if session.in_transaction() {
            return self.inside(session, params).await;
        }
        session.batch("BEGIN").await?;
        match self.inside(session, params).await {
            Ok(rows) => session.batch("COMMIT").await.map(|()| rows),
            Err(error) => {
                // If this fails, the connection is gone, and the transaction with it.
                let _ = session.batch("ROLLBACK").await;
                Err(error)
            }
        }
    }

    async fn inside(&self, session: &dyn Session, params: &[Param<'_>]) -> Result<Vec<Row>, StoreError> {
        let rows = session.query((self.mysql_lock, params)).await?;
        if rows.is_empty() {
            return Ok(rows);
        }
        let changed = session.execute((self.mysql_update, params)).await?;
        if changed == rows.len() as u64 {
            return Ok(rows);
        }
        let text = format!("{} rows were locked, and {changed} changed: others came in between", rows.len());
        Err(StoreError { kind: ErrorKind::Serialization, text })
    }
}
