//! Processes: how they start and how they die, by themselves, by a fault, or with the run.

use super::executor::{Body, TaskKey};
use super::fabric::Fabric;
use super::machine::Machine;
use super::{current, panics};
use crate::id::{FaultId, HostId};
use crate::seed::Seed;
use crate::time::SimTime;
use crate::trace::Proof;
use crate::world::contain;
use crate::world::engine::{Engine, Observer, Refused};
use std::rc::Rc;

impl Machine {
    /// Starts a process on a host that has none.
    pub(super) fn start_process(&self, host: HostId) {
        if self.over.get() || !self.fabric.borrow_mut().boot(host) {
            return;
        }
        let boot = self.boots.borrow().get(host.index()).cloned().flatten();
        if let Some(boot) = boot {
            // Called inside the task, so that a panic of the boot itself is one of the host's code too.
            self.spawn(host, "main", Box::pin(async move { boot().await })).detach();
        }
    }

    /// Kills a process: its kernel sends what was written and closes, then its memory is gone.
    pub(super) fn crash_process(&self, host: HostId) {
        if self.fabric.borrow_mut().crash(host) {
            self.kill(host);
        }
    }

    /// Cuts a host's power: silence first, so that nothing which its tasks do while they are dropped gets out.
    pub(super) fn cut_power(&self, host: HostId) {
        if self.fabric.borrow_mut().power_off(host) {
            self.kill(host);
        }
    }

    /// Ends one task.
    pub(super) fn abort(&self, key: TaskKey) {
        let body = self.executor.borrow_mut().kill(key);
        if let Some(body) = body {
            self.bury(body);
        }
    }

    fn kill(&self, host: HostId) {
        let bodies = self.executor.borrow_mut().kill_host(host);
        for body in bodies {
            self.bury(body);
        }
    }

    /// Drops a task. That runs code of its host, which may ask the engine for anything, or panic.
    pub(super) fn bury(&self, body: Body) {
        let host = body.host();
        if let Err(message) = contain(|| drop(body)) {
            self.panicked(host, message);
        }
    }

    /// Code of a host panicked: what tokio says about missing timers ends the run, anything else the process.
    pub(super) fn panicked(&self, host: HostId, message: String) {
        if self.over.get() {
            return;
        }
        if panics::is_tokio_timer(&message) {
            self.refuse(Refused::TokioTimer { host });
        } else if panics::is_tokio_spawn(&message) {
            self.refuse(Refused::TokioSpawn { host });
        } else {
            self.crash_process(host);
            let observer = self.fabric.borrow().observer.clone();
            observer.panicked(host, message);
        }
    }

    /// The run has no result; the first reason is the one that is told.
    pub(super) fn refuse(&self, why: Refused) {
        self.refused.borrow_mut().get_or_insert(why);
    }
}

/// Ends a run when dropped, also while a panic unwinds: host by host, so that a panic in one
/// task's destructor leaves no other task behind.
pub(super) struct Teardown(pub(super) Rc<Machine>);

impl Drop for Teardown {
    fn drop(&mut self) {
        let machine = &self.0;
        machine.over.set(true);
        // From here on streams, sleeps and listeners find no engine, and drop in silence.
        current::clear();
        let hosts = machine.fabric.borrow().sites.len();
        for host in (0..hosts).map(HostId::from_index) {
            machine.kill(host);
        }
        debug_assert!(std::thread::panicking() || machine.executor.borrow().alive() == 0, "no task outlives its run");
        // Whatever the world gave may hold the engine: let go of it, or both would live for ever.
        let boots = machine.boots.take();
        let calls = machine.calls.take();
        let deaf = Fabric::new(machine.agenda.clone(), Rc::new(Deaf), Seed(0).rng(), (1, 1));
        let fabric = machine.fabric.replace(deaf);
        let timers = machine.timers.take();
        drop((boots, calls, fabric, timers));
        machine.agenda.clear();
    }
}

/// Nobody listens to a run that is over.
struct Deaf;

impl Observer for Deaf {
    fn note(&self, _: SimTime, _: u64) {}
    fn felt(&self, _: FaultId, _: Proof) {}
    fn reply_lost(&self, _: HostId, _: HostId) {}
    fn panicked(&self, _: HostId, _: String) {}
}
