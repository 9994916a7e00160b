//! The store itself: its server on pipes, and redis-rs on the other ends of them.

use super::command::Command;
use super::host::{Wire, WireHost, connect};
use super::model::{Reply, Told};
use super::transition::{CLIENTS, MOST_BEHIND, Transition};
use onceproof::host::Host;
use onceproof::id::HostId;
use onceproof::settlement::LeaseKey;
use onceproof::trace::Event;
use onceproof::world::servers::lease::{LeaseStore, Loss, serve};
use redis::aio::MultiplexedConnection;
use redis::{RedisResult, Value};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::task::LocalSet;

/// The host of the client that only looks.
const AUDITOR: HostId = HostId::Traffic;

/// A store that runs, and its clients.
pub struct System {
    runtime: Runtime,
    tasks: LocalSet,
    wire: Rc<Wire>,
    store: Rc<RefCell<LeaseStore>>,
    clients: Vec<MultiplexedConnection>,
    auditor: MultiplexedConnection,
}

impl System {
    /// A store that has just started, its clock showing `now`; everybody is connected.
    pub fn start(now: i64) -> System {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let (tasks, wire) = (LocalSet::new(), Wire::new(now));
        let store = Rc::new(RefCell::new(LeaseStore::replicated(Some(Duration::from_millis(MOST_BEHIND)))));
        let (clients, auditor) = tasks.block_on(&runtime, boot(&wire, &store));
        System { runtime, tasks, wire, store, clients, auditor }
    }

    /// Lets it happen.
    pub fn perform(&mut self, transition: &Transition) -> Told {
        let (mut reply, mut loss) = (None, Loss::default());
        let (now, wall) = self.wire.times();
        match transition {
            Transition::Wait { ms } => self.wire.pass(*ms),
            Transition::SetBack { ms } => self.wire.turn_clock(-ms.cast_signed()),
            Transition::Restart => self.restart(),
            Transition::Wipe => {
                loss = self.store.borrow_mut().wipe(wall);
                self.restart();
            }
            Transition::Evict => loss = self.store.borrow_mut().evict(now, wall),
            Transition::FailOver { lag } => {
                loss = self.store.borrow_mut().fail_over(Duration::from_millis(*lag), now, wall);
                self.restart();
            }
            Transition::Ask { by, command } => {
                let mut client = self.client(*by);
                reply = Some(self.tasks.block_on(&self.runtime, ask(&mut client, command)));
            }
        }
        // The model knows texts, not messages: what is told of them is held to real scripts and to unit tests.
        let mut events = self.wire.events();
        events.retain(|event| !matches!(event, Event::Pushed { .. } | Event::Popped { .. }));
        Told { reply, events, loss: Loss { lost: loss.lost, returned: loss.returned, ..Loss::default() } }
    }

    /// Asks, as somebody who has nothing to do with it; tells what the history was told.
    pub fn audit(&self, command: &Command) -> (Reply, Vec<Event>) {
        let mut auditor = self.auditor.clone();
        (self.tasks.block_on(&self.runtime, ask(&mut auditor, command)), self.wire.events())
    }

    /// The leases, as a run hands them to its judges.
    pub fn leases(&self) -> Vec<LeaseKey> {
        self.store.borrow().keys()
    }

    fn client(&self, by: HostId) -> MultiplexedConnection {
        let node = by.as_node().expect("clients are nodes");
        self.clients[usize::from(node.0)].clone()
    }

    /// The process dies: its connections are gone. A new one serves what is left.
    fn restart(&mut self) {
        self.wire.kill(HostId::Lease);
        let mut old = self.client(HostId::node(0));
        let (clients, auditor) = self.tasks.block_on(&self.runtime, async {
            let answer: RedisResult<Value> = redis::cmd("PING").query_async(&mut old).await;
            assert!(answer.is_err_and(|error| error.is_unrecoverable_error()), "a connection survived its server");
            boot(&self.wire, &self.store).await
        });
        (self.clients, self.auditor) = (clients, auditor);
    }
}

/// Starts the server's process and connects everybody.
async fn boot(wire: &Rc<Wire>, store: &Rc<RefCell<LeaseStore>>) -> (Vec<MultiplexedConnection>, MultiplexedConnection) {
    let host = wire.host(HostId::Lease);
    host.spawn("lease", Box::pin(serve(Rc::<WireHost>::clone(&host), Rc::clone(store)))).detach();
    while !wire.listens() {
        tokio::task::yield_now().await;
    }
    let mut clients = Vec::new();
    for node in 0..CLIENTS {
        clients.push(connect(wire, HostId::node(node)).await);
    }
    (clients, connect(wire, AUDITOR).await)
}

async fn ask(connection: &mut MultiplexedConnection, command: &Command) -> Reply {
    let words = command.words();
    let answer: RedisResult<Value> = redis::cmd(&words[0]).arg(&words[1..]).query_async(connection).await;
    match answer {
        Ok(value) => reply(value),
        Err(error) => Reply::Refused(error.code().unwrap_or_else(|| panic!("not an answer: {error}")).to_owned()),
    }
}

fn reply(value: Value) -> Reply {
    match value {
        Value::Okay => Reply::Done,
        Value::Nil => Reply::Nil,
        Value::Int(number) => Reply::Number(number),
        Value::BulkString(bytes) => Reply::Text(text(bytes)),
        Value::Array(items) => Reply::Texts(
            items
                .into_iter()
                .map(|item| match item {
                    Value::BulkString(bytes) => text(bytes),
                    other => panic!("an item of a list is a text, not {other:?}"),
                })
                .collect(),
        ),
        other => panic!("no command of these answers {other:?}"),
    }
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).expect("only text was written")
}
