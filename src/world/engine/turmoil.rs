//! The second engine: an independent network, `turmoil::Sim`, for the question whether a verdict
//! depends on how we simulate.
//!
//! Latency, order, flow control, resets, timers and the scheduling of hosts are turmoil's. What turmoil
//! does not have stands in the files below: processes that die, pause and restart on a host
//! whose kernel lives (`machine`, `process`), links that hold segments back instead of
//! dropping them (`links`, `socket`), and a handshake with a way back (`dial`).
//!
//! It advances in ticks. All hosts see the time at which the present tick began, whatever the
//! order in which they run inside it, so that the history of a run never goes back. Hosts run in
//! an order drawn anew each tick, and are registered in a seeded order: turmoil delivers by it.

mod dial;
mod links;
mod machine;
mod process;
mod seam;
mod socket;
mod stream;
#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the tests show what becomes of code that calls them")]
mod tests;
mod wire;

use super::{Boot, Ended, Engine, Observer, Refused, Settings, interrupted};
use crate::id::HostId;
use crate::seed::Rng;
use crate::time::{SimTime, millis};
use futures_util::future::LocalBoxFuture;
use links::Report;
use machine::{Machine, Order, kernel};
use process::{Kind, Process, TaskCell};
use rand::RngExt;
use rand::seq::SliceRandom;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::rc::{Rc, Weak};
use std::time::{Duration, UNIX_EPOCH};
use wire::Wire;

/// The port of the one service of a host.
const SERVICE: u16 = 7000;

/// Resolution of turmoil's timers, in milliseconds. A shorter tick would let the clocks of hosts run fast.
const TURMOIL_MS: u64 = 1;

/// Longest tick, in milliseconds.
const LONGEST_TICK_MS: u64 = 10;

/// Parameter of turmoil's exponential latency: the mean lies in the middle of the range, so that
/// the spread decides races. turmoil's own 5 puts most segments on the smallest latency.
const LATENCY_CURVE: f64 = 2.0;

/// What the world wants to be called for.
type Call = Box<dyn FnOnce()>;

/// How many segments a receiver may leave unread until its sender has to wait. turmoil counts
/// segments, not bytes: this is about as much as a real window holds.
const UNREAD: usize = 64;

/// A run on `turmoil::Sim`.
struct Turmoil {
    settings: Settings,
    tick_ms: u64,
    /// When the present tick began.
    now: Cell<SimTime>,
    /// `None` = the run is over.
    observer: RefCell<Option<Rc<dyn Observer>>>,
    wire: Wire,
    machines: RefCell<BTreeMap<HostId, Rc<Machine>>>,
    calls: RefCell<BTreeMap<(SimTime, u64), Call>>,
    calls_made: Cell<u64>,
    polls: Cell<u64>,
    outcome: RefCell<Option<Result<Ended, Refused>>>,
    /// The host whose code runs at this moment.
    current: Cell<Option<HostId>>,
    rng: RefCell<Rng>,
    me: Weak<Turmoil>,
}

/// Runs a world on `turmoil::Sim`: `build` makes the hosts; their processes start at time zero.
///
/// # Errors
/// When the code of a host did what cannot be simulated faithfully.
pub fn run(
    settings: &Settings,
    observer: Rc<dyn Observer>,
    build: impl FnOnce(Rc<dyn Engine>) -> Vec<(HostId, Boot)>,
) -> Result<Ended, Refused> {
    let engine = Turmoil::new(*settings, observer);
    let mut hosts = build(engine.clone());
    hosts.shuffle(&mut settings.seed.fork("registration").rng());
    let mut sim = engine.network();
    for (host, boot) in hosts {
        engine.register(&mut sim, host, boot);
    }
    let outcome = engine.drive(&mut sim);
    engine.clear();
    outcome
}

/// The tick in milliseconds: half of the smallest latency, so that a request and its reply never share one. Ticks
/// are what a run costs: eight idle hosts need about 26 µs of CPU for each, whatever its length.
pub fn tick_ms(latency_min: Duration) -> u64 {
    (millis(latency_min) / 2).clamp(TURMOIL_MS, LONGEST_TICK_MS)
}

impl Turmoil {
    fn new(settings: Settings, observer: Rc<dyn Observer>) -> Rc<Turmoil> {
        Rc::new_cyclic(|me| Turmoil {
            settings,
            tick_ms: tick_ms(settings.latency_min),
            now: Cell::new(SimTime::ZERO),
            observer: RefCell::new(Some(observer)),
            wire: Wire::default(),
            machines: RefCell::default(),
            calls: RefCell::default(),
            calls_made: Cell::default(),
            polls: Cell::default(),
            outcome: RefCell::default(),
            current: Cell::default(),
            rng: RefCell::new(settings.seed.fork("handshake").rng()),
            me: me.clone(),
        })
    }

