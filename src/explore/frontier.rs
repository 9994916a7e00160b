//! Where a lease stops protecting: how long its holder may be stopped, how late another node may
//! come, before two are at work together, and before a period is settled twice; measured with
//! seeds, and laid beside the line that can be worked out on paper.
//!
//! In reading order: a [`point`] fixes all conditions but one; [`bisect`] finds where along that one
//! something begins; [`fn@overlap`] reads from a trace whether two nodes were at work together;
//! [`Frontier`] measures many points on all threads. What is measured does not depend on how many.

pub mod bisect;
pub mod guard;
pub mod overlap;
pub mod point;

pub use bisect::{Search, Threshold};
pub use overlap::{Overlap, overlap};
pub use point::{Along, Conditions, Line, Point};

use crate::class::FaultClass;
use crate::explore::observe::NoResult;
use crate::explore::sweep::Stopped;
use crate::explore::{Mark, crew, observe};
use crate::id::Letter;
use crate::scenario::Misconfigured;
use crate::seed::Seed;
use crate::time::millis;
use crate::world::{Deployment, EngineKind};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// The class under which the runs are observed: that of their main fault.
const CLASS: FaultClass = FaultClass::Pause;

/// What is measured, and how closely.
pub struct Frontier<'a> {
    /// The points.
    pub points: &'a [Point],
    /// Run `i` of every point has the seed `base.nth(i)`.
    pub base: Seed,
    /// Runs at each value, at least 1.
    pub seeds: usize,
    /// How closely thresholds are bracketed, at least 1 ms.
    pub resolution: Duration,
    /// How many threads, at least 1.
    pub threads: usize,
}

/// A point, measured.
#[derive(Clone)]
pub struct Measured {
    /// What was measured.
    pub point: Point,
    /// Where two nodes begin to be at work together.
    pub overlap: Threshold,
    /// Where a period begins to be settled twice.
    pub twice: Threshold,
    /// How many runs that took.
    pub runs: usize,
    /// How closely the thresholds were bracketed, in milliseconds.
    pub resolution: u64,
}

/// Whether a measured threshold is where the line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// It begins by so many milliseconds later (negative: earlier) than the line, which what the line leaves out explains.
    Within(i64),
    /// Nothing begins, as the line says.
    Neither,
    /// The line says nothing.
    NoLine,
    /// It is somewhere else, or nowhere, or anywhere.
    Off,
}

impl Measured {
    /// Whether overlap begins where the line says.
    pub fn overlap_agrees(&self) -> Agreement {
        self.agrees(self.point.overlap, self.overlap, self.point.range().0)
    }

    /// Whether settling twice begins where the line says.
    pub fn twice_agrees(&self) -> Agreement {
        self.agrees(self.point.twice, self.twice, self.point.range().1)
    }

    /// Whether both do.
    pub fn as_expected(&self) -> bool {
        self.overlap_agrees() != Agreement::Off && self.twice_agrees() != Agreement::Off
    }

    fn agrees(&self, line: Line, measured: Threshold, up_to: u64) -> Agreement {
        match (line, measured, measured.begins()) {
            (_, Threshold::NotMonotone { .. }, _) => Agreement::Off,
            (Line::Unknown, ..) => Agreement::NoLine,
            (Line::Never, _, None) => Agreement::Neither,
            (Line::From(from), _, None) if up_to < from => Agreement::Neither,
            (Line::From(from), _, Some(begins)) => {
                let (by, slack) = (begins as i64 - from as i64, self.point.slack_ms() as i64);
                let late = self.resolution as i64 + slack + self.point.patience_ms() as i64;
                if (-slack..=late).contains(&by) { Agreement::Within(by) } else { Agreement::Off }
            }
            (Line::Never, _, Some(_)) | (Line::From(_), _, None) => Agreement::Off,
        }
    }
}

/// Why there is no frontier.
#[derive(Debug, thiserror::Error)]
pub enum NoFrontier {
    /// A point cannot be deployed.
    #[error(transparent)]
    Misconfigured(#[from] Misconfigured),
    /// A run had no result.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

/// What a run shows at one value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Shown {
    overlap: bool,
    twice: bool,
}

impl Frontier<'_> {
    /// Measures all points; `progress` is told how many are done. Setting `cancelled` ends it without a result.
    ///
    /// # Errors
    /// It was cancelled, a point cannot be deployed, or a run had no result. The error is that of the first point that has one.
    ///
    /// # Panics
    /// The system cannot start a thread.
    pub fn run(&self, cancelled: &AtomicBool, progress: &(dyn Fn(usize) + Sync)) -> Result<Vec<Measured>, NoFrontier> {
        let done = AtomicUsize::new(0);
        let measure = |number: usize| {
            let measured = self.measure(&self.points[number], cancelled);
            progress(1 + done.fetch_add(1, Ordering::Relaxed));
            measured
        };
        Ok(crew::try_each(self.points.len(), self.threads, cancelled, measure)?.ok_or(Stopped::Cancelled)?)
    }

    fn measure(&self, point: &Point, cancelled: &AtomicBool) -> Result<Measured, NoFrontier> {
        let deployment = Deployment::with_strategy(&point.scenario(), point.strategy, EngineKind::Event)?;
        let mut seen: BTreeMap<(u64, usize), Shown> = BTreeMap::new();
        let mut shown = |value: u64, run: usize| -> Result<Shown, Stopped> {
            if cancelled.load(Ordering::Relaxed) {
                return Err(Stopped::Cancelled);
            }
            if let Some(shown) = seen.get(&(value, run)) {
                return Ok(*shown);
            }
            let shown = self.look(&deployment, point, value, run)?;
            seen.insert((value, run), shown);
            Ok(shown)
        };
        let resolution = millis(self.resolution).max(1);
        let (overlap_to, twice_to) = point.range();
        let search = |to| Search { from: 0, to, resolution, runs: self.seeds.max(1) };
        let overlap = search(overlap_to).find(|value, run| shown(value, run).map(|shown| shown.overlap))?;
        let twice = search(twice_to).find(|value, run| shown(value, run).map(|shown| shown.twice))?;
        Ok(Measured { point: point.clone(), overlap, twice, runs: seen.len(), resolution })
    }

    fn look(&self, deployment: &Deployment, point: &Point, value: u64, run: usize) -> Result<Shown, Stopped> {
        let (seed, plan) = (self.base.nth(run as u64), point.plan(value));
        let no_result = |why| Stopped::NoResult { strategy: point.strategy.name(), class: CLASS, seed, why };
        let observed = observe(deployment, CLASS, seed, &plan).map_err(no_result)?;
        if let Some(missed) = observed.run.receipts.iter().position(|receipt| receipt.fired.is_none()) {
            let told = format!("fault {missed} of a run of the frontier never struck: {:?}", plan.faults[missed]);
            return Err(no_result(NoResult::Bug(told)));
        }
        let twice = observed.findings.iter().any(|finding| finding.mark == Mark::Letter(Letter::D));
        Ok(Shown { overlap: overlap(&observed.run.trace).is_some(), twice })
    }
}

#[cfg(test)]
mod tests;
