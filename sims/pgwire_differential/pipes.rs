//! The least host that the database server runs on: one connection, over a pipe.

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

/// A host to which one client is connected.
pub struct PipeHost {
    id: HostId,
    dialled: Cell<Option<Dialled>>,
}

struct Dialled(Option<(DuplexStream, HostId)>);

impl PipeHost {
    /// The host, and the client's end of the connection.
    pub fn new(id: HostId, by: HostId) -> (PipeHost, DuplexStream) {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        (PipeHost { id, dialled: Cell::new(Some(Dialled(Some((theirs, by))))) }, ours)
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
        let listener = self.dialled.take().map(|dialled| Box::new(dialled) as Box<dyn Listen>);
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
    fn step(&self, _: AttemptId, _: StepName, _: Phase, _: Option<HostId>) -> Option<LocalBoxFuture<'static, Result<(), JobError>>> {
        None
    }
    fn under_way(&self) -> LocalBoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }
}

impl Listen for Dialled {
    fn accept(&mut self) -> LocalBoxFuture<'_, io::Result<(Box<dyn Duplex>, HostId)>> {
        match self.0.take() {
            Some((stream, by)) => std::future::ready(Ok((Box::new(stream) as Box<dyn Duplex>, by))).boxed_local(),
            None => std::future::pending().boxed_local(),
        }
    }
}
