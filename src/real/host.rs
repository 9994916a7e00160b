//! One host of a real deployment.

use super::{Network, wall};
use crate::host::{Database, Duplex, Host, JobError, Listen, Task};
use crate::id::{AttemptId, HostId};
use crate::seed::Rng;
use crate::time::{SimTime, WallTime};
use crate::trace::{Event, Phase, StepName};
use futures_util::future::LocalBoxFuture;
use rand::RngExt;
use std::cell::RefCell;
use std::future::ready;
use std::io;
use std::rc::Rc;
use std::time::Duration;
use tokio::net::TcpListener;

/// A host in the real world. Its tasks run on the `LocalSet` in which it is used.
pub struct RealHost {
    id: HostId,
    network: Rc<Network>,
    random: RefCell<Rng>,
}

impl RealHost {
    pub(super) fn new(id: HostId, network: Rc<Network>, random: RefCell<Rng>) -> RealHost {
        RealHost { id, network, random }
    }
}

impl Host for RealHost {
    fn id(&self) -> HostId {
        self.id
    }

    fn connect(&self, to: HostId) -> LocalBoxFuture<'static, io::Result<Box<dyn Duplex>>> {
        let (network, id) = (Rc::clone(&self.network), self.id);
        Box::pin(async move { Ok(Box::new(network.dial(id, to).await?) as Box<dyn Duplex>) })
    }

    fn database(&self) -> Database {
        self.network.database.clone()
    }

    fn listen(&self) -> LocalBoxFuture<'static, io::Result<Box<dyn Listen>>> {
        let (network, id) = (Rc::clone(&self.network), self.id);
        Box::pin(async move {
            let listener = network.listen(id).await?;
            Ok(Box::new(RealListener { listener, network }) as Box<dyn Listen>)
        })
    }

    fn spawn(&self, _: &'static str, task: LocalBoxFuture<'static, ()>) -> Task {
        let running = tokio::task::spawn_local(task);
        Task::new(move || running.abort())
    }

    #[expect(clippy::disallowed_methods, reason = "outside of simulations tokio's timer is the clock")]
    fn sleep(&self, d: Duration) -> LocalBoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(d))
    }

    fn wall(&self) -> WallTime {
        wall()
    }

    fn random(&self) -> u64 {
        self.random.borrow_mut().random()
    }

    fn now(&self) -> SimTime {
        self.network.now()
    }

    fn record(&self, event: Event) {
        self.network.record(event);
    }

    fn complain(&self, attempt: AttemptId, why: String) {
        self.network.complain(attempt, why);
    }

    fn step(
        &self,
        attempt: AttemptId,
        step: StepName,
        phase: Phase,
        _: Option<HostId>,
    ) -> Option<LocalBoxFuture<'static, Result<(), JobError>>> {
        self.network.record(Event::Step { attempt, step, phase });
        None
    }

    /// At once: no fault waits for it.
    fn under_way(&self) -> LocalBoxFuture<'static, ()> {
        Box::pin(ready(()))
    }
}

struct RealListener {
    listener: TcpListener,
    network: Rc<Network>,
}

impl Listen for RealListener {
    /// Who does not belong to the network is sent away.
    fn accept(&mut self) -> LocalBoxFuture<'_, io::Result<(Box<dyn Duplex>, HostId)>> {
        Box::pin(async {
            loop {
                let (stream, address) = self.listener.accept().await?;
                if let Some(caller) = self.network.caller(address) {
                    stream.set_nodelay(true)?;
                    return Ok((Box::new(stream) as Box<dyn Duplex>, caller));
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::within;
    use crate::seed::Seed;
    use crate::time::Span;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;

    fn in_the_real_world<T>(work: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        tokio::task::LocalSet::new().block_on(&runtime, work)
    }

    fn network() -> Rc<Network> {
        Rc::new(Network::new(Seed(1), Database::default()).expect("no URL to be wrong"))
    }

    /// A listener hears who called, a stranger gets nothing, and a service that is nowhere refuses.
    #[test]
    fn hosts_meet_on_real_sockets() {
        in_the_real_world(async {
            let network = network();
            let (server, node) = (network.host(HostId::Payout), network.host(HostId::node(1)));
            let refused = node.connect(HostId::Payout).await.expect_err("nobody listens yet");
            assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused);

            let mut listener = server.listen().await.expect("a free port");
            let served = Rc::clone(&server);
            let serving = server.spawn(
                "echo",
                Box::pin(async move {
                    let (mut stream, who) = listener.accept().await.expect("a caller");
                    let mut said = [0; 5];
                    stream.read_exact(&mut said).await.expect("five bytes");
                    stream.write_all(&said).await.expect("a listener");
                    let attempt = AttemptId { node: who.as_node().expect("a node"), number: 1 };
                    served.record(Event::Step { attempt, step: "echo", phase: Phase::After });
                }),
            );
            let address = network.services.borrow()[&HostId::Payout].clone();
            let mut stranger = TcpStream::connect(address).await.expect("it listens");
            let mut stream = node.connect(HostId::Payout).await.expect("it listens");
            stream.write_all(b"hello").await.expect("it reads");
            let mut said = [0; 5];
            let answer = within(&*node, 5.seconds(), stream.read_exact(&mut said)).await.expect("an answer in time");
            assert_eq!((answer.expect("an answer"), &said), (5, b"hello"));
            assert_eq!(stranger.read(&mut said).await.expect("closed"), 0, "a stranger is sent away");

            let attempt = AttemptId { node: crate::id::NodeId(1), number: 1 };
            let records: Vec<Event> = network.records().into_iter().map(|(_, event)| event).collect();
            assert_eq!(records, [Event::Step { attempt, step: "echo", phase: Phase::After }]);
            serving.detach();
        });
    }

    /// Draws are the seed's, whatever the machine; a task that is aborted ends; time passes.
    #[test]
    fn a_real_host_keeps_the_promises_of_the_seam() {
        in_the_real_world(async {
            let draws = |id| {
                let host = network().host(id);
                [host.random(), host.random()]
            };
            assert_eq!(draws(HostId::node(0)), draws(HostId::node(0)));
            assert_ne!(draws(HostId::node(0)), draws(HostId::node(1)));

            let host = network().host(HostId::node(0));
            let held = Rc::new(());
            let inside = Rc::clone(&held);
            let task = host.spawn(
                "forever",
                Box::pin(async move {
                    std::future::pending::<()>().await;
                    drop(inside);
                }),
            );
            let (began, shown) = (host.now(), host.wall());
            host.sleep(20.ms()).await;
            assert_eq!(Rc::strong_count(&held), 2, "it runs");
            assert!(host.now().since(began) >= 20.ms() && host.wall() > shown);
            task.abort();
            host.sleep(1.ms()).await;
            assert_eq!(Rc::strong_count(&held), 1, "it is gone");
        });
    }
}
