//! The trait that every guard implements, what each is expected to show, and the catalogue.
//!
//! One family a file. A strategy is a *guard* around a *body* (`body`); it talks to the
//! stores only through the [`Context`] that its node hands it, so the same code runs on
//! every engine.

pub mod body;
mod claim;
mod clients;
mod context;
mod expectation;
mod marker;
mod owned_lease;
pub mod payment;
pub mod pinned;
mod process;
mod queue_steps;
mod raw;
mod row_lease;
#[doc(hidden)]
pub mod tamper;

pub use clients::{LeaseSteps, PayoutSteps, SqlSteps};
pub use consensus::LogSteps;
pub use context::{Context, Error, WORK};
use expectation::SETTLES_BY_ITS_OWN_ZONE;
pub use expectation::{Expectation, Pinned, Scope};
pub use process::Process;
pub use queue_steps::QueueSteps;

pub use crate::scenario::Policy;

use crate::id::{Letter, PeriodId};
use crate::scenario::{Rules, Scenario};
use crate::settlement::{Decides, Period};
use crate::step::Step;
use crate::trace::Belief;
use async_trait::async_trait;
use std::borrow::Cow;
use std::time::Duration;

/// A way to make a scheduled job run exactly once on several nodes.
///
/// One of your own needs a name, its steps and an attempt; [`crate::check::Check`] says what becomes of it.
#[async_trait(?Send)]
pub trait Strategy: Send + Sync {
    /// Its name: of its row in the table, and in witnesses.
    fn name(&self) -> &'static str;

    /// One line for lists and reports.
    fn about(&self) -> &'static str {
        ""
    }

    /// What a node does after an attempt.
    fn policy(&self) -> Policy {
        Policy::Retry
    }

    /// The record that decides whose settlement is current.
    fn decides(&self) -> Decides {
        Decides::Nothing
    }

    /// All its steps, in the order of a calm attempt. Fault plans refer to them by name, and a run
    /// in which another step is made is refused. [`crate::steps!`] adds your own to those of a body.
    fn steps(&self) -> &'static [Step];

    /// Those of its steps that it can make in a deployment: all of them, unless a knob says where something is kept.
    fn steps_in(&self, scenario: &Scenario) -> Cow<'static, [Step]> {
        let _ = scenario;
        Cow::Borrowed(self.steps())
    }

    /// Whether the settlement row of a period is unique.
    fn unique_marker(&self) -> bool {
        false
    }

    /// Whether its nodes wait for [`crate::scenario::GuardKnobs::wake_after`] after a boundary before they act.
    fn wakes_late(&self) -> bool {
        false
    }

    /// How long before a boundary its nodes wake: zero, unless there is something to prepare, or a defect.
    #[doc(hidden)]
    fn wakes_early(&self, scenario: &Scenario) -> Duration {
        let _ = scenario;
        Duration::ZERO
    }

    /// What must, and what must never, break under which faults, with the reasons, on a database with these rules.
    /// Unless it says otherwise, a strategy promises everything: nothing ever breaks, in any class.
    fn expectations(&self, rules: Rules) -> Vec<Expectation> {
        let _ = rules;
        vec![Expectation::never(&Letter::ALL, "the strategy admits nothing else")]
    }

    /// The rules under which the table shows it once more, because a database decides its verdict.
    fn also_under(&self) -> &'static [Rules] {
        &[]
    }

    /// Whether it can run on a database with these rules: one that uses what only PostgreSQL has cannot on InnoDB's.
    fn runs_under(&self, rules: Rules) -> bool {
        let _ = rules;
        true
    }

    /// Whether what must break in calm needs transactions that happen to meet: a race, which not every run shows.
    fn races(&self, rules: Rules) -> bool {
        let _ = rules;
        false
    }

    /// What a process does once when it starts, before anything else. If that fails, it goes on all the same.
    ///
    /// # Errors
    /// A store could not be asked.
    async fn started(&self, context: &mut Context) -> Result<(), Error> {
        let _ = context;
        Ok(())
    }

    /// Due periods that are not finished, as far as the strategy lets a node know; asked at
    /// the start of a process and at every poll. `None`: the strategy keeps no record, and a
    /// node knows nothing but its own attempts. A period is finished when it is settled and
    /// nothing is left in the outbox.
    ///
    /// # Errors
    /// A store could not be asked.
    async fn unsettled(&self, context: &mut Context) -> Result<Option<Vec<PeriodId>>, Error> {
        let _ = context;
        Ok(None)
    }

    /// One attempt to settle a period.
    ///
    /// # Errors
    /// Whatever went wrong. The node tries again if the policy says so.
    async fn attempt(&self, context: &mut Context, period: Period) -> Result<Belief, Error>;
}

