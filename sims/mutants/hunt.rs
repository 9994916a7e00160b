//! Looking for a run in which a defect shows: at random, with swarms, by enumeration.

use onceproof::class::FaultClass;
use onceproof::explore::cell::{Cell, RunKey, Surprise, Tally};
use onceproof::explore::{Mark, Subject, observe};
use onceproof::id::HostId;
use onceproof::plan::{Direction, FaultPlan, Harm, Target, Trigger};
use onceproof::scenario::Scenario;
use onceproof::seed::Seed;
use onceproof::strategy::Pinned;
use onceproof::time::Span;
use onceproof::trace::{Event, Phase, StepName};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// From which all seeds of a hunt come.
pub const BASE: Seed = Seed(1);

/// A way to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Search {
    /// One class of faults after the other, as `verify` draws them; calm first.
    Random,
    /// Mixed faults.
    Swarm,
    /// Every single fault at every step of a calm run.
    Enumeration,
}

/// A run to make: the class it counts for, its seed, and what goes wrong.
pub type Trial = (FaultClass, Seed, FaultPlan);

impl Search {
    /// All of them, in the order of the table's columns.
    pub const ALL: [Search; 3] = [Search::Random, Search::Swarm, Search::Enumeration];

    /// The name of its column.
    pub fn name(self) -> &'static str {
        match self {
            Search::Random => "random",
            Search::Swarm => "swarm",
            Search::Enumeration => "enumeration",
        }
    }

    /// How many periods the runs of this search have.
    pub fn periods(self) -> u32 {
        match self {
            Search::Random | Search::Swarm => 3,
            Search::Enumeration => 1,
        }
    }

    /// The first runs of this search, at most `most`.
    pub fn trials(self, subject: &dyn Subject, base: Seed, most: u64) -> Vec<Trial> {
        match self {
            Search::Random => {
                let strikes = |class: &FaultClass| *class != FaultClass::Swarm && class.misses(subject.strategy().steps()).is_none();
                let classes: Vec<FaultClass> = FaultClass::ALL.into_iter().filter(strikes).collect();
                let drawn = |n: u64| drawn(subject, base, classes[(n % classes.len() as u64) as usize], n / classes.len() as u64);
                (0..most).map(drawn).collect()
            }
            Search::Swarm => (0..most).map(|n| drawn(subject, base, FaultClass::Swarm, n)).collect(),
            Search::Enumeration => {
                let all = enumerated(subject).into_iter().map(|(class, plan)| (class, base, plan));
                all.take(usize::try_from(most).unwrap_or(usize::MAX)).collect()
            }
        }
    }
}

/// The `n`th run of a class.
pub fn drawn(subject: &dyn Subject, base: Seed, class: FaultClass, n: u64) -> Trial {
    let seed = base.nth(n);
    (class, seed, subject.plan(class, seed))
}

/// How often a step may come in a calm run and still be struck each time: the polls of three hours are all alike.
const OCCURRENCES: u32 = 3;

/// Every single fault at every step and phase of a calm run. A first version: it is to be that of `explore::exhaust`.
pub fn enumerated(subject: &dyn Subject) -> Vec<(FaultClass, FaultPlan)> {
    let calm = subject.run(BASE, &FaultPlan::none()).expect("a calm run can be simulated");
    let steps = subject.strategy().steps();
    let mut seen: BTreeMap<(StepName, u8), u32> = BTreeMap::new();
    let mut points = Vec::new();
    for event in calm.trace.events() {
        let Event::Step { step, phase, .. } = *event else { continue };
        let nth = seen.entry((step, phase as u8)).or_default();
        *nth += 1;
        if *nth <= OCCURRENCES {
            points.push(Trigger::nth(step, phase, *nth));
        }
    }
    let mut plans = vec![(FaultClass::Calm, FaultPlan::none())];
    for when in points {
        let Trigger::Step { step, phase, .. } = &when else { continue };
        let declared = steps.iter().find(|s| s.name == step).expect("only declared steps are made");
        for (class, harm) in harms(subject.scenario(), declared.peer, *phase) {
            plans.push((class, FaultPlan::of([harm.when(when.clone())])));
        }
    }
    for by_ms in [-3_600_000, -270_000, 270_000, 3_600_000] {
        for node in 0..subject.scenario().nodes {
            let harm = Harm::ClockOffset { host: Target::Host(HostId::node(node)), by_ms };
            plans.push((FaultClass::Skew, FaultPlan::of([harm.when(Trigger::start())])));
        }
    }
    plans
}

/// What can go wrong at a step that talks to `peer`.
fn harms(scenario: &Scenario, peer: Option<HostId>, phase: Phase) -> Vec<(FaultClass, Harm)> {
    let (host, back_after, lasts): (Target, Duration, Duration) = (Target::Self_, 5.minutes(), 40.minutes());
    let cut = |from| Harm::Partition { host, from, direction: Direction::Both, lasts };
    let outlived = [scenario.guard.watchdog_lease, scenario.guard.dual_lease, scenario.guard.stale_after];
    let mut harms = vec![
        (FaultClass::Crash, Harm::Crash { host, back_after }),
        (FaultClass::Power, Harm::Power { host, back_after }),
        (FaultClass::Pause, Harm::Pause { host, lasts }),
        (FaultClass::Partition, cut(Target::Everyone)),
    ];
    harms.extend(outlived.map(|timeout| (FaultClass::Pause, Harm::Pause { host, lasts: timeout + scenario.node.poll + 20.seconds() })));
    if peer.is_none() {
        harms.push((FaultClass::JobError, Harm::JobError { times: 1 }));
        harms.push((FaultClass::Slow, Harm::SlowStep { extra: 43.minutes() }));
    } else {
        harms.push((FaultClass::DbCut, cut(Target::Peer)));
        if phase == Phase::Sent {
            harms.push((FaultClass::ReplyLost, Harm::ReplyLost { host, from: Target::Peer }));
        }
    }
    harms
}

/// The mark of a run that no claim of the strategy allows, if it has one.
///
/// # Panics
/// The run cannot be simulated, or something in it panicked: then the mutant is no mutant but a mistake of ours.
pub fn forbidden(subject: &dyn Subject, (class, seed, plan): &Trial) -> Option<Mark> {
    let name = subject.strategy().name();
    let seen = observe(subject, *class, *seed, plan).unwrap_or_else(|why| panic!("{name} under {class}, seed {seed}: {why}"));
    assert!(seen.run.panics.is_empty(), "{name} under {class}, seed {seed}: {:?}", seen.run.panics);
    let mut tally = Tally::default();
    tally.add(RunKey::Sampled(0), *seed, &seen);
    let claims = subject.strategy().expectations(subject.scenario().database.rules);
    let cell = Cell::weigh(&claims, *class, tally, &BTreeSet::new());
    cell.surprises.iter().find_map(|surprise| match surprise {
        Surprise::NeverBroke { mark, .. } | Surprise::WentWrong { mark } => Some(*mark),
        Surprise::MustHeld { .. } | Surprise::Undecided { .. } => None,
    })
}

/// The run of a pinned plan; what it strikes with is of no class.
pub fn pinned(subject: &dyn Subject, seed: Seed, plan: Pinned) -> Trial {
    (FaultClass::Swarm, seed, plan(subject.scenario(), subject.calendar()))
}

/// How many of these runs it takes until one is forbidden, and what that shows.
pub fn until_killed(subject: &dyn Subject, trials: &[Trial]) -> Option<(u64, Mark)> {
    (1..).zip(trials).find_map(|(n, trial)| forbidden(subject, trial).map(|mark| (n, mark)))
}
