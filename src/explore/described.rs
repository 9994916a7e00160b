//! A deployment that its owner has described. Whatever its guard is expected to show with the
//! catalogue's constants: this one is to do its job once, under all that is tried.

use crate::class::FaultClass;
use crate::explore::cell::{Cell, Tally};
use crate::explore::subject::varied;
use crate::explore::{Mark, Subject};
use crate::id::Letter;
use crate::invariant::{InvariantId, Verdict};
use crate::plan::FaultPlan;
use crate::scenario::Scenario;
use crate::seed::Seed;
use crate::settlement::Calendar;
use crate::strategy::{Expectation, Strategy};
use crate::world::{Deployment, Refused, Run};
use std::collections::BTreeSet;

/// What is asked of it.
const PROMISE: [Expectation; 1] = [Expectation::never(&Letter::ALL, "the job is to be done exactly once")];

/// One deployment.
pub struct Described(pub Deployment);

impl Described {
    /// What its runs under a class came to. `calm` is what broke without any fault.
    pub fn weigh(&self, class: FaultClass, tally: Tally, calm: &BTreeSet<Mark>) -> Cell {
        match self.misses(class) {
            Some(why) => Cell::missed(class, why),
            None => Cell::weigh(&PROMISE, class, tally, calm),
        }
    }

    /// What its witnesses vary: the deployment with a job of the usual length.
    pub fn usual(&self) -> Scenario {
        Scenario { job_lengths: None, ..self.0.scenario().clone() }
    }
}

impl Subject for Described {
    fn strategy(&self) -> &'static dyn Strategy {
        self.0.strategy()
    }

    fn scenario(&self) -> &Scenario {
        self.0.scenario()
    }

    fn calendar(&self) -> &Calendar {
        self.0.calendar()
    }

    fn plan(&self, class: FaultClass, seed: Seed) -> FaultPlan {
        Subject::plan(&self.0, class, seed)
    }

    fn variant(&self, class: FaultClass, seed: Seed) -> Option<Box<dyn Subject>> {
        Some(Box::new(varied(&self.0, class, seed)?))
    }

    fn run(&self, seed: Seed, plan: &FaultPlan) -> Result<Run, Refused> {
        self.0.run(seed, plan)
    }

    fn judge(&self, run: &Run) -> Vec<(InvariantId, Verdict)> {
        self.0.judge(run)
    }

    /// The pinned plans of its guard, as far as they can strike it: the shortest way to what the guard is known to break.
    fn claims(&self, class: FaultClass) -> Vec<(FaultPlan, &'static [Letter])> {
        let mut claims = Subject::claims(&self.0, class);
        // Wrong clocks are as wrong as the file says, and a pinned clock is as wrong as the catalogue says.
        claims.retain(|(plan, _)| self.0.check_plan(plan).is_ok() && (self.0.scenario().clocks.are_usual() || class != FaultClass::Skew));
        claims
    }
}
