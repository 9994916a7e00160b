//! The ways in which a run has to be the same, as far as one process can try them: twice, on
//! another thread, and after a thousand other runs.

use crate::class::FaultClass;
use crate::explore::certify::{Distrust, Sample, again, certify};
use crate::explore::observe::NoResult;
use crate::explore::sweep::Stopped;
use crate::explore::{Case, RunKey, Staged, Subject, crew, observe};
use crate::seed::Seed;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Runs to be certified.
pub struct Matrix<'a> {
    /// What can be run.
    pub subjects: &'a [&'a dyn Subject],
    /// Which runs: the number of a subject, a class that can strike it, a seed.
    pub runs: &'a [(usize, FaultClass, Seed)],
    /// How many other runs come before the last time.
    pub others: u64,
    /// How many threads, at least 1.
    pub threads: usize,
}

/// How a run was made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// At once, on the same thread.
    Twice,
    /// On a fresh thread, among others.
    OtherThread,
    /// On a thread that has made so many other runs.
    AfterOthers(u64),
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Way::Twice => f.write_str("made twice"),
            Way::OtherThread => f.write_str("made on another thread"),
            Way::AfterOthers(n) => write!(f, "made after {n} other runs"),
        }
    }
}

/// Why there is no certificate.
#[expect(missing_docs, reason = "the fields are named after what they are")]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Uncertain {
    /// A run had no result, or somebody interrupted.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// A run did not repeat.
    #[error("{way}: {distrust}")]
    Differs { way: Way, distrust: Box<Distrust> },
}

impl Matrix<'_> {
    /// Makes every run in all these ways, and gives each as it was the first time, in order.
    /// `progress` is told after every run. Setting `cancelled` ends it without a result.
    ///
    /// # Errors
    /// It was cancelled, a run had no result, or one did not repeat: the first one, of the first way in which any did not.
    ///
    /// # Panics
    /// The system cannot start a thread.
    pub fn run(&self, cancelled: &AtomicBool, progress: &(dyn Fn() + Sync)) -> Result<Vec<Sample>, Uncertain> {
        let twice = |number: usize| {
            let sample = self.twice(number, self.runs[number]);
            progress();
            sample
        };
        let samples = crew::try_each(self.runs.len(), self.threads, cancelled, twice)?.ok_or(Stopped::Cancelled)?;
        let differs = |way| move |distrust| Uncertain::Differs { way, distrust };
        certify(self.subjects, &samples, self.threads, cancelled).map_err(differs(Way::OtherThread))?;
        let late = || self.after_others(&samples, cancelled, progress);
        thread::scope(|scope| scope.spawn(late).join().expect("workers do not panic"))?;
        if cancelled.load(Ordering::Relaxed) { Err(Stopped::Cancelled.into()) } else { Ok(samples) }
    }

    fn twice(&self, number: usize, (row, class, seed): (usize, FaultClass, Seed)) -> Result<Sample, Uncertain> {
        let subject = self.subjects[row];
        let staged = Staged::of(subject, class, seed);
        let plan = staged.plan(class, seed);
        let no_result = |why: NoResult| Stopped::NoResult { strategy: subject.strategy().name(), class, seed, why };
        let seen = observe(&*staged, class, seed, &plan).map_err(no_result)?;
        let case = Case { key: RunKey::Sampled(number as u64), seed, plan };
        let sample = Sample { subject: row, class, case, trace: seen.run.trace };
        again(subject, &sample).map_err(|distrust| Uncertain::Differs { way: Way::Twice, distrust })?;
        Ok(sample)
    }

    /// What a thread that has made other runs may have kept from them, changes nothing.
    fn after_others(&self, samples: &[Sample], cancelled: &AtomicBool, progress: &(dyn Fn() + Sync)) -> Result<(), Uncertain> {
        for (n, sample) in (0..self.others).zip(samples.iter().cycle()) {
            if cancelled.load(Ordering::Relaxed) {
                return Ok(());
            }
            let (subject, class, seed) = (self.subjects[sample.subject], sample.class, sample.case.seed.fork("others").nth(n));
            let staged = Staged::of(subject, class, seed);
            observe(&*staged, class, seed, &staged.plan(class, seed)).map_err(|why| Stopped::NoResult {
                strategy: subject.strategy().name(),
                class,
                seed,
                why,
            })?;
            progress();
        }
        for sample in samples {
            if cancelled.load(Ordering::Relaxed) {
                return Ok(());
            }
            let way = Way::AfterOthers(self.others);
            again(self.subjects[sample.subject], sample).map_err(|distrust| Uncertain::Differs { way, distrust })?;
            progress();
        }
        Ok(())
    }

    /// How often `progress` is told.
    pub fn work(&self) -> u64 {
        2 * self.runs.len() as u64 + self.others
    }
}

#[cfg(test)]
mod tests;
