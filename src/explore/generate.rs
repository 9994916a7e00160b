//! Draws fault plans: for each class of faults, plans with the catalogue's magnitudes that are
//! more often felt than not. Three in four strike at a step of the strategy, the others at a
//! time while the nodes are likely to be at work.
//!
//! A drawn plan is a pure function of class, seed, scenario and the strategy's step names. It
//! is complete in itself; nothing has to be drawn again to replay it.

use crate::id::HostId;
use crate::plan::{Direction, Fault, FaultClass, FaultPlan, Harm, Target, Trigger};
use crate::scenario::Scenario;
use crate::seed::{Rng, Seed};
use crate::settlement::Calendar;
use crate::strategy::Strategy;
use crate::time::{SimTime, Span, millis};
use crate::trace::{Phase, StepName};
use rand::RngExt;
use rand::seq::IndexedRandom;
use std::ops::RangeInclusive;
use std::time::Duration;

/// Faults at a time strike within this long after a boundary, real time: as long as the default job and its jitter take.
const NEAR: Duration = Duration::from_secs(125);

/// How many of a hundred faults that strike one node strike at a step.
const AT_A_STEP: u32 = 75;

/// An outage begins this long before a boundary and ends [`OUTAGE_ENDS`] after it, real time.
const OUTAGE_BEGINS: Duration = Duration::from_mins(5);

/// No fault that strikes at a time is healed later than this after the last boundary, real time.
const OUTAGE_ENDS: Duration = Duration::from_hours(2);

/// The `nth` occurrence of a step is drawn up to this, so that later periods are struck too.
const LATEST_OCCURRENCE: u32 = 4;

/// Clock offsets of the class skew lie between minus and plus this, in real milliseconds.
const SKEW_MS: i64 = 5 * 60_000;

/// One pair of clocks is at least this far apart, in real milliseconds.
const SKEW_APART_MS: i64 = 4 * 60_000;

/// A plan of this class.
#[must_use]
pub fn plan(class: FaultClass, seed: Seed, scenario: &Scenario, calendar: &Calendar, strategy: &dyn Strategy) -> FaultPlan {
    let seed = seed.fork("plan");
    let draw = |name: &str, percent| {
        let rng = seed.fork(name).rng();
        Draw { rng, scenario, calendar, steps: strategy.steps(), percent }
    };
    match class {
        FaultClass::Swarm => swarm(draw),
        single => FaultPlan::of(draw(single.name(), 100).faults(single)),
    }
}

/// When every drawn fault that strikes at a time has healed. A run should last a liveness
/// bound longer. Faults that strike at a step last at most [`longest_at_a_step`].
///
/// # Panics
/// If the calendar watches no period, which [`crate::settlement::Schedule::calendar`] rules out.
#[must_use]
pub fn healed_by(scenario: &Scenario, calendar: &Calendar) -> SimTime {
    let last = calendar.periods.last().expect("a calendar watches at least one period");
    calendar.due(*last) + OUTAGE_ENDS / scenario.time_scale.max(1)
}

/// How long the longest drawn fault that strikes at a step lasts: one and a half times a slow step of 43 minutes.
#[must_use]
pub fn longest_at_a_step(scenario: &Scenario) -> Duration {
    43.minutes() * 3 / 2 / scenario.time_scale.max(1)
}

/// The server that a step talks to, by its name; `None` for work, which talks to nobody.
#[must_use]
pub fn peer(step: StepName) -> Option<HostId> {
    match step {
        s if s.starts_with("work") => None,
        s if s.starts_with("lease") => Some(HostId::Lease),
        s if s.starts_with("pay") => Some(HostId::Payout),
        _ => Some(HostId::Database),
    }
}

