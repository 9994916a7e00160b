//! Nothing left to luck: every fault of a list of kinds at every step of a calm run, one run each,
//! or every pair of them.
//!
//! The steps are those of a calm run with the same seed. A run with one fault is that run up to
//! the moment when the fault strikes, so every place is reached, and once. For pairs, the second
//! fault strikes at a step of the run with the first one, after it: what is done only after a fault
//! is tried too. Pairs leave out what is equivalent to another ([`point::distinct`]), and second faults
//! long after the first ([`point::SOON`]); single faults leave nothing out.
//!
//! Work is cut into units, one for each first fault. What has been done can be kept, merged with
//! what was done elsewhere, and continued.

pub mod point;

use crate::class::{FaultClass, Kind};
use crate::explore::cell::{Apart, Tally};
use crate::explore::crew::crew;
use crate::explore::sweep::Stopped;
use crate::explore::{Case, Cell, Mark, Observed, RunKey, Staged, Subject, observe};
use crate::plan::FaultPlan;
use crate::seed::Seed;
use crate::trace::{Digest, Event, StepName};
use point::Point;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// Second faults of one first: more than any run has places, so that numbers of runs never meet.
const SECONDS: u64 = 1 << 24;

/// How many faults a plan has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Faults {
    /// One.
    Single,
    /// Two, the second after the first.
    Pairs,
}

/// All the runs to be made, worked out from a calm one.
pub struct Enumeration<'a> {
    subject: &'a dyn Subject,
    kinds: Vec<&'static Kind>,
    seed: Seed,
    faults: Faults,
    /// What broke without any fault.
    calm: BTreeSet<Mark>,
    /// The history without any fault.
    digest: Digest,
    /// Steps of the calm run.
    places: usize,
    /// Declared steps that the calm run did not make.
    unmade: Vec<StepName>,
    /// The first faults, one unit of work each.
    units: Vec<Point>,
    /// First faults that were left out, because another stands for them.
    pruned: u64,
}

/// What has been done of an enumeration. Parts merge in any order to the same whole.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Done {
    /// The numbers of the units, from 0.
    pub units: BTreeSet<u64>,
    /// What was seen, by the name of the kind of the first fault.
    pub kinds: BTreeMap<String, Tally>,
    /// Steps at which a fault was felt.
    pub reached: BTreeSet<String>,
    /// Second faults that were left out, because another stands for them.
    pub pruned: u64,
    /// Second faults that were left out, because they come long after the first.
    pub later: u64,
}

impl Done {
    /// Counts in what another part has done.
    pub fn merge(&mut self, other: Done) {
        self.units.extend(other.units);
        for (kind, tally) in other.kinds {
            self.kinds.entry(kind).or_default().merge(tally);
        }
        self.reached.extend(other.reached);
        self.pruned += other.pruned;
        self.later += other.later;
    }

    /// Runs, all kinds together.
    pub fn runs(&self) -> Apart {
        let add = |sum: Apart, tally: &Tally| Apart { runs: sum.runs + tally.apart.runs, felt: sum.felt + tally.apart.felt };
        self.kinds.values().fold(Apart::default(), add)
    }
}

/// How an enumeration is watched from outside.
pub struct Watch<'a> {
    /// Set to stop after the units that are being worked on.
    pub cancelled: &'a AtomicBool,
    /// Told after every unit, by one thread at a time.
    pub progress: &'a (dyn Fn(&Done) + Sync),
}

impl<'a> Enumeration<'a> {
    /// The kinds of faults that are to be tried.
    pub fn kinds(&self) -> &[&'static Kind] {
        &self.kinds
    }

    /// Whether these are all that there are.
    pub fn has_all_kinds(&self) -> bool {
        self.kinds.len() == point::kinds(true).len()
    }

