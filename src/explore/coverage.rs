//! Where faults were felt: which kind, in which step, in which phase. A fault that struck and
//! that nobody noticed reached nothing.
//!
//! A fault that a step sets off was there. One that strikes at a time was where the attempt was
//! that it interrupted, if it did; otherwise it counts as felt *at a time*.

use crate::class::{FaultClass, Mixes};
use crate::explore::{RunKey, Subject};
use crate::id::{AttemptId, HostId};
use crate::plan::{Fault, FaultPlan, Harm, Target, Trigger};
use crate::seed::Seed;
use crate::time::SimTime;
use crate::trace::{Event, Phase, Proof, Trace};
use crate::world::{Receipt, Run};
use rand::seq::IndexedRandom;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// A word of a place: known when the program was built, or read from a file.
type Word = Cow<'static, str>;

/// When so many draws in a row have brought nothing new, a class has shown where it can strike.
/// Its rarest place has a chance of one in a thousand or more, and is missed once in 20,000 times.
const QUIET: u64 = 10_000;

/// How many faults of one place are kept to choose from.
const KEPT: usize = 6;

/// One kind of fault in one phase of one step.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    /// What struck, as [`kind`] calls it.
    pub kind: Word,
    /// In which step.
    pub step: Word,
    /// In which phase of it.
    pub phase: Phase,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} × {} × {}", self.kind, self.step, self.phase)
    }
}

/// What people call a fault. Whom it strikes is a part of that: a database that restarts is no node that crashes.
pub fn kind(harm: &Harm) -> &'static str {
    let (lease, database) = (Target::Host(HostId::Lease), Target::Host(HostId::Database));
    match harm {
        Harm::Crash { host, .. } if *host == lease => "lease-restart",
        Harm::Crash { host, .. } if *host == database => "db-restart",
        Harm::Crash { .. } => "crash",
        Harm::Power { .. } => "power",
        Harm::Pause { .. } => "pause",
        Harm::Partition { from, .. } if *from == lease => "lease-cut",
        Harm::Partition { from, .. } if *from == database => "db-cut",
        Harm::Partition { .. } => "partition",
        Harm::ReplyLost { .. } => "reply-lost",
        Harm::Late { .. } => "late",
        Harm::SlowStep { .. } => "slow-step",
        Harm::JobError { .. } => "job-error",
        Harm::ClockOffset { host, .. } if *host == lease => "lease-clock",
        Harm::ClockOffset { .. } => "clock-step",
        Harm::ClockDrift { .. } => "clock-drift",
        Harm::LeaseWipe { .. } => "lease-wipe",
        Harm::LeaseEvict { .. } => "lease-evict",
        Harm::LeaseFailover { .. } => "lease-failover",
        Harm::LeaseStall { .. } => "lease-stall",
        Harm::Redeliver => "redeliver",
        Harm::CommitFails { .. } => "commit-refused",
        Harm::SessionEnds { .. } => "session-ended",
        Harm::Zone { .. } => "zone",
        Harm::Shutdown { .. } => "shutdown",
    }
}

