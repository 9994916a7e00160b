//! Hosts on pipes, with one clock, which the test turns. No network, no faults, no seed.

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use onceproof::host::{Duplex, Host, JobError, Listen, Task};
use onceproof::id::{AttemptId, HostId};
use onceproof::time::{SimTime, WallTime, millis};
use onceproof::trace::{Event, Phase, StepName};
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, ProtocolVersion, RedisConnectionInfo};
use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;
use std::time::Duration;
use tokio::io::DuplexStream;
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::AbortHandle;

type Dial = (DuplexStream, HostId);

/// Room in a pipe, in either direction.
const PIPE: usize = 1 << 16;

/// What the hosts share.
pub struct Wire {
    wall: Cell<i64>,
    elapsed: Cell<u64>,
    listener: RefCell<Option<UnboundedSender<Dial>>>,
    tasks: RefCell<Vec<(HostId, AbortHandle)>>,
    events: RefCell<Vec<Event>>,
    passed: Rc<Notify>,
}

impl Wire {
    /// Nobody is there yet; clocks show `wall`.
    pub fn new(wall: i64) -> Rc<Wire> {
        Rc::new(Wire {
            wall: Cell::new(wall),
            elapsed: Cell::default(),
            listener: RefCell::default(),
            tasks: RefCell::default(),
            events: RefCell::default(),
            passed: Rc::default(),
        })
    }

    /// A host.
    pub fn host(self: &Rc<Wire>, id: HostId) -> Rc<WireHost> {
        Rc::new(WireHost { id, wire: Rc::clone(self) })
    }

    /// Lets time pass; the clock goes on with it.
    pub fn pass(&self, ms: u64) {
        self.elapsed.set(self.elapsed.get() + ms);
        self.turn_clock(ms.cast_signed());
        self.passed.notify_waiters();
    }

    /// Sets the clock, forwards or back.
    pub fn turn_clock(&self, ms: i64) {
        self.wall.set(self.wall.get() + ms);
    }

    /// How long it has been, and what the clock shows.
    pub fn times(&self) -> (SimTime, WallTime) {
        (SimTime(self.elapsed.get()), WallTime(self.wall.get()))
    }

    /// Ends the process of a host.
    pub fn kill(&self, host: HostId) {
        self.tasks.borrow_mut().retain(|(of, task)| {
            if *of == host {
                task.abort();
            }
            *of != host
        });
        self.listener.take();
    }

    /// Whether the server takes connections.
    pub fn listens(&self) -> bool {
        self.listener.borrow().is_some()
    }

    /// What was recorded since this was last asked.
    pub fn events(&self) -> Vec<Event> {
        self.events.take()
    }
}

/// One host.
pub struct WireHost {
    id: HostId,
    wire: Rc<Wire>,
}

impl Host for WireHost {
    fn id(&self) -> HostId {
        self.id
    }

    fn connect(&self, _: HostId) -> LocalBoxFuture<'static, io::Result<Box<dyn Duplex>>> {
        let (ours, theirs) = tokio::io::duplex(PIPE);
        let dialled = self.wire.listener.borrow().as_ref().is_some_and(|server| server.send((theirs, self.id)).is_ok());
        async move { if dialled { Ok(Box::new(ours) as Box<dyn Duplex>) } else { Err(io::ErrorKind::ConnectionRefused.into()) } }
            .boxed_local()
    }

    fn listen(&self) -> LocalBoxFuture<'static, io::Result<Box<dyn Listen>>> {
        let (sender, receiver) = unbounded_channel();
        self.wire.listener.replace(Some(sender));
        async move { Ok(Box::new(Dialled(receiver)) as Box<dyn Listen>) }.boxed_local()
    }

    fn spawn(&self, _: &'static str, task: LocalBoxFuture<'static, ()>) -> Task {
        let task = tokio::task::spawn_local(task);
        self.wire.tasks.borrow_mut().push((self.id, task.abort_handle()));
        Task::new(move || task.abort())
    }

    fn sleep(&self, d: Duration) -> LocalBoxFuture<'static, ()> {
        let wire = Rc::clone(&self.wire);
        let until = wire.elapsed.get() + millis(d);
        async move {
            while wire.elapsed.get() < until {
                wire.passed.notified().await;
            }
        }
        .boxed_local()
    }

    fn wall(&self) -> WallTime {
        WallTime(self.wire.wall.get())
    }

    fn random(&self) -> u64 {
        panic!("a lease store draws nothing")
    }

    fn now(&self) -> SimTime {
        self.wire.times().0
    }

    fn record(&self, event: Event) {
        self.wire.events.borrow_mut().push(event);
    }

    fn complain(&self, _: AttemptId, _: String) {}

    fn step(&self, _: AttemptId, _: StepName, _: Phase, _: Option<HostId>) -> Option<LocalBoxFuture<'static, Result<(), JobError>>> {
        None
    }

    fn under_way(&self) -> LocalBoxFuture<'static, ()> {
        std::future::ready(()).boxed_local()
    }
}

struct Dialled(UnboundedReceiver<Dial>);

impl Listen for Dialled {
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

/// redis-rs on the other end of a pipe to the store.
pub async fn connect(wire: &Rc<Wire>, by: HostId) -> MultiplexedConnection {
    let host = wire.host(by);
    let stream = host.connect(HostId::Lease).await.expect("the store listens");
    let info = RedisConnectionInfo::default().set_protocol(ProtocolVersion::RESP2).set_skip_set_lib_name();
    let config = AsyncConnectionConfig::new().set_response_timeout(None);
    let (connection, driver) = MultiplexedConnection::new_with_config(&info, stream, config).await.expect("no greeting to fail");
    host.spawn("redis-driver", Box::pin(driver)).detach();
    connection
}
