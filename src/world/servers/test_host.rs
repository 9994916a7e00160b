//! A host for the servers' own tests: pipes for streams, tokio's paused clock for time. No faults, no seed.

use crate::host::{Duplex, Host, JobError, Listen, Task};
use crate::id::{AttemptId, HostId};
use crate::time::{SimTime, WallTime, millis};
use crate::trace::{Event, Phase, StepName};
use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io;
use std::rc::Rc;
use std::time::Duration;
use tokio::io::DuplexStream;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::Instant;

/// What every clock shows when a test begins: 2026-01-09 00:00:00 UTC.
pub const ORIGIN: i64 = 1_767_916_800_000;

type Dial = (DuplexStream, HostId);

/// What the hosts of one test share.
pub struct Network {
    began: Instant,
    listeners: RefCell<BTreeMap<HostId, UnboundedSender<Dial>>>,
    events: RefCell<Vec<Event>>,
}

impl Network {
    pub fn new() -> Rc<Network> {
        Rc::new(Network { began: Instant::now(), listeners: RefCell::default(), events: RefCell::default() })
    }

    pub fn host(self: &Rc<Network>, id: HostId) -> Rc<TestHost> {
        Rc::new(TestHost { id, network: self.clone(), clock_error_ms: Cell::new(0) })
    }

    /// What was recorded since this was last asked.
    pub fn events(&self) -> Vec<Event> {
        self.events.take()
    }
}

pub struct TestHost {
    id: HostId,
    network: Rc<Network>,
    /// How much more than a perfect clock this host's clock shows.
    pub clock_error_ms: Cell<i64>,
}

impl Host for TestHost {
    fn id(&self) -> HostId {
        self.id
    }

    fn connect(&self, to: HostId) -> LocalBoxFuture<'static, io::Result<Box<dyn Duplex>>> {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let dialled = self.network.listeners.borrow().get(&to).is_some_and(|listener| listener.send((theirs, self.id)).is_ok());
        async move { if dialled { Ok(Box::new(ours) as Box<dyn Duplex>) } else { Err(io::ErrorKind::ConnectionRefused.into()) } }
            .boxed_local()
    }

    fn listen(&self) -> LocalBoxFuture<'static, io::Result<Box<dyn Listen>>> {
        let (sender, receiver) = unbounded_channel();
        self.network.listeners.borrow_mut().insert(self.id, sender);
        async move { Ok(Box::new(TestListener(receiver)) as Box<dyn Listen>) }.boxed_local()
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
        WallTime(ORIGIN + self.now().0 as i64 + self.clock_error_ms.get())
    }

    fn random(&self) -> u64 {
        4
    }

    fn now(&self) -> SimTime {
        SimTime(millis(self.network.began.elapsed()))
    }

    fn record(&self, event: Event) {
        self.network.events.borrow_mut().push(event);
    }

    fn step(&self, _: AttemptId, _: StepName, _: Phase, _: Option<HostId>) -> Option<LocalBoxFuture<'static, Result<(), JobError>>> {
        None
    }

    fn under_way(&self) -> LocalBoxFuture<'static, ()> {
        std::future::ready(()).boxed_local()
    }
}

struct TestListener(UnboundedReceiver<Dial>);

impl Listen for TestListener {
    fn accept(&mut self) -> LocalBoxFuture<'_, io::Result<(Box<dyn Duplex>, HostId)>> {
        async {
            match self.0.recv().await {
                Some((stream, by)) => Ok((Box::new(stream) as Box<dyn Duplex>, by)),
                None => Err(io::ErrorKind::BrokenPipe.into()),
            }
        }
        .boxed_local()
    }
}

/// Runs a test to its end, in paused time.
pub fn simulate<F: Future<Output = ()>>(test: impl FnOnce(Rc<Network>) -> F) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime");
    let tasks = tokio::task::LocalSet::new();
    runtime.block_on(tasks.run_until(async { test(Network::new()).await }));
}