/// Where the faults of one run were felt, one for each fault that was: its kind, and the place, if it has one.
pub fn felt<'a>(
    plan: &'a FaultPlan,
    receipts: &'a [Receipt],
    trace: &'a Trace,
) -> impl Iterator<Item = (&'static str, Option<Place>)> + 'a {
    plan.faults.iter().zip(receipts).filter_map(|(fault, receipt)| {
        let (fired, felt) = (receipt.fired?, receipt.felt?);
        let kind = kind(&fault.harm);
        let place = match (&fault.when, felt.proof) {
            (Trigger::Step { step, phase, .. }, _) => Some((Word::from(step.clone()), *phase)),
            (Trigger::At { .. }, Proof::Interrupted { attempt }) => whereabouts(trace, attempt, fired),
            (Trigger::At { .. }, _) => None,
        };
        Some((kind, place.map(|(step, phase)| Place { kind: kind.into(), step, phase })))
    })
}

/// The last that was seen of an attempt up to `at`.
fn whereabouts(trace: &Trace, attempt: AttemptId, at: SimTime) -> Option<(Word, Phase)> {
    let upto = trace.records().partition_point(|record| record.at <= at);
    trace.records()[..upto].iter().rev().find_map(|record| match record.event {
        Event::Step { attempt: of, step, phase } if of == attempt => Some((step.into(), phase)),
        _ => None,
    })
}

/// What the runs of one cell reached.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Coverage {
    /// Where a plan of the class can strike. Empty where nobody asked.
    #[serde(default)]
    pub possible: BTreeSet<Place>,
    /// Kinds of faults that one plan can bring together.
    #[serde(default)]
    pub possible_pairs: BTreeSet<(Word, Word)>,
    /// In how many drawn runs each place was felt.
    #[serde(with = "as_list")]
    pub drawn: BTreeMap<Place, u64>,
    /// In how many steered runs.
    #[serde(with = "as_list")]
    pub steered: BTreeMap<Place, u64>,
    /// How many faults of drawn runs were felt, but in no step, by kind.
    pub at_a_time: BTreeMap<Word, u64>,
    /// In how many drawn runs two kinds were felt, smaller name first.
    #[serde(with = "as_list")]
    pub pairs: BTreeMap<(Word, Word), u64>,
    /// The steps that any run made.
    pub made: BTreeSet<Word>,
}

impl Coverage {
    /// Counts one run in; pinned and enumerated plans cover nothing that luck would have to.
    pub fn add(&mut self, key: RunKey, plan: &FaultPlan, run: &Run) {
        let drawn = match key {
            RunKey::Sampled(_) => true,
            RunKey::Steered(_) => false,
            RunKey::Pinned(_) | RunKey::Enumerated(_) => return,
        };
        let (mut places, mut kinds) = (BTreeSet::new(), BTreeSet::new());
        for (kind, place) in felt(plan, &run.receipts, &run.trace) {
            kinds.insert(kind);
            match place {
                Some(place) => drop(places.insert(place)),
                None if drawn => *self.at_a_time.entry(kind.into()).or_default() += 1,
                None => {}
            }
        }
        let into = if drawn { &mut self.drawn } else { &mut self.steered };
        for place in places {
            *into.entry(place).or_default() += 1;
        }
        if drawn {
            let pairs = kinds.iter().flat_map(|one| kinds.iter().filter(move |other| one < *other).map(move |other| (*one, *other)));
            for (one, other) in pairs {
                *self.pairs.entry((one.into(), other.into())).or_default() += 1;
            }
        }
        for record in run.trace.records() {
            if let Event::Step { step, .. } = record.event
                && !self.made.contains(step)
            {
                self.made.insert(step.into());
            }
        }
    }

    /// Counts the runs of another cell's share in.
    pub fn merge(&mut self, other: Coverage) {
        fn sum<K: Ord>(into: &mut BTreeMap<K, u64>, from: BTreeMap<K, u64>) {
            for (key, n) in from {
                *into.entry(key).or_default() += n;
            }
        }
        self.possible.extend(other.possible);
        self.possible_pairs.extend(other.possible_pairs);
        sum(&mut self.drawn, other.drawn);
        sum(&mut self.steered, other.steered);
        sum(&mut self.at_a_time, other.at_a_time);
        sum(&mut self.pairs, other.pairs);
        self.made.extend(other.made);
    }

    /// The places that a plan can strike and that no run has felt, drawn or steered.
    pub fn never(&self) -> impl Iterator<Item = &Place> {
        self.possible.iter().filter(|place| !self.drawn.contains_key(place) && !self.steered.contains_key(place))
    }

    /// How many possible places drawn runs have felt.
    pub fn by_chance(&self) -> usize {
        self.possible.iter().filter(|place| self.drawn.contains_key(place)).count()
    }

    /// How many possible places only steered runs have felt.
    pub fn by_steering(&self) -> usize {
        self.possible.len() - self.by_chance() - self.never().count()
    }

    /// The possible pairs that no drawn run has felt together.
    pub fn pairs_never(&self) -> impl Iterator<Item = &(Word, Word)> {
        self.possible_pairs.iter().filter(|pair| !self.pairs.contains_key(pair))
    }

