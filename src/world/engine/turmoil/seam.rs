//! What hosts and the world may ask of the engine.

use super::machine::Order;
use super::process::Kind;
use super::{Turmoil, dial};
use crate::host::{Duplex, Listen, Task};
use crate::id::{FaultId, HostId};
use crate::time::SimTime;
use crate::world::engine::Engine;
use futures_util::future::LocalBoxFuture;
use std::io;
use std::time::Duration;

impl Engine for Turmoil {
    fn now(&self) -> SimTime {
        self.now.get()
    }

    fn connect(&self, from: HostId, to: HostId) -> LocalBoxFuture<'static, io::Result<Box<dyn Duplex>>> {
        Box::pin(dial::connect(self.rc(), from, to))
    }

    fn listen(&self, on: HostId) -> LocalBoxFuture<'static, io::Result<Box<dyn Listen>>> {
        Box::pin(dial::listen(self.rc(), on))
    }

    fn spawn(&self, on: HostId, _name: &'static str, task: LocalBoxFuture<'static, ()>) -> Task {
        let started = self.start_task(on, Kind::Application, task);
        let machine = self.machine(on);
        Task::new(move || {
            if let Some((process, task)) = started {
                task.abort();
                machine.order(Order::End(process, task));
            }
        })
    }

    #[expect(clippy::disallowed_methods, reason = "turmoil drives the timers of its own runtime")]
    fn sleep(&self, d: Duration) -> LocalBoxFuture<'static, ()> {
        let engine = self.rc();
        Box::pin(async move {
            // Whoever wakes in the middle of a tick would see its beginning, and believe to have woken early.
            let now = engine.now().0;
            let due = (engine.now() + d).0.next_multiple_of(engine.tick_ms);
            if due > now {
                tokio::time::sleep(Duration::from_millis(due - now)).await;
            } else {
                // A loop over no time at all must still be seen by the poll budget.
                tokio::task::yield_now().await;
            }
        })
    }

    fn call_at(&self, at: SimTime, call: Box<dyn FnOnce()>) {
        let number = self.calls_made.replace(self.calls_made.get() + 1);
        self.calls.borrow_mut().insert((at, number), call);
    }

    fn min_latency(&self) -> Duration {
        self.settings.latency_min
    }

    fn crash(&self, host: HostId) {
        self.machine(host).kill();
    }

    fn power_off(&self, host: HostId) {
        self.machine(host).kill();
        let mut state = self.wire.lock();
        if !state.links.is_off(host) {
            state.links.power_off(host);
            state.silence(host);
        }
    }

    fn restart(&self, host: HostId) {
        self.wire.lock().links.power_on(host);
        self.machine(host).start();
    }

    fn pause(&self, host: HostId) {
        if let Some(process) = &*self.machine(host).process.borrow() {
            process.paused.set(true);
        }
    }

    fn resume(&self, host: HostId) {
        if let Some(process) = &*self.machine(host).process.borrow() {
            process.paused.set(false);
            process.wake_all();
        }
    }

    fn block(&self, from: HostId, to: HostId, fault: FaultId) {
        self.wire.lock().links.block(from, to, fault);
    }

    fn unblock(&self, from: HostId, to: HostId, fault: FaultId) {
        self.wire.lock().links.unblock(from, to, fault);
    }

    fn delay(&self, from: HostId, to: HostId, extra: Duration, fault: FaultId) {
        self.wire.lock().links.delay(from, to, extra, fault);
    }

    fn lose_next(&self, from: HostId, to: HostId, fault: FaultId) {
        self.wire.lock().links.lose_next(from, to, fault);
    }
}
