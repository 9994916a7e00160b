//! Many seeds over many cells, on several threads.
//!
//! Work is handed out in tickets of a few seeds. Under [`Quota::Seeds`] a ticket belongs to a
//! cell and a range of seeds, cell after cell, so what is seen does not depend on how many
//! threads there are or which is faster. Under [`Quota::Time`] tickets go round the cells, so
//! that all have got about the same number when time is up; how many is then up to the
//! machine. A must-cell's pinned plans are always run, and first.

use crate::class::FaultClass;
use crate::explore::cell::Tally;
use crate::explore::certify::{self, Sample};
use crate::explore::observe::NoResult;
use crate::explore::{Case, Mark, RunKey, Staged, Subject, observe, seeds_of_a_claim};
use crate::seed::Seed;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

/// Seeds in one ticket: long enough that handing out costs nothing, short enough that threads end together.
const TICKET: u64 = 25;

/// How much a sweep does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quota {
    /// This many seeds for each cell.
    Seeds(u64),
    /// As many as fit until [`Watch::out_of_time`].
    Time,
}

/// What is swept.
pub struct Sweep<'a> {
    /// The rows.
    pub subjects: &'a [&'a dyn Subject],
    /// The columns.
    pub classes: &'a [FaultClass],
    /// Run `i` of every cell has the seed `base.nth(i)`.
    pub base: Seed,
    /// How much.
    pub quota: Quota,
    /// How many threads, at least 1.
    pub threads: usize,
}

/// How a sweep is watched from outside.
pub struct Watch<'a> {
    /// Set to stop at once, without a result.
    pub cancelled: &'a AtomicBool,
    /// Whether a sweep under [`Quota::Time`] should end.
    pub out_of_time: &'a (dyn Fn() -> bool + Sync),
    /// Told after every ticket, on the thread that finished it.
    pub progress: &'a (dyn Fn(Progress) + Sync),
}

/// How far a sweep is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Cells that are finished; under [`Quota::Time`] cells that have been looked at.
    pub cells: u64,
    /// Sampled runs that are finished.
    pub runs: u64,
}

/// What a sweep saw.
#[derive(Debug)]
pub struct Swept {
    /// One row of tallies for each subject, one tally for each class.
    pub tallies: Vec<Vec<Tally>>,
    /// Histories kept to be compared with a second run.
    pub samples: Vec<Sample>,
}

/// Why a sweep has no result.
#[expect(missing_docs, reason = "the fields are named after what they are")]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stopped {
    /// From outside.
    #[error("interrupted")]
    Cancelled,
    /// A run had no result.
    #[error("{strategy} under {class}, seed {seed}: {why}")]
    NoResult { strategy: &'static str, class: FaultClass, seed: Seed, why: NoResult },
}

/// Some seeds of one cell.
#[derive(Clone, Copy)]
struct Ticket {
    number: u64,
    cell: usize,
    first: u64,
    end: u64,
}

