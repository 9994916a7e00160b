//! Is a run the same every time? A sample of a sweep's runs is made again, each on a fresh
//! thread's worth of state and after other runs than the first time, and the two histories
//! are compared. A harness whose runs do not repeat cannot be believed about anything.
//!
//! A [`Matrix`] tries harder on fewer runs, and a [`Certificate`] keeps what it found, so that
//! another build or another machine can be held against it.

pub mod certificate;
pub mod matrix;

pub use certificate::{Certificate, Entry};
pub use matrix::{Matrix, Uncertain, Way};

use crate::class::FaultClass;
use crate::explore::observe::NoResult;
use crate::explore::{Case, RunKey, Subject, crew, observe};
use crate::seed::Seed;
use crate::trace::{Record, Trace};
use std::fmt;
use std::sync::atomic::AtomicBool;

/// The hundredth run comes after a thread has run other seeds, which is when leaked state would show.
const LATE: u64 = 100;

/// A run to be made again. Its whole history is kept, so that a difference can be named.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Row of the sweep.
    pub subject: usize,
    /// Column of the sweep.
    pub class: FaultClass,
    /// Which run of the cell.
    pub case: Case,
    /// What happened in it.
    pub trace: Trace,
}

/// Which runs of a cell are made again: a fixed few, so that memory does not grow with the number of seeds.
pub fn is_sampled(key: RunKey) -> bool {
    match key {
        RunKey::Pinned(_) => true,
        RunKey::Sampled(i) | RunKey::Steered(i) | RunKey::Enumerated(i) => i == 0 || i == LATE,
    }
}

/// Where two histories of one run part.
#[expect(missing_docs, reason = "the fields are named after what they are")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// At this record (from 0); `None` where one history has ended.
    Record { number: usize, first: Option<Record>, second: Option<Record> },
    /// All records are the same; something beneath them, such as the order of deliveries, is not.
    Beneath,
}

impl Difference {
    /// The first difference between two histories; `None` if their digests are equal.
    pub fn between(a: &Trace, b: &Trace) -> Option<Difference> {
        if a.digest() == b.digest() {
            return None;
        }
        let at = |trace: &Trace, n: usize| trace.records().get(n).copied();
        let longest = a.records().len().max(b.records().len());
        let number = (0..longest).find(|n| at(a, *n) != at(b, *n));
        Some(number.map_or(Difference::Beneath, |number| Difference::Record { number, first: at(a, number), second: at(b, number) }))
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let told = |record: &Option<Record>| record.map_or("the end".to_owned(), |r| r.to_string());
        match self {
            Difference::Record { number, first, second } => {
                write!(f, "record {number} was {} and is now {}", told(first), told(second))
            }
            Difference::Beneath => f.write_str("every record is the same, but not what the network did beneath them"),
        }
    }
}

/// Why a sweep cannot be certified.
#[expect(missing_docs, reason = "the fields are named after what they are")]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Distrust {
    /// A run did not repeat.
    #[error("{strategy} under {class}, seed {seed}, does not repeat: {difference}")]
    Differs { strategy: &'static str, class: FaultClass, seed: Seed, difference: Difference },
    /// A run that had a result has none now.
    #[error("{strategy} under {class}, seed {seed}, does not repeat: {why}")]
    NoResult { strategy: &'static str, class: FaultClass, seed: Seed, why: NoResult },
}

/// Makes all samples again, from the last to the first, on `threads` fresh threads. Tells how
/// many were made; all told the same history. Setting `cancelled` ends it early.
///
/// # Errors
/// The first sample, in their order, that did not repeat.
///
/// # Panics
/// The system cannot start a thread.
pub fn certify(subjects: &[&dyn Subject], samples: &[Sample], threads: usize, cancelled: &AtomicBool) -> Result<usize, Box<Distrust>> {
    let last = samples.len().saturating_sub(1);
    let made = crew::each(samples.len(), threads, cancelled, |n| {
        let sample = &samples[last - n];
        again(subjects[sample.subject], sample)
    });
    let made: Vec<Result<(), Box<Distrust>>> = made.into_iter().flatten().collect();
    let count = made.len();
    // The last one in this order is the first of the samples.
    made.into_iter().rev().collect::<Result<Vec<()>, _>>().map(|_| count)
}

fn again(subject: &dyn Subject, sample: &Sample) -> Result<(), Box<Distrust>> {
    let (strategy, class, seed) = (subject.strategy().name(), sample.class, sample.case.seed);
    let staged = sample.case.staged(subject, class);
    let seen = observe(&*staged, class, seed, &sample.case.plan).map_err(|why| Distrust::NoResult { strategy, class, seed, why })?;
    match Difference::between(&sample.trace, &seen.run.trace) {
        None => Ok(()),
        Some(difference) => Err(Box::new(Distrust::Differs { strategy, class, seed, difference })),
    }
}

#[cfg(test)]
mod tests;
