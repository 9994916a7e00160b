//! The constants of a key in the lease store that names the slot of a schedule.

use super::is_default;
use super::validate::{Found, YEAR};
use crate::plan::{duration, scale::divided};
use crate::time::Span;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The key of `slot-key`: which time stands in it, and how long it is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SlotKeyKnobs {
    /// Which time stands in the key.
    pub time: SlotTime,
    /// To what an observed time is rounded down. 1 ms to 1 day.
    #[serde(with = "duration")]
    pub rounded_to: Duration,
    /// How long the key is kept, whatever becomes of the run. At least 1 ms.
    #[serde(with = "duration")]
    pub kept: Duration,
}

/// Which time a slot is named by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SlotTime {
    /// The boundary for which the node has woken: the same on every node.
    #[default]
    Nominal,
    /// What its clock shows when it asks.
    Observed,
}

impl Default for SlotKeyKnobs {
    fn default() -> SlotKeyKnobs {
        SlotKeyKnobs { time: SlotTime::default(), rounded_to: 1.minutes(), kept: 1.hours() }
    }
}

impl SlotKeyKnobs {
    pub(super) fn is_default(&self) -> bool {
        is_default(self)
    }

    pub(super) fn validate(&self, found: &mut Found) {
        found.length("slot_key.rounded_to", self.rounded_to, 1.ms(), 24.hours(), "\"1m\"");
        found.length("slot_key.kept", self.kept, 1.ms(), YEAR, "\"1h\"");
    }

    pub(super) fn scaled(&self, factor: u32) -> SlotKeyKnobs {
        let rounded_to = divided(self.rounded_to, factor).max(1.ms());
        SlotKeyKnobs { rounded_to, kept: divided(self.kept, factor), ..self.clone() }
    }
}
