//! By which records a rule broke.

use crate::explore::{Finding, Mark};
use crate::id::Letter;
use crate::report::twins::view::View;
use crate::trace::Event;
use std::collections::BTreeSet;

/// The commits and payments by which something broke, as positions in the history.
pub fn wrong(view: &View<'_>) -> BTreeSet<usize> {
    view.seen.findings.iter().flat_map(|finding| by(view, finding)).collect()
}

fn by(view: &View<'_>, finding: &Finding) -> Vec<usize> {
    match finding.mark {
        Mark::Letter(Letter::D) => settled_again(view, finding),
        Mark::Letter(Letter::Two) => [paid_again(view, finding), at_that_time(view, finding)].concat(),
        Mark::Letter(Letter::E | Letter::S | Letter::C) => at_that_time(view, finding),
        Mark::Letter(Letter::L | Letter::K) | Mark::Panicked | Mark::NeverEnded => Vec::new(),
    }
}

/// All settlements of a period but the first.
fn settled_again(view: &View<'_>, finding: &Finding) -> Vec<usize> {
    view.trail.settlements(finding.period).iter().skip(1).filter(|_| finding.period.is_some()).map(|tx| tx.n).collect()
}

/// Payments of a rank, or to a winner, that had been made before.
fn paid_again(view: &View<'_>, finding: &Finding) -> Vec<usize> {
    let (mut paid, mut again) = (Vec::new(), Vec::new());
    for (n, record) in view.records.iter().enumerate() {
        let Event::Paid { period, rank, player, .. } = record.event else { continue };
        if finding.period.is_some_and(|about| about != period) {
            continue;
        }
        if paid.iter().any(|(p, r, who)| *p == period && (*r == rank || *who == player)) {
            again.push(n);
        }
        paid.push((period, rank, player));
    }
    again
}

/// What was settled, or paid, when the rule broke.
fn at_that_time(view: &View<'_>, finding: &Finding) -> Vec<usize> {
    let pays = finding.mark == Mark::Letter(Letter::Two);
    let at = |n: usize| view.records[n].at == finding.at;
    let settled = view.trail.settlements(finding.period).into_iter().map(|tx| tx.n).filter(|n| !pays && at(*n));
    let of = |event: &Event| matches!(*event, Event::Paid { period, .. } if finding.period.is_none_or(|about| about == period));
    let paid = view.records.iter().enumerate().filter(|(n, record)| pays && at(*n) && of(&record.event)).map(|(n, _)| n);
    settled.chain(paid).collect()
}
