//! A lease with a random owner, renewed by a task beside the worker for as long as the job
//! takes; and the three ways in which that is got wrong.
//!
//! The worker is told when the lease is lost, and stops. It is told while it works: from
//! `BEGIN` on nobody looks. Looking more often would make the gap between the last look and
//! the commit smaller, and never close it.
//!
//! A lease store that forgets (restarts empty, evicts the key, fails over) grants the lease
//! twice as well: the worker is told at the next renewal, if it is still at work then.

use super::KEY;
use crate::class::FaultClass;
use crate::host::Task;
use crate::id::Letter;
use crate::scenario::Rules;
use crate::settlement::{Decides, Period};
use crate::step::{Step, joined};
use crate::strategy::body::{self, JOB_STEPS};
use crate::strategy::owned_lease::OwnedLease;
use crate::strategy::{Context, Error, Expectation, Policy, SETTLES_BY_ITS_OWN_ZONE, Strategy, pinned};
use crate::trace::Belief;
use async_trait::async_trait;
use std::rc::Rc;
use tokio::sync::Notify;

const STEPS: [Step; 17] = joined(&[
    &[Step::database("check.settled"), Step::lease("lease.acquire"), Step::lease("lease.renew")],
    &JOB_STEPS,
    &[Step::lease("lease.release")],
]);

/// The task that renews a lease, and what it tells.
pub(super) struct Watchdog {
    task: Task,
    lost: Rc<Notify>,
}

impl Watchdog {
    /// Renews `lease` beside whoever works. What takes so long to answer that the lease may have run out meanwhile is a loss.
    pub(super) fn start(context: &Context, lease: OwnedLease, ask: Ask) -> Watchdog {
        let own = context.clone();
        Watchdog::beside(context, async move {
            let renew = async || {
                tokio::select! {
                    biased;
                    answer = ask.renew(&own, &lease) => answer,
                    () = own.sleep(lease.patience()) => Ok(false),
                }
            };
            lease.watch(&own, renew).await;
        })
    }

    /// Whatever `watch` renews is lost when it comes to an end.
    pub(super) fn beside(context: &Context, watch: impl Future<Output = ()> + 'static) -> Watchdog {
        let lost = Rc::new(Notify::new());
        let told = Rc::clone(&lost);
        let task = async move {
            watch.await;
            told.notify_one();
        };
        Watchdog { task: context.spawn("watchdog", Box::pin(task)), lost }
    }

    /// The work, unless the lease is lost meanwhile.
    pub(super) async fn work(&self, context: &Context) -> Result<(), Error> {
        tokio::select! {
            biased;
            () = self.lost.notified() => Err(Error::GuardLost),
            worked = context.work() => worked,
        }
    }

    /// Renews no longer.
    pub(super) fn stop(self) {
        self.task.abort();
    }

    /// Renews although nobody works, until the process dies or the lease is lost. When no node
    /// polls any longer it ends: every 10 s for weeks would be 260,000 requests a run, which
    /// could not change a verdict.
    fn forget(self, context: &Context) {
        let unattended = context.sleep(context.scenario().node.attention);
        let end = async move {
            unattended.await;
            self.stop();
        };
        context.spawn("orphan", Box::pin(end)).detach();
    }
}

/// What a renewal asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ask {
    /// To extend the lease if it is still ours.
    Ours,
    /// To extend the lease, whoever holds it.
    Anybodys,
}

impl Ask {
    async fn renew(self, context: &Context, lease: &OwnedLease) -> Result<bool, Error> {
        match self {
            Ask::Ours => lease.renew(context).await,
            Ask::Anybodys => lease.renew_anybodys(context).await,
        }
    }
}

/// What is wrong with a watchdog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wrong {
    Nothing,
    /// The worker is not told.
    Silent,
    /// A failed worker leaves it behind.
    Orphan,
    /// It renews whatever lease there is.
    Unowned,
}

/// A renewed lease, right or wrong in one way.
pub struct LeaseWatchdog {
    wrong: Wrong,
}

impl LeaseWatchdog {
    /// As it should be.
    pub const TOLD: LeaseWatchdog = LeaseWatchdog { wrong: Wrong::Nothing };
    /// The worker is not told that the lease is lost.
    pub const SILENT: LeaseWatchdog = LeaseWatchdog { wrong: Wrong::Silent };
    /// The renewal outlives a worker that failed.
    pub const ORPHAN: LeaseWatchdog = LeaseWatchdog { wrong: Wrong::Orphan };
    /// The renewal does not ask whose the lease is.
    pub const UNOWNED: LeaseWatchdog = LeaseWatchdog { wrong: Wrong::Unowned };

