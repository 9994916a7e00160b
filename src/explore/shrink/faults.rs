//! Fewer faults.

use crate::explore::shrink::harms::targets;
use crate::explore::shrink::{Case, SHORT};
use crate::id::HostId;
use crate::plan::{FaultPlan, Target};
use crate::seed::Seed;
use crate::step::Step;
use std::ops::Range;

/// Up to so many faults all pairs are tried: 66 runs.
const PAIRED: usize = 12;

/// None, each alone, each pair, and then what delta debugging tries (Zeller and Hildebrandt,
/// 2002): parts, and all but a part, in ever finer parts. What is left in the end needs each of its faults.
pub fn fewer(case: &Case, _: &[Step]) -> Vec<Case> {
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
    let mut parts = 2;
    while n > 2 {
        let ranges = split(n, parts);
        kept.extend(ranges.iter().map(|part| part.clone().collect()));
        kept.extend(ranges.iter().map(|part| (0..n).filter(|fault| !part.contains(fault)).collect()));
        if parts == n {
            break;
        }
        parts = (parts * 2).min(n);
    }
    let of = |kept: Vec<usize>| Case { plan: FaultPlan::of(kept.into_iter().map(|n| all[n].clone())), ..case.clone() };
    kept.into_iter().map(of).collect()
}

/// More than two faults that are all needed are often needed for their timing, or strike several
/// nodes alike: none, one or two of them, also as faults of all nodes, under other seeds. Nothing
/// is proposed where two are left.
pub fn luckier(case: &Case, steps: &[Step]) -> Vec<Case> {
    if case.plan.faults.len() <= 2 {
        return Vec::new();
    }
    let mut pool = case.plan.faults.clone();
    for fault in &case.plan.faults {
        let mut common = fault.clone();
        match targets(&mut common.harm).into_iter().next() {
            Some(victim @ Target::Host(HostId::Node(_))) => *victim = Target::AllNodes,
            Some(_) | None => continue,
        }
        if !pool.contains(&common) {
            pool.push(common);
        }
    }
    let pool = Case { plan: FaultPlan::of(pool), ..case.clone() };
    let few = fewer(&pool, steps).into_iter().filter(|few| few.plan.faults.len() <= 2);
    few.flat_map(|few| SHORT.map(move |seed| Case { seed: Seed(seed), ..few.clone() })).collect()
}

/// `n` things in `parts` parts that differ by at most one.
fn split(n: usize, parts: usize) -> Vec<Range<usize>> {
    (0..parts).map(|part| part * n / parts..(part + 1) * n / parts).collect()
}
