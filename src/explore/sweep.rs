//! Many seeds over many cells, on several threads.
//!
//! Work is handed out in tickets of a few seeds. Under [`Quota::Seeds`] a ticket belongs to a
//! cell and a range of seeds, cell after cell, so what is seen does not depend on how many
//! threads there are or which is faster. Under [`Quota::Felt`] it goes in batches, and what is
//! still open is decided between two batches, so neither does that. Under [`Quota::Time`] tickets
//! go round the cells, so that all have got about the same number when time is up; how many is
//! then up to the machine. A must-cell's pinned plans are always run, and first.

use crate::class::FaultClass;
use crate::explore::cell::Tally;
use crate::explore::certify::{self, Sample};
use crate::explore::observe::NoResult;
use crate::explore::{Case, Mark, RunKey, Shard, Staged, Subject, observe, seeds_of_a_claim};
use crate::seed::Seed;
use crate::world::Refused;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

/// Seeds in one ticket: long enough that handing out costs nothing, short enough that threads end together.
const TICKET: u64 = 25;

/// Seeds of a cell between two looks at whether it has felt enough.
pub const BATCH: u64 = 125;

/// A cell that has felt less than one run in so many when it has had them all is given up.
const PATIENCE: u64 = 4;

/// How much a sweep does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quota {
    /// This many seeds for each cell.
    Seeds(u64),
    /// As many as fit until [`Watch::out_of_time`].
    Time,
    /// Until this many runs of a cell have felt their faults and none broke: batch after batch,
    /// until something breaks of the cell's own, or [`Quota::cap`] is reached.
    Felt(u64),
}

impl Quota {
    /// The most seeds that a cell can get, if there is such a number.
    pub fn cap(self) -> Option<u64> {
        match self {
            Quota::Seeds(n) => Some(n),
            Quota::Time => None,
            Quota::Felt(n) => Some(n.saturating_mul(PATIENCE).max(BATCH)),
        }
    }
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
    /// Which part of it: of each cell, its seeds and its pinned plans by number. A part of
    /// [`Quota::Felt`] would stop by itself, not where the whole stops.
    pub shard: Shard,
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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

impl Stopped {
    /// Whether nobody wanted to wait any longer.
    pub fn is_interrupted(&self) -> bool {
        matches!(self, Stopped::Cancelled | Stopped::NoResult { why: NoResult::Refused(Refused::Interrupted), .. })
    }
}

/// Some seeds of one cell.
#[derive(Clone, Copy)]
struct Ticket {
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
        let (cells, mut seen) = (self.cells(), Seen::of(self.cells()));
        match self.quota {
            Quota::Seeds(n) => {
                let tickets = (0..cells).flat_map(move |cell| tickets(cell, 0..n));
                self.stage(&Desk::new(tickets, vec![n.div_ceil(TICKET).max(1); cells], &Progress::default()), watch, &mut seen)?;
            }
            Quota::Time => {
                let round = move |n: u64| (0..cells).map(move |cell| Ticket { cell, first: n * TICKET, end: (n + 1) * TICKET });
                self.stage(&Desk::new((0..).flat_map(round), vec![1; cells], &Progress::default()), watch, &mut seen)?;
            }
            Quota::Felt(wanted) => self.until_felt(wanted, watch, &mut seen)?,
        }
        Ok(self.collect(seen))
    }

    /// Batch after batch, for as long as a cell is open.
    fn until_felt(&self, wanted: u64, watch: &Watch<'_>, seen: &mut Seen) -> Result<(), Stopped> {
        let cap = self.quota.cap().unwrap_or(u64::MAX);
        loop {
            let open: Vec<usize> = (0..self.cells()).filter(|cell| self.is_open(*cell, wanted, cap, seen)).collect();
            if open.is_empty() {
                return Ok(());
            }
            let batch = |cell: &usize| {
                let from = seen.tallies[*cell].runs;
                tickets(*cell, from..(from + BATCH).min(cap))
            };
            let batches: Vec<Ticket> = open.iter().flat_map(batch).collect();
            let so_far = Progress { cells: (self.cells() - open.len()) as u64, runs: seen.tallies.iter().map(|tally| tally.runs).sum() };
            // Whether a cell is finished is known when its batch is.
            self.stage(&Desk::new(batches.into_iter(), vec![u64::MAX; self.cells()], &so_far), watch, seen)?;
        }
    }

