//! Looking for a run in which a defect shows: at random, with swarms, by enumeration.

use onceproof::class::FaultClass;
use onceproof::explore::exhaust::{Enumeration, Faults, point};
use onceproof::explore::{Case, Cell, Mark, RunKey, Staged, Subject, Surprise, Tally, observe};
use onceproof::plan::FaultPlan;
use onceproof::seed::Seed;
use onceproof::strategy::Pinned;
use std::collections::BTreeSet;

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

/// A run to make, and the class it counts for.
pub type Trial = (FaultClass, Case);

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
                let sampled = |class: &FaultClass| !matches!(class, FaultClass::Swarm | FaultClass::Single);
                let strikes = |class: &FaultClass| sampled(class) && class.misses(subject.strategy().steps()).is_none();
                let classes: Vec<FaultClass> = FaultClass::ALL.into_iter().filter(strikes).collect();
                let drawn = |n: u64| drawn(subject, base, classes[(n % classes.len() as u64) as usize], n / classes.len() as u64);
                (0..most).map(drawn).collect()
            }
            Search::Swarm => (0..most).map(|n| drawn(subject, base, FaultClass::Swarm, n)).collect(),
            Search::Enumeration => {
                let case = |(n, (class, plan))| (class, Case { key: RunKey::Enumerated(n), seed: base, plan });
                (0..most).zip(enumerated(subject)).map(case).collect()
            }
        }
    }
}

/// The `n`th run of a class.
pub fn drawn(subject: &dyn Subject, base: Seed, class: FaultClass, n: u64) -> Trial {
    let seed = base.nth(n);
    (class, Case { key: RunKey::Sampled(n), seed, plan: Staged::of(subject, class, seed).plan(class, seed) })
}

/// The calm run, and every single fault of every kind at every step of it.
pub fn enumerated(subject: &dyn Subject) -> Vec<(FaultClass, FaultPlan)> {
    let every = Enumeration::of(subject, &point::kinds(true), BASE, Faults::Single).expect("a calm run can be simulated");
    std::iter::once((FaultClass::Calm, FaultPlan::none())).chain(every.plans()).collect()
}

/// The mark of a run that no claim of the strategy allows, if it has one.
///
/// # Panics
/// The run cannot be simulated, or something in it panicked: then the mutant is no mutant but a mistake of ours.
pub fn forbidden(subject: &dyn Subject, (class, case): &Trial) -> Option<Mark> {
    let (name, Case { seed, plan, .. }) = (subject.strategy().name(), case);
    let seen = observe(&*case.staged(subject, *class), *class, *seed, plan)
        .unwrap_or_else(|why| panic!("{name} under {class}, seed {seed}: {why}"));
    assert!(seen.run.panics.is_empty(), "{name} under {class}, seed {seed}: {:?}", seen.run.panics);
    let mut tally = Tally::default();
    tally.add(&Case { key: RunKey::Sampled(0), ..case.clone() }, &seen);
    let claims = subject.strategy().expectations(subject.scenario().database.rules);
    let cell = Cell::weigh(&claims, *class, tally, &BTreeSet::new());
    cell.surprises.iter().find_map(|surprise| match surprise {
        Surprise::NeverBroke { mark, .. } | Surprise::WentWrong { mark } => Some(*mark),
        Surprise::MustHeld { .. } | Surprise::Undecided { .. } => None,
    })
}

/// The run of a pinned plan; what it strikes with is of no class.
pub fn pinned(subject: &dyn Subject, seed: Seed, plan: Pinned) -> Trial {
    (FaultClass::Swarm, Case { key: RunKey::Pinned(0), seed, plan: plan(subject.scenario(), subject.calendar()) })
}

/// How many of these runs it takes until one is forbidden, and what that shows.
pub fn until_killed(subject: &dyn Subject, trials: &[Trial]) -> Option<(u64, Mark)> {
    (1..).zip(trials).find_map(|(n, trial)| forbidden(subject, trial).map(|mark| (n, mark)))
}