    fn network(&self) -> turmoil::Sim<'static> {
        let sim = turmoil::Builder::new()
            // Both default to the machine: its clock and its entropy.
            .epoch(UNIX_EPOCH)
            .rng_seed(self.settings.seed.fork("turmoil").0)
            .simulation_duration(Duration::MAX)
            .tick_duration(Duration::from_millis(self.tick_ms))
            .min_message_latency(self.settings.latency_min)
            .max_message_latency(self.settings.latency_max)
            .tcp_capacity(UNREAD)
            .enable_random_order()
            .build();
        sim.set_message_latency_curve(LATENCY_CURVE);
        sim
    }

    fn register(&self, sim: &mut turmoil::Sim<'static>, host: HostId, boot: Boot) {
        let machine = self.machine(host);
        let address = sim.lookup(host.to_string());
        machine.address.set(address).expect("a host is registered once");
        *machine.boot.borrow_mut() = Some(boot);
        machine.start();
        let engine = self.rc();
        sim.host(address, move || kernel(engine.clone(), machine.clone()));
    }

    /// Steps through time until the horizon, or until the run must end.
    fn drive(&self, sim: &mut turmoil::Sim<'static>) -> Result<Ended, Refused> {
        for tick in 1.. {
            self.make_due_calls();
            if let Some(outcome) = self.outcome.take() {
                return outcome;
            }
            if self.now.get() >= self.settings.until {
                return Ok(Ended::Horizon);
            }
            sim.step().expect("kernels neither end nor fail");
            let now = self.now.get() + Duration::from_millis(self.tick_ms);
            self.now.set(now);
            self.wire.lock().now = now.0;
            if interrupted(tick) {
                break;
            }
        }
        Err(Refused::Interrupted)
    }

    fn make_due_calls(&self) {
        loop {
            let due = self.calls.borrow().first_key_value().is_some_and(|((at, _), _)| *at <= self.now.get());
            let Some((_, call)) = due.then(|| self.calls.borrow_mut().pop_first()).flatten() else { return };
            call();
            self.report();
        }
    }

    /// Breaks the circles between the engine and what runs on it, host by host.
    fn clear(&self) {
        self.calls.take();
        let machines = self.machines.borrow().values().cloned().collect::<Vec<_>>();
        for machine in machines {
            machine.clear();
        }
        let sockets = self.wire.lock().clear();
        drop(sockets);
        self.observer.take();
    }

    fn rc(&self) -> Rc<Turmoil> {
        self.me.upgrade().expect("an engine that is called is alive")
    }

    fn machine(&self, host: HostId) -> Rc<Machine> {
        let mut machines = self.machines.borrow_mut();
        machines.entry(host).or_insert_with(|| Rc::new(Machine::new(host, self.wire.lock().bell(host)))).clone()
    }

    /// Where a host is; `None` = this deployment has no such host.
    fn address(&self, host: HostId) -> Option<IpAddr> {
        self.machine(host).address.get().copied()
    }

    fn host_at(&self, address: IpAddr) -> HostId {
        let machines = self.machines.borrow();
        let (host, _) = machines.iter().find(|(_, machine)| machine.address.get() == Some(&address)).expect("only hosts connect");
        *host
    }

    /// A latency, for what turmoil does not send itself.
    fn latency(&self) -> Duration {
        let Settings { latency_min, latency_max, .. } = self.settings;
        Duration::from_millis(self.rng.borrow_mut().random_range(millis(latency_min)..=millis(latency_max.max(latency_min))))
    }

    /// Runs code inside a host.
    fn inside<R>(&self, host: HostId, code: impl FnOnce() -> R) -> R {
        let outer = self.current.replace(Some(host));
        let result = code();
        self.current.set(outer);
        result
    }

    /// Counts a poll; `false` = the run has ended, nothing is polled any more.
    fn admit_poll(&self) -> bool {
        self.polls.set(self.polls.get() + 1);
        if self.polls.get() > self.settings.poll_budget {
            self.end(Ok(Ended::StepBudget));
        }
        self.outcome.borrow().is_none()
    }

    /// Looks at what a poll has left behind.
    fn after_poll(&self, host: HostId) {
        self.report();
        let spawned = self.machine(host).metrics.get().is_some_and(|metrics| metrics.num_alive_tasks() > 0);
        if spawned {
            self.end(Err(Refused::TokioSpawn { host }));
        }
    }

    fn end(&self, outcome: Result<Ended, Refused>) {
        self.outcome.borrow_mut().get_or_insert(outcome);
    }

    /// Tells the observer what the network noticed.
    fn report(&self) {
        let reports = self.wire.lock().links.take_reports();
        if reports.is_empty() {
            return;
        }
        let Some(observer) = self.observer.borrow().clone() else { return };
        for report in reports {
            match report {
                Report::Note(word) => observer.note(self.now.get(), word),
                Report::Felt(fault, proof) => observer.felt(fault, proof),
                Report::Lost(from, to) => observer.reply_lost(from, to),
            }
        }
    }

    fn panicked(&self, host: HostId, message: String) {
        self.machine(host).kill();
        let observer = self.observer.borrow().clone();
        if let Some(observer) = observer {
            observer.panicked(host, message);
        }
    }

    /// Starts a task in the present process of a host; a host that is down drops it.
    fn start_task(&self, on: HostId, kind: Kind, future: LocalBoxFuture<'static, ()>) -> Option<(Rc<Process>, Rc<TaskCell>)> {
        let machine = self.machine(on);
        let process = machine.process.borrow().clone()?;
        let task = process.add(kind, future);
        if self.current.get() == Some(on) {
            machine::run(&self.rc(), process.clone(), task.clone());
        } else {
            machine.order(Order::Start(process.clone(), task.clone()));
        }
        Some((process, task))
    }
}
