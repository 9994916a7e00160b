//! The judges: one file each. They see what servers and world recorded and what the stores
//! held in the end ([`History`]), and nothing else.

mod ability;
mod claims;
mod ledger;
mod no_stale_commit;
mod not_early;
mod nothing_stuck;
mod paid_once;
mod points_conserved;
mod ranking_right;
#[cfg(test)]
mod script;
mod settled_in_the_end;
mod settled_once;
mod settlements;

use crate::id::{InvariantId, PeriodId};
use crate::settlement::{Calendar, Decides, FinalState};
use crate::time::SimTime;
use crate::trace::Trace;
use std::time::Duration;

/// All that a judge may know about a run.
#[derive(Clone, Copy, Debug)]
pub struct History<'a> {
    /// When periods truly end.
    pub calendar: &'a Calendar,
    /// The record that decides whose settlement is current.
    pub decides: Decides,
    /// How many scheduler nodes there are.
    pub nodes: u8,
    /// How long after it was due, or after the last healing, a period may take to be settled.
    pub liveness_bound: Duration,
    /// How long a healthy node needs at most from finding a period unsettled to having it settled and paid.
    pub effort: Duration,
    /// Everything that happened.
    pub trace: &'a Trace,
    /// When watching ended.
    pub ended: SimTime,
    /// What the stores held then.
    pub end: &'a FinalState,
}

/// What a judge says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing wrong in this run.
    Holds,
    /// Nothing right either, but nobody could have done better: why, proved from the trace.
    Excused(String),
    /// The invariant is broken.
    Broken(Violation),
}

/// A finding: when, which period, what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The instant at which the invariant broke.
    pub at: SimTime,
    /// The period concerned, if it is about one.
    pub period: Option<PeriodId>,
    /// One sentence in the language of the trace.
    pub what: String,
}

/// A judge.
pub trait Invariant: Sync {
    /// Which one.
    fn id(&self) -> InvariantId;
    /// The judgement over a whole run.
    fn judge(&self, history: &History<'_>) -> Verdict;
}

/// Every judge, in the catalogue's order.
pub fn all() -> &'static [&'static dyn Invariant] {
    &[
        &settled_once::SettledOnce,
        &paid_once::PaidOnce,
        &settled_in_the_end::SettledInTheEnd,
        &nothing_stuck::NothingStuck,
        &ranking_right::RankingRight,
        &points_conserved::PointsConserved,
        &not_early::NotEarly,
        &no_stale_commit::NoStaleCommit,
    ]
}

/// The judgement of all judges over one run, in their order.
pub fn judge(history: &History<'_>) -> Vec<(InvariantId, Verdict)> {
    all().iter().map(|judge| (judge.id(), judge.judge(history))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariant::script::{N0, P1, P2, Script, Settles};
    use crate::time::Span;
    use crate::trace::TaskStatus;

    /// A run as it should be: two periods claimed, settled and paid in time by n0.
    #[test]
    fn a_good_run_holds_before_every_judge() {
        let mut told = Script::new();
        told.decides = Decides::TaskRow;
        for (period, earning) in [(P1, 1), (P2, 2)] {
            let rows = Settles { marks: &[earning], takes: &[(7, 40)], ranks: &[(7, 40)] };
            told.before(period, 1.hours()).earn(earning, 7, 40);
            told.after(period, 1.minutes()).claim(N0, period, 1);
            told.after(period, 3.minutes()).settle(N0, period, &rows).pay(period, 1, 7);
            told.after(period, 4.minutes()).task(N0, period, TaskStatus::Completed, 1);
        }
        told.watched_until(P2, 4.hours());
        for judge in all() {
            told.holds(*judge);
        }
    }

    #[test]
    fn there_is_a_judge_for_every_invariant() {
        assert_eq!(all().iter().map(|judge| judge.id()).collect::<Vec<_>>(), InvariantId::ALL);
    }
}
