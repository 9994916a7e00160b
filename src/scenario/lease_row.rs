//! The constants of a lease that is a row of the database.

use super::is_default;
use super::validate::{Found, YEAR, example};
use crate::plan::{duration, scale::divided};
use crate::time::Span;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The lease row of `lease-row`. `ShedLock` has the same constants under other names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LeaseRowKnobs {
    /// Whose clock says when the lease runs out.
    pub clock: RowClock,
    /// The lease runs out after this, whatever became of its holder. At least 1 ms.
    #[serde(with = "duration")]
    pub at_most: Duration,
    /// Given back earlier than this, the lease is kept for the rest of it. At most `at_most`; 0 s: it is free at once.
    #[serde(with = "duration")]
    pub at_least: Duration,
    /// Time between two extensions while the job is at work, less than `at_most`; 0 s: it is never extended.
    #[serde(with = "duration")]
    pub keep_alive: Duration,
    /// When the lease counts as over.
    pub over: Over,
    /// What the row is called.
    pub key: RowKey,
}

/// Whose clock a lease row is kept by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowClock {
    /// Each node's own.
    #[default]
    Application,
    /// The database's.
    Database,
}

/// When a lease that lasts until a time is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Over {
    /// At that time: a lease of no length excludes nobody.
    #[default]
    At,
    /// After it.
    After,
}

/// The name of a lease row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowKey {
    /// The job's: one row, whatever the period.
    #[default]
    Job,
    /// The period's: a row each, never used again.
    Period,
}

impl Default for LeaseRowKnobs {
    fn default() -> LeaseRowKnobs {
        LeaseRowKnobs {
            clock: RowClock::default(),
            at_most: 30.minutes(),
            at_least: 10.minutes(),
            keep_alive: Duration::ZERO,
            over: Over::default(),
            key: RowKey::default(),
        }
    }
}

impl LeaseRowKnobs {
    pub(super) fn is_default(&self) -> bool {
        is_default(self)
    }

    pub(super) fn validate(&self, found: &mut Found) {
        found.length("lease_row.at_most", self.at_most, 1.ms(), YEAR, "\"30m\"");
        if self.at_least > self.at_most {
            let bound = format!("at most `lease_row.at_most` = {}", duration::text(self.at_most));
            found.refuse(
                "lease_row.at_least",
                duration::text(self.at_least),
                bound,
                example("\"10m\"", |usual| usual <= self.at_most, self.at_most),
            );
        }
        if !self.keep_alive.is_zero() && self.keep_alive >= self.at_most {
            let bound = format!("less than `lease_row.at_most` = {}, or 0s for never", duration::text(self.at_most));
            found.refuse(
                "lease_row.keep_alive",
                duration::text(self.keep_alive),
                bound,
                example("\"5m\"", |usual| usual < self.at_most, self.at_most / 2),
            );
        }
    }

    /// Every duration divided by `factor`; an extension never becomes none.
    pub(super) fn scaled(&self, factor: u32) -> LeaseRowKnobs {
        let keep_alive = if self.keep_alive.is_zero() { Duration::ZERO } else { divided(self.keep_alive, factor).max(1.ms()) };
        let at_most = divided(self.at_most, factor).max(keep_alive + 1.ms());
        LeaseRowKnobs { at_most, at_least: divided(self.at_least, factor), keep_alive, ..self.clone() }
    }
}
