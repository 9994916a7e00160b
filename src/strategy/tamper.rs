//! A hook for defects: what stands between a strategy and its stores may change what it asks and
//! what it hears. It is how the harness is scored (`sims/mutants`): one small mistake is put into
//! a strategy whose code stays what it is, and the judges have to find it.
//!
//! Nothing in this crate tampers. A [`Context`] that nobody tampers with pays one branch a request.

use crate::store::sql::{Param, Returning, Row, Text};
use crate::strategy::context::{Context, Error};
use crate::trace::StepName;
use async_trait::async_trait;
use std::time::Duration;

/// Every request of a strategy, before it is made. `straight` is its context with nobody in
/// between: what is asked through that is not tampered with again. Unless it says otherwise, a
/// method asks what the strategy asked.
#[async_trait(?Send)]
#[expect(missing_docs, reason = "each stands for the request of the same name")]
pub trait Tamper: Sync {
    async fn query(&self, straight: &Context, step: StepName, statement: Text<'_>, params: &[Param<'_>]) -> Result<Vec<Row>, Error> {
        straight.sql().query(step, statement, params).await
    }

    async fn execute(&self, straight: &Context, step: StepName, statement: Text<'_>, params: &[Param<'_>]) -> Result<u64, Error> {
        straight.sql().execute(step, statement, params).await
    }

    async fn returning(&self, straight: &Context, step: StepName, update: &Returning<'_>, params: &[Param<'_>]) -> Result<Vec<Row>, Error> {
        straight.sql().returning(step, update, params).await
    }

    async fn set_nx_px(&self, straight: &Context, step: StepName, key: &str, value: &str, ttl: Duration) -> Result<bool, Error> {
        straight.lease().set_nx_px(step, key, value, ttl).await
    }

    async fn compare_and_delete(&self, straight: &Context, step: StepName, key: &str, token: &str) -> Result<bool, Error> {
        straight.lease().compare_and_delete(step, key, token).await
    }

    async fn compare_and_expire(&self, straight: &Context, step: StepName, key: &str, token: &str, ttl: Duration) -> Result<bool, Error> {
        straight.lease().compare_and_expire(step, key, token, ttl).await
    }

    async fn pay(&self, straight: &Context, step: StepName, body: &str, key: Option<&str>) -> Result<(), Error> {
        straight.payout().pay(step, body, key).await
    }

    /// The job has been done, or has failed.
    fn worked(&self, outcome: Result<(), Error>) -> Result<(), Error> {
        outcome
    }
}

impl Context {
    /// The same context, but everything that is asked through it is tampered with.
    #[must_use]
    pub fn tampered(&self, tamper: &'static dyn Tamper) -> Context {
        let mut context = self.clone();
        context.tamper = Some(tamper);
        context
    }

    /// The same context, with nobody in between.
    pub(super) fn straight(&self) -> Context {
        let mut context = self.clone();
        context.tamper = None;
        context
    }
}
