//! The judges: one file each. They see what servers and world recorded and what the stores
//! held in the end ([`History`]), and nothing else.

mod ability;
mod claims;
mod ledger;
#[cfg(test)]
mod script;
mod settlements;

pub use ability::Need;

use crate::id::{Letter, NodeId, PeriodId};
use crate::settlement::{Calendar, Decides, FinalState};
use crate::time::SimTime;
use crate::trace::Trace;
use serde::{Deserialize, Serialize};
use std::fmt;
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
    /// The servers without which no node can settle.
    pub needs: &'a [Need],
    /// How long after it was due, or after the last healing, a period may take to be settled.
    pub liveness_bound: Duration,
    /// How long a healthy node needs at most from finding a period unsettled to having it settled and paid.
    pub effort: Duration,
    /// Everything that happened.
    pub trace: &'a Trace,
    /// When watching ended.
    pub ended: SimTime,
    /// The nodes of another environment: what they can do, and are granted, is no matter here.
    pub elsewhere: &'a [NodeId],
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
    /// The name in witnesses and lists.
    fn name(&self) -> &'static str;
    /// The letter in the table. Several invariants may share one.
    fn letter(&self) -> Letter;
    /// One sentence: what holds.
    fn about(&self) -> &'static str;
    /// The judgement over a whole run.
    fn judge(&self, history: &History<'_>) -> Verdict;
}

/// Declares the modules and lists their judges. One line a judge, in the catalogue's order.
macro_rules! judges {
    ($($file:ident: $Judge:ident;)*) => {
        $(mod $file;)*

        /// An invariant, by name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum InvariantId {
            $(#[doc = concat!("Of `invariant/", stringify!($file), ".rs`.")] $Judge,)*
        }

        impl InvariantId {
            /// All of them, in the catalogue's order.
            pub const ALL: [InvariantId; [$(stringify!($Judge)),*].len()] = [$(InvariantId::$Judge),*];

            /// Its judge.
            pub fn judge(self) -> &'static dyn Invariant {
                match self {
                    $(InvariantId::$Judge => &$file::$Judge,)*
                }
            }
        }
    };
}

judges! {
    settled_once: SettledOnce;
    paid_once: PaidOnce;
    settled_in_the_end: SettledInTheEnd;
    nothing_stuck: NothingStuck;
    ranking_right: RankingRight;
    points_conserved: PointsConserved;
    not_early: NotEarly;
    no_stale_commit: NoStaleCommit;
    paid_after_commit: PaidAfterCommit;
    job_done: JobDone;
}

impl InvariantId {
    /// The name in witnesses and lists.
    pub fn name(self) -> &'static str {
        self.judge().name()
    }

    /// The letter in the table.
    pub fn letter(self) -> Letter {
        self.judge().letter()
    }

    /// One sentence: what holds.
    pub fn about(self) -> &'static str {
        self.judge().about()
    }
}

impl fmt::Display for InvariantId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The judgement of all judges over one run, in their order.
pub fn judge(history: &History<'_>) -> Vec<(InvariantId, Verdict)> {
    InvariantId::ALL.into_iter().map(|id| (id, id.judge().judge(history))).collect()
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
        for id in InvariantId::ALL {
            told.holds(id.judge());
        }
    }

    /// What serde derives from the variants is what people read.
    #[test]
    fn names_in_files_are_names_in_reports() {
        for id in InvariantId::ALL {
            assert_eq!(serde_json::to_value(id).unwrap(), id.name());
        }
    }
}
