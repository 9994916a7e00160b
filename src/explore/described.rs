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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deployment_file::DeploymentFile;
    use crate::explore::observe;
    use crate::time::Span;
    use crate::world::EngineKind;

    fn described(text: &str) -> Described {
        let file = DeploymentFile::read("d.toml", text).unwrap_or_else(|mistakes| panic!("{mistakes}"));
        Described(Deployment::with_strategy(&file.scenario, file.guard, EngineKind::Event).unwrap())
    }

    /// What breaks in a run of a deployment without any fault.
    fn broken_in_calm(text: &str) -> Vec<Mark> {
        let seen = observe(&described(text), FaultClass::Calm, Seed(1), &FaultPlan::none()).unwrap();
        seen.findings.into_iter().map(|finding| finding.mark).collect()
    }

    /// A run that watches one boundary sees whoever comes for it hours later, or for another date before the next one.
    #[test]
    fn a_run_waits_for_whoever_comes_late() {
        let one = "guard = \"no-guard\"\nnodes = 2\n[schedule]\nperiods = 1\n[[override]]\nnode = 1\n";
        assert!(broken_in_calm(&format!("{one}zone = \"UTC\"\n")).contains(&Mark::Letter(Letter::D)));
        assert!(broken_in_calm(&format!("{one}cron = \"0 0 11,26 * *\"\n")).contains(&Mark::Letter(Letter::E)));
    }

    /// The horizon is the catalogue's, unless somebody may come later than any of its nodes.
    #[test]
    fn a_run_ends_after_the_last_who_may_come() {
        let horizon = |more: &str| described(&format!("guard = \"table-key\"\n{more}")).0.horizon();
        let usual = horizon("");
        assert_eq!(horizon("[[override]]\nnode = 1\nzone = \"UTC\"\n"), usual + 8.hours());
        assert_eq!(horizon("[[override]]\nnode = 1\ncron = \"30 7 10,25 * *\"\n"), usual + 450.minutes());
        assert_eq!(horizon("[[override]]\nnode = 1\nzone = \"Asia/Tokyo\"\n"), usual);
        assert_eq!(horizon("[clocks]\nerror = \"24h\"\n"), usual + 24.hours() - 5.minutes());
        assert_eq!(horizon("[clocks]\nerror = \"1s\"\n"), usual);
    }

    /// A leader whose lease is a row never asks the lease store: nothing of it can strike, and nobody needs it to be up.
    #[test]
    fn what_is_never_asked_cannot_be_cut_off() {
        let (row, store) = (described("profile = \"river\"\n"), described("guard = \"leader\"\n"));
        for class in [FaultClass::LeaseCut, FaultClass::LeaseLoss] {
            assert!(row.misses(class).is_some() && store.misses(class).is_none(), "{class}");
            let cell = row.weigh(class, Tally::default(), &BTreeSet::new());
            assert!(cell.misses.is_some() && !cell.undecided(), "{class}");
        }
        assert_eq!(store.0.steps().len(), store.strategy().steps().len());
        let told = DeploymentFile::read("d.toml", "profile = \"river\"\n[try]\nfaults = [\"lease-cut\"]\n").map(|_| ()).unwrap_err();
        assert!(told.to_string().contains("lease-cut cannot strike leader"), "{told}");
    }
}
