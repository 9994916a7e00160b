//! What a strategy must show and must never show, as part of the product: a table that
//! cannot disappoint proves nothing.

use crate::class::FaultClass;
use crate::id::Letter;
use crate::plan::FaultPlan;
use crate::scenario::Scenario;
use crate::settlement::Calendar;
use crate::strategy::pinned;

/// A plan that shows a must-break cell without luck. It is run first.
pub type Pinned = fn(&Scenario, &Calendar) -> FaultPlan;

/// The fault classes that an expectation speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Every class.
    Every,
    /// One class.
    Class(FaultClass),
}

impl Scope {
    /// Whether the expectation speaks of `class`.
    pub fn covers(self, class: FaultClass) -> bool {
        match self {
            Scope::Every => true,
            Scope::Class(c) => c == class,
        }
    }
}

/// One claim about a strategy. Letters that no claim mentions *may* break: reported, not judged.
#[expect(missing_docs, reason = "the fields are named after what they are")]
#[derive(Clone, Copy, Debug)]
pub enum Expectation {
    /// These letters must break under this class, already in the pinned plan.
    Must { class: FaultClass, letters: &'static [Letter], because: &'static str, plan: Pinned },
    /// These letters must never break.
    Never { scope: Scope, letters: &'static [Letter], because: &'static str },
}

/// What is expected of every guard whose transaction asks nobody but its own node whether a period is due.
pub(super) const SETTLES_BY_ITS_OWN_ZONE: Expectation = Expectation::must(
    FaultClass::Civil,
    &[Letter::E],
    "a node in a zone to the east comes before the period ends, and nobody else is asked whether it is due",
    pinned::one_node_east,
);

impl Expectation {
    /// Whether it speaks of `class`.
    pub fn covers(&self, class: FaultClass) -> bool {
        match self {
            Expectation::Must { class: c, .. } => *c == class,
            Expectation::Never { scope, .. } => scope.covers(class),
        }
    }

    /// `must` or `never`, the letters, and why: all that can be told of it in words.
    pub fn told(&self) -> (&'static str, &'static [Letter], &'static str) {
        match self {
            Expectation::Must { letters, because, .. } => ("must", letters, because),
            Expectation::Never { letters, because, .. } => ("never", letters, because),
        }
    }

    /// These letters must never break, whatever goes wrong.
    pub const fn never(letters: &'static [Letter], because: &'static str) -> Expectation {
        Expectation::Never { scope: Scope::Every, letters, because }
    }

    /// These letters must never break under this class.
    pub const fn never_under(class: FaultClass, letters: &'static [Letter], because: &'static str) -> Expectation {
        Expectation::Never { scope: Scope::Class(class), letters, because }
    }

    /// These letters must break under this class, already in this plan.
    pub const fn must(class: FaultClass, letters: &'static [Letter], because: &'static str, plan: Pinned) -> Expectation {
        Expectation::Must { class, letters, because, plan }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Harm;
    use crate::scenario::Rules;
    use crate::seed::Seed;
    use crate::strategy::{self, Strategy};
    use std::mem::discriminant;

    /// What a claim has to say if its plan has such a fault and its class has none.
    fn word(harm: &Harm) -> &'static str {
        match harm {
            Harm::SlowStep { .. } | Harm::Late { .. } => "late",
            Harm::Crash { .. } => "dies",
            Harm::Power { .. } => "loses power",
            Harm::Pause { .. } => "stops",
            Harm::Partition { .. } | Harm::ReplyLost { .. } => "is cut",
            Harm::JobError { .. } => "fails",
            Harm::ClockOffset { .. } | Harm::ClockDrift { .. } | Harm::Zone { .. } => "clock",
            Harm::LeaseWipe { .. } | Harm::LeaseEvict { .. } | Harm::LeaseFailover { .. } => "forgets",
            Harm::LeaseStall { .. } => "busy",
            Harm::CommitFails { .. } => "refused",
            Harm::SessionEnds { .. } => "session",
            Harm::Shutdown { .. } => "told to stop",
            Harm::Redeliver => "again",
        }
    }

    /// Whether a class draws faults of this kind against a strategy, in a few hundred plans.
    fn drawn(class: FaultClass, strategy: &dyn Strategy, scenario: &Scenario, calendar: &Calendar) -> Vec<std::mem::Discriminant<Harm>> {
        let plan = |n| class.plan(Seed(5).nth(n), scenario, calendar, strategy.steps());
        (0..300).flat_map(|n| plan(n).faults).map(|fault| discriminant(&fault.harm)).collect()
    }

    /// A claim about a class whose plan needs a fault of another kind as well says so: the class alone would not show it.
    #[test]
    fn what_a_plan_needs_besides_its_class_is_said() {
        let mut besides = 0;
        for strategy in strategy::catalogue() {
            let scenario = Scenario::calm(strategy.name());
            let calendar = scenario.schedule.calendar().expect("the default schedule is good");
            for rules in std::iter::once(Rules::default()).chain(strategy.also_under().iter().copied()) {
                for claim in strategy.expectations(rules) {
                    let Expectation::Must { class, because, plan, .. } = claim else { continue };
                    let own = drawn(class, *strategy, &scenario, &calendar);
                    for fault in plan(&scenario, &calendar).faults.iter().filter(|fault| !own.contains(&discriminant(&fault.harm))) {
                        besides += 1;
                        let (name, said) = (strategy.name(), word(&fault.harm));
                        assert!(because.contains(said), "{name} under {class}: say `{said}`, for {fault:?}, in: {because}");
                    }
                }
            }
        }
        assert!(besides > 0, "no plan needs anything besides: the test reads the wrong list");
    }
}