    /// Makes the calm run, and works out what is to be tried: by these kinds, with this seed. The subject should watch one period.
    ///
    /// # Errors
    /// The calm run has no result.
    pub fn of(subject: &'a dyn Subject, kinds: &[&'static Kind], seed: Seed, faults: Faults) -> Result<Enumeration<'a>, Stopped> {
        let steps = subject.strategy().steps();
        let seen = observed(subject, FaultClass::Calm, seed, &FaultPlan::none())?;
        let places = point::places(&seen.run.trace, steps);
        let all = point::points(&places, kinds, steps);
        let whole = all.len() as u64;
        let units = match faults {
            Faults::Single => all,
            Faults::Pairs => point::distinct(&all, &seen.run.trace),
        };
        Ok(Enumeration {
            subject,
            kinds: kinds.to_vec(),
            seed,
            faults,
            calm: seen.findings.iter().map(|f| f.mark).collect(),
            digest: seen.run.trace.digest(),
            places: places.len(),
            unmade: point::unmade(&places, steps),
            pruned: whole - units.len() as u64,
            units,
        })
    }

    /// Digest of the calm run: another build, or another deployment, has another.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// How many units there are.
    pub fn units(&self) -> u64 {
        self.units.len() as u64
    }

    /// Steps of the calm run, of all nodes.
    pub fn places(&self) -> usize {
        self.places
    }

    /// Declared steps that the calm run did not make.
    pub fn unmade(&self) -> &[StepName] {
        &self.unmade
    }

    /// First faults that were left out, because another stands for them.
    pub fn pruned(&self) -> u64 {
        self.pruned
    }

    /// How many faults its plans have.
    pub fn faults(&self) -> Faults {
        self.faults
    }

    /// The seed of all its runs.
    pub fn seed(&self) -> Seed {
        self.seed
    }

    /// The plans of single faults, with the class whose claims speak of each.
    pub fn plans(&self) -> impl Iterator<Item = (FaultClass, FaultPlan)> + '_ {
        self.units.iter().map(|unit| (unit.kind.class, unit.plan(self.subject.scenario())))
    }

    /// Does those units that are `mine` and not yet `done`, and tells all that is done then; some
    /// may be missing if it was cancelled.
    ///
    /// # Errors
    /// A run had no result. The error is that of the first unit that has one.
    ///
    /// # Panics
    /// The system cannot start a thread.
    pub fn run(&self, done: Done, mine: impl Fn(u64) -> bool, threads: usize, watch: &Watch<'_>) -> Result<Done, Stopped> {
        let left: Vec<u64> = (0..self.units()).filter(|unit| mine(*unit) && !done.units.contains(unit)).collect();
        let done = Mutex::new(done);
        let work = |failed: &mut Option<(u64, Stopped)>, n: u64| {
            let unit = left[n as usize];
            match self.unit(unit, watch.cancelled) {
                Ok(Some(part)) => {
                    let mut done = done.lock().expect("workers do not panic");
                    done.merge(part);
                    (watch.progress)(&done);
                    ControlFlow::Continue(())
                }
                Ok(None) => ControlFlow::Break(()),
                Err(stopped) if stopped.is_interrupted() => ControlFlow::Break(()),
                Err(stopped) => {
                    *failed = Some((unit, stopped));
                    ControlFlow::Break(())
                }
            }
        };
        let failed = crew(threads, left.len() as u64, watch.cancelled, || None, work);
        match failed.into_iter().flatten().min_by_key(|(unit, _)| *unit) {
            Some((_, stopped)) => Err(stopped),
            None => Ok(done.into_inner().expect("workers do not panic")),
        }
    }

    /// One unit; `None` if it was broken off.
    fn unit(&self, number: u64, cancelled: &AtomicBool) -> Result<Option<Done>, Stopped> {
        let first = self.units[number as usize];
        let scenario = self.subject.scenario();
        let mut done = Done { units: BTreeSet::from([number]), ..Done::default() };
        let mut tally = Tally::default();
        let seen = self.one(&mut tally, number, first.kind.class, first.plan(scenario))?;
        if seen.felt {
            done.reached.insert(first.place.step.name.to_owned());
        }
        if self.faults == Faults::Pairs {
            // The first fault alone belongs to the other enumeration.
            tally = Tally::default();
            let seconds = self.seconds(&seen, &mut done);
            for (n, second) in (1..SECONDS).zip(seconds) {
                if cancelled.load(Ordering::Relaxed) {
                    return Ok(None);
                }
                let plan = FaultPlan::of([first.fault(scenario), second.fault(scenario)]);
                let seen = self.one(&mut tally, number * SECONDS + n, FaultClass::Swarm, plan)?;
                if seen.felt {
                    done.reached.insert(second.place.step.name.to_owned());
                }
            }
        }
        done.kinds.insert(first.kind.name.to_owned(), tally);
        Ok(Some(done))
    }

    /// The faults that can follow the one that struck in this run, whether or not anybody has noticed that one yet.
    fn seconds(&self, seen: &Observed, done: &mut Done) -> Vec<Point> {
        let trace = &seen.run.trace;
        let steps = self.subject.strategy().steps();
        let Some(struck) = trace.events().position(|e| matches!(e, Event::Fired { .. })) else { return Vec::new() };
        let after: Vec<_> = point::places(trace, steps).into_iter().filter(|place| place.record > struck).collect();
        let all = point::points(&after, &self.kinds, steps);
        let whole = all.len() as u64;
        let soon = point::soon(all);
        done.later = whole - soon.len() as u64;
        let tried = soon.len() as u64;
        let distinct = point::distinct(&soon, trace);
        done.pruned = tried - distinct.len() as u64;
        distinct
    }

    fn one(&self, tally: &mut Tally, number: u64, class: FaultClass, plan: FaultPlan) -> Result<Observed, Stopped> {
        let seen = observed(self.subject, class, self.seed, &plan)?;
        tally.add(&Case { key: RunKey::Enumerated(number), seed: self.seed, plan }, &seen);
        Ok(seen)
    }

    /// Weighs what has been done, kind by kind, against what the strategy declares.
    pub fn weigh(&self, done: Done) -> Exhausted {
        let claims = self.subject.expectations();
        let class = |kind: &Kind| match self.faults {
            Faults::Single => kind.class,
            Faults::Pairs => FaultClass::Swarm,
        };
        let steps = self.subject.strategy().steps().iter().map(|step| step.name);
        let unreached = steps.filter(|step| !done.reached.contains(*step)).collect();
        let pruned = self.pruned + done.pruned;
        let mut kinds = done.kinds;
        let rows = self.kinds.iter().filter_map(|kind| {
            let tally = kinds.remove(kind.name).filter(|tally| tally.apart.runs > 0)?;
            Some((*kind, Cell::enumerated(&claims, class(kind), tally, &self.calm)))
        });
        let rows: Vec<(&Kind, Cell)> = rows.collect();
        let tried = |kind: &&Kind| rows.iter().any(|(known, _)| known.name == kind.name);
        let declared = self.subject.strategy().steps();
        let strikes = |kind: &Kind| declared.iter().any(|step| kind.strikes(*step, declared));
        let left_out = self.kinds.iter().filter(|kind| self.faults == Faults::Pairs && strikes(kind) && !tried(kind));
        let left_out = left_out.map(|kind| kind.name).collect();
        Exhausted { kinds: rows, calm: self.calm.clone(), unreached, pruned, later: done.later, left_out }
    }
}