/// One to four faults of mixed classes, each of its own strength. At most one of them is an
/// outage, and that one is not stretched: it has to be over within [`healed_by`].
fn swarm<'a>(draw: impl Fn(&str, u32) -> Draw<'a>) -> FaultPlan {
    let mut rng = draw("swarm", 100).rng;
    let mut classes: Vec<FaultClass> = FaultClass::ALL.into_iter().filter(|c| !matches!(c, FaultClass::Calm | FaultClass::Swarm)).collect();
    let mut faults = Vec::new();
    for n in 0..rng.random_range(1..=4) {
        let class = *classes.choose(&mut rng).expect("no class but outage and skew is ever taken out");
        let percent = rng.random_range(10..=150);
        let percent = if class == FaultClass::Outage { percent.min(100) } else { percent };
        faults.extend(draw(&format!("swarm {n}"), percent).faults(class));
        if matches!(class, FaultClass::Outage | FaultClass::Skew) {
            classes.retain(|c| *c != class);
        }
    }
    FaultPlan { faults }
}

/// One draw: its own stream of random numbers, and what it draws for.
struct Draw<'a> {
    rng: Rng,
    scenario: &'a Scenario,
    calendar: &'a Calendar,
    steps: &'static [StepName],
    /// Strength: 100 = the catalogue's magnitudes.
    percent: u32,
}

