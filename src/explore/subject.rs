//! What can be run and judged. A [`Deployment`] is the one that counts; tests of the
//! explorers bring made-up ones, which break on demand.

use crate::class::FaultClass;
use crate::id::Letter;
use crate::invariant::{InvariantId, Verdict};
use crate::plan::FaultPlan;
use crate::scenario::Scenario;
use crate::seed::Seed;
use crate::settlement::Calendar;
use crate::strategy::{Expectation, Strategy};
use crate::world::{Deployment, Refused, Run};
use std::ops::Deref;

/// Something that runs under a seed and a fault plan, the same way every time, on any thread.
pub trait Subject: Sync {
    /// The guard it runs.
    fn strategy(&self) -> &'static dyn Strategy;

    /// What is deployed.
    fn scenario(&self) -> &Scenario;

    /// Its boundaries.
    fn calendar(&self) -> &Calendar;

    /// What goes wrong in the run of a class with this seed.
    fn plan(&self, class: FaultClass, seed: Seed) -> FaultPlan;

    /// What the run of a class with this seed is made on, if it is not this: a class may draw knobs as well as faults.
    fn variant(&self, class: FaultClass, seed: Seed) -> Option<Box<dyn Subject>> {
        let _ = (class, seed);
        None
    }

    /// Why a class cannot strike it at all, if that is so.
    fn misses(&self, class: FaultClass) -> Option<&'static str> {
        class.misses(&self.strategy().steps_in(self.scenario()))
    }

    /// One run.
    ///
    /// # Errors
    /// The strategy did what cannot be simulated.
    fn run(&self, seed: Seed, plan: &FaultPlan) -> Result<Run, Refused>;

    /// What every judge says about a run.
    fn judge(&self, run: &Run) -> Vec<(InvariantId, Verdict)>;

    /// What the strategy declares about such a deployment: nothing, if its nodes are not as the strategy has them.
    fn expectations(&self) -> Vec<Expectation> {
        let scenario = self.scenario();
        if scenario.is_claimed_for() { self.strategy().expectations(scenario.database.rules) } else { Vec::new() }
    }

    /// What must break under a class, and the plan that shows it, in the order of the claims.
    fn claims(&self, class: FaultClass) -> Vec<(FaultPlan, &'static [Letter])> {
        let claims = self.expectations().into_iter();
        claims
            .filter_map(|claim| match claim {
                Expectation::Must { class: c, plan, letters, .. } if c == class => Some((plan(self.scenario(), self.calendar()), letters)),
                Expectation::Must { .. } | Expectation::Never { .. } => None,
            })
            .collect()
    }

    /// The plans of [`Subject::claims`].
    fn pinned(&self, class: FaultClass) -> Vec<FaultPlan> {
        self.claims(class).into_iter().map(|(plan, _)| plan).collect()
    }
}

/// What one run is made on: the subject that was given, or a variant of it.
pub enum Staged<'a> {
    /// As given.
    Given(&'a dyn Subject),
    /// With knobs that were drawn.
    Drawn(Box<dyn Subject>),
}

impl<'a> Staged<'a> {
    /// What the run of a class with this seed is made on. Its plan has to be asked of this, too.
    pub fn of(subject: &'a dyn Subject, class: FaultClass, seed: Seed) -> Staged<'a> {
        subject.variant(class, seed).map_or(Staged::Given(subject), Staged::Drawn)
    }
}

impl<'a> Deref for Staged<'a> {
    type Target = dyn Subject + 'a;

    fn deref(&self) -> &Self::Target {
        match self {
            Staged::Given(subject) => *subject,
            Staged::Drawn(subject) => &**subject,
        }
    }
}

/// The seeds with which a pinned plan is run until it has shown what it must: one, for a plan
/// leaves nothing to luck. Only a race in calm ([`Strategy::races`]) needs transactions that meet:
/// with a chance of a quarter, 40 runs miss it once in 100,000 sweeps.
pub fn seeds_of_a_claim(subject: &dyn Subject, class: FaultClass, base: Seed) -> impl Iterator<Item = Seed> + use<> {
    let races = class == FaultClass::Calm && subject.strategy().races(subject.scenario().database.rules);
    (0..if races { 40 } else { 1 }).map(move |n| base.nth(n))
}

/// The deployment of the run with this seed, if the class draws knobs too, or looks at less than this one. What
/// cannot be deployed, such as a run that is too long for turmoil, is not drawn.
pub fn varied(given: &Deployment, class: FaultClass, seed: Seed) -> Option<Deployment> {
    let scenario = class.knobs(seed, given.scenario())?;
    Deployment::with_strategy(&scenario, given.strategy(), given.engine()).ok()
}

impl Subject for Deployment {
    fn strategy(&self) -> &'static dyn Strategy {
        Deployment::strategy(self)
    }

    fn scenario(&self) -> &Scenario {
        Deployment::scenario(self)
    }

    fn calendar(&self) -> &Calendar {
        Deployment::calendar(self)
    }

    fn plan(&self, class: FaultClass, seed: Seed) -> FaultPlan {
        class.plan(seed, Subject::scenario(self), Subject::calendar(self), &self.steps())
    }

    fn variant(&self, class: FaultClass, seed: Seed) -> Option<Box<dyn Subject>> {
        Some(Box::new(varied(self, class, seed)?))
    }

    fn run(&self, seed: Seed, plan: &FaultPlan) -> Result<Run, Refused> {
        Deployment::run(self, seed, plan)
    }

    fn judge(&self, run: &Run) -> Vec<(InvariantId, Verdict)> {
        Deployment::judge(self, run)
    }
}
