//! The trait that every guard implements, what each is expected to show, and the catalogue.
//!
//! One family a file. A strategy is a *guard* around a *body* ([`body`]); it talks to the
//! stores only through the [`Context`] that its node hands it, so the same code runs on
//! every engine.

mod body;
mod context;
mod controls;
mod dual;
mod expectation;
mod fake;
mod lease;
mod table_key;
mod version;

pub use context::{Context, Error};
pub use expectation::{Expectation, Pinned, Scope};

use crate::id::PeriodId;
use crate::settlement::{Decides, Period};
use crate::trace::{Belief, StepName};
use async_trait::async_trait;

/// What a node does after an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// One attempt a period; whatever happens, wait for the next.
    Skip,
    /// Again every poll until the node knows that the period is settled, by what its strategy lets it know.
    Retry,
    /// As `Retry`, but each attempt begins with a plain read of the settlement table (check, then act).
    RetryChecked,
}

/// A way to make a scheduled job run exactly once on several nodes.
#[async_trait(?Send)]
pub trait Strategy: Send + Sync {
    /// Its name in the catalogue.
    fn name(&self) -> &'static str;

    /// One line for lists and reports.
    fn about(&self) -> &'static str;

    /// What a node does after an attempt.
    fn policy(&self) -> Policy;

    /// The record that decides whose settlement is current.
    fn decides(&self) -> Decides;

    /// The names of all its steps, in the order of a calm attempt. Fault plans refer to them.
    fn steps(&self) -> &'static [StepName];

    /// Whether the settlement row of a period is unique.
    fn unique_marker(&self) -> bool {
        false
    }

    /// Whether its nodes wait for [`crate::scenario::GuardKnobs::wake_after`] after a boundary before they act.
    fn wakes_late(&self) -> bool {
        false
    }

    /// What must, and what must never, break under which faults, with the reasons.
    fn expectations(&self) -> Vec<Expectation>;

    /// Due periods that are not settled, as far as the strategy lets a node know; asked at
    /// the start of a process and at every poll. A strategy that keeps no record knows none.
    ///
    /// # Errors
    /// A store could not be asked.
    async fn unsettled(&self, context: &mut Context) -> Result<Vec<PeriodId>, Error> {
        let _ = context;
        Ok(Vec::new())
    }

    /// One attempt to settle a period.
    ///
    /// # Errors
    /// Whatever went wrong. The node tries again if the policy says so.
    async fn attempt(&self, context: &mut Context, period: Period) -> Result<Belief, Error>;
}

/// Every strategy, in the order of the table's rows.
pub fn catalogue() -> &'static [&'static dyn Strategy] {
    &fake::ALL
}

/// The strategy with this name.
pub fn find(name: &str) -> Option<&'static dyn Strategy> {
    catalogue().iter().copied().find(|s| s.name() == name)
}
