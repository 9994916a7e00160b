//! Plans, drawn: those of a fault class with some of their faults left out, and free ones, which
//! no class would draw: any harm on any host, at any step or around any boundary.

use onceproof::class::FaultClass;
use onceproof::id::HostId;
use onceproof::plan::{Direction, Fault, FaultPlan, Harm, Target, Trigger};
use onceproof::scenario::Scenario;
use onceproof::seed::Seed;
use onceproof::settlement::Calendar;
use onceproof::step::Step;
use onceproof::time::{SimTime, Span, millis};
use onceproof::trace::Phase;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use std::time::Duration;

/// Most faults of a free plan.
const MOST: usize = 5;

/// No free fault makes a clock wrong by more than this: one and a half times the class skew.
pub const WRONG_BY: Duration = Duration::from_secs(450);

/// A clock runs wrong by at most this, in parts per million.
const MOST_PPM: i64 = 20_000;

/// A free fault at a time strikes from this long before a boundary.
const BEFORE: Duration = Duration::from_mins(10);

/// To this long after it.
const AFTER: Duration = Duration::from_mins(30);

/// A plan that waits to hear whom it may strike.
#[derive(Clone, Debug)]
pub enum Draft {
    /// Of a class, drawn by its generator; `kept` says which of its faults stay.
    Class { class: FaultClass, kept: Vec<bool> },
    /// Of anything.
    Free(Vec<Free>),
}

/// One fault of a free plan.
#[derive(Clone, Debug)]
pub struct Free {
    harm: Hurt,
    victim: Victim,
    when: When,
}

#[derive(Clone, Copy, Debug)]
enum Hurt {
    Crash(Duration),
    Power(Duration),
    Pause(Duration),
    Partition {
        from: Side,
        direction: Direction,
        lasts: Duration,
    },
    ReplyLost(Side),
    Late {
        from: Side,
        extra: Duration,
        lasts: Duration,
    },
    SlowStep(Duration),
    JobError(u32),
    /// In thousandths of [`WRONG_BY`].
    ClockOffset(i64),
    /// In thousandths of [`MOST_PPM`], until it is set right; or of what adds up to [`WRONG_BY`] over the run.
    ClockDrift(i64, Option<Duration>),
    LeaseWipe(Duration),
    LeaseEvict,
    LeaseFailover {
        lag: Duration,
        back_after: Duration,
    },
    LeaseStall(Duration),
}

#[derive(Clone, Copy, Debug)]
enum Victim {
    Node(Index),
    Nodes,
    Server(HostId),
    /// Whoever makes the step.
    Itself,
}

#[derive(Clone, Copy, Debug)]
enum Side {
    Everyone,
    Host(HostId),
    /// The server that the step talks to.
    Peer,
}

#[derive(Clone, Debug)]
enum When {
    Step {
        step: Index,
        phase: Phase,
        nth: u32,
    },
    /// Milliseconds after [`BEFORE`] a boundary.
    At {
        boundary: Index,
        after: u64,
    },
}

/// A plan of some class.
pub fn of_a_class() -> impl Strategy<Value = Draft> {
    let kept = prop::collection::vec(prop::bool::weighted(0.9), 8);
    (select(&FaultClass::ALL[..]), kept).prop_map(|(class, kept)| Draft::Class { class, kept })
}

/// A plan of anything.
pub fn free() -> impl Strategy<Value = Draft> {
    let fault = (hurt(), victim(), when()).prop_map(|(harm, victim, when)| Free { harm, victim, when });
    prop::collection::vec(fault, 1..=MOST).prop_map(Draft::Free)
}

impl Draft {
    /// The class that a witness names.
    pub fn class(&self) -> FaultClass {
        match self {
            Draft::Class { class, .. } => *class,
            Draft::Free(_) => FaultClass::Swarm,
        }
    }

    /// The plan for a deployment.
    pub fn plan(&self, seed: Seed, scenario: &Scenario, calendar: &Calendar, steps: &[Step]) -> FaultPlan {
        match self {
            Draft::Class { class, kept } => {
                let drawn = class.plan(seed, scenario, calendar, steps).faults;
                let stays = |n: usize| kept.get(n).copied().unwrap_or(true);
                FaultPlan::of(drawn.into_iter().enumerate().filter(|(n, _)| stays(*n)).map(|(_, fault)| fault))
            }
            Draft::Free(faults) => FaultPlan::of(faults.iter().map(|fault| fault.fault(scenario, calendar, steps))),
        }
    }
}

impl Free {
    /// The fault for a deployment. What needs a step has one, and a step that fails is one of the work.
    fn fault(&self, scenario: &Scenario, calendar: &Calendar, steps: &[Step]) -> Fault {
        let needs_step = matches!(self.harm, Hurt::SlowStep(_) | Hurt::JobError(_));
        let steps: Vec<&str> = steps.iter().filter(|step| !needs_step || step.is_work()).map(|step| step.name).collect();
        let when = match self.when {
            When::Step { step, phase, nth } => Trigger::nth(steps[step.index(steps.len())], phase, nth),
            When::At { after, .. } if needs_step => Trigger::nth(steps[after as usize % steps.len()], Phase::Before, 1),
            When::At { boundary, after } => {
                let due = calendar.due(*boundary.get(&calendar.periods));
                Trigger::At { at_ms: due - BEFORE + after.ms() }
            }
        };
        let node = |index: Index| Target::Host(HostId::node(index.index(usize::from(scenario.nodes)) as u8));
        let host = match self.victim {
            Victim::Node(index) => node(index),
            Victim::Nodes => Target::AllNodes,
            Victim::Server(server) => Target::Host(server),
            Victim::Itself => match when {
                Trigger::Step { .. } => Target::Self_,
                Trigger::At { .. } => Target::Host(HostId::node(0)),
            },
        };
        let at_a_step = matches!(when, Trigger::Step { .. });
        self.harm.harm(host, at_a_step, run_length(calendar)).when(when)
    }
}

