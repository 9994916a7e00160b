//! What classes draw with: one stream of random numbers, and what they draw for.

use crate::id::HostId;
use crate::plan::{Fault, Harm, Target, Trigger};
use crate::scenario::Scenario;
use crate::seed::{Rng, Seed};
use crate::settlement::Calendar;
use crate::step::Step;
use crate::time::{SimTime, millis};
use crate::trace::Phase;
use rand::RngExt;
use rand::seq::{IndexedRandom, SliceRandom};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::time::Duration;

/// Faults at a time strike within this long after a boundary, real time: as long as the default job and its jitter take.
const NEAR: Duration = Duration::from_secs(125);

/// How many of a hundred faults that strike one node strike at a step.
const AT_A_STEP: u32 = 75;

/// The `nth` occurrence of a step is drawn up to this, so that later periods are struck too.
const LATEST_OCCURRENCE: u32 = 4;

/// One draw.
pub struct Draw<'a> {
    /// Its own stream of random numbers.
    pub rng: Rng,
    /// What is deployed.
    pub scenario: &'a Scenario,
    /// Its boundaries.
    pub calendar: &'a Calendar,
    /// The steps of its strategy.
    pub steps: &'a [Step],
    /// From which draws within this one get streams of their own.
    seed: Seed,
    /// Strength: 100 = the catalogue's magnitudes.
    percent: u32,
}

impl<'a> Draw<'a> {
    /// A draw of full strength.
    pub fn new(seed: Seed, name: &str, scenario: &'a Scenario, calendar: &'a Calendar, steps: &'a [Step]) -> Draw<'a> {
        Draw { rng: seed.fork(name).rng(), scenario, calendar, steps, seed, percent: 100 }
    }

    /// A draw within this one, with a stream and a strength of its own.
    pub fn within(&self, name: &str, percent: u32) -> Draw<'a> {
        Draw { percent, ..Draw::new(self.seed, name, self.scenario, self.calendar, self.steps) }
    }

    /// No stronger than the catalogue: for what has to be over at a certain time.
    pub fn unstretched(&mut self) {
        self.percent = self.percent.min(100);
    }

    /// A harm that strikes one node: at a step the one that is in it, near a boundary any.
    pub fn on_a_node(&mut self, harm: impl Fn(&mut Self, Target) -> Harm) -> Vec<Fault> {
        self.on_a_node_in(|_| true, harm)
    }

    /// As [`Draw::on_a_node`], at those steps that qualify.
    pub fn on_a_node_in(&mut self, qualifies: impl Fn(Step) -> bool, harm: impl Fn(&mut Self, Target) -> Harm) -> Vec<Fault> {
        let (host, when) = match self.step(qualifies) {
            Some(step) if self.at_a_step() => (Target::Self_, self.in_step(step)),
            _ => (self.node(), self.near_a_boundary()),
        };
        vec![harm(self, host).when(when)]
    }

    /// Whether a fault that can strike at a step or at a time strikes at a step.
    pub fn at_a_step(&mut self) -> bool {
        self.rng.random_range(0..100) < AT_A_STEP
    }

    /// A random step of those that qualify.
    pub fn step(&mut self, qualifies: impl Fn(Step) -> bool) -> Option<Step> {
        let steps: Vec<Step> = self.steps.iter().copied().filter(|s| qualifies(*s)).collect();
        steps.choose(&mut self.rng).copied()
    }

    /// A random phase of a step. Work sends nothing, so it is never in between.
    ///
    /// # Panics
    /// Never: a step has phases.
    pub fn in_step(&mut self, step: Step) -> Trigger {
        let phases: &[Phase] = if step.is_work() { &[Phase::Before, Phase::After] } else { &[Phase::Before, Phase::Sent, Phase::After] };
        let phase = *phases.choose(&mut self.rng).expect("a step has phases");
        self.in_phase(step, phase)
    }

    /// A random occurrence of a phase. Every period brings each step at least once in calm.
    pub fn in_phase(&mut self, step: Step, phase: Phase) -> Trigger {
        let periods = u32::try_from(self.calendar.periods.len()).unwrap_or(u32::MAX);
        Trigger::nth(step.name, phase, self.rng.random_range(1..=periods.min(LATEST_OCCURRENCE)))
    }

    /// A time shortly after a boundary.
    pub fn near_a_boundary(&mut self) -> Trigger {
        let boundary = self.boundary();
        let after = self.rng.random_range(0..=millis(NEAR / self.scale()));
        Trigger::At { at_ms: boundary + Duration::from_millis(after) }
    }

    /// When a random period ends.
    ///
    /// # Panics
    /// If the calendar watches no period, which [`crate::settlement::Schedule::calendar`] rules out.
    pub fn boundary(&mut self) -> SimTime {
        let period = *self.calendar.periods.choose(&mut self.rng).expect("a calendar watches at least one period");
        self.calendar.due(period)
    }

    /// What concerns the lease store: where the strategy asks several, the same of one, of most of them or of all.
    /// Where there is one, nothing is drawn.
    ///
    /// # Panics
    /// Never: there are three ways.
    pub fn at_stores(&mut self, fault: &Fault) -> Vec<Fault> {
        let steps = self.steps;
        let mut stores = lease_stores(steps);
        if stores.len() < 2 {
            return vec![fault.clone()];
        }
        let all = stores.len();
        let many = *[1, all / 2 + 1, all].choose(&mut self.rng).expect("three");
        stores.shuffle(&mut self.rng);
        stores.truncate(many);
        stores.into_iter().map(|store| fault.harm.clone().at_store(store).when(fault.when.clone())).collect()
    }

    /// A random node.
    pub fn node(&mut self) -> Target {
        Target::Host(HostId::node(self.rng.random_range(0..self.scenario.nodes.max(1))))
    }

    /// A random duration between two real ones, as [`Draw::length`].
    pub fn between(&mut self, range: RangeInclusive<Duration>) -> Duration {
        let real = self.rng.random_range(millis(*range.start())..=millis(*range.end()));
        self.length(Duration::from_millis(real))
    }

    /// A random duration up to one that is in this scenario's scale already.
    pub fn up_to(&mut self, most: Duration) -> Duration {
        Duration::from_millis(self.rng.random_range(0..=millis(most)))
    }

    /// A real duration in this scenario's scale, at this draw's strength: whole milliseconds, at least one.
    pub fn length(&self, real: Duration) -> Duration {
        Duration::from_millis(millis(real * self.percent / 100 / self.scale()).max(1))
    }

    /// The same for offsets in milliseconds.
    pub fn milliseconds(&self, real: i64) -> i64 {
        real * i64::from(self.percent) / 100 / i64::from(self.scale())
    }

    fn scale(&self) -> u32 {
        self.scenario.time_scale.max(1)
    }
}

/// The lease stores that a strategy with these steps asks, in index order.
pub fn lease_stores(steps: &[Step]) -> Vec<HostId> {
    let stores: BTreeSet<HostId> = steps.iter().filter_map(|step| step.peer).filter(|peer| is_lease_store(*peer)).collect();
    stores.into_iter().collect()
}

/// Whether a host is a lease store.
pub fn is_lease_store(host: HostId) -> bool {
    matches!(host, HostId::Lease | HostId::FurtherLease(_))
}
