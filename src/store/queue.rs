//! Queues on lists of the lease store: redis-rs, as in `lease`. New messages are put in at the
//! left, and taken out at the right.
//!
//! Whoever waits for a message blocks its connection, so it needs a client of its own: behind
//! `BRPOP` a renewal would wait too. A message that was popped for a client that is gone, or
//! does not hear the answer, is lost; one that was moved is still in the list that it was moved to.

use crate::store::{LeaseStore, StoreError};
use std::time::Duration;

impl LeaseStore {
    /// `LPUSH key message`: how many messages there are now.
    ///
    /// # Errors
    /// As every call to a store.
    pub async fn push(&self, key: &str, message: &str) -> Result<u64, StoreError> {
        let (generation, mut connection) = self.connection().await?;
        self.call(generation, redis::cmd("LPUSH").arg(key).arg(message).query_async(&mut connection)).await
    }

    /// `LRANGE key 0 -1`: all messages, the newest first.
    ///
    /// # Errors
    /// As every call to a store.
    pub async fn messages(&self, key: &str) -> Result<Vec<String>, StoreError> {
        let (generation, mut connection) = self.connection().await?;
        self.call(generation, redis::cmd("LRANGE").arg(key).arg(0).arg(-1).query_async(&mut connection)).await
    }

    /// `LREM key 0 message`: takes out all that are equal, and tells how many there were.
    ///
    /// # Errors
    /// As every call to a store.
    pub async fn remove(&self, key: &str, message: &str) -> Result<u64, StoreError> {
        let (generation, mut connection) = self.connection().await?;
        self.call(generation, redis::cmd("LREM").arg(key).arg(0).arg(message).query_async(&mut connection)).await
    }

    /// `BRPOP key block`: the oldest message, for which it waits for up to `block`, in addition to
    /// the client timeout. A `block` of nothing is one millisecond: zero would be for ever.
    ///
    /// # Errors
    /// As every call to a store. After `MaybeApplied` a message may be gone.
    pub async fn pop(&self, key: &str, block: Duration) -> Result<Option<String>, StoreError> {
        let (generation, mut connection) = self.connection().await?;
        let mut command = redis::cmd("BRPOP");
        command.arg(key).arg(seconds(block));
        let popped: Option<(String, String)> =
            self.call_within(block + self.timeout, generation, command.query_async(&mut connection)).await?;
        Ok(popped.map(|(_, message)| message))
    }

    /// `BLMOVE key taken RIGHT LEFT block`: the oldest message, which is in the list `taken` from then on. Otherwise as [`LeaseStore::pop`].
    ///
    /// # Errors
    /// As every call to a store. After `MaybeApplied` a message may have been moved.
    pub async fn take(&self, key: &str, taken: &str, block: Duration) -> Result<Option<String>, StoreError> {
        let (generation, mut connection) = self.connection().await?;
        let mut command = redis::cmd("BLMOVE");
        command.arg(key).arg(taken).arg("RIGHT").arg("LEFT").arg(seconds(block));
        self.call_within(block + self.timeout, generation, command.query_async(&mut connection)).await
    }
}

fn seconds(block: Duration) -> f64 {
    block.as_secs_f64().max(0.001)
}