    fn is_open(&self, cell: usize, wanted: u64, cap: u64, seen: &Seen) -> bool {
        let (subject, class) = self.cell(cell);
        let tally = &seen.tallies[cell];
        let row = cell - cell % self.classes.len();
        let calm = self.classes.iter().position(|class| *class == FaultClass::Calm).filter(|_| class != FaultClass::Calm);
        let inherited: BTreeSet<Mark> = calm.map(|column| seen.tallies[row + column].broken.keys().copied().collect()).unwrap_or_default();
        let broke = tally.broken.keys().any(|mark| !inherited.contains(mark));
        subject.misses(class).is_none() && tally.runs < cap && (tally.runs == 0 || !broke && tally.felt < wanted)
    }

    fn cell(&self, cell: usize) -> (&dyn Subject, FaultClass) {
        (self.subjects[cell / self.classes.len()], self.classes[cell % self.classes.len()])
    }

    /// Serves all tickets of a desk.
    fn stage(&self, desk: &Desk<'_>, watch: &Watch<'_>, seen: &mut Seen) -> Result<(), Stopped> {
        let shares: Vec<Share> = thread::scope(|scope| {
            let workers: Vec<_> = (0..self.threads.max(1)).map(|_| scope.spawn(|| self.work(desk, watch))).collect();
            workers.into_iter().map(|w| w.join().expect("workers do not panic")).collect()
        });
        if let Some((_, stopped)) = shares.iter().filter_map(|s| s.stopped.clone()).min_by_key(|(ticket, _)| *ticket) {
            return Err(stopped);
        }
        if watch.cancelled.load(Ordering::Relaxed) {
            return Err(Stopped::Cancelled);
        }
        for share in shares {
            seen.samples.extend(share.seen.samples);
            for (into, tally) in seen.tallies.iter_mut().zip(share.seen.tallies) {
                into.merge(tally);
            }
        }
        Ok(())
    }

    fn collect(&self, mut seen: Seen) -> Swept {
        seen.samples.sort_by_key(|s| (s.subject, s.class, s.case.key));
        let mut tallies = seen.tallies.into_iter();
        let rows = self.subjects.iter().map(|_| tallies.by_ref().take(self.classes.len()).collect()).collect();
        Swept { tallies: rows, samples: seen.samples }
    }

    /// What one thread does until there is nothing left to do.
    fn work(&self, desk: &Desk<'_>, watch: &Watch<'_>) -> Share {
        let mut share = Share { seen: Seen::of(self.cells()), stopped: None };
        while let Some((number, ticket)) = desk.next() {
            if watch.cancelled.load(Ordering::Relaxed) {
                break;
            }
            if let Err(stopped) = self.serve(ticket, watch, &mut share.seen) {
                desk.close();
                share.stopped = Some((number, stopped));
                break;
            }
            if self.quota == Quota::Time && (watch.out_of_time)() && number >= self.cells() as u64 {
                break;
            }
            (watch.progress)(desk.done(ticket, self.shard));
        }
        share
    }

