//! When was it doomed? A run that broke something is gone through again up to a moment, and
//! from there on everything that is left to luck is drawn anew, many times, and nothing more goes
//! wrong. The share of these continuations that break the same rule says how much was decided by
//! then; the moment from which all of them do is the one after which nothing could have helped
//! but another program.

use crate::class::FaultClass;
use crate::explore::observe::NoResult;
use crate::explore::{Finding, Mark, Observed, crew, judged};
use crate::plan::FaultPlan;
use crate::seed::Seed;
use crate::time::SimTime;
use crate::trace::{Event, Record, Trace};
use crate::world::{Deployment, EngineKind, contain};
use std::sync::atomic::{AtomicBool, Ordering};

/// Continuations at each moment.
pub const TRIES: u64 = 20;

/// So many moments are looked at first; between the last undecided one and the first decided one, all are.
const MOMENTS: usize = 60;

/// A moment of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// What happens up to this time, with it, is as it was.
    pub at: SimTime,
    /// The last record that is kept; `None` at the beginning, when only what strikes there has struck.
    pub after: Option<usize>,
    /// How many continuations broke the rule.
    pub broke: u64,
}

/// What became of the continuations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doom {
    /// The moments that were looked at, in order; the last one is when the rule broke.
    pub moments: Vec<Moment>,
    /// Continuations at each.
    pub tries: u64,
    /// The first moment from which on all of them broke.
    pub from: Option<Moment>,
}

/// Why nothing can be said.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Undecidable {
    /// Its randomness is out of reach.
    #[error("the moment from which a run is doomed is looked for on the event engine only; turmoil draws where it cannot be drawn anew")]
    Engine,
    /// The run did not break that.
    #[error("the run does not break {0}, so it was never doomed to")]
    Held(String),
    /// A run had no result.
    #[error(transparent)]
    NoResult(#[from] NoResult),
    /// A continuation was another run before its moment.
    #[error("a continuation from {at} differs from the run before it, at record {record}")]
    Parted {
        /// The moment.
        at: SimTime,
        /// The first record that differs.
        record: usize,
    },
    /// Somebody asked for an end.
    #[error("interrupted")]
    Cancelled,
}

/// A run of a deployment, and what it broke.
#[derive(Clone, Copy)]
pub struct Doomed<'a> {
    /// What was deployed.
    pub deployment: &'a Deployment,
    /// The class of its faults.
    pub class: FaultClass,
    /// Its seed.
    pub seed: Seed,
    /// What went wrong.
    pub plan: &'a FaultPlan,
    /// What it broke.
    pub seen: &'a Observed,
}