impl Sweep<'_> {
    /// How many cells there are.
    pub fn cells(&self) -> usize {
        self.subjects.len() * self.classes.len()
    }

    /// Sweeps.
    ///
    /// # Errors
    /// It was cancelled, or a run was refused, or the harness itself failed. The error is that of the first ticket that has one.
    ///
    /// # Panics
    /// The system cannot start a thread.
    pub fn run(&self, watch: &Watch<'_>) -> Result<Swept, Stopped> {
        let desk = Desk::new(self);
        let shares: Vec<Share> = thread::scope(|scope| {
            let workers: Vec<_> = (0..self.threads.max(1)).map(|_| scope.spawn(|| self.work(&desk, watch))).collect();
            workers.into_iter().map(|w| w.join().expect("workers do not panic")).collect()
        });
        if let Some((_, stopped)) = shares.iter().filter_map(|s| s.stopped.clone()).min_by_key(|(ticket, _)| *ticket) {
            return Err(stopped);
        }
        if watch.cancelled.load(Ordering::Relaxed) {
            return Err(Stopped::Cancelled);
        }
        Ok(self.collect(shares))
    }

    fn collect(&self, shares: Vec<Share>) -> Swept {
        let mut tallies = vec![Tally::default(); self.cells()];
        let mut samples = Vec::new();
        for share in shares {
            samples.extend(share.samples);
            for (into, tally) in tallies.iter_mut().zip(share.tallies) {
                into.merge(tally);
            }
        }
        samples.sort_by_key(|s| (s.subject, s.class, s.case.key));
        let mut tallies = tallies.into_iter();
        let rows = self.subjects.iter().map(|_| tallies.by_ref().take(self.classes.len()).collect()).collect();
        Swept { tallies: rows, samples }
    }

    /// What one thread does until there is nothing left to do.
    fn work(&self, desk: &Desk, watch: &Watch<'_>) -> Share {
        let mut share = Share { tallies: vec![Tally::default(); self.cells()], samples: Vec::new(), stopped: None };
        while let Some(ticket) = desk.next() {
            if watch.cancelled.load(Ordering::Relaxed) {
                break;
            }
            if let Err(stopped) = self.serve(ticket, watch, &mut share) {
                desk.close();
                share.stopped = Some((ticket.number, stopped));
                break;
            }
            if self.quota == Quota::Time && (watch.out_of_time)() && ticket.number >= desk.cells {
                break;
            }
            (watch.progress)(desk.done(ticket));
        }
        share
    }

    fn serve(&self, ticket: Ticket, watch: &Watch<'_>, share: &mut Share) -> Result<(), Stopped> {
        let (row, column) = (ticket.cell / self.classes.len(), ticket.cell % self.classes.len());
        let (subject, class) = (self.subjects[row], self.classes[column]);
        if class.misses(subject.strategy().steps()).is_some() {
            return Ok(());
        }
        let tally = &mut share.tallies[ticket.cell];
        let mut one = |on: &dyn Subject, key, seed: Seed, plan| -> Result<Vec<Mark>, Stopped> {
            let no_result = |why| Stopped::NoResult { strategy: subject.strategy().name(), class, seed, why };
            let seen = observe(on, class, seed, &plan).map_err(no_result)?;
            let case = Case { key, seed, plan };
            tally.add(&case, &seen);
            let broken = seen.findings.iter().map(|finding| finding.mark).collect();
            if certify::is_sampled(key) {
                share.samples.push(Sample { subject: row, class, case, trace: seen.run.trace });
            }
            Ok(broken)
        };
        if ticket.first == 0 {
            for (claim, (plan, letters)) in subject.claims(class).into_iter().enumerate() {
                for seed in seeds_of_a_claim(subject, class, self.base) {
                    let broken = one(subject, RunKey::Pinned(claim), seed, plan.clone())?;
                    if letters.iter().all(|letter| broken.contains(&Mark::Letter(*letter))) {
                        break;
                    }
                }
            }
        }
        for i in ticket.first..ticket.end {
            let stop = watch.cancelled.load(Ordering::Relaxed) || (self.quota == Quota::Time && (watch.out_of_time)());
            if stop {
                break;
            }
            let seed = self.base.nth(i);
            let staged = Staged::of(subject, class, seed);
            one(&*staged, RunKey::Sampled(i), seed, staged.plan(class, seed))?;
        }
        Ok(())
    }
}

/// What one thread saw.
struct Share {
    tallies: Vec<Tally>,
    samples: Vec<Sample>,
    stopped: Option<(u64, Stopped)>,
}

/// Hands out tickets and counts what is done.
struct Desk {
    quota: Quota,
    cells: u64,
    /// Tickets of one cell; under [`Quota::Time`] without end.
    rounds: u64,
    issued: AtomicU64,
    closed: AtomicBool,
    runs: AtomicU64,
    open: Vec<AtomicU64>,
    finished: AtomicU64,
}

impl Desk {
    fn new(sweep: &Sweep<'_>) -> Desk {
        let rounds = match sweep.quota {
            Quota::Seeds(n) => n.div_ceil(TICKET).max(1),
            Quota::Time => u64::MAX,
        };
        let to_finish = match sweep.quota {
            Quota::Seeds(_) => rounds,
            Quota::Time => 1,
        };
        Desk {
            quota: sweep.quota,
            cells: sweep.cells() as u64,
            rounds,
            issued: AtomicU64::new(0),
            closed: AtomicBool::new(false),
            runs: AtomicU64::new(0),
            open: (0..sweep.cells()).map(|_| AtomicU64::new(to_finish)).collect(),
            finished: AtomicU64::new(0),
        }
    }

    fn next(&self) -> Option<Ticket> {
        // Whoever holds an earlier ticket finishes it after the desk has closed: so the first error is always found.
        if self.closed.load(Ordering::SeqCst) || self.cells == 0 {
            return None;
        }
        let number = self.issued.fetch_add(1, Ordering::SeqCst);
        let (cell, round, seeds) = match self.quota {
            Quota::Seeds(n) => (number / self.rounds, number % self.rounds, n),
            Quota::Time => (number % self.cells, number / self.cells, u64::MAX),
        };
        let first = round * TICKET;
        (cell < self.cells).then(|| Ticket { number, cell: cell as usize, first, end: (first + TICKET).min(seeds) })
    }

    fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
    }

    fn done(&self, ticket: Ticket) -> Progress {
        let runs = self.runs.fetch_add(ticket.end - ticket.first, Ordering::Relaxed) + ticket.end - ticket.first;
        let open = &self.open[ticket.cell];
        // Under a time quota a cell goes on after it has been counted; it must not be counted again.
        let last = open.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1)) == Ok(1);
        let cells = self.finished.fetch_add(u64::from(last), Ordering::SeqCst) + u64::from(last);
        Progress { cells, runs }
    }
}

#[cfg(test)]
mod tests;
