//! Runs towards what the drawn ones have left out: for each place that no run has felt, a plan with
//! that fault there, and a mix that was drawn like any other.
//!
//! It goes in passes over all cells: what one pass has reached, on whatever thread, the next one
//! leaves out. So what is made depends on the drawn runs and on nothing else. A rare place may need
//! another fault before it: nothing is rolled back or given back unless something fails. So every
//! second pass brings an error as well.

use crate::class::FaultClass;
use crate::explore::certify::{self, Sample};
use crate::explore::coverage::{Atlas, Place};
use crate::explore::sweep::{Progress, Stopped, Watch};
use crate::explore::{Case, RunKey, Staged, Subject, Tally, crew, observe};
use crate::plan::FaultPlan;
use crate::seed::Seed;
use std::sync::atomic::{AtomicU64, Ordering};

/// At most one run is steered for so many that are drawn.
pub const SHARE: u64 = 10;

/// How often a place is tried.
const PASSES: usize = 8;

/// What is steered: the swarm cells of a sweep that has ended.
pub struct Steering<'a> {
    /// The rows.
    pub subjects: &'a [&'a dyn Subject],
    /// The columns.
    pub classes: &'a [FaultClass],
    /// The seed of the sweep.
    pub base: Seed,
    /// How many threads, at least 1.
    pub threads: usize,
}

/// One run to make.
struct Job<'a> {
    row: usize,
    number: u64,
    pass: usize,
    place: &'a Place,
}

impl Steering<'_> {
    /// Makes the runs and counts them in. Returns the histories that are to be compared with a second run.
    ///
    /// # Errors
    /// As a sweep.
    ///
    /// # Panics
    /// The system cannot start a thread.
    pub fn run(&self, tallies: &mut [Vec<Tally>], watch: &Watch<'_>) -> Result<Vec<Sample>, Stopped> {
        let Some(column) = self.classes.iter().position(|class| *class == FaultClass::Swarm) else { return Ok(Vec::new()) };
        let drawn: u64 = tallies.iter().flatten().map(|tally| tally.runs).sum();
        let each = drawn / SHARE / self.subjects.len().max(1) as u64;
        let atlases = self.all(self.subjects.len(), watch, |row| Atlas::of(self.subjects[row]))?;
        for (atlas, row) in atlases.iter().zip(&mut *tallies) {
            row[column].coverage.possible = atlas.places.keys().cloned().collect();
            row[column].coverage.possible_pairs = atlas.pairs();
        }
        let (mut samples, made) = (Vec::new(), AtomicU64::new(0));
        let mut numbers = vec![0; self.subjects.len()];
        for pass in 0..PASSES {
            let jobs = self.jobs(pass, &atlases, tallies, column, each, &mut numbers);
            let done = self.all(jobs.len(), watch, |n| {
                let job = &jobs[n];
                let done = self.make(job, &atlases[job.row]);
                (watch.progress)(Progress { cells: 0, runs: made.fetch_add(1, Ordering::Relaxed) + 1 });
                done
            })?;
            for (job, done) in jobs.iter().zip(done) {
                let (tally, sample) = done?;
                tallies[job.row][column].merge(tally);
                samples.extend(sample);
            }
        }
        Ok(samples)
    }

    /// The places that are still open, each row's in an order of its own, as far as its runs go.
    fn jobs<'a>(
        &self,
        pass: usize,
        atlases: &'a [Atlas],
        tallies: &[Vec<Tally>],
        column: usize,
        each: u64,
        numbers: &mut [u64],
    ) -> Vec<Job<'a>> {
        let mut jobs = Vec::new();
        for (row, atlas) in atlases.iter().enumerate() {
            let coverage = &tallies[row][column].coverage;
            let felt = |place: &Place| coverage.drawn.contains_key(place) || coverage.steered.contains_key(place);
            let mut open: Vec<&Place> = atlas.places.keys().filter(|place| !felt(place)).collect();
            open.sort_by_cached_key(|place| self.base.fork(&place.to_string()));
            for place in open {
                let number = numbers[row];
                if number < each {
                    numbers[row] += 1;
                    jobs.push(Job { row, number, pass, place });
                }
            }
        }
        jobs
    }

    fn make(&self, job: &Job<'_>, atlas: &Atlas) -> Result<(Tally, Option<Sample>), Stopped> {
        let (subject, class) = (self.subjects[job.row], FaultClass::Swarm);
        let seed = self.base.fork("steered").nth(job.number);
        let staged = Staged::of(subject, class, seed);
        let (of, faults) = &atlas.places[job.place];
        let fault = &faults[job.pass % faults.len()];
        let mix = staged.plan(class, seed).faults.into_iter().filter(|other| atlas.goes_with(*of, other));
        let error = if job.pass % 2 == 1 { atlas.error(*of, seed) } else { None };
        let plan = FaultPlan::of(std::iter::once(fault.clone()).chain(error.cloned()).chain(mix));
        let no_result = |why| Stopped::NoResult { strategy: subject.strategy().name(), class, seed, why };
        let seen = observe(&*staged, class, seed, &plan).map_err(no_result)?;
        let case = Case { key: RunKey::Steered(job.number), seed, plan };
        let mut tally = Tally::default();
        tally.add(&case, &seen);
        tally.coverage.add(case.key, &case.plan, &seen.run);
        let sample = certify::is_sampled(case.key).then_some(Sample { subject: job.row, class, case, trace: seen.run.trace });
        Ok((tally, sample))
    }

    fn all<T: Send>(&self, count: usize, watch: &Watch<'_>, make: impl Fn(usize) -> T + Sync) -> Result<Vec<T>, Stopped> {
        let made: Option<Vec<T>> = crew::each(count, self.threads, watch.cancelled, make).into_iter().collect();
        made.ok_or(Stopped::Cancelled)
    }
}

#[cfg(test)]
mod tests;
