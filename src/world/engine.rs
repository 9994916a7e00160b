//! What a network simulator must offer so that a world can run on it. Two do: [`event`], which
//! jumps from event to event, and [`turmoil`], an independent network.

pub mod event;
pub mod turmoil;

use crate::host::{Duplex, Listen, Task};
use crate::id::{FaultId, HostId};
use crate::seed::Seed;
use crate::step::Step;
use crate::time::SimTime;
use crate::trace::Proof;
use futures_util::future::LocalBoxFuture;
use std::io;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Set once somebody wants no run of this process to go on: each that is on ends soon, and has no result.
pub static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// So many rounds may pass until a run looks at [`INTERRUPTED`].
const ROUNDS_UNTIL_LOOKED: u64 = 1024;

/// Whether a run that has made so many rounds is to end.
fn interrupted(rounds: u64) -> bool {
    rounds.is_multiple_of(ROUNDS_UNTIL_LOOKED) && INTERRUPTED.load(Ordering::Relaxed)
}

/// Starts the code of a host, each time its process starts.
pub type Boot = Rc<dyn Fn() -> LocalBoxFuture<'static, ()>>;

/// A network of hosts in true time. Methods that harm take effect at once, or, on an engine
/// that advances in ticks, before its next tick. None of them records anything but what is
/// said; the world writes the history.
pub trait Engine {
    /// True time.
    fn now(&self) -> SimTime;

    /// Opens a stream from one host to another.
    fn connect(&self, from: HostId, to: HostId) -> LocalBoxFuture<'static, io::Result<Box<dyn Duplex>>>;
    /// Starts to listen on a host.
    fn listen(&self, on: HostId) -> LocalBoxFuture<'static, io::Result<Box<dyn Listen>>>;
    /// Runs a task in the present process of a host.
    fn spawn(&self, on: HostId, name: &'static str, task: LocalBoxFuture<'static, ()>) -> Task;
    /// Sleeps in true time.
    fn sleep(&self, d: Duration) -> LocalBoxFuture<'static, ()>;
    /// Calls back outside any host at a true time (now, if it is past).
    fn call_at(&self, at: SimTime, call: Box<dyn FnOnce()>);
    /// Smallest one-way latency.
    fn min_latency(&self) -> Duration;

    /// Kills a process: all its tasks are dropped, its kernel closes its sockets (what was written still leaves).
    fn crash(&self, host: HostId);
    /// Cuts a host's power: silence, then all its tasks are dropped.
    fn power_off(&self, host: HostId);
    /// Starts a new process on a host that is down.
    fn restart(&self, host: HostId);
    /// Stops scheduling a process: none of its tasks is polled, timers become overdue, data queues.
    fn pause(&self, host: HostId);
    /// Schedules a paused process again.
    fn resume(&self, host: HostId);

    /// Stops segments from one host to another. Blocks nest. Whoever has a segment held back because of it makes `fault` felt.
    fn block(&self, from: HostId, to: HostId, fault: FaultId);
    /// Takes one block away.
    fn unblock(&self, from: HostId, to: HostId, fault: FaultId);
    /// Delays every segment from one host to another by `extra` more, until told otherwise; zero = no delay.
    fn delay(&self, from: HostId, to: HostId, extra: Duration, fault: FaultId);
    /// The next data segment from one host to another is lost for good, and that direction of its connection stays silent.
    fn lose_next(&self, from: HostId, to: HostId, fault: FaultId);
}

/// What an engine tells the world while it runs.
pub trait Observer {
    /// Something that happened in the network, for the digest only.
    fn note(&self, at: SimTime, word: u64);
    /// A fault was noticed by a host.
    fn felt(&self, fault: FaultId, proof: Proof);
    /// A reply vanished.
    fn reply_lost(&self, from: HostId, to: HostId);
    /// The code of a host panicked. Its process is dead afterwards, as after a crash.
    fn panicked(&self, host: HostId, message: String);
}

/// What both engines need to know before they start.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Decides latencies, ties and the order of ready tasks.
    pub seed: Seed,
    /// Smallest one-way latency, at least 1 ms.
    pub latency_min: Duration,
    /// Largest one-way latency.
    pub latency_max: Duration,
    /// When the run ends.
    pub until: SimTime,
    /// How many task polls the run may need before it is cut.
    pub poll_budget: u64,
}

/// A run goes as it would, and from a true time on everything that is left to luck is drawn anew. Only the event engine can.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reseed {
    /// What happens before this time is as it was.
    pub at: SimTime,
    /// From which everything is drawn from then on.
    pub seed: Seed,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Its horizon was reached.
    Horizon,
    /// It was cut: more task polls than a run may need. Something spins.
    StepBudget,
}

/// Code of a host did what cannot be simulated faithfully. Never a finding; the run has no result.
#[expect(missing_docs, reason = "the fields are named after what they are")]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// A tokio timer was started in a world without one.
    #[error(
        "the code of {host} started a tokio timer, which simulated time does not drive; use `Context::sleep` (or the host's `sleep`) instead of `tokio::time`"
    )]
    TokioTimer { host: HostId },
    /// A task was spawned behind the engine's back.
    #[error(
        "the code of {host} called `tokio::spawn`, whose task would escape crashes and pauses; use `Context::spawn` (or the host's `spawn`) instead"
    )]
    TokioSpawn { host: HostId },
    /// A guard that needs more than the simulated servers offer cannot be judged on them.
    #[error(
        "the simulated {host} was asked for something that it does not offer: {what}; a guard that needs it cannot be judged here yet, README.md lists what there is"
    )]
    NotOffered { host: HostId, what: String },
    /// Steps of which no fault plan knows what they are: nothing would ever go wrong in them.
    #[error(
        "the strategy makes steps that its `steps` do not declare, so that no fault would ever strike in them; add {}",
        declared(steps)
    )]
    Undeclared { steps: Vec<Step> },
    /// The engine draws where nobody can reach.
    #[error("runs on turmoil cannot be drawn anew from a moment on; use the event engine")]
    NotReseeded,
    /// Whoever asked for it does not want to wait any longer.
    #[error("the run was interrupted")]
    Interrupted,
}

/// Steps as a strategy declares them.
fn declared(steps: &[Step]) -> String {
    let told = |step: &Step| {
        let kind = match step.peer {
            None => "work",
            Some(HostId::Lease) => "lease",
            Some(HostId::Payout) => "payout",
            Some(HostId::Database) => "database",
            Some(server) => return format!("`Step::of(\"{}\", …)` to `{server}`", step.name),
        };
        format!("`Step::{kind}(\"{}\")`", step.name)
    };
    steps.iter().map(told).collect::<Vec<_>>().join(", ")
}