/// Declares the modules and lists their strategies. One line a family, in the order of the table's rows.
macro_rules! families {
    ($($family:ident: $($($path:ident)::+),+;)*) => {
        $(mod $family;)*

        /// Every strategy, in the order of the table's rows.
        pub fn catalogue() -> &'static [&'static dyn Strategy] {
            &[$($(&$family::$($path)::+),+),*]
        }
    };
}

families! {
    controls: NoGuard, LocalMutex;
    table_key: Published::UNIQUE, Published::IGNORES_ERROR, Published::CHECK_ONLY, Apart::FIRST, Apart::LAST, TableKey;
    lease: LeaseSetnxExpire, LeaseSetPx::SKIP, LeaseSetPx::RETRY, LeaseSetPx::CHECKED, LeaseMachineId,
        LeaseWatchdog::TOLD, LeaseWatchdog::SILENT, LeaseWatchdog::ORPHAN, LeaseWatchdog::UNOWNED, LeaseFenced, Redlock;
    version: Published, ReclaimUnfenced, Reclaim, Timestamp;
    dual: Published, Guard;
    queue: QueueMarker, QueueConsumer, QueueReliable;
    consensus: ConsensusLease, ConsensusLog;
    dispatch: DispatchCentre;
    two_phase: TwoPhaseCommit::NO_RECOVERY, TwoPhaseCommit::RECOVERS;
    lease_row: LeaseRow;
    slot_key: SlotKey;
    leader: Leader;
    row_lock: RowLock;
    advisory_lock: AdvisoryLock;
}

/// The strategy with this name.
pub fn find(name: &str) -> Option<&'static dyn Strategy> {
    catalogue().iter().copied().find(|s| s.name() == name)
}

/// What a strategy says that cannot be so, with what to write instead.
pub fn mistake(strategy: &dyn Strategy) -> Option<String> {
    let name = strategy.name();
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')) {
        return Some("needs a name of letters, digits, `-`, `_` and `.`; it stands in tables and file names".to_owned());
    }
    let steps = strategy.steps();
    if let Some(twice) = steps.iter().enumerate().find(|(n, step)| steps[..*n].iter().any(|other| other.name == step.name)) {
        return Some(format!("declares the step `{}` twice; give each step a name of its own", twice.1.name));
    }
    Rules::ALL.into_iter().find_map(|rules| contradiction(&strategy.expectations(rules)))
}

fn contradiction(expectations: &[Expectation]) -> Option<String> {
    for must in expectations {
        let Expectation::Must { class, letters, .. } = must else { continue };
        for never in expectations {
            let Expectation::Never { scope, letters: never, .. } = never else { continue };
            if let Some(both) = letters.iter().find(|letter| scope.covers(*class) && never.contains(letter)) {
                return Some(format!("declares that {both} must break under {class}, and that it never does; drop one of the two"));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class::FaultClass;
    use crate::plan::Trigger;
    use std::collections::BTreeSet;

    #[test]
    fn names_and_steps_are_unique() {
        let names: BTreeSet<_> = catalogue().iter().map(|s| s.name()).collect();
        assert_eq!(names.len(), catalogue().len());
        for strategy in catalogue() {
            let steps: BTreeSet<_> = strategy.steps().iter().map(|s| s.name).collect();
            assert_eq!(steps.len(), strategy.steps().len(), "{} declares a step twice", strategy.name());
            assert_eq!(find(strategy.name()).map(Strategy::name), Some(strategy.name()));
        }
    }

    /// A pinned plan that names a step which its strategy never makes would strike nobody.
    #[test]
    fn pinned_plans_name_declared_steps() {
        for strategy in catalogue() {
            let scenario = Scenario::calm(strategy.name());
            let calendar = scenario.schedule.calendar().unwrap();
            for expectation in strategy.expectations(Rules::default()) {
                let Expectation::Must { class, plan, .. } = expectation else { continue };
                let plan = plan(&scenario, &calendar);
                assert_eq!(plan.faults.is_empty(), class == FaultClass::Calm, "{} under {class}", strategy.name());
                for fault in &plan.faults {
                    if let Trigger::Step { step, .. } = &fault.when {
                        assert!(strategy.steps().iter().any(|s| s.name == step), "{} never makes {step}", strategy.name());
                    }
                }
            }
        }
    }

    #[test]
    fn no_strategy_of_the_catalogue_contradicts_itself() {
        for strategy in catalogue() {
            assert_eq!(mistake(*strategy), None, "{}", strategy.name());
        }
    }

    /// The SQL of every strategy that is claimed by status speaks the numbers of `TaskStatus`.
    #[test]
    fn status_codes_are_the_ones_in_the_statements() {
        use crate::trace::TaskStatus;
        let codes = [TaskStatus::Pending, TaskStatus::Executing, TaskStatus::Completed, TaskStatus::Failed, TaskStatus::Dead];
        assert_eq!(codes.map(TaskStatus::code), [0, 1, 2, 3, 4]);
    }
}
