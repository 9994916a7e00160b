//! A run that broke something in one sentence and at most six lines, each an event of its trace
//! on which the violation depends.
//!
//! Which events those are is found by going back from the violation (`pick`): the settlements or
//! payments that it is about, what entitled whoever made them, what took that away, the faults
//! that struck and the end of their effect. Names of strategies play no part. Told of a shrunk
//! run, no fault can be missing from it: without any of them the rule holds.

pub(in crate::report) mod pick;
mod sentence;
mod tell;
pub(in crate::report) mod trail;

use crate::explore::{Finding, Observed};
use crate::plan::FaultPlan;
use crate::settlement::Calendar;
use tell::Teller;
use trail::Trail;

/// Lines of the longest gist.
pub const LINES: usize = 6;

/// What it comes down to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gist {
    /// The whole story in one sentence, in the words of the protocol.
    pub sentence: String,
    /// The events that it is made of, in their order, with their times.
    pub lines: Vec<String>,
}

/// What a finding of a run comes down to.
pub fn gist(seen: &Observed, finding: &Finding, plan: &FaultPlan, calendar: &Calendar) -> Gist {
    let trail = Trail::of(&seen.run.trace);
    let picked = pick::pick(&trail, seen, finding, calendar);
    let teller = Teller { trail: &trail, plan, calendar, finding, picked: &picked };
    let mut told = picked.iter().map(|n| teller.tell(*n)).collect::<Vec<_>>();
    // A lease is over before the store finds that it is.
    told.sort_by_key(|told| told.at);
    Gist { sentence: sentence::sentence(&told, finding, calendar), lines: told.iter().map(|told| told.line(calendar)).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class::FaultClass;
    use crate::explore::{Mark, Subject, observe};
    use crate::id::Letter;
    use crate::scenario::Scenario;
    use crate::seed::Seed;
    use crate::world::{Deployment, EngineKind};

    /// Whoever settles a second time is said to have been entitled to it, by whatever entitles under that guard.
    #[test]
    fn what_entitled_a_node_is_named() {
        for (name, right) in [("lease-row", "took the lease row"), ("dispatch-center", "by the centre"), ("consensus-lease", "of the log")]
        {
            let deployment = Deployment::new(&Scenario::calm(name), EngineKind::Event).unwrap();
            let mut told = 0;
            for (class, plan) in
                FaultClass::ALL.into_iter().flat_map(|class| deployment.claims(class).into_iter().map(move |(plan, _)| (class, plan)))
            {
                let seen = observe(&deployment, class, Seed(1), &plan).unwrap();
                for finding in seen.findings.iter().filter(|finding| finding.mark == Mark::Letter(Letter::D)) {
                    told += 1;
                    let gist = gist(&seen, finding, &plan, deployment.calendar());
                    assert!(gist.sentence.contains(right), "{name} under {class}: {}", gist.sentence);
                }
            }
            assert!(told > 0, "{name} settles twice in some pinned plan");
        }
    }
}
