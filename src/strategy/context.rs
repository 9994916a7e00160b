//! What a node hands to its strategy: clients whose every operation is a named step, the
//! node's clock, sleep and random stream, and the constants of the deployment.

use crate::host::{Host, JobError, Task};
use crate::id::{AttemptId, HostId};
use crate::plan::StopOrder;
use crate::scenario::{GuardKnobs, QueueKnobs, Scenario};
use crate::settlement::Calendar;
use crate::step::Step;
use crate::store::centre::{Ask, Told};
use crate::store::{CentreService, LeaseStore, LogService, PayoutService, Sql, StoreError};
use crate::strategy::LogSteps;
use crate::strategy::clients::{LeaseSteps, PayoutSteps, SqlSteps};
use crate::strategy::process::Process;
use crate::strategy::queue_steps::QueueSteps;
use crate::strategy::tamper::Tamper;
use crate::time::{WallTime, millis};
use crate::trace::{Phase, StepName};
use futures_util::future::LocalBoxFuture;
use std::borrow::Cow;
use std::cell::{Cell, OnceCell};
use std::future::ready;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// Why an attempt did not come to its end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A store did not do what it was asked, or nobody knows whether it did.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The job itself failed.
    #[error(transparent)]
    Job(#[from] JobError),
    /// The guard was lost while the job was running, and the worker was told.
    #[error("the guard was lost while the job was running")]
    GuardLost,
}

/// The steps of [`Context::work`], the job in five equal slices.
pub const WORK: [Step; 5] = [Step::work("work.1"), Step::work("work.2"), Step::work("work.3"), Step::work("work.4"), Step::work("work.5")];

const SLICES: u32 = WORK.len() as u32;

/// What a strategy may touch. Clones share the node's connections, so that a renewal can run beside the worker.
#[derive(Clone)]
pub struct Context {
    inner: Rc<Inner>,
    /// Who changes what is asked through it; only the scoring of the harness has one.
    pub(super) tamper: Option<&'static dyn Tamper>,
}

struct Inner {
    host: Rc<dyn Host>,
    scenario: Arc<Scenario>,
    calendar: Arc<Calendar>,
    attempt: Cell<AttemptId>,
    process: Process,
    lease: LeaseStore,
    /// Whoever waits for a message blocks its connection.
    waiter: LeaseStore,
    /// The stores beside the first; hardly anybody asks them.
    further: OnceCell<[LeaseStore; 4]>,
    sql: Sql,
    payout: PayoutService,
    log: LogService,
    centre: CentreService,
}

impl Context {
    /// The context of a process that has just started: nothing is connected. `attempt` is the
    /// one to which steps belong until [`Context::begin`].
    pub fn new(host: Rc<dyn Host>, scenario: Arc<Scenario>, calendar: Arc<Calendar>, attempt: AttemptId) -> Context {
        let timeout = scenario.node.timeout;
        let inner = Inner {
            lease: LeaseStore::new(Rc::clone(&host), timeout),
            waiter: LeaseStore::new(Rc::clone(&host), timeout),
            further: OnceCell::new(),
            sql: Sql::new(Rc::clone(&host), timeout),
            payout: PayoutService::new(Rc::clone(&host), timeout),
            log: LogService::new(Rc::clone(&host), timeout),
            centre: CentreService::new(Rc::clone(&host), timeout),
            process: Process::new(Rc::clone(&host)),
            host,
            scenario,
            calendar,
            attempt: Cell::new(attempt),
        };
        Context { inner: Rc::new(inner), tamper: None }
    }

    /// From now on steps belong to this attempt. A transaction that an earlier one left open is
    /// given up, whoever began it: the connection is dropped if the server has not said that there is none.
    pub fn begin(&self, attempt: AttemptId) {
        self.inner.attempt.set(attempt);
        self.sql().give_up_transaction();
    }

    /// The attempt that is being made.
    pub fn attempt(&self) -> AttemptId {
        self.inner.attempt.get()
    }

