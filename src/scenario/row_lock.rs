//! The constants of a schedule that is a row, advanced under a lock on another.

use super::is_default;
use super::validate::{Found, YEAR};
use crate::plan::{duration, scale::divided};
use crate::time::Span;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The schedule row of `row-lock`. Quartz and xxl-job have the same constants under other names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RowLockKnobs {
    /// How a due time is taken.
    pub acquires: Acquires,
    /// When the next due time is read.
    pub reads: Reads,
    /// How long before it is due a time is taken; whoever took it waits for the rest in its memory. 0 s to 1 h.
    #[serde(with = "duration")]
    pub ahead: Duration,
    /// A time that is taken later than this counts as missed. At least 1 ms.
    #[serde(with = "duration")]
    pub misfire_after: Duration,
    /// What becomes of a missed time.
    pub on_misfire: OnMisfire,
    /// What is done again for a node that seems dead.
    pub recovers: Recovers,
    /// Time between two check-ins of a node at work. At least 1 ms.
    #[serde(with = "duration")]
    pub check_in: Duration,
    /// A node that has not checked in for this long seems dead; more than `check_in`.
    #[serde(with = "duration")]
    pub dead_after: Duration,
}

/// How a due time is taken from the schedule row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Acquires {
    /// Read and advanced in one transaction, under the lock.
    #[default]
    Locked,
    /// Read, then marked as acquired if nobody else has; advanced under the lock when it fires.
    Unlocked,
}

/// When the next due time is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reads {
    /// Under the lock.
    #[default]
    UnderLock,
    /// Before it, as from a replica that lags.
    Before,
}

/// What becomes of a time that was missed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnMisfire {
    /// Nothing.
    #[default]
    Skip,
    /// It fires at once.
    Fire,
}

/// What is done again for a node that seems dead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Recovers {
    /// Nothing.
    #[default]
    Nothing,
    /// What it had acquired and not fired.
    Acquired,
    /// That, and what it had fired and not completed.
    Fired,
}

impl Default for RowLockKnobs {
    fn default() -> RowLockKnobs {
        RowLockKnobs {
            acquires: Acquires::default(),
            reads: Reads::default(),
            ahead: 5.seconds(),
            misfire_after: 5.seconds(),
            on_misfire: OnMisfire::default(),
            recovers: Recovers::default(),
            check_in: 15.seconds(),
            dead_after: 22_500.ms(),
        }
    }
}

impl RowLockKnobs {
    pub(super) fn is_default(&self) -> bool {
        is_default(self)
    }

    pub(super) fn validate(&self, found: &mut Found) {
        found.length("row_lock.ahead", self.ahead, Duration::ZERO, 1.hours(), "\"5s\"");
        found.length("row_lock.misfire_after", self.misfire_after, 1.ms(), YEAR, "\"5s\"");
        found.length("row_lock.check_in", self.check_in, 1.ms(), YEAR, "\"15s\"");
        found.more_than(("row_lock.dead_after", self.dead_after, "\"22500ms\""), ("row_lock.check_in", self.check_in, "\"15s\""));
    }

    /// A check-in takes a round trip at least, which does not shrink: `floor` is the least time between two of them.
    /// Three nodes that wait for each other's locks must not come too late by that alone.
    pub(super) fn scaled(&self, factor: u32, floor: Duration) -> RowLockKnobs {
        let check_in = divided(self.check_in, factor).max(floor);
        let dead_after = divided(self.dead_after, factor).max(check_in * 4);
        let misfire_after = divided(self.misfire_after, factor).max(floor * 8);
        RowLockKnobs { ahead: divided(self.ahead, factor), misfire_after, check_in, dead_after, ..self.clone() }
    }
}
