//! The least host that a server runs on: clients reach it over pipes.

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use onceproof::host::{Duplex, Host, JobError, Listen, Task};
use onceproof::id::{AttemptId, HostId};
use onceproof::time::{SimTime, WallTime};
use onceproof::trace::{Event, Phase, StepName};
use std::cell::Cell;
use std::io;
use std::time::Duration;
use tokio::io::DuplexStream;
use tokio::sync::mpsc;

/// A host that clients reach through its [`Door`].
pub struct PipeHost {
    id: HostId,
    listener: Cell<Option<Knocks>>,
}

/// Where clients connect to a [`PipeHost`].
pub struct Door(mpsc::UnboundedSender<(DuplexStream, HostId)>);

struct Knocks(mpsc::UnboundedReceiver<(DuplexStream, HostId)>);

impl PipeHost {
    pub fn new(id: HostId) -> (PipeHost, Door) {
        let (door, knocks) = mpsc::unbounded_channel();
        (PipeHost { id, listener: Cell::new(Some(Knocks(knocks))) }, Door(door))
    }
}

impl Door {
    /// A connection of the host `by`: the client's end.
    pub fn connect(&self, by: HostId) -> DuplexStream {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        // A server that is gone has dropped its end, which the client sees.
        let _ = self.0.send((theirs, by));
        ours
    }
}

impl Host for PipeHost {
    fn id(&self) -> HostId {
        self.id
    }
    fn connect(&self, _: HostId) -> LocalBoxFuture<'static, io::Result<Box<dyn Duplex>>> {
        std::future::ready(Err(io::ErrorKind::ConnectionRefused.into())).boxed_local()
    }
    fn listen(&self) -> LocalBoxFuture<'static, io::Result<Box<dyn Listen>>> {
        let listener = self.listener.take().map(|knocks| Box::new(knocks) as Box<dyn Listen>);
        std::future::ready(listener.ok_or_else(|| io::ErrorKind::AddrInUse.into())).boxed_local()
    }
    fn spawn(&self, _: &'static str, task: LocalBoxFuture<'static, ()>) -> Task {
        let handle = tokio::task::spawn_local(task);
        Task::new(move || handle.abort())
    }
    #[expect(clippy::disallowed_methods, reason = "this host runs on paused tokio time")]
    fn sleep(&self, d: Duration) -> LocalBoxFuture<'static, ()> {
        tokio::time::sleep(d).boxed_local()
    }
    fn wall(&self) -> WallTime {
        WallTime(0)
    }
    fn random(&self) -> u64 {
        0
    }
    fn now(&self) -> SimTime {
        SimTime::ZERO
    }
    fn record(&self, _: Event) {}
    fn complain(&self, _: AttemptId, _: String) {}

    fn step(&self, _: AttemptId, _: StepName, _: Phase, _: Option<HostId>) -> Option<LocalBoxFuture<'static, Result<(), JobError>>> {
        None
    }
    fn under_way(&self) -> LocalBoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }
}

impl Listen for Knocks {
    fn accept(&mut self) -> LocalBoxFuture<'_, io::Result<(Box<dyn Duplex>, HostId)>> {
        async {
            match self.0.recv().await {
                Some((stream, by)) => Ok((Box::new(stream) as Box<dyn Duplex>, by)),
                // Nobody can connect any more; those who are connected go on.
                None => std::future::pending().await,
            }
        }
        .boxed_local()
    }
}
