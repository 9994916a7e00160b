//! More than two faults that are all needed are often needed for their timing, or strike several
//! nodes alike: so at most two of them with other luck, or with all nodes struck at once. Where one or two
//! are left, fewer with other luck: a fault that only changed the luck of a run has broken nothing.

use crate::explore::shrink::harms::targets;
use crate::explore::shrink::{Candidate, SHORT, faults};
use crate::id::HostId;
use crate::plan::{Fault, FaultPlan, Harm, Target, Trigger};
use crate::seed::Seed;
use crate::step::Step;
use crate::trace::Phase;
use std::time::Duration;

/// Seeds under which all nodes start again at a step: there are many steps.
const FEW: std::ops::Range<u64> = 1..4;

/// So long all nodes are down: they come back at once, which is what matters.
const MOMENT: Duration = Duration::from_millis(10);

/// At most two faults instead of more.
pub fn luckier(case: &Candidate, steps: &[Step]) -> Vec<Candidate> {
    let n = case.plan.faults.len();
    if n <= 2 {
        // A fault that only changed the luck is not to be blamed: without it, other seeds break the same.
        let fewer = faults::fewer(case, steps).into_iter().filter(|few| few.plan.faults.len() < n);
        return fewer.flat_map(|few| SHORT.map(move |seed| Candidate { seed: Seed(seed), ..few.clone() })).collect();
    }
    let mut cases = two_of(case, steps);
    if case.plan.faults.iter().any(|fault| of_all_nodes(fault).is_some()) {
        cases.extend(at_once(case, steps));
    }
    cases
}

/// None, one or two of the faults, also as faults of all nodes, under other seeds.
fn two_of(case: &Candidate, steps: &[Step]) -> Vec<Candidate> {
    let mut pool = case.plan.faults.clone();
    for common in case.plan.faults.iter().filter_map(of_all_nodes) {
        if !pool.contains(&common) {
            pool.push(common);
        }
    }
    let pool = Candidate { plan: FaultPlan::of(pool), ..case.clone() };
    let few = faults::fewer(&pool, steps).into_iter().filter(|few| few.plan.faults.len() <= 2);
    few.flat_map(|few| SHORT.map(move |seed| Candidate { seed: Seed(seed), ..few.clone() })).collect()
}

/// One of the faults, and all nodes start again when one of them makes a step.
fn at_once(case: &Candidate, steps: &[Step]) -> Vec<Candidate> {
    let again = Harm::Crash { host: Target::AllNodes, back_after: MOMENT };
    let whens = || steps.iter().flat_map(|step| [Phase::After, Phase::Before].map(|phase| Trigger::first(step.name, phase)));
    let plans = case.plan.faults.iter().flat_map(|one| whens().map(|when| FaultPlan::of([one.clone(), again.clone().when(when)])));
    plans.flat_map(|plan| FEW.map(move |seed| Candidate { seed: Seed(seed), plan: plan.clone(), ..case.clone() })).collect()
}

/// A fault of one node, as one of all nodes.
fn of_all_nodes(fault: &Fault) -> Option<Fault> {
    let mut common = fault.clone();
    let victim = targets(&mut common.harm).into_iter().next().filter(|v| matches!(v, Target::Host(HostId::Node(_))))?;
    *victim = Target::AllNodes;
    Some(common)
}
