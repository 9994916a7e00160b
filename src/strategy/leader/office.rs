//! The office of the leader: a lease in the lease store, or in a row of the database.

use crate::scenario::{HeldIn, LeaderKnobs, Over, Renews, RowClock};
use crate::strategy::row_lease::RowLease;
use crate::strategy::{Context, Error};
use futures_util::FutureExt;
use futures_util::future::FusedFuture;
use std::future::pending;
use std::time::Duration;

const KEY: &str = "leader";

/// The leader's lease, as one node sees it.
pub(super) struct Office {
    knobs: LeaderKnobs,
    /// Nobody else knows it. In a row the node's number stands for it.
    token: String,
}

impl Office {
    /// For one boundary.
    pub fn of(context: &Context) -> Office {
        Office { knobs: context.scenario().leader.clone(), token: format!("{:016x}", context.random()) }
    }

    fn row(lasts: Duration) -> RowLease {
        RowLease { key: KEY.to_owned(), lasts, clock: RowClock::Database, over: Over::At }
    }

    /// Asks for the lease: whether it was granted.
    pub async fn bid(&self, context: &Context) -> Result<bool, Error> {
        match self.knobs.held_in {
            HeldIn::LeaseStore => context.lease().set_nx_px("lease.acquire", KEY, &self.token, self.knobs.lasts).await,
            HeldIn::Row => Self::row(self.knobs.lasts).take(context).await.map(|since| since.is_some()),
        }
    }

    /// One renewal: whether there was something to renew.
    async fn renew(&self, context: &Context, lasts: Duration) -> Result<bool, Error> {
        match (self.knobs.held_in, self.knobs.renews) {
            (HeldIn::LeaseStore, Renews::Own) => context.lease().compare_and_expire("lease.renew", KEY, &self.token, lasts).await,
            (HeldIn::LeaseStore, Renews::Any) => context.lease().pexpire("lease.renew", KEY, lasts).await,
            (HeldIn::Row, Renews::Own) => Self::row(lasts).extend(context).await,
            (HeldIn::Row, Renews::Any) => Self::row(lasts).extend_anybodys(context).await,
        }
    }

    /// Renews at a steady pace for as long as this node leads, as far as it knows: until a renewal
    /// is refused, or none was answered for as long as the lease lasts.
    pub async fn lead(&self, context: &Context) {
        let LeaderKnobs { lasts, renew_every, .. } = self.knobs;
        let mut unanswered = Duration::ZERO;
        context.sleep(renew_every).await;
        loop {
            let mut next = context.sleep(renew_every).fuse();
            let renewed = tokio::select! {
                biased;
                renewed = self.renew(context, lasts) => renewed,
                never = async { (&mut next).await; pending().await } => never,
            };
            match renewed {
                Ok(true) => unanswered = Duration::ZERO,
                Ok(false) => return,
                Err(_) => unanswered += renew_every.max(context.scenario().node.timeout),
            }
            if lasts <= unanswered + renew_every {
                return;
            }
            if !next.is_terminated() {
                next.await;
            }
        }
    }

    /// One renewal for a long time. If it fails, the next leader is elected all the sooner.
    pub async fn keep(&self, context: &Context) {
        let _ = self.renew(context, context.scenario().node.attention).await;
    }
}
