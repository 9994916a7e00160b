//! The stores as a strategy sees them: every operation takes the name of its step.
//!
//! Requests are pinned here and handed down by reference: moved through every layer, the
//! future of one statement would be several times its size.

use crate::host::Dialect;
use crate::id::HostId;
use crate::store::sql::{Param, Returning, Row, Text};
use crate::store::{LeaseStore, PayoutService, Sql};
use crate::strategy::context::{Context, Error};
use crate::strategy::tamper::Tamper;
use crate::trace::StepName;
use std::pin::pin;
use std::time::Duration;

/// The lease store.
#[derive(Clone, Copy)]
pub struct LeaseSteps<'c> {
    pub(super) context: &'c Context,
    pub(super) store: &'c LeaseStore,
}

impl LeaseSteps<'_> {
    /// Who changes what is asked: of the first store only.
    fn tamper(self) -> Option<&'static dyn Tamper> {
        self.context.tamper.filter(|_| self.store.server() == HostId::Lease)
    }

    /// `SET key value NX PX ttl`: whether the lease was granted.
    ///
    /// # Errors
    /// As every step.
    pub async fn set_nx_px(self, step: StepName, key: &str, value: &str, ttl: Duration) -> Result<bool, Error> {
        let Self { context, store } = self;
        if let Some(tamper) = self.tamper() {
            return tamper.set_nx_px(&context.straight(), step, key, value, ttl).await;
        }
        context.operation(step, store.server(), pin!(store.ready()), pin!(store.set_nx_px(&context.key(key), value, ttl))).await
    }

    /// `SETNX key value`: whether the key was set, without an expiry.
    ///
    /// # Errors
    /// As every step.
    pub async fn setnx(self, step: StepName, key: &str, value: &str) -> Result<bool, Error> {
        let Self { context, store } = self;
        context.operation(step, store.server(), pin!(store.ready()), pin!(store.setnx(&context.key(key), value))).await
    }

    /// `PEXPIRE key ttl`, whoever holds it: whether there was such a key.
    ///
    /// # Errors
    /// As every step.
    pub async fn pexpire(self, step: StepName, key: &str, ttl: Duration) -> Result<bool, Error> {
        let Self { context, store } = self;
        context.operation(step, store.server(), pin!(store.ready()), pin!(store.pexpire(&context.key(key), ttl))).await
    }

    /// `GET key`.
    ///
    /// # Errors
    /// As every step.
    pub async fn get(self, step: StepName, key: &str) -> Result<Option<String>, Error> {
        let Self { context, store } = self;
        context.operation(step, store.server(), pin!(store.ready()), pin!(store.get(&context.key(key)))).await
    }

    /// `DEL key`, whoever holds it.
    ///
    /// # Errors
    /// As every step.
    pub async fn del(self, step: StepName, key: &str) -> Result<bool, Error> {
        let Self { context, store } = self;
        context.operation(step, store.server(), pin!(store.ready()), pin!(store.del(&context.key(key)))).await
    }

    /// Deletes the lease if it is still `token`'s: whether it was.
    ///
    /// # Errors
    /// As every step.
    pub async fn compare_and_delete(self, step: StepName, key: &str, token: &str) -> Result<bool, Error> {
        let Self { context, store } = self;
        if let Some(tamper) = self.tamper() {
            return tamper.compare_and_delete(&context.straight(), step, key, token).await;
        }
        context.operation(step, store.server(), pin!(store.ready()), pin!(store.compare_and_delete(&context.key(key), token))).await
    }

    /// Extends the lease if it is still `token`'s: whether it was.
    ///
    /// # Errors
    /// As every step.
    pub async fn compare_and_expire(self, step: StepName, key: &str, token: &str, ttl: Duration) -> Result<bool, Error> {
        let Self { context, store } = self;
        if let Some(tamper) = self.tamper() {
            return tamper.compare_and_expire(&context.straight(), step, key, token, ttl).await;
        }
        context.operation(step, store.server(), pin!(store.ready()), pin!(store.compare_and_expire(&context.key(key), token, ttl))).await
    }
}

/// The database.
#[derive(Clone, Copy)]
pub struct SqlSteps<'c> {
    pub(super) context: &'c Context,
    pub(super) store: &'c Sql,
}

