//! A lease with a random owner: granted to whoever finds it free, renewed and released by its
//! owner only.

use crate::strategy::{Context, Error};
use std::time::Duration;

/// How many renewals in a row may go unanswered. One leaves time for another before the lease runs out.
const UNANSWERED: u32 = 1;

/// A lease that this process was granted.
#[derive(Clone, Debug)]
pub struct OwnedLease {
    key: String,
    /// Nobody else knows it.
    token: String,
    ttl: Duration,
    every: Duration,
}

impl OwnedLease {
    /// Asks for the lease `key`, which lasts `ttl` and is to be renewed every `every`; `None`: somebody else holds it.
    ///
    /// # Errors
    /// As every step.
    pub async fn acquire(context: &Context, key: String, ttl: Duration, every: Duration) -> Result<Option<OwnedLease>, Error> {
        let token = format!("{:016x}", context.random());
        let granted = context.lease().set_nx_px("lease.acquire", &key, &token, ttl).await?;
        Ok(granted.then_some(OwnedLease { key, token, ttl, every }))
    }

    /// One renewal: whether the lease is still ours.
    ///
    /// # Errors
    /// As every step.
    pub async fn renew(&self, context: &Context) -> Result<bool, Error> {
        context.lease().compare_and_expire("lease.renew", &self.key, &self.token, self.ttl).await
    }

    /// One renewal that does not ask whose the lease is: whether there is one.
    ///
    /// # Errors
    /// As every step.
    pub async fn renew_anybodys(&self, context: &Context) -> Result<bool, Error> {
        context.lease().pexpire("lease.renew", &self.key, self.ttl).await
    }

    /// How long an answer to a renewal may take. After that the lease may have run out.
    pub fn patience(&self) -> Duration {
        self.ttl.saturating_sub(self.every)
    }

    /// Renews the lease until it is lost: refused, or unanswered more than once in a row.
    pub async fn watch(&self, context: &Context, renew: impl AsyncFn() -> Result<bool, Error>) {
        watch(context, self.every, renew, async || self.release(context).await).await;
    }

    /// Gives the lease back, if it is still ours. If that fails, it runs out by itself.
    pub async fn release(&self, context: &Context) {
        let _ = context.lease().compare_and_delete("lease.release", &self.key, &self.token).await;
    }
}

/// Renews something every `every` until it is lost: refused, or unanswered more than once in a row. A process that
/// stops, and gives its lease back before the job is done, does so by `give_back`.
pub async fn watch(context: &Context, every: Duration, renew: impl AsyncFn() -> Result<bool, Error>, give_back: impl AsyncFn()) {
    let mut unanswered = 0;
    loop {
        context.until_due(every, async || give_back().await).await;
        match renew().await {
            Ok(true) => unanswered = 0,
            Err(_) if unanswered < UNANSWERED => unanswered += 1,
            Ok(false) | Err(_) => return,
        }
    }
}