fn observed(subject: &dyn Subject, class: FaultClass, seed: Seed, plan: &FaultPlan) -> Result<Observed, Stopped> {
    let no_result = |why| Stopped::NoResult { strategy: subject.strategy().name(), class, seed, why };
    observe(subject, class, seed, plan).map_err(no_result)
}

/// An enumeration, weighed.
#[derive(Clone, Debug)]
pub struct Exhausted {
    /// For each kind of (first) fault that can strike the strategy, what was seen. The class of a
    /// cell is the one whose claims speak of it; for pairs, that is swarm.
    pub kinds: Vec<(&'static Kind, Cell)>,
    /// What broke without any fault.
    pub calm: BTreeSet<Mark>,
    /// Declared steps at which no fault was felt.
    pub unreached: Vec<StepName>,
    /// Plans that were left out, because another stands for them.
    pub pruned: u64,
    /// Second faults that were left out, because they come long after the first.
    pub later: u64,
    /// Kinds that could strike first, and all of whose pairs others stand for.
    pub left_out: Vec<&'static str>,
}

impl Exhausted {
    /// Runs, all kinds together.
    pub fn runs(&self) -> Apart {
        let add = |sum: Apart, (_, cell): &(&Kind, Cell)| Apart {
            runs: sum.runs + cell.tally.apart.runs,
            felt: sum.felt + cell.tally.apart.felt,
        };
        self.kinds.iter().fold(Apart::default(), add)
    }

    /// Whether everything that the strategy declares about these faults was met.
    pub fn as_expected(&self) -> bool {
        self.kinds.iter().all(|(_, cell)| cell.as_expected())
    }

    /// All kinds as one cell of the table.
    pub fn column(self) -> Cell {
        Cell::together(FaultClass::Single, self.kinds.into_iter().map(|(_, cell)| cell))
    }
}

/// The table's column: all single faults of its kinds in one period of a subject, as a cell. Its runs have the first
/// seed of a sweep with this base.
///
/// # Errors
/// It was cancelled, or a run had no result.
///
/// # Panics
/// The system cannot start a thread.
pub fn column(subject: &dyn Subject, base: Seed, threads: usize, cancelled: &AtomicBool) -> Result<Cell, Stopped> {
    let seed = base.nth(0);
    let staged = Staged::of(subject, FaultClass::Single, seed);
    let enumeration = Enumeration::of(&*staged, &point::kinds(false), seed, Faults::Single)?;
    let done = enumeration.run(Done::default(), |_| true, threads, &Watch { cancelled, progress: &|_| () })?;
    if (done.units.len() as u64) < enumeration.units() {
        return Err(Stopped::Cancelled);
    }
    Ok(enumeration.weigh(done).column())
}

#[cfg(test)]
mod tests;
