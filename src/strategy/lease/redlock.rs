//! The lock of most of five independent stores, as Redis's documentation describes it ("Distributed
//! Locks with Redis", the Redlock algorithm): a random owner, the same request to all stores at
//! once, granted with three votes and a validity of what is left of the expiry after the time that
//! it took and the drift of clocks; given back to all stores, also where nothing was granted.
//! Renewed as a watchdog does it, with most of the votes.
//!
//! It survives the death of two stores, and no more than a single lease what a stopped holder does.
//! What most of the stores forget, they grant again.

use super::KEY;
use super::watchdog::Watchdog;
use crate::class::FaultClass;
use crate::id::{HostId, Letter};
use crate::scenario::{Rules, Scenario};
use crate::settlement::{Decides, Period};
use crate::step::{Step, joined};
use crate::store::StoreError;
use crate::strategy::body::{self, JOB_STEPS};
use crate::strategy::owned_lease::watch;
use crate::strategy::{Context, Error, Expectation, Policy, Strategy, pinned};
use crate::trace::{Belief, StepName};
use async_trait::async_trait;
use futures_util::future::join_all;
use std::time::Duration;

/// How many stores there are.
const STORES: usize = 5;

/// More than half of them.
const QUORUM: usize = STORES / 2 + 1;

const LOCK: [StepName; STORES] = ["redlock.lock", "redlock.lock1", "redlock.lock2", "redlock.lock3", "redlock.lock4"];
const RENEW: [StepName; STORES] = ["redlock.renew", "redlock.renew1", "redlock.renew2", "redlock.renew3", "redlock.renew4"];
const RELEASE: [StepName; STORES] = ["redlock.release", "redlock.release1", "redlock.release2", "redlock.release3", "redlock.release4"];

/// A step at each of the stores.
const fn at_each(names: [StepName; STORES]) -> [Step; STORES] {
    [
        Step::lease(names[0]),
        Step::of(names[1], HostId::FurtherLease(1)),
        Step::of(names[2], HostId::FurtherLease(2)),
        Step::of(names[3], HostId::FurtherLease(3)),
        Step::of(names[4], HostId::FurtherLease(4)),
    ]
}

const STEPS: [Step; 29] = joined(&[&[Step::database("check.settled")], &at_each(LOCK), &at_each(RENEW), &JOB_STEPS, &at_each(RELEASE)]);

/// A lock that this process holds, or has asked for.
#[derive(Clone, Debug)]
struct Lock {
    /// Nobody else knows it.
    token: String,
    ttl: Duration,
    /// How long one store may take to answer: two rounds of renewals fit into the expiry.
    patience: Duration,
}

impl Lock {
    /// Asks all stores; `None`: most of them have granted it to somebody else, or it took too long.
    async fn acquire(context: &Context, ttl: Duration) -> Result<Option<Lock>, Error> {
        let patience = (ttl / 2).saturating_sub(context.guard().renew_every);
        let lock = Lock { token: format!("{:016x}", context.random()), ttl, patience };
        let began = context.wall();
        let votes = lock.at_all(context, async |n| context.lease_store(n).set_nx_px(LOCK[n], KEY, &lock.token, ttl).await).await;
        // Allowed for clocks that run at different rates: a hundredth, and what an expiry is rounded by.
        let drift = ttl / 100 + Duration::from_millis(2);
        let valid = ttl.saturating_sub(context.wall().since(began)).saturating_sub(drift);
        let granted = most(votes);
        if matches!(granted, Ok(true)) && !valid.is_zero() {
            return Ok(Some(lock));
        }
        lock.release(context).await;
        granted.map(|_| None)
    }

    /// One round of renewals.
    async fn renew(&self, context: &Context) -> Result<bool, Error> {
        let renew = async |n| context.lease_store(n).compare_and_expire(RENEW[n], KEY, &self.token, self.ttl).await;
        most(self.at_all(context, renew).await)
    }

    /// Gives it back to all stores. Where that fails, it runs out by itself.
    async fn release(&self, context: &Context) {
        let release = async |n| context.lease_store(n).compare_and_delete(RELEASE[n], KEY, &self.token).await;
        self.at_all(context, release).await;
    }

