//! A defect as a strategy: the strategy that it spoils, asked through a context that is tampered with.

use super::defects::Defect;
use onceproof::async_trait;
use onceproof::id::PeriodId;
use onceproof::scenario::{Rules, Scenario};
use onceproof::settlement::{Decides, Period, Schedule};
use onceproof::step::Step;
use onceproof::strategy::{self, Context, Error, Expectation, Policy, Strategy};
use onceproof::trace::Belief;
use onceproof::world::{Deployment, EngineKind};
use std::time::Duration;

/// The strategy that a defect spoils.
pub struct Mutant {
    defect: &'static Defect,
    of: &'static dyn Strategy,
}

impl Mutant {
    /// A strategy that lives as long as the process, as every strategy does.
    pub fn of(defect: &'static Defect) -> &'static Mutant {
        let of = strategy::find(defect.of).unwrap_or_else(|| panic!("{}: there is no strategy `{}`", defect.name, defect.of));
        Box::leak(Box::new(Mutant { defect, of }))
    }
}

#[async_trait(?Send)]
impl Strategy for Mutant {
    fn name(&self) -> &'static str {
        self.defect.name
    }

    fn about(&self) -> &'static str {
        self.defect.mistake
    }

    fn policy(&self) -> Policy {
        self.of.policy()
    }

    fn decides(&self) -> Decides {
        self.of.decides()
    }

    fn steps(&self) -> &'static [Step] {
        self.of.steps()
    }

    fn unique_marker(&self) -> bool {
        self.of.unique_marker()
    }

    fn wakes_late(&self) -> bool {
        self.of.wakes_late()
    }

    fn wakes_early(&self, scenario: &Scenario) -> Duration {
        self.of.wakes_early(scenario).max(self.defect.wakes_early())
    }

    fn expectations(&self, rules: Rules) -> Vec<Expectation> {
        self.of.expectations(rules)
    }

    async fn started(&self, context: &mut Context) -> Result<(), Error> {
        self.of.started(&mut context.tampered(self.defect)).await
    }

    async fn unsettled(&self, context: &mut Context) -> Result<Option<Vec<PeriodId>>, Error> {
        self.of.unsettled(&mut context.tampered(self.defect)).await
    }

    async fn attempt(&self, context: &mut Context, period: Period) -> Result<Belief, Error> {
        self.of.attempt(&mut context.tampered(self.defect), period).await
    }
}

/// The same deployment of a strategy and of its mutant.
pub struct Pair {
    /// The strategy as it is.
    pub sound: Deployment,
    /// The strategy with the defect.
    pub spoiled: Deployment,
}

impl Pair {
    /// The default deployment, watched for this many periods.
    pub fn of(defect: &'static Defect, periods: u32) -> Pair {
        let mutant = Mutant::of(defect);
        Pair { sound: deployment(mutant.of, periods), spoiled: deployment(mutant, periods) }
    }
}

fn deployment(strategy: &'static dyn Strategy, periods: u32) -> Deployment {
    let Schedule::Cron { cron, zone, from, gap, fold, .. } = Schedule::default() else {
        panic!("the default schedule is a cron expression")
    };
    let scenario = Scenario { schedule: Schedule::Cron { cron, zone, from, periods, gap, fold }, ..Scenario::default() };
    Deployment::with_strategy(&scenario, strategy, EngineKind::Event).expect("the default can be deployed")
}