impl Hurt {
    fn harm(self, host: Target, at_a_step: bool, run: Duration) -> Harm {
        let side = |side: Side| match side {
            Side::Everyone => Target::Everyone,
            Side::Host(host) => Target::Host(host),
            Side::Peer if at_a_step => Target::Peer,
            Side::Peer => Target::Host(HostId::Database),
        };
        let wrong_by = millis(WRONG_BY).cast_signed();
        // The database decides what is due: a wrong clock of its own is another question.
        let whose = if host == Target::Host(HostId::Database) { Target::Host(HostId::Lease) } else { host };
        match self {
            Hurt::Crash(back_after) => Harm::Crash { host, back_after },
            Hurt::Power(back_after) => Harm::Power { host, back_after },
            Hurt::Pause(lasts) => Harm::Pause { host, lasts },
            Hurt::Partition { from, direction, lasts } => Harm::Partition { host, from: side(from), direction, lasts },
            Hurt::ReplyLost(from) => Harm::ReplyLost { host, from: side(from) },
            Hurt::Late { from, extra, lasts } => Harm::Late { host, from: side(from), extra, lasts },
            Hurt::SlowStep(extra) => Harm::SlowStep { extra },
            Hurt::JobError(times) => Harm::JobError { times },
            Hurt::ClockOffset(thousandths) => Harm::ClockOffset { host: whose, by_ms: wrong_by * thousandths / 1_000 },
            Hurt::ClockDrift(thousandths, lasts) => {
                let over_the_run = wrong_by * 1_000_000 / millis(run).cast_signed();
                let most = if lasts.is_some() { MOST_PPM } else { over_the_run.min(MOST_PPM) };
                Harm::ClockDrift { host: whose, ppm: (most * thousandths / 1_000) as i32, lasts }
            }
            Hurt::LeaseWipe(back_after) => Harm::LeaseWipe { store: HostId::Lease, back_after },
            Hurt::LeaseEvict => Harm::LeaseEvict { store: HostId::Lease },
            Hurt::LeaseFailover { lag, back_after } => Harm::LeaseFailover { store: HostId::Lease, lag, back_after },
            Hurt::LeaseStall(lasts) => Harm::LeaseStall { store: HostId::Lease, lasts },
        }
    }
}

/// From the beginning to the last boundary and a day.
fn run_length(calendar: &Calendar) -> Duration {
    let last = calendar.periods.last().expect("a calendar is never empty");
    calendar.due(*last).since(SimTime::ZERO) + 24.hours()
}

fn hurt() -> impl Strategy<Value = Hurt> {
    let direction = select(&[Direction::Both, Direction::Outbound, Direction::Inbound][..]);
    prop_oneof![
        3 => lasting().prop_map(Hurt::Crash),
        2 => lasting().prop_map(Hurt::Power),
        3 => lasting().prop_map(Hurt::Pause),
        3 => (side(), direction, lasting()).prop_map(|(from, direction, lasts)| Hurt::Partition { from, direction, lasts }),
        3 => server().prop_map(Hurt::ReplyLost),
        2 => (side(), 1..10_000_u64, lasting()).prop_map(|(from, extra, lasts)| Hurt::Late { from, extra: extra.ms(), lasts }),
        2 => lasting().prop_map(Hurt::SlowStep),
        2 => (1..=5_u32).prop_map(Hurt::JobError),
        2 => (-1_000..=1_000_i64).prop_map(Hurt::ClockOffset),
        1 => (-1_000..=1_000_i64, prop::option::of(lasting())).prop_map(|(thousandths, lasts)| Hurt::ClockDrift(thousandths, lasts)),
        2 => lasting().prop_map(Hurt::LeaseWipe),
        1 => Just(Hurt::LeaseEvict),
        2 => (lasting(), lasting()).prop_map(|(lag, back_after)| Hurt::LeaseFailover { lag, back_after }),
        1 => lasting().prop_map(Hurt::LeaseStall),
    ]
}

fn victim() -> impl Strategy<Value = Victim> {
    prop_oneof![
        4 => any::<Index>().prop_map(Victim::Node),
        3 => Just(Victim::Itself),
        1 => Just(Victim::Nodes),
        2 => select(&HostId::FIXED[..]).prop_map(Victim::Server),
    ]
}

fn side() -> impl Strategy<Value = Side> {
    prop_oneof![Just(Side::Everyone), server()]
}

fn server() -> impl Strategy<Value = Side> {
    prop_oneof![select(&HostId::FIXED[..]).prop_map(Side::Host), Just(Side::Peer)]
}

fn when() -> impl Strategy<Value = When> {
    let phase = select(&[Phase::Before, Phase::Sent, Phase::After][..]);
    let window = millis(BEFORE + AFTER);
    prop_oneof![
        3 => (any::<Index>(), phase, 1..=6_u32).prop_map(|(step, phase, nth)| When::Step { step, phase, nth }),
        1 => (any::<Index>(), 0..=window).prop_map(|(boundary, after)| When::At { boundary, after }),
    ]
}

/// Around one latency, around a timeout, around a lease, or longer than any.
fn lasting() -> impl Strategy<Value = Duration> {
    prop_oneof![1..200_u64, 200..20_000_u64, 20_000..600_000_u64, 600_000..5_400_000_u64].prop_map(Span::ms)
}
