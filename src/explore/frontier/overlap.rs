//! Two nodes at work at the same true time: what a lease is there to keep from happening.
//! It is no invariant: where a guard decides inside the settlement transaction, overlap wastes work and spoils nothing.

use crate::id::AttemptId;
use crate::strategy::WORK;
use crate::time::SimTime;
use crate::trace::{Event, Trace};
use std::collections::BTreeMap;
use std::time::Duration;

/// Two attempts of two nodes that were inside the job together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// Who was there first.
    pub first: AttemptId,
    /// Who came while it was there.
    pub second: AttemptId,
    /// When the second one came.
    pub at: SimTime,
    /// For how long both were there.
    pub lasts: Duration,
}

/// The first overlap of a run. An attempt is inside the job from its first to its last record of a
/// slice of work ([`WORK`]), asleep or not: who stops there and dies is inside until it stopped,
/// who stops and goes on is inside all the while.
pub fn overlap(trace: &Trace) -> Option<Overlap> {
    let mut stays: BTreeMap<AttemptId, (SimTime, SimTime)> = BTreeMap::new();
    for record in trace.records() {
        let Event::Step { attempt, step, .. } = record.event else { continue };
        if WORK.iter().any(|slice| slice.name == step) {
            stays.entry(attempt).or_insert((record.at, record.at)).1 = record.at;
        }
    }
    let mut stays: Vec<_> = stays.into_iter().map(|(attempt, (from, to))| (from, to, attempt)).collect();
    stays.sort();
    let together = |n: usize| {
        let (from, to, second) = stays[n];
        let first = stays[..n].iter().find(|(_, end, first)| first.node != second.node && from < *end)?;
        Some(Overlap { first: first.2, second, at: from, lasts: first.1.min(to).since(from) })
    };
    (0..stays.len()).find_map(together)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::NodeId;
    use crate::time::Span;
    use crate::trace::Phase;

    fn attempt(node: u8, number: u32) -> AttemptId {
        AttemptId { node: NodeId(node), number }
    }

    /// Steps of attempts, at seconds.
    fn told(steps: &[(u64, AttemptId, &'static str)]) -> Trace {
        let mut trace = Trace::default();
        for (at, attempt, step) in steps {
            trace.push(SimTime(at * 1000), Event::Step { attempt: *attempt, step, phase: Phase::Before });
        }
        trace
    }

    #[test]
    fn one_after_the_other_is_no_overlap() {
        let (a, b) = (attempt(0, 1), attempt(1, 1));
        assert_eq!(overlap(&told(&[(0, a, "work.1"), (9, a, "work.5"), (9, b, "work.1"), (20, b, "work.5")])), None);
        // What is asked for before the job, and done after it, is not the job.
        assert_eq!(overlap(&told(&[(0, a, "work.1"), (1, b, "lease.acquire"), (9, a, "work.5"), (10, b, "work.1"), (12, a, "pay")])), None);
        // One node that begins anew does not overlap with itself.
        assert_eq!(overlap(&told(&[(0, a, "work.1"), (5, attempt(0, 2), "work.1"), (9, a, "work.5")])), None);
    }

    #[test]
    fn who_comes_before_the_other_has_left_overlaps() {
        let (a, b, c) = (attempt(0, 1), attempt(1, 4), attempt(2, 2));
        let trace = told(&[(0, a, "work.1"), (5, b, "work.1"), (8, b, "work.5"), (9, a, "work.5"), (9, c, "work.1"), (30, c, "work.5")]);
        assert_eq!(overlap(&trace), Some(Overlap { first: a, second: b, at: SimTime(5_000), lasts: 3.seconds() }));
    }
}
