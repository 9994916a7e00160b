//! A host of the simulated deployment, as its own code sees it: the seam of [`crate::host`],
//! carried by an engine, with the host's own clock and the plan's faults between.

use crate::host::{Duplex, Host, JobError, Listen, Task};
use crate::id::{AttemptId, HostId};
use crate::time::{SimTime, WallTime, millis};
use crate::trace::{Event, Phase, StepName};
use crate::world::engine::Engine;
use crate::world::faults::Blow;
use crate::world::state::World;
use futures_util::future::LocalBoxFuture;
use std::io;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

/// One host.
pub(super) struct SimHost {
    pub(super) id: HostId,
    pub(super) world: Rc<World>,
    pub(super) engine: Rc<dyn Engine>,
}

impl Host for SimHost {
    fn id(&self) -> HostId {
        self.id
    }

    fn connect(&self, to: HostId) -> LocalBoxFuture<'static, io::Result<Box<dyn Duplex>>> {
        self.engine.connect(self.id, to)
    }

    fn listen(&self) -> LocalBoxFuture<'static, io::Result<Box<dyn Listen>>> {
        self.engine.listen(self.id)
    }

    fn spawn(&self, name: &'static str, task: LocalBoxFuture<'static, ()>) -> Task {
        self.engine.spawn(self.id, name, task)
    }

    fn sleep(&self, d: Duration) -> LocalBoxFuture<'static, ()> {
        self.engine.sleep(self.world.clock(self.id).borrow().stretch(d))
    }

    fn wall(&self) -> WallTime {
        self.world.clock(self.id).borrow().shows(self.engine.now())
    }

    fn now(&self) -> SimTime {
        self.engine.now()
    }

    fn random(&self) -> u64 {
        self.world.random(self.id)
    }

    fn record(&self, event: Event) {
        self.world.record(event);
    }

    fn step(
        &self,
        attempt: AttemptId,
        step: StepName,
        phase: Phase,
        peer: Option<HostId>,
    ) -> Option<LocalBoxFuture<'static, Result<(), JobError>>> {
        if phase == Phase::Before {
            self.world.made(step, peer.is_none());
        }
        // A request that nobody tears has no middle worth telling.
        if phase != Phase::Sent {
            self.world.record(Event::Step { attempt, step, phase });
        }
        let due = self.world.set_off(self.id, step, phase);
        if due.is_empty() {
            return None;
        }
        // It strikes when the future is polled: in the middle of a step, that is after the request has left.
        let (world, engine, id) = (Rc::clone(&self.world), Rc::clone(&self.engine), self.id);
        Some(Box::pin(async move {
            if phase == Phase::Sent {
                world.record(Event::Step { attempt, step, phase });
            }
            match world.strike_at(id, due) {
                Blow::None => {}
                Blow::Slow(extra) => SimHost { id, world, engine }.sleep(extra).await,
                Blow::Fail(error) => return Err(error),
                Blow::Yield => give_way().await,
            }
            Ok(())
        }))
    }

    fn under_way(&self) -> LocalBoxFuture<'static, ()> {
        // Half of the smallest latency, in whole milliseconds. Even a sleep of nothing lets everybody run who can.
        self.engine.sleep(Duration::from_millis(millis(self.engine.min_latency()) / 2))
    }
}

/// Suspends once: a process that has just died is never polled again, a paused one goes on when it is resumed.
async fn give_way() {
    let mut suspended = false;
    std::future::poll_fn(|cx| {
        if std::mem::replace(&mut suspended, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