    /// The steps of possible places that no run ever made: what strikes there needs a path that is never taken.
    pub fn never_made(&self) -> BTreeSet<&str> {
        self.possible.iter().map(|place| &*place.step).filter(|step| !self.made.contains(*step)).collect()
    }
}

/// Where mixed plans can strike a subject, found by drawing them, so that it can never say otherwise than the classes.
#[derive(Clone, Debug, Default)]
pub struct Atlas {
    /// Faults for each place, and the class that drew them.
    pub places: BTreeMap<Place, (FaultClass, Vec<Fault>)>,
    /// Which classes bring a kind.
    kinds: BTreeMap<&'static str, BTreeSet<FaultClass>>,
}

impl Atlas {
    /// Of the classes that swarm mixes.
    pub fn of(subject: &dyn Subject) -> Atlas {
        let mut atlas = Atlas::default();
        let steps = &*subject.strategy().steps_in(subject.scenario());
        for class in FaultClass::ALL.into_iter().filter(|class| class.mixes() != Mixes::Never && class.misses(steps).is_none()) {
            let (seed, mut quiet) = (Seed(0).fork("atlas"), 0);
            for n in 0.. {
                let before = atlas.places.len();
                for fault in subject.plan(class, seed.nth(n)).faults {
                    atlas.enter(class, fault);
                }
                quiet = if atlas.places.len() > before { 0 } else { quiet + 1 };
                if quiet == QUIET {
                    break;
                }
            }
        }
        atlas
    }

    fn enter(&mut self, class: FaultClass, fault: Fault) {
        let kind = kind(&fault.harm);
        self.kinds.entry(kind).or_default().insert(class);
        if let Trigger::Step { step, phase, .. } = &fault.when {
            let place = Place { kind: kind.into(), step: step.clone().into(), phase: *phase };
            let (_, faults) = self.places.entry(place).or_insert((class, Vec::new()));
            if faults.len() < KEPT {
                faults.push(fault);
            }
        }
    }

    /// Kinds that one plan can bring together: those of two classes, or of one that may be mixed in twice.
    pub fn pairs(&self) -> BTreeSet<(Word, Word)> {
        let together = |one: &BTreeSet<FaultClass>, other: &BTreeSet<FaultClass>| {
            one.iter().any(|a| other.iter().any(|b| a != b || a.mixes() == Mixes::Freely))
        };
        let kinds = || self.kinds.iter();
        kinds()
            .flat_map(|(one, of)| {
                kinds().filter(move |(other, them)| one < *other && together(of, them)).map(move |(other, _)| (*one, *other))
            })
            .map(|(one, other)| (one.into(), other.into()))
            .collect()
    }

    /// A fault that makes an attempt fail without stopping anybody, to go with one of `class`.
    pub fn error(&self, class: FaultClass, seed: Seed) -> Option<&Fault> {
        let is_error = |place: &Place| matches!(&*place.kind, "job-error" | "session-ended" | "commit-refused");
        let errors: Vec<&Fault> = self.places.iter().filter(|(place, _)| is_error(place)).flat_map(|(_, (_, faults))| faults).collect();
        errors.choose(&mut seed.fork("error").rng()).copied().filter(|fault| self.goes_with(class, fault))
    }

    /// Whether a plan that has a fault of `class` may have this one too: what mixes once is there once.
    pub fn goes_with(&self, class: FaultClass, fault: &Fault) -> bool {
        class.mixes() == Mixes::Freely || !self.kinds.get(kind(&fault.harm)).is_some_and(|of| of.contains(&class))
    }
}

/// Maps whose keys are no text, as lists of keys and values.
mod as_list {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::collections::BTreeMap;

    pub(super) fn serialize<K: Serialize, S: Serializer>(map: &BTreeMap<K, u64>, s: S) -> Result<S::Ok, S::Error> {
        s.collect_seq(map)
    }

    pub(super) fn deserialize<'de, K: Deserialize<'de> + Ord, D: Deserializer<'de>>(d: D) -> Result<BTreeMap<K, u64>, D::Error> {
        Ok(Vec::<(K, u64)>::deserialize(d)?.into_iter().collect())
    }
}

#[cfg(test)]
mod tests;