impl SqlSteps<'_> {
    /// What the database understands.
    pub fn dialect(self) -> Dialect {
        self.store.dialect()
    }

    /// Runs a statement that returns rows: a [`Text`], or one text that both dialects understand.
    ///
    /// # Errors
    /// As every step.
    pub async fn query<'t>(self, step: StepName, statement: impl Into<Text<'t>>, params: &[Param<'_>]) -> Result<Vec<Row>, Error> {
        let (Self { context, store }, statement) = (self, statement.into());
        if let Some(tamper) = context.tamper {
            return tamper.query(&context.straight(), step, statement, params).await;
        }
        context.operation(step, HostId::Database, pin!(store.ready()), pin!(store.query(statement, params))).await
    }

    /// Runs a statement; how many rows it changed. A row that held the new values already counts.
    ///
    /// # Errors
    /// As every step.
    pub async fn execute<'t>(self, step: StepName, statement: impl Into<Text<'t>>, params: &[Param<'_>]) -> Result<u64, Error> {
        let (Self { context, store }, statement) = (self, statement.into());
        if let Some(tamper) = context.tamper {
            return tamper.execute(&context.straight(), step, statement, params).await;
        }
        context.operation(step, HostId::Database, pin!(store.ready()), pin!(store.execute(statement, params))).await
    }

    /// Runs an UPDATE that returns rows, as one step: on MySQL it takes two statements.
    ///
    /// # Errors
    /// As every step.
    pub async fn returning(self, step: StepName, update: &Returning<'_>, params: &[Param<'_>]) -> Result<Vec<Row>, Error> {
        let Self { context, store } = self;
        if let Some(tamper) = context.tamper {
            return tamper.returning(&context.straight(), step, update, params).await;
        }
        context.operation(step, HostId::Database, pin!(store.ready()), pin!(store.returning(update, params))).await
    }

    /// Runs `inside` in a transaction, whose own steps are `tx.begin`, `tx.commit` and
    /// `tx.rollback`. It commits if `inside` comes to a result, and rolls back if that is
    /// `None` or an error: it never goes on after one.
    ///
    /// # Errors
    /// The error of `inside`, or that of BEGIN or COMMIT. After `MaybeApplied` at COMMIT only
    /// the database knows.
    pub async fn transaction<T>(self, inside: impl AsyncFnOnce() -> Result<Option<T>, Error>) -> Result<Option<T>, Error> {
        self.transaction_as(["tx.begin", "tx.commit", "tx.rollback"], inside).await
    }

    /// As [`SqlSteps::transaction`], for one that has names of its own for its BEGIN, COMMIT and ROLLBACK.
    ///
    /// # Errors
    /// As [`SqlSteps::transaction`].
    pub async fn transaction_as<T>(
        self,
        [begin, commit, rollback]: [StepName; 3],
        inside: impl AsyncFnOnce() -> Result<Option<T>, Error>,
    ) -> Result<Option<T>, Error> {
        let Self { context, store } = self;
        let outcome = async {
            context.operation(begin, HostId::Database, pin!(store.ready()), pin!(store.begin())).await?;
            let result = inside().await?;
            if result.is_some() {
                context.operation(commit, HostId::Database, pin!(store.ready()), pin!(store.commit())).await?;
            }
            Ok(result)
        }
        .await;
        self.close(rollback, outcome).await
    }

    /// As [`SqlSteps::transaction`], but the transaction is not committed: it is prepared under the
    /// name that `inside` comes to with its result, and its last step is `tx.prepare`.
    ///
    /// # Errors
    /// As [`SqlSteps::transaction`]. After `MaybeApplied` at PREPARE TRANSACTION only the database knows.
    pub async fn prepared<T>(self, inside: impl AsyncFnOnce() -> Result<Option<(String, T)>, Error>) -> Result<Option<(String, T)>, Error> {
        let Self { context, store } = self;
        let outcome = async {
            context.operation("tx.begin", HostId::Database, pin!(store.ready()), pin!(store.begin())).await?;
            let result = inside().await?;
            if let Some((name, _)) = &result {
                context.operation("tx.prepare", HostId::Database, pin!(store.ready()), pin!(store.prepare(name))).await?;
            }
            Ok(result)
        }
        .await;
        self.close("tx.rollback", outcome).await
    }

    /// Nothing stays open, whatever a transaction came to.
    async fn close<T>(self, rollback: StepName, outcome: Result<T, Error>) -> Result<T, Error> {
        let Self { context, store } = self;
        if store.in_transaction() {
            // If this fails, the connection is dropped, and the server rolls back.
            let _ = context.operation(rollback, HostId::Database, pin!(store.ready()), pin!(store.rollback())).await;
        }
        store.transaction_over();
        outcome
    }

    /// Drops the connection if a transaction may be open on it.
    pub fn give_up_transaction(self) {
        self.store.give_up_transaction();
    }
}

/// The payout service.
#[derive(Clone, Copy)]
pub struct PayoutSteps<'c> {
    pub(super) context: &'c Context,
    pub(super) store: &'c PayoutService,
}

impl PayoutSteps<'_> {
    /// One phase of a two-phase commit: `prepare` with a list of payments, `commit`, `abort`.
    ///
    /// # Errors
    /// As every step.
    pub async fn phase(self, step: StepName, name: &str, phase: &str, body: &str) -> Result<(), Error> {
        let Self { context, store } = self;
        context.operation(step, HostId::Payout, pin!(store.ready()), pin!(store.phase(name, phase, body))).await
    }

    /// The names of the two-phase commits that are in doubt there.
    ///
    /// # Errors
    /// As every step.
    pub async fn in_doubt(self, step: StepName) -> Result<Vec<String>, Error> {
        let Self { context, store } = self;
        context.operation(step, HostId::Payout, pin!(store.ready()), pin!(store.in_doubt())).await
    }

    /// Asks for a payment, with an idempotency key if there is one.
    ///
    /// # Errors
    /// As every step.
    pub async fn pay(self, step: StepName, body: &str, key: Option<&str>) -> Result<(), Error> {
        let Self { context, store } = self;
        if let Some(tamper) = context.tamper {
            return tamper.pay(&context.straight(), step, body, key).await;
        }
        context.operation(step, HostId::Payout, pin!(store.ready()), pin!(store.pay(body, key))).await
    }
}
