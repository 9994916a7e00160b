//! Fewer faults.

use crate::explore::shrink::Candidate;
use crate::plan::FaultPlan;
use crate::step::Step;
use std::ops::Range;

/// Up to so many faults all pairs are tried: 66 runs.
const PAIRED: usize = 12;

/// None, each alone, each pair, and then what delta debugging tries (Zeller and Hildebrandt,
/// 2002): parts, and all but a part, in ever finer parts. What is left in the end needs each of its faults.
pub fn fewer(case: &Candidate, _: &[Step]) -> Vec<Candidate> {
    let all = &case.plan.faults;
    let n = all.len();
    let mut kept: Vec<Vec<usize>> = Vec::new();
    if n > 0 {
        kept.push(Vec::new());
    }
    if n > 1 {
        kept.extend((0..n).map(|one| vec![one]));
    }
    if (3..=PAIRED).contains(&n) {
        kept.extend((0..n).flat_map(|one| (one + 1..n).map(move |other| vec![one, other])));
    }
    let finer = std::iter::successors((n > 2).then_some(2), |parts| (*parts < n).then(|| (parts * 2).min(n)));
    for ranges in finer.map(|parts| split(n, parts)) {
        kept.extend(ranges.iter().map(|part| part.clone().collect()));
        kept.extend(ranges.iter().map(|part| (0..n).filter(|fault| !part.contains(fault)).collect()));
    }
    let of = |kept: Vec<usize>| Candidate { plan: FaultPlan::of(kept.into_iter().map(|n| all[n].clone())), ..case.clone() };
    kept.into_iter().map(of).collect()
}

/// `n` things in `parts` parts that differ by at most one.
fn split(n: usize, parts: usize) -> Vec<Range<usize>> {
    (0..parts).map(|part| part * n / parts..(part + 1) * n / parts).collect()
}