    /// Asks all stores at once, none of them for longer than it may take.
    async fn at_all(&self, context: &Context, ask: impl AsyncFn(usize) -> Result<bool, Error>) -> Vec<Result<bool, Error>> {
        let ask = &ask;
        let within = |n| async move {
            tokio::select! {
                biased;
                answer = ask(n) => answer,
                () = context.sleep(self.patience) => Err(StoreError::timed_out().into()),
            }
        };
        join_all((0..STORES).map(within)).await
    }
}

/// The watchdog's. In a scaled deployment round trips are longer compared with it: a renewal whose
/// script a store does not know yet takes three, and two such rounds have to fit in.
fn expiry(of: &Scenario) -> Duration {
    let (guard, round_trip) = (&of.guard, of.network.latency_max * 2);
    guard.watchdog_lease.max((guard.renew_every + round_trip * 4) * 2)
}

/// Whether most of the stores agree, or so many refuse that most of them cannot.
///
/// # Errors
/// Neither: too many did not answer. One of the reasons.
fn most(votes: Vec<Result<bool, Error>>) -> Result<bool, Error> {
    let count = |wanted: bool| votes.iter().filter(|vote| vote.as_ref().is_ok_and(|vote| *vote == wanted)).count();
    match (count(true) >= QUORUM, count(false) > STORES - QUORUM) {
        (true, _) => Ok(true),
        (false, true) => Ok(false),
        (false, false) => votes.into_iter().find_map(Result::err).map_or(Ok(false), Err),
    }
}

/// The watchdog's lease, over five stores.
pub struct Redlock;

impl Redlock {
    async fn under_lock(context: &Context, period: Period, watchdog: &Watchdog) -> Result<Belief, Error> {
        watchdog.work(context).await?;
        body::settle(context, period).await
    }
}

#[async_trait(?Send)]
impl Strategy for Redlock {
    fn name(&self) -> &'static str {
        "redlock"
    }

    fn about(&self) -> &'static str {
        "the lease of most of five independent stores, with a random owner, renewed beside the job, which stops when it is lost; reading the settlement table first"
    }

    fn policy(&self) -> Policy {
        Policy::RetryChecked
    }

    fn decides(&self) -> Decides {
        Decides::LeaseStore
    }

    fn steps(&self) -> &'static [Step] {
        &STEPS
    }

    fn expectations(&self, _: Rules) -> Vec<Expectation> {
        vec![
            Expectation::must(
                FaultClass::Pause,
                &[Letter::D],
                "the holder stops after its last look at the lock, another settles, and the holder wakes and commits",
                pinned::pause_before_the_transaction,
            ),
            Expectation::must(
                FaultClass::LeaseLoss,
                &[Letter::D],
                "three of five stores forget the lock after the last look of a holder whose transaction begins late; they grant it again, and both settle",
                pinned::most_emptied_before_the_transaction,
            ),
        ]
    }

    async fn attempt(&self, context: &mut Context, period: Period) -> Result<Belief, Error> {
        let every = context.guard().renew_every;
        let ttl = expiry(context.scenario());
        let Some(lock) = Lock::acquire(context, ttl).await? else { return Ok(Belief::Busy) };
        let (own, kept) = (context.clone(), lock.clone());
        let watchdog = Watchdog::beside(context, async move {
            watch(&own, every, async || kept.renew(&own).await, async || kept.release(&own).await).await;
        });
        let done = Self::under_lock(context, period, &watchdog).await;
        watchdog.stop();
        lock.release(context).await;
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It is the catalogue's, and on turmoil still runs out before the next poll.
    #[test]
    fn the_expiry_has_room_for_two_rounds() {
        let given = Scenario::default();
        assert_eq!(expiry(&given), given.guard.watchdog_lease);
        let scaled = given.scaled_for_turmoil();
        assert!(scaled.guard.watchdog_lease < expiry(&scaled) && expiry(&scaled) < scaled.node.poll);
    }

    #[test]
    fn three_of_five_decide() {
        let lost = || Err(StoreError::timed_out().into());
        assert_eq!(most(vec![Ok(true), lost(), Ok(true), lost(), Ok(true)]), Ok(true));
        assert_eq!(most(vec![Ok(true), Ok(false), Ok(true), Ok(false), Ok(false)]), Ok(false));
        assert_eq!(most(vec![Ok(true), Ok(false), Ok(true), Ok(false), lost()]), lost());
    }
}