    async fn job(&self, context: &Context, period: Period, watchdog: &Watchdog) -> Result<Belief, Error> {
        match self.wrong {
            Wrong::Silent => context.work().await?,
            Wrong::Nothing | Wrong::Orphan | Wrong::Unowned => watchdog.work(context).await?,
        }
        body::settle(context, period).await
    }
}

#[async_trait(?Send)]
impl Strategy for LeaseWatchdog {
    fn name(&self) -> &'static str {
        match self.wrong {
            Wrong::Nothing => "lease-watchdog",
            Wrong::Silent => "lease-watchdog-silent",
            Wrong::Orphan => "lease-watchdog-orphan",
            Wrong::Unowned => "lease-watchdog-unowned",
        }
    }

    fn about(&self) -> &'static str {
        match self.wrong {
            Wrong::Nothing => {
                "a lease of 30 s with a random owner, renewed every 10 s beside the job, which stops when it is lost; reading the settlement table first"
            }
            Wrong::Silent => "lease-watchdog, but nobody tells the job that the lease is lost",
            Wrong::Orphan => "lease-watchdog, but the renewal goes on when the job has failed",
            Wrong::Unowned => "lease-watchdog, but the renewal extends the lease whoever holds it",
        }
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
        let mut claims = match self.wrong {
            Wrong::Nothing => vec![
                Expectation::Must {
                    class: FaultClass::Pause,
                    letters: &[Letter::D],
                    because: "the holder stops after its last look at the lease, another settles, and the holder wakes and commits",
                    plan: pinned::pause_before_the_transaction,
                },
                Expectation::Must {
                    class: FaultClass::LeaseLoss,
                    letters: &[Letter::D],
                    because: "the store forgets the lease after the last look of a holder whose transaction begins late; it grants it again, and both settle",
                    plan: pinned::emptied_before_the_transaction,
                },
                SETTLES_BY_ITS_OWN_ZONE,
            ],
            Wrong::Silent => vec![
                Expectation::Must {
                    class: FaultClass::LeaseCut,
                    letters: &[Letter::D],
                    because: "the lease runs out while the job goes on, another takes over, and both settle",
                    plan: pinned::cut_from_the_lease,
                },
                Expectation::Must {
                    class: FaultClass::LeaseLoss,
                    letters: &[Letter::D],
                    because: "the store forgets the lease, the renewal is refused, and nobody tells the job",
                    plan: pinned::evicted_in_the_job,
                },
                SETTLES_BY_ITS_OWN_ZONE,
            ],
            Wrong::Orphan => vec![
                Expectation::Must {
                    class: FaultClass::JobError,
                    letters: &[Letter::L],
                    because: "a lease that is renewed for a worker that is gone keeps everybody out, its own node included",
                    plan: pinned::job_error,
                },
                SETTLES_BY_ITS_OWN_ZONE,
            ],
            Wrong::Unowned => vec![
                Expectation::Must {
                    class: FaultClass::Pause,
                    letters: &[Letter::D],
                    because: "the holder wakes while another has the lease, extends it, and believes that it is still its own",
                    plan: pinned::pause_into_the_next_job,
                },
                SETTLES_BY_ITS_OWN_ZONE,
            ],
        };
        claims.push(Expectation::must(
            FaultClass::Shutdown,
            &[Letter::D],
            "whoever is told to stop renews no longer and works on, the lease runs out, and both settle",
            pinned::stopped_renewals_first,
        ));
        claims
    }

    async fn attempt(&self, context: &mut Context, period: Period) -> Result<Belief, Error> {
        let (ttl, every) = (context.guard().watchdog_lease, context.guard().renew_every);
        let Some(lease) = OwnedLease::acquire(context, KEY.to_owned(), ttl, every).await? else { return Ok(Belief::Busy) };
        let ask = if self.wrong == Wrong::Unowned { Ask::Anybodys } else { Ask::Ours };
        let watchdog = Watchdog::start(context, lease.clone(), ask);
        let done = self.job(context, period, &watchdog).await;
        if self.wrong == Wrong::Orphan && done.is_err() {
            // As code does it that returns early and has no `finally`.
            watchdog.forget(context);
            return done;
        }
        watchdog.stop();
        lease.release(context).await;
        done
    }
}
