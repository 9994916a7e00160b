//! Queues in the lease store as a strategy sees them: every operation takes the name of its step.

use crate::id::HostId;
use crate::store::LeaseStore;
use crate::strategy::context::{Context, Error};
use crate::trace::StepName;
use std::pin::pin;
use std::time::Duration;

/// Lists of the lease store.
#[derive(Clone, Copy)]
pub struct QueueSteps<'c> {
    pub(super) context: &'c Context,
    pub(super) store: &'c LeaseStore,
    /// For what blocks.
    pub(super) waiter: &'c LeaseStore,
}

impl QueueSteps<'_> {
    /// `LPUSH`: how many messages there are now.
    ///
    /// # Errors
    /// As every step.
    pub async fn push(self, step: StepName, key: &str, message: &str) -> Result<u64, Error> {
        let Self { context, store, .. } = self;
        context.operation(step, HostId::Lease, pin!(store.ready()), pin!(store.push(key, message))).await
    }

    /// `LRANGE` of the whole list.
    ///
    /// # Errors
    /// As every step.
    pub async fn messages(self, step: StepName, key: &str) -> Result<Vec<String>, Error> {
        let Self { context, store, .. } = self;
        context.operation(step, HostId::Lease, pin!(store.ready()), pin!(store.messages(key))).await
    }

    /// `LREM` of all that are equal: how many there were.
    ///
    /// # Errors
    /// As every step.
    pub async fn remove(self, step: StepName, key: &str, message: &str) -> Result<u64, Error> {
        let Self { context, store, .. } = self;
        context.operation(step, HostId::Lease, pin!(store.ready()), pin!(store.remove(key, message))).await
    }

    /// `BRPOP`: the oldest message, for which it waits for up to `block`.
    ///
    /// # Errors
    /// As every step.
    pub async fn pop(self, step: StepName, key: &str, block: Duration) -> Result<Option<String>, Error> {
        let Self { context, waiter, .. } = self;
        context.operation(step, HostId::Lease, pin!(waiter.ready()), pin!(waiter.pop(key, block))).await
    }

    /// `BLMOVE` into the list `taken`: the oldest message, for which it waits for up to `block`.
    ///
    /// # Errors
    /// As every step.
    pub async fn take(self, step: StepName, key: &str, taken: &str, block: Duration) -> Result<Option<String>, Error> {
        let Self { context, waiter, .. } = self;
        context.operation(step, HostId::Lease, pin!(waiter.ready()), pin!(waiter.take(key, taken, block))).await
    }
}