impl Draw<'_> {
    /// The faults of one class: one fault, or a set that belongs together.
    fn faults(&mut self, class: FaultClass) -> Vec<Fault> {
        match class {
            FaultClass::Calm | FaultClass::Swarm => Vec::new(),
            FaultClass::Skew => self.skew(),
            FaultClass::Crash => self.on_a_node(|draw, host| Harm::Crash { host, back_after: draw.length(5.minutes()) }),
            FaultClass::Power => self.on_a_node(|draw, host| Harm::Power { host, back_after: draw.length(5.minutes()) }),
            FaultClass::Pause => self.on_a_node(|draw, host| Harm::Pause { host, lasts: draw.length(40.minutes()) }),
            FaultClass::Partition => self.on_a_node(Draw::partition),
            FaultClass::Slow => self.slow(),
            FaultClass::ReplyLost => self.reply_lost(),
            FaultClass::JobError => self.job_error(),
            FaultClass::Outage => self.outage(),
        }
    }

    /// A harm that strikes one node: at a step the one that is in it, near a boundary any.
    fn on_a_node(&mut self, harm: impl Fn(&mut Self, Target) -> Harm) -> Vec<Fault> {
        let (host, when) = match self.step(|_| true) {
            Some(step) if self.rng.random_range(0..100) < AT_A_STEP => (Target::Self_, self.in_step(step)),
            _ => (self.node(), self.near_a_boundary()),
        };
        vec![harm(self, host).when(when)]
    }

    fn partition(&mut self, host: Target) -> Harm {
        let direction = *[Direction::Both, Direction::Both, Direction::Outbound, Direction::Inbound].choose(&mut self.rng).expect("four");
        Harm::Partition { host, from: Target::Everyone, direction, lasts: self.length(40.minutes()) }
    }

    /// Constant offsets of all nodes and the lease store, two of them far apart.
    fn skew(&mut self) -> Vec<Fault> {
        let mut hosts: Vec<HostId> = (0..self.scenario.nodes).map(HostId::node).chain([HostId::Lease]).collect();
        let (most, apart) = (self.milliseconds(SKEW_MS), self.milliseconds(SKEW_APART_MS));
        let slow = self.rng.random_range(-most..=most - apart);
        let fast = self.rng.random_range(slow + apart..=most);
        let mut faults = Vec::with_capacity(hosts.len());
        for n in 0..hosts.len() {
            let host = hosts.swap_remove(self.rng.random_range(0..hosts.len()));
            let by_ms = match n {
                0 => slow,
                1 => fast,
                _ => self.rng.random_range(-most..=most),
            };
            faults.push(Harm::ClockOffset { host: Target::Host(host), by_ms }.when(Trigger::start()));
        }
        faults
    }

    /// The job outlasts any lease, or everything that one node asks of one server is late.
    fn slow(&mut self) -> Vec<Fault> {
        match self.step(is_work) {
            Some(step) if self.rng.random() => {
                let when = self.in_phase(step, Phase::Before);
                vec![Harm::SlowStep { extra: self.length(43.minutes()) }.when(when)]
            }
            _ => {
                let host = self.node();
                let from =
                    *[Target::Everyone, Target::Host(HostId::Lease), Target::Host(HostId::Database)].choose(&mut self.rng).expect("three");
                let (extra, lasts) = (self.between(1.seconds()..=10.seconds()), self.between(5.minutes()..=15.minutes()));
                vec![Harm::Late { host, from, extra, lasts }.when(self.near_a_boundary())]
            }
        }
    }

    /// The answer to one client operation is lost. A strategy without client operations cannot lose any.
    fn reply_lost(&mut self) -> Vec<Fault> {
        let Some(step) = self.step(|s| peer(s).is_some()) else { return Vec::new() };
        let from = Target::Host(peer(step).expect("chosen because it has one"));
        vec![Harm::ReplyLost { host: Target::Self_, from }.when(self.in_phase(step, Phase::Before))]
    }

    /// The job fails, once or several times. A strategy without a step of work cannot be struck.
    fn job_error(&mut self) -> Vec<Fault> {
        let Some(step) = self.step(is_work) else { return Vec::new() };
        let times = if self.rng.random() { 1 } else { self.rng.random_range(2..=5) };
        vec![Harm::JobError { times }.when(self.in_phase(step, Phase::Before))]
    }

    /// No node is alive from shortly before a boundary until long after it.
    fn outage(&mut self) -> Vec<Fault> {
        let (begins, ends) = (self.length(OUTAGE_BEGINS), self.length(OUTAGE_ENDS));
        let when = Trigger::At { at_ms: self.boundary() - begins };
        let (host, back_after) = (Target::AllNodes, begins + ends);
        let harm = if self.rng.random() { Harm::Power { host, back_after } } else { Harm::Crash { host, back_after } };
        vec![harm.when(when)]
    }

    /// A random step of those that qualify.
    fn step(&mut self, qualifies: impl Fn(StepName) -> bool) -> Option<StepName> {
        let steps: Vec<StepName> = self.steps.iter().copied().filter(|s| qualifies(s)).collect();
        steps.choose(&mut self.rng).copied()
    }

    /// A random phase of a step. Work sends nothing, so it is never in between.
    fn in_step(&mut self, step: StepName) -> Trigger {
        let phases: &[Phase] = if is_work(step) { &[Phase::Before, Phase::After] } else { &[Phase::Before, Phase::Sent, Phase::After] };
        let phase = *phases.choose(&mut self.rng).expect("a step has phases");
        self.in_phase(step, phase)
    }

    /// A random occurrence of a phase. Every period brings each step at least once in calm.
    fn in_phase(&mut self, step: StepName, phase: Phase) -> Trigger {
        let periods = u32::try_from(self.calendar.periods.len()).unwrap_or(u32::MAX);
        Trigger::nth(step, phase, self.rng.random_range(1..=periods.min(LATEST_OCCURRENCE)))
    }

    fn near_a_boundary(&mut self) -> Trigger {
        let boundary = self.boundary();
        let after = self.rng.random_range(0..=millis(NEAR / self.scale()));
        Trigger::At { at_ms: boundary + after.ms() }
    }

    fn boundary(&mut self) -> SimTime {
        let period = *self.calendar.periods.choose(&mut self.rng).expect("a calendar watches at least one period");
        self.calendar.due(period)
    }

    fn node(&mut self) -> Target {
        Target::Host(HostId::node(self.rng.random_range(0..self.scenario.nodes.max(1))))
    }

    fn between(&mut self, range: RangeInclusive<Duration>) -> Duration {
        let real = self.rng.random_range(millis(*range.start())..=millis(*range.end()));
        self.length(real.ms())
    }

    /// A real duration in this scenario's scale, at this draw's strength: whole milliseconds, at least one.
    fn length(&self, real: Duration) -> Duration {
        Duration::from_millis(millis(real * self.percent / 100 / self.scale()).max(1))
    }

    /// The same for offsets.
    fn milliseconds(&self, real: i64) -> i64 {
        real * i64::from(self.percent) / 100 / i64::from(self.scale())
    }

    fn scale(&self) -> u32 {
        self.scenario.time_scale.max(1)
    }
}

fn is_work(step: StepName) -> bool {
    peer(step).is_none()
}
