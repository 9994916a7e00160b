//! E: no settlement commits in an attempt whose job has failed. What was decided then was decided
//! before the job was done.
//!
//! A failure is told by the world, when a fault lets a slice of the job fail for the first time.
//! Whoever does that slice again, in the same attempt or in a later one, has made it good.

use crate::id::{HostId, Letter};
use crate::invariant::settlements::settlements;
use crate::invariant::{History, Invariant, Verdict, Violation};
use crate::trace::{Event, Phase, Proof, Record};

/// The judge of *job-done*.
pub struct JobDone;

impl Invariant for JobDone {
    fn name(&self) -> &'static str {
        "job-done"
    }

    fn letter(&self) -> Letter {
        Letter::E
    }

    fn about(&self) -> &'static str {
        "no settlement commits in an attempt whose job has failed"
    }

    fn judge(&self, history: &History<'_>) -> Verdict {
        let records = history.trace.records();
        let mut settlements = None;
        for (position, record) in records.iter().enumerate() {
            let Event::Felt { proof: failed @ Proof::Failed { attempt, .. }, .. } = record.event else { continue };
            let host = HostId::Node(attempt.node);
            let good = records[position..].iter().position(|later| makes_good(later, failed, host)).map_or(records.len(), |n| position + n);
            let settlements = settlements.get_or_insert_with(|| self::settlements(history.trace));
            let during = |at: usize| position < at && at < good;
            let Some(settlement) = settlements.iter().find(|s| s.tx.by == host && during(s.tx.position)) else { continue };
            let shows = |at| history.calendar.shows(at);
            let (period, at) = (settlement.period, settlement.tx.at);
            let what = format!("{period} settled by {host} at {}, although {failed} at {}", shows(at), shows(record.at));
            return Verdict::Broken(Violation { at, period: Some(period), what });
        }
        Verdict::Holds
    }
}

/// Whether the failed slice has been done again, or its attempt is over.
fn makes_good(later: &Record, failed: Proof, host: HostId) -> bool {
    let Proof::Failed { attempt, step } = failed else { return false };
    match later.event {
        Event::Step { attempt: a, step: s, phase: Phase::After } => (a, s) == (attempt, step),
        Event::AttemptBegan { attempt: next, .. } => next.node == attempt.node,
        Event::Booted { host: booted, .. } => booted == host,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{AttemptId, FaultId, NodeId};
    use crate::invariant::script::{N0, N1, P1, Script, Settles};
    use crate::time::{Span, WallTime};

    const FIRST: AttemptId = AttemptId { node: NodeId(0), number: 1 };

    /// The job of n0 fails in its third slice, two minutes after the end of the period.
    fn failed() -> Script {
        let mut told = Script::new();
        told.after(P1, 2.minutes()).event(Event::Felt { fault: FaultId(0), proof: Proof::Failed { attempt: FIRST, step: "work.3" } });
        told
    }

    /// Another node does the whole job, and so does the same node in its next attempt.
    #[test]
    fn whoever_does_the_job_may_settle() {
        let mut told = failed();
        told.after(P1, 3.minutes()).settle(N1, P1, &Settles::default());
        told.holds(&JobDone);
        let mut told = failed();
        let next = AttemptId { number: 2, ..FIRST };
        told.after(P1, 3.minutes()).event(Event::AttemptBegan { attempt: next, period: P1, wall: WallTime(0) });
        told.after(P1, 5.minutes()).settle(N0, P1, &Settles::default());
        told.holds(&JobDone);
    }

    /// A job that tries a slice again, and gets it done, is done.
    #[test]
    fn a_slice_that_is_done_again_is_done() {
        let mut told = failed();
        told.after(P1, 3.minutes()).event(Event::Step { attempt: FIRST, step: "work.3", phase: Phase::After });
        told.settle(N0, P1, &Settles::default());
        told.holds(&JobDone);
    }

    /// Control: the error was logged, and that was all.
    #[test]
    fn a_settlement_after_a_failed_job_is_caught() {
        let mut told = failed();
        told.after(P1, 3.minutes()).settle(N0, P1, &Settles::default());
        assert_eq!(
            told.breaks(&JobDone),
            "2026-01-10 settled by n0 at 2026-01-10 00:03:00.000, although `work.3` of attempt n0#1 failed at 2026-01-10 00:02:00.000"
        );
    }
}