impl Doomed<'_> {
    /// Looks for the moment from which `rule` had to break, with `tries` continuations at each moment.
    ///
    /// # Errors
    /// Nothing can be said.
    ///
    /// # Panics
    /// The system cannot start a thread.
    pub fn to(&self, rule: &str, tries: u64, threads: usize, cancelled: &AtomicBool) -> Result<Doom, Undecidable> {
        if self.deployment.engine() != EngineKind::Event {
            return Err(Undecidable::Engine);
        }
        let broke = self.seen.findings.iter().find(|finding| finding.rule == rule);
        let finding = broke.ok_or_else(|| Undecidable::Held(rule.to_owned()))?;
        let all = moments(&self.seen.run.trace, finding.at);
        let look = |places: &[usize]| -> Result<Vec<(usize, Moment)>, Undecidable> {
            let chosen: Vec<Moment> = places.iter().map(|place| all[*place]).collect();
            Ok(places.iter().copied().zip(self.look(finding, &chosen, tries, threads, cancelled)?).collect())
        };
        let few = all.len().min(MOMENTS);
        let mut places: Vec<usize> = (0..few).map(|n| n * (all.len() - 1) / (few - 1).max(1)).collect();
        places.dedup();
        let mut looked = look(&places)?;
        // The moment lies between two that were looked at: now at all of those.
        if let Some(first) = first_of_all(&looked, tries).filter(|first| *first > 0) {
            let between: Vec<usize> = (looked[first - 1].0 + 1..looked[first].0).collect();
            looked.extend(look(&between)?);
            looked.sort_by_key(|(place, _)| *place);
        }
        let from = first_of_all(&looked, tries).map(|first| looked[first].1);
        Ok(Doom { moments: looked.into_iter().map(|(_, moment)| moment).collect(), tries, from })
    }

    /// Continues from each of these moments.
    fn look(
        &self,
        finding: &Finding,
        moments: &[Moment],
        tries: u64,
        threads: usize,
        cancelled: &AtomicBool,
    ) -> Result<Vec<Moment>, Undecidable> {
        let count = |n: usize| -> Result<Moment, Undecidable> {
            let moment = moments[n];
            let breaks = |other| self.breaks_after(finding.mark, finding.rule, moment, other, cancelled);
            let broke = (0..tries).map(|n| breaks(self.seed.fork("doomed").nth(n))).collect::<Result<Vec<bool>, _>>()?;
            Ok(Moment { broke: broke.into_iter().filter(|broke| *broke).count() as u64, ..moment })
        };
        crew::try_each(moments.len(), threads, cancelled, count)?.ok_or(Undecidable::Cancelled)
    }

    /// One continuation. It has to be the same run up to the moment, or nothing that it shows means anything.
    fn breaks_after(&self, mark: Mark, rule: &str, moment: Moment, other: Seed, cancelled: &AtomicBool) -> Result<bool, Undecidable> {
        if cancelled.load(Ordering::Relaxed) {
            return Err(Undecidable::Cancelled);
        }
        let from = moment.after.map_or(SimTime::ZERO, |_| SimTime(moment.at.0 + 1));
        let run = contain(|| self.deployment.run_reseeded(self.seed, self.plan, from, other));
        let run = run.map_err(NoResult::Bug)?.map_err(NoResult::Refused)?;
        let kept = moment.after.map_or(0, |last| last + 1);
        let before = |trace: &Trace| -> Vec<Record> { trace.records().iter().take(kept).copied().collect() };
        let (was, is) = (before(&self.seen.run.trace), before(&run.trace));
        if let Some(record) = (0..kept).find(|n| was.get(*n) != is.get(*n)) {
            return Err(Undecidable::Parted { at: moment.at, record });
        }
        let seen = judged(self.deployment, self.class, self.plan, run)?;
        Ok(seen.findings.iter().any(|f| f.mark == mark && f.rule == rule))
    }
}

/// The place of the first moment from which on all continuations broke.
fn first_of_all(looked: &[(usize, Moment)], tries: u64) -> Option<usize> {
    let open = looked.iter().rposition(|(_, moment)| moment.broke < tries);
    let first = open.map_or(0, |open| open + 1);
    (first < looked.len()).then_some(first)
}

/// The beginning, and every time at which something happened that can decide anything, up to when the rule broke.
fn moments(trace: &Trace, until: SimTime) -> Vec<Moment> {
    let mut found = vec![Moment { at: SimTime::ZERO, after: None, broke: 0 }];
    for (n, record) in trace.records().iter().enumerate().take_while(|(_, record)| record.at <= until) {
        let last = found.last_mut().expect("it begins with the beginning");
        match last.after {
            // What happens at the same time stays together.
            Some(_) if last.at == record.at => last.after = Some(n),
            _ if decides(&record.event) => found.push(Moment { at: record.at, after: Some(n), broke: 0 }),
            _ => {}
        }
    }
    found
}

/// Whether something may be different once this has happened.
fn decides(event: &Event) -> bool {
    !matches!(
        event,
        Event::Booted { incarnation: 0, .. }
            | Event::Felt { .. }
            | Event::GoesOn { .. }
            | Event::Lags { .. }
            | Event::Prompt { .. }
            | Event::Looked { .. }
            | Event::LeaseRefused { .. }
            | Event::Earned { .. }
    )
}
