//! What a run cost, counted from its history: the only thing that shows a defect of a part that
//! saves work and decides nothing.

use super::hunt;
use super::mutant::Pair;
use onceproof::explore::Case;
use onceproof::id::{AttemptId, HostId, PeriodId};
use onceproof::strategy::Pinned;
use onceproof::time::SimTime;
use onceproof::trace::{Event, Phase};
use onceproof::world::{Deployment, Run};

/// A cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Jobs that were begun, without those that settled.
    WastedJobs,
    /// Pairs of jobs of one period that went on at the same time.
    Overlaps,
    /// Requests to the stores.
    Requests,
    /// Milliseconds from the end of each period to its settlement; as long as the run, if it was never settled.
    Delay,
}

/// A job in the history: from its first slice to the end of its attempt, or of its process.
struct Job {
    attempt: AttemptId,
    period: PeriodId,
    from: SimTime,
    to: SimTime,
}

impl Measure {
    /// What it is called in a table.
    pub fn name(self) -> &'static str {
        match self {
            Measure::WastedJobs => "jobs in vain",
            Measure::Overlaps => "jobs at the same time",
            Measure::Requests => "requests",
            Measure::Delay => "milliseconds until settled",
        }
    }

    /// What this run cost.
    pub fn of(self, deployment: &Deployment, run: &Run) -> u64 {
        match self {
            Measure::WastedJobs => {
                let settled = run.trace.events().filter(|e| matches!(e, Event::Settled { .. })).count();
                jobs(run).len().saturating_sub(settled) as u64
            }
            Measure::Overlaps => {
                let jobs = jobs(run);
                let beside = |(n, job): (usize, &Job)| {
                    jobs[..n].iter().filter(|other| other.period == job.period && job.from < other.to && other.from < job.to).count() as u64
                };
                jobs.iter().enumerate().map(beside).sum()
            }
            Measure::Requests => {
                let is_request = |step: &str| deployment.strategy().steps().iter().any(|s| s.name == step && !s.is_work());
                run.trace.events().filter(|e| matches!(e, Event::Step { step, phase: Phase::Before, .. } if is_request(step))).count()
                    as u64
            }
            Measure::Delay => deployment
                .calendar()
                .periods
                .iter()
                .map(|&period| {
                    let settled =
                        run.trace.records().iter().find(|r| matches!(r.event, Event::Settled { period: p, .. } if p == period.id));
                    settled.map_or(run.ended_at, |r| r.at).since(deployment.calendar().due(period)).as_millis() as u64
                })
                .sum(),
        }
    }
}

/// What a strategy and its mutant cost in the same runs.
#[derive(Clone, Debug, Default)]
pub struct Costs(pub Vec<(u64, u64)>);

/// With how many seeds both are run.
const SEEDS: u64 = 15;

/// If a defect made no difference, it would be taken for one that does in at most this share of all cases.
const DOUBT: f64 = 0.01;

/// By how much of what the strategy costs its mutant has to cost more.
const NOTICEABLE: f64 = 0.02;

impl Costs {
    /// Runs both under a plan.
    pub fn of(measure: Measure, pair: &Pair, plan: Pinned) -> Costs {
        let cost = |deployment: &Deployment, n| {
            let (_, Case { seed, plan, .. }) = hunt::pinned(deployment, hunt::BASE.nth(n), plan);
            measure.of(deployment, &deployment.run(seed, &plan).expect("a mutant can be simulated"))
        };
        Costs((0..SEEDS).map(|n| (cost(&pair.sound, n), cost(&pair.spoiled, n))).collect())
    }

    /// What the strategy cost, and what its mutant did, all runs together.
    pub fn sums(&self) -> (u64, u64) {
        self.0.iter().fold((0, 0), |(sound, spoiled), pair| (sound + pair.0, spoiled + pair.1))
    }

    /// Whether the mutant costs more: by a noticeable part, and so often in the same run that it
    /// cannot be chance (a sign test, ties left out).
    pub fn more(&self) -> bool {
        let (sound, spoiled) = self.sums();
        let more = self.0.iter().filter(|(sound, spoiled)| sound < spoiled).count();
        let less = self.0.iter().filter(|(sound, spoiled)| spoiled < sound).count();
        chance(more + less, more) <= DOUBT && spoiled as f64 >= sound as f64 * (1.0 + NOTICEABLE)
    }
}

/// How likely a fair coin shows at least this many heads in `n` throws.
pub fn chance(n: usize, heads: usize) -> f64 {
    let ways = |k: usize| (0..k).fold(1.0, |ways, i| ways * (n - i) as f64 / (i + 1) as f64);
    (heads..=n).map(ways).sum::<f64>() / 2_f64.powi(i32::try_from(n).unwrap_or(i32::MAX))
}

fn jobs(run: &Run) -> Vec<Job> {
    let (mut open, mut jobs): (Vec<Job>, Vec<Job>) = (Vec::new(), Vec::new());
    let mut attempts: Vec<(AttemptId, PeriodId)> = Vec::new();
    for record in run.trace.records() {
        let over = |job: &Job| match record.event {
            Event::AttemptEnded { attempt, .. } => job.attempt == attempt,
            Event::Crashed { host } | Event::PoweredOff { host } => HostId::Node(job.attempt.node) == host,
            _ => false,
        };
        for ended in open.extract_if(.., |job| over(job)) {
            jobs.push(Job { to: record.at, ..ended });
        }
        match record.event {
            Event::AttemptBegan { attempt, period, .. } => attempts.push((attempt, period)),
            Event::Step { attempt, step: "work.1", phase: Phase::Before } => {
                let (_, period) = *attempts.iter().rev().find(|(a, _)| *a == attempt).expect("a job belongs to an attempt");
                open.push(Job { attempt, period, from: record.at, to: run.ended_at });
            }
            _ => {}
        }
    }
    jobs.extend(open);
    jobs
}
