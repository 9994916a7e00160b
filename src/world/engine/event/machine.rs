//! The parts of the engine put together, and what a world may ask of it.

use super::agenda::{Agenda, Calls, Due, Tie};
use super::current;
use super::executor::Executor;
use super::fabric::Fabric;
use super::stream;
use super::timers::{Sleep, Timers};
use crate::host::{Duplex, Listen, Task};
use crate::id::{FaultId, HostId};
use crate::seed::Seed;
use crate::time::{SimTime, millis};
use crate::world::engine::{Boot, Engine, Observer, Refused, Reseed, Settings};
use futures_util::future::LocalBoxFuture;
use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;
use std::time::Duration;

/// One run's engine. Each part has a cell of its own, and no code of a host or of the world is
/// called while one is borrowed; observers of the fabric are, see [`Fabric`].
pub(super) struct Machine {
    /// Tells this run's streams and timers from those of any other.
    pub(super) run: u64,
    pub(super) agenda: Rc<Agenda>,
    pub(super) timers: RefCell<Timers>,
    pub(super) calls: RefCell<Calls>,
    pub(super) fabric: RefCell<Fabric>,
    pub(super) executor: RefCell<Executor>,
    pub(super) boots: RefCell<Vec<Option<Boot>>>,
    /// Why the run has no result.
    pub(super) refused: RefCell<Option<Refused>>,
    /// The run has ended: from here on, nothing that is asked for happens.
    pub(super) over: Cell<bool>,
    min_latency: Duration,
}

impl Machine {
    pub(super) fn new(settings: &Settings, observer: Rc<dyn Observer>) -> Machine {
        let run = current::next_run();
        let agenda = Rc::new(Agenda::new());
        let min = millis(settings.latency_min).max(1);
        let max = millis(settings.latency_max).max(min);
        let fabric = Fabric::new(agenda.clone(), observer, settings.seed.fork("net").rng(), (min, max));
        Machine {
            run,
            agenda,
            timers: RefCell::default(),
            calls: RefCell::default(),
            fabric: RefCell::new(fabric),
            executor: RefCell::new(Executor::new(run, settings.seed.fork("ready").rng())),
            boots: RefCell::default(),
            refused: RefCell::default(),
            over: Cell::new(false),
            min_latency: Duration::from_millis(min),
        }
    }

    /// Draws everything anew from a time on: before anything else that happens then, if that is not the beginning, where hosts boot.
    pub(super) fn reseed_at(self: &Rc<Self>, reseed: Reseed) {
        if reseed.at == SimTime::ZERO {
            return self.reseed(reseed.seed);
        }
        let machine = Rc::downgrade(self);
        let reseed_it = move || {
            if let Some(machine) = machine.upgrade() {
                machine.reseed(reseed.seed);
            }
        };
        self.call_at(reseed.at, Box::new(reseed_it));
    }

    fn reseed(&self, seed: Seed) {
        self.fabric.borrow_mut().rng = seed.fork("net").rng();
        self.executor.borrow_mut().rng = seed.fork("ready").rng();
    }

    /// Takes in the hosts of the world and starts each one's first process.
    pub(super) fn boot_all(&self, hosts: Vec<(HostId, Boot)>) {
        let highest = hosts.iter().map(|(host, _)| host.index() + 1).max().unwrap_or(0);
        self.fabric.borrow_mut().grow(highest);
        self.boots.borrow_mut().resize_with(highest, || None);
        for (host, boot) in hosts {
            let before = self.boots.borrow_mut()[host.index()].replace(boot);
            assert!(before.is_none(), "{host} is built once");
            self.restart(host);
        }
    }

    /// Makes one thing happen that is due.
    pub(super) fn happen(&self, due: Due) {
        match due {
            Due::Arrive(from) => self.fabric.borrow_mut().arrive(from),
            Due::Retransmit { from, stall } => self.fabric.borrow_mut().retransmit(from, stall),
            Due::GiveUp { from, stall } => self.fabric.borrow_mut().give_up(from, stall),
            Due::Timer(timer) => self.timers.borrow_mut().fire(timer),
            Due::Call(number) => {
                let call = self.calls.borrow_mut().take(number);
                if let Some(call) = call {
                    call();
                }
            }
        }
    }
}

impl Engine for Machine {
    fn now(&self) -> SimTime {
        self.agenda.now()
    }

    fn connect(&self, from: HostId, to: HostId) -> LocalBoxFuture<'static, io::Result<Box<dyn Duplex>>> {
        Box::pin(stream::connect(from, to))
    }

    fn listen(&self, on: HostId) -> LocalBoxFuture<'static, io::Result<Box<dyn Listen>>> {
        Box::pin(async move { stream::listen(on) })
    }

    fn spawn(&self, on: HostId, _name: &'static str, task: LocalBoxFuture<'static, ()>) -> Task {
        // The last words of a dying process may spawn; there is nothing left to run it in.
        if self.over.get() || !self.fabric.borrow_mut().site(on).running {
            return Task::new(|| ());
        }
        let key = self.executor.borrow_mut().spawn(on, task);
        let run = self.run;
        Task::new(move || {
            current::with(|machine| {
                if machine.run == run {
                    machine.abort(key);
                }
            });
        })
    }

    fn sleep(&self, d: Duration) -> LocalBoxFuture<'static, ()> {
        Box::pin(Sleep::until(self.agenda.now() + d))
    }

    fn call_at(&self, at: SimTime, call: Box<dyn FnOnce()>) {
        if !self.over.get() {
            let number = self.calls.borrow_mut().add(call);
            self.agenda.enter(at, Tie::FIRST, Due::Call(number));
        }
    }

    fn min_latency(&self) -> Duration {
        self.min_latency
    }

    fn crash(&self, host: HostId) {
        self.crash_process(host);
    }

    fn power_off(&self, host: HostId) {
        self.cut_power(host);
    }

    fn restart(&self, host: HostId) {
        self.start_process(host);
    }

    fn pause(&self, host: HostId) {
        if self.fabric.borrow_mut().site(host).running {
            self.executor.borrow_mut().pause(host);
        }
    }

    fn resume(&self, host: HostId) {
        self.executor.borrow_mut().resume(host);
    }

    fn block(&self, from: HostId, to: HostId, fault: FaultId) {
        self.fabric.borrow_mut().block(from, to, fault);
    }

    fn unblock(&self, from: HostId, to: HostId, fault: FaultId) {
        self.fabric.borrow_mut().unblock(from, to, fault);
    }

    fn delay(&self, from: HostId, to: HostId, extra: Duration, fault: FaultId) {
        let extra = millis(extra);
        self.fabric.borrow_mut().links.at(from, to).delay = (extra > 0).then_some((extra, fault));
    }

    fn lose_next(&self, from: HostId, to: HostId, fault: FaultId) {
        self.fabric.borrow_mut().links.at(from, to).losses.push(fault);
    }
}
