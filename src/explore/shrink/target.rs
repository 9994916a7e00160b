//! The question that is asked about real runs: does this rule break?

use crate::class::FaultClass;
use crate::explore::shrink::{Answer, Candidate};
use crate::explore::{Mark, Observed, observe, observe::NoResult};
use crate::strategy::Strategy;
use crate::world::{Deployment, EngineKind};

/// What must still break, and where.
#[derive(Clone)]
pub struct Target {
    /// The guard.
    pub strategy: &'static dyn Strategy,
    /// Which network carries the runs.
    pub engine: EngineKind,
    /// The class from which the first run came.
    pub class: FaultClass,
    /// The mark.
    pub mark: Mark,
    /// The rule.
    pub rule: String,
}

impl Target {
    /// Deploys and runs a case. What has no result because the strategy cannot be simulated so, does not break.
    pub fn ask(&self, case: &Candidate) -> Answer {
        match self.observe(case) {
            Err(answer) => answer,
            Ok((_, seen)) => match self.found(&seen) {
                true => Answer::Breaks(seen.run.trace.digest()),
                false => Answer::Holds,
            },
        }
    }

    /// Whether a run broke it.
    fn found(&self, seen: &Observed) -> bool {
        seen.findings.iter().any(|finding| finding.mark == self.mark && finding.rule == self.rule)
    }

    /// The deployment of a case, and its run.
    ///
    /// # Errors
    /// It has none.
    pub fn observe(&self, case: &Candidate) -> Result<(Deployment, Observed), Answer> {
        let deployed = Deployment::with_strategy(&case.scenario, self.strategy, self.engine);
        let deployment = deployed.map_err(|why| Answer::Unfit(why.to_string()))?;
        deployment.check_plan(&case.plan).map_err(|why| Answer::Unfit(why.to_string()))?;
        match observe(&deployment, self.class, case.seed, &case.plan) {
            Ok(seen) => Ok((deployment, seen)),
            Err(NoResult::Refused(why)) => Err(Answer::Unfit(why.to_string())),
            Err(NoResult::Bug(what)) => Err(Answer::Bug(what)),
        }
    }
}
