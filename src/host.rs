//! The seam: everything that the code of a host may do to the outside. Nodes, clients and
//! simulated servers are written against it, so the same code runs on the event engine, on
//! `turmoil::Sim` and on real sockets.

mod database;

pub use database::{Database, Dialect};

use crate::id::{AttemptId, HostId};
use crate::plan::StopOrder;
use crate::time::{SimTime, WallTime};
use crate::trace::{Event, Phase, StepName};
use futures_util::future::LocalBoxFuture;
use std::io;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};

/// A stream between two hosts: what a TCP socket is to an application.
pub trait Duplex: AsyncRead + AsyncWrite + Unpin + Send + Sync + std::fmt::Debug {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send + Sync + std::fmt::Debug> Duplex for T {}

/// The job failed at a step because the fault plan says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the job reported an error")]
pub struct JobError;

/// What a host can do.
pub trait Host {
    /// Who this is.
    fn id(&self) -> HostId;

    /// Connects to the one service of another host.
    ///
    /// # Errors
    /// As a TCP connect: refused when nobody listens, timed out when nothing comes back.
    fn connect(&self, to: HostId) -> LocalBoxFuture<'static, io::Result<Box<dyn Duplex>>>;

    /// How the database is reached, and what it understands.
    fn database(&self) -> Database {
        Database::default()
    }

    /// Starts to listen. A host offers one service.
    ///
    /// # Errors
    /// The host listens already.
    fn listen(&self) -> LocalBoxFuture<'static, io::Result<Box<dyn Listen>>>;

    /// Runs a task on this host, until it ends, is aborted, or its process dies.
    fn spawn(&self, name: &'static str, task: LocalBoxFuture<'static, ()>) -> Task;

    /// Sleeps for `d` on this host's clock: longer in true time if the clock is slow.
    fn sleep(&self, d: Duration) -> LocalBoxFuture<'static, ()>;

    /// What this host's clock shows.
    fn wall(&self) -> WallTime;

    /// What this host's clock has counted since some instant in the past, jumps left out: what timers go by.
    fn counts(&self) -> Duration {
        self.now().since(SimTime::ZERO)
    }

    /// Waits until this host's clock is set or changes its rate: what a timer on the wall clock
    /// hears (`TFD_TIMER_CANCEL_ON_SET` of timerfd). Never, on a host whose clock nobody sets.
    fn clock_changed(&self) -> LocalBoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }

    /// In which order this process stops, if it was told to.
    fn stopping(&self) -> Option<StopOrder> {
        None
    }

    /// Waits until this process is told to stop. Never, where nobody tells it.
    fn told_to_stop(&self) -> LocalBoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }

    /// Says that the job of an attempt goes on although this process, which was told to stop, guards it no longer.
    fn works_unguarded(&self, attempt: AttemptId) {
        let _ = attempt;
    }

    /// A number from this host's own seeded stream.
    fn random(&self) -> u64;

    /// True time, for what a server or a node tells the history. Nothing may be decided by it.
    fn now(&self) -> SimTime;

    /// Appends to the history of the run.
    fn record(&self, event: Event);

    /// Says why an attempt came to nothing. For people; no history holds it.
    fn complain(&self, attempt: AttemptId, why: String);

    /// Says that this server was asked for something that it does not simulate: whatever the
    /// client makes of the error, the run means nothing.
    fn not_offered(&self, what: String) {
        let _ = what;
    }

    /// An attempt is in this phase of a step whose peer is `peer` (`None` for work). The place
    /// where faults strike: the future, if there is one, may take long, or never end.
    fn step(
        &self,
        attempt: AttemptId,
        step: StepName,
        phase: Phase,
        peer: Option<HostId>,
    ) -> Option<LocalBoxFuture<'static, Result<(), JobError>>>;

    /// Waits until what is sent now is under way: it has left, and cannot have arrived.
    fn under_way(&self) -> LocalBoxFuture<'static, ()>;
}

/// Accepts connections.
pub trait Listen {
    /// Waits for the next connection; tells who connected.
    fn accept(&mut self) -> LocalBoxFuture<'_, io::Result<(Box<dyn Duplex>, HostId)>>;
}

/// A running task.
#[must_use = "keep the task to abort it later, or call `detach`"]
pub struct Task(Option<Box<dyn FnOnce()>>);

impl Task {
    /// A task that `abort` ends.
    pub fn new(abort: impl FnOnce() + 'static) -> Task {
        Task(Some(Box::new(abort)))
    }

    /// Ends the task at its next suspension.
    pub fn abort(mut self) {
        if let Some(abort) = self.0.take() {
            abort();
        }
    }

    /// Lets the task run for as long as its process lives.
    pub fn detach(self) {}
}

/// Waits for `work` for at most `limit` on the host's clock; `None` = it was not done in time.
pub async fn within<T>(host: &dyn Host, limit: Duration, work: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        biased;
        done = work => Some(done),
        () = host.sleep(limit) => None,
    }
}