    fn serve(&self, ticket: Ticket, watch: &Watch<'_>, seen: &mut Seen) -> Result<(), Stopped> {
        let (row, (subject, class)) = (ticket.cell / self.classes.len(), self.cell(ticket.cell));
        if subject.misses(class).is_some() {
            return Ok(());
        }
        let tally = &mut seen.tallies[ticket.cell];
        let mut one = |on: &dyn Subject, key, seed: Seed, plan| -> Result<Vec<Mark>, Stopped> {
            let no_result = |why| Stopped::NoResult { strategy: subject.strategy().name(), class, seed, why };
            let observed = observe(on, class, seed, &plan).map_err(no_result)?;
            let case = Case { key, seed, plan };
            tally.add(&case, &observed);
            if matches!(key, RunKey::Sampled(_)) {
                tally.cost.add(on, &case.plan, &observed.run);
            }
            if class == FaultClass::Swarm {
                tally.coverage.add(key, &case.plan, &observed.run);
            }
            let broken = observed.findings.iter().map(|finding| finding.mark).collect();
            if certify::is_sampled(key) {
                seen.samples.push(Sample { subject: row, class, case, trace: observed.run.trace });
            }
            Ok(broken)
        };
        if ticket.first == 0 {
            let claims = subject.claims(class).into_iter().enumerate();
            for (claim, (plan, letters)) in claims.filter(|(claim, _)| self.shard.has(*claim as u64)) {
                for seed in seeds_of_a_claim(subject, class, self.base) {
                    let broken = one(subject, RunKey::Pinned(claim), seed, plan.clone())?;
                    if letters.iter().all(|letter| broken.contains(&Mark::Letter(*letter))) {
                        break;
                    }
                }
            }
        }
        for i in (ticket.first..ticket.end).filter(|i| self.shard.has(*i)) {
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

/// The tickets of some seeds of a cell; one without seeds if there are none, for the pinned plans.
fn tickets(cell: usize, seeds: Range<u64>) -> impl Iterator<Item = Ticket> {
    let rounds = (seeds.end - seeds.start).div_ceil(TICKET).max(1);
    (0..rounds).map(move |n| {
        let first = seeds.start + n * TICKET;
        Ticket { cell, first, end: (first + TICKET).min(seeds.end) }
    })
}

/// What was seen, cell by cell.
struct Seen {
    tallies: Vec<Tally>,
    samples: Vec<Sample>,
}

impl Seen {
    fn of(cells: usize) -> Seen {
        Seen { tallies: vec![Tally::default(); cells], samples: Vec::new() }
    }
}

/// What one thread saw.
struct Share {
    seen: Seen,
    stopped: Option<(u64, Stopped)>,
}

/// Hands out tickets and counts what is done.
struct Desk<'a> {
    tickets: Mutex<Box<dyn Iterator<Item = (u64, Ticket)> + Send + 'a>>,
    closed: AtomicBool,
    runs: AtomicU64,
    /// How many tickets of each cell are left until it is finished.
    open: Vec<AtomicU64>,
    finished: AtomicU64,
}

impl<'a> Desk<'a> {
    fn new(tickets: impl Iterator<Item = Ticket> + Send + 'a, to_finish: Vec<u64>, so_far: &Progress) -> Desk<'a> {
        Desk {
            tickets: Mutex::new(Box::new((0..).zip(tickets))),
            closed: AtomicBool::new(false),
            runs: AtomicU64::new(so_far.runs),
            open: to_finish.into_iter().map(AtomicU64::new).collect(),
            finished: AtomicU64::new(so_far.cells),
        }
    }

    fn next(&self) -> Option<(u64, Ticket)> {
        // Whoever holds an earlier ticket finishes it after the desk has closed: so the first error is always found.
        if self.closed.load(Ordering::SeqCst) {
            return None;
        }
        self.tickets.lock().expect("nobody panics while handing out a ticket").next()
    }

    fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
    }

    fn done(&self, ticket: Ticket, shard: Shard) -> Progress {
        let made = shard.share(ticket.first..ticket.end);
        let runs = self.runs.fetch_add(made, Ordering::Relaxed) + made;
        // Under a time quota a cell goes on after it has been counted; it must not be counted again.
        let open = &self.open[ticket.cell];
        let last = open.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1)) == Ok(1);
        let cells = self.finished.fetch_add(u64::from(last), Ordering::SeqCst) + u64::from(last);
        Progress { cells, runs }
    }
}

#[cfg(test)]
mod tests;
