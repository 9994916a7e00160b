//! A host of the simulated deployment, as its own code sees it: the seam of [`crate::host`],
//! carried by an engine, with the host's own clock and the plan's faults between.

use crate::host::{Duplex, Host, JobError, Listen, Task};
use crate::id::{AttemptId, HostId};
use crate::plan::StopOrder;
use crate::step::Step;
use crate::time::{SimTime, WallTime, millis};
use crate::trace::{Event, Phase, StepName};
use crate::world::engine::Engine;
use crate::world::faults::{Blow, Place};
use crate::world::state::World;
use futures_util::future::LocalBoxFuture;
use std::io;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

/// One host.
#[derive(Clone)]
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
        self.engine.connect(self.id, self.world.reached(self.id, to))
    }

    fn listen(&self) -> LocalBoxFuture<'static, io::Result<Box<dyn Listen>>> {
        self.engine.listen(self.id)
    }

    fn spawn(&self, name: &'static str, task: LocalBoxFuture<'static, ()>) -> Task {
        self.engine.spawn(self.id, name, task)
    }

    fn sleep(&self, d: Duration) -> LocalBoxFuture<'static, ()> {
        let stretched = self.world.clock(self.id).borrow().stretch(d);
        match self.world.faults.change_rates() {
            false => self.engine.sleep(stretched),
            true => sleep_by(Rc::clone(&self.world), Rc::clone(&self.engine), self.id, d),
        }
    }

    fn wall(&self) -> WallTime {
        self.world.clock(self.id).borrow().shows(self.engine.now())
    }

    fn counts(&self) -> Duration {
        self.world.clock(self.id).borrow().counts(self.engine.now())
    }

    fn clock_changed(&self) -> LocalBoxFuture<'static, ()> {
        let bell = self.world.bell(self.id);
        Box::pin(async move { bell.notified().await })
    }

    fn stopping(&self) -> Option<StopOrder> {
        self.world.stopping(self.id).map(|(order, _)| order)
    }

    fn told_to_stop(&self) -> LocalBoxFuture<'static, ()> {
        let (world, id) = (Rc::clone(&self.world), self.id);
        Box::pin(async move {
            let bell = world.bell(id);
            while world.stopping(id).is_none() {
                bell.notified().await;
            }
        })
    }

    fn works_unguarded(&self, attempt: AttemptId) {
        self.world.works_unguarded(attempt);
    }

    fn now(&self) -> SimTime {
        self.engine.now()
    }

    fn random(&self) -> u64 {
        self.world.random(self.id)
    }

    fn record(&self, event: Event) {
        // What another environment's database does is no part of this history, and a node that is down says nothing.
        let silent = self.id == HostId::DatabaseElsewhere || (self.id.as_node().is_some() && self.world.is_down(self.id));
        if !silent {
            self.world.told_by(self.id, event);
        }
    }

    fn complain(&self, attempt: AttemptId, why: String) {
        self.world.complain(attempt, why);
    }

    fn step(
        &self,
        attempt: AttemptId,
        step: StepName,
        phase: Phase,
        peer: Option<HostId>,
    ) -> Option<LocalBoxFuture<'static, Result<(), JobError>>> {
        if self.world.runs(self.id) {
            return self.reached(attempt, step, phase, peer);
        }
        // It was struck in this very poll, by a step that the same task makes beside this one.
        let host = self.clone();
        Some(Box::pin(async move {
            give_way().await;
            match host.reached(attempt, step, phase, peer) {
                Some(strike) => strike.await,
                None => Ok(()),
            }
        }))
    }

    fn not_offered(&self, what: String) {
        self.world.not_offered(self.id, what);
    }

    fn under_way(&self) -> LocalBoxFuture<'static, ()> {
        // Half of the smallest latency, in whole milliseconds. Even a sleep of nothing lets everybody run who can.
        self.engine.sleep(Duration::from_millis(millis(self.engine.min_latency()) / 2))
    }
}

impl SimHost {
    /// A process that runs has come to this phase of a step.
    fn reached(
        &self,
        attempt: AttemptId,
        step: StepName,
        phase: Phase,
        peer: Option<HostId>,
    ) -> Option<LocalBoxFuture<'static, Result<(), JobError>>> {
        if phase == Phase::Before {
            self.world.made(Step { name: step, peer: peer.map(HostId::asked_as) });
        }
        // A request that nobody tears has no middle worth telling.
        if phase != Phase::Sent {
            self.world.record(Event::Step { attempt, step, phase });
        }
        let place = Place { host: self.id, peer: peer.map(|to| self.world.reached(self.id, to)), attempt, step };
        let due = self.world.set_off(place, phase);
        if due.is_empty() {
            return None;
        }
        // It strikes when the future is polled: in the middle of a step, that is after the request has left.
        let host = self.clone();
        Some(Box::pin(async move {
            if phase == Phase::Sent {
                host.world.record(Event::Step { attempt, step, phase });
            }
            match host.world.strike_at(place, due) {
                Blow::None => {}
                Blow::Slow(extra) => {
                    host.sleep(extra).await;
                    host.record(Event::GoesOn { attempt, step });
                }
                Blow::Fail(error) => return Err(error),
                Blow::Yield => give_way().await,
            }
            Ok(())
        }))
    }
}

/// Sleeps until a clock has counted `d` from now on, at whatever rates it runs meanwhile. Setting it makes no difference.
/// As with any other sleep, it is the call that counts, not when it is first waited for.
fn sleep_by(world: Rc<World>, engine: Rc<dyn Engine>, host: HostId, d: Duration) -> LocalBoxFuture<'static, ()> {
    let until = world.clock(host).borrow().counts(engine.now()) + d;
    Box::pin(async move {
        let bell = world.bell(host);
        loop {
            let left = until.saturating_sub(world.clock(host).borrow().counts(engine.now()));
            if left.is_zero() {
                return;
            }
            let stretched = world.clock(host).borrow().stretch(left);
            tokio::select! {
                biased;
                () = engine.sleep(stretched) => {}
                () = bell.notified() => {}
            }
        }
    })
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