    /// What the node's clock shows.
    pub fn wall(&self) -> WallTime {
        self.inner.host.wall()
    }

    /// Sleeps on the node's clock.
    pub fn sleep(&self, d: Duration) -> LocalBoxFuture<'static, ()> {
        self.inner.host.sleep(d)
    }

    /// Waits until the next renewal or heartbeat is due. A process that was told to stop, and stops in the wrong order,
    /// makes no more: it gives up by `give_back` what guards the job, if that goes first, and the job goes on.
    pub(super) async fn until_due(&self, every: Duration, give_back: impl AsyncFnOnce()) {
        let host = &self.inner.host;
        let mut due = self.sleep(every);
        tokio::select! {
            biased;
            () = host.told_to_stop() => {}
            () = &mut due => return,
        }
        match host.stopping() {
            None | Some(StopOrder::JobFirst) => return due.await,
            Some(StopOrder::RenewalsFirst) => due.await,
            Some(StopOrder::LeaseFirst) => give_back().await,
        }
        host.works_unguarded(self.attempt());
        std::future::pending::<()>().await;
    }

    /// Sleeps until the node's clock shows `then`, on one timer: that a clock was set is noticed when it is due.
    pub async fn sleep_until(&self, then: WallTime) {
        loop {
            let left = then.since(self.wall());
            if left.is_zero() {
                return;
            }
            self.sleep(left).await;
        }
    }

    /// Runs a task beside the worker.
    pub fn spawn(&self, name: &'static str, task: LocalBoxFuture<'static, ()>) -> Task {
        self.inner.host.spawn(name, task)
    }

    /// A number from the node's own seeded stream.
    pub fn random(&self) -> u64 {
        self.inner.host.random()
    }

    /// What belongs to this process of the node.
    pub fn process(&self) -> &Process {
        &self.inner.process
    }

    /// The deployment.
    pub fn scenario(&self) -> &Scenario {
        &self.inner.scenario
    }

    /// The guards' constants.
    pub fn guard(&self) -> &GuardKnobs {
        &self.inner.scenario.guard
    }

    /// The constants of queues, in the deployment's scale.
    pub fn queue_knobs(&self) -> QueueKnobs {
        self.inner.scenario.queue.scaled(self.inner.scenario.time_scale)
    }

    /// A key of the lease store as it is there: with the prefix of the deployment, if it has one.
    pub(super) fn key<'k>(&self, key: &'k str) -> Cow<'k, str> {
        match &*self.guard().key_prefix {
            "" => Cow::Borrowed(key),
            prefix => Cow::Owned(format!("{prefix}{key}")),
        }
    }

    /// The boundaries.
    pub fn calendar(&self) -> &Calendar {
        &self.inner.calendar
    }

    /// The lease store.
    pub fn lease(&self) -> LeaseSteps<'_> {
        LeaseSteps { context: self, store: &self.inner.lease }
    }

    /// The independent lease store with this number: 0 is the one of [`Context::lease`], 1 to 4 are those beside it.
    ///
    /// # Panics
    /// There is no such store: a bug of the strategy.
    pub fn lease_store(&self, n: usize) -> LeaseSteps<'_> {
        let Some(beside) = n.checked_sub(1) else { return self.lease() };
        let all = self.inner.further.get_or_init(|| {
            let client = |n| LeaseStore::of(Rc::clone(&self.inner.host), HostId::FurtherLease(n), self.inner.scenario.node.timeout);
            [1, 2, 3, 4].map(client)
        });
        LeaseSteps { context: self, store: &all[beside] }
    }

    /// Queues in the lease store.
    pub fn queue(&self) -> QueueSteps<'_> {
        QueueSteps { context: self, store: &self.inner.lease, waiter: &self.inner.waiter }
    }

    /// The database.
    pub fn sql(&self) -> SqlSteps<'_> {
        SqlSteps { context: self, store: &self.inner.sql }
    }

    /// The payout service.
    pub fn payout(&self) -> PayoutSteps<'_> {
        PayoutSteps { context: self, store: &self.inner.payout }
    }

    /// The replicated log.
    pub fn log(&self) -> LogSteps<'_> {
        LogSteps { context: self, service: &self.inner.log }
    }

    /// Says something to the dispatch centre.
    ///
    /// # Errors
    /// As every step.
    pub async fn centre(&self, step: StepName, ask: Ask) -> Result<Told, Error> {
        let centre = &self.inner.centre;
        self.operation(step, HostId::Centre, pin!(centre.ready()), pin!(centre.ask(ask))).await
    }

    /// The job: [`WORK`], each slice a step.
    ///
    /// # Errors
    /// The job fails where the fault plan says so.
    pub async fn work(&self) -> Result<(), Error> {
        let worked = self.slices().await;
        match self.tamper {
            None => worked,
            Some(tamper) => tamper.worked(worked),
        }
    }

    async fn slices(&self) -> Result<(), Error> {
        let slice = self.inner.scenario.node.work / SLICES;
        for step in WORK {
            self.work_step(step.name, self.sleep(slice)).await?;
        }
        Ok(())
    }

    /// Work of your own as a step, which talks to no store: `work` takes as long as it takes, for
    /// example [`Context::sleep`]. It is declared with [`crate::step::Step::work`], so that a fault
    /// plan may let it fail, and has no answer of it to lose.
    ///
    /// # Errors
    /// The job fails where the fault plan says so.
    pub async fn work_step<T>(&self, step: StepName, work: impl Future<Output = T>) -> Result<T, Error> {
        let nobody = async { Ok(()) };
        self.phases(step, None, nobody, ready(()), async { Ok(work.await) }).await
    }

    /// One client operation as a step: a seeded pause, then its three phases. `connect` connects,
    /// so that `request` leaves as soon as it is polled.
    pub(super) async fn operation<T>(
        &self,
        name: StepName,
        peer: HostId,
        connect: impl Future<Output = Result<(), StoreError>>,
        request: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, Error> {
        self.operation_of(name, peer, connect, ready(()), request).await
    }

    /// As [`Context::operation`], for a `request` that may say a few things before the one that
    /// counts: `left` waits until that one has left.
    pub(super) async fn operation_of<T>(
        &self,
        name: StepName,
        peer: HostId,
        connect: impl Future<Output = Result<(), StoreError>>,
        left: impl Future<Output = ()>,
        request: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, Error> {
        let largest = millis(self.inner.scenario.node.step_jitter);
        let pause = self.random() % (largest + 1);
        if pause > 0 {
            self.sleep(Duration::from_millis(pause)).await;
        }
        self.phases(name, Some(peer), connect, left, request).await
    }

    /// The three phases of a step, at each of which a fault may strike.
    async fn phases<T>(
        &self,
        name: StepName,
        peer: Option<HostId>,
        connect: impl Future<Output = Result<(), StoreError>>,
        left: impl Future<Output = ()>,
        request: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, Error> {
        let host = &self.inner.host;
        let attempt = self.attempt();
        if let Some(strike) = host.step(attempt, name, Phase::Before, peer) {
            strike.await?;
        }
        connect.await?;
        let answer = match host.step(attempt, name, Phase::Sent, peer) {
            None => request.await?,
            Some(strike) => {
                let mut request = pin!(request);
                let under_way = async {
                    left.await;
                    host.under_way().await;
                };
                let early = tokio::select! {
                    biased;
                    answer = request.as_mut() => Some(answer),
                    () = under_way => None,
                };
                strike.await?;
                match early {
                    Some(answer) => answer?,
                    None => request.await?,
                }
            }
        };
        if let Some(strike) = host.step(attempt, name, Phase::After, peer) {
            strike.await?;
        }
        Ok(answer)
    }
}
