//! The constants of the payout service.

use super::is_default;
use super::validate::{Found, YEAR};
use crate::plan::{duration, scale::divided};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The payout service.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PayoutKnobs {
    /// How long it remembers an idempotency key, by its own clock; a payment that comes with it later is made again.
    /// 0 s, which is the default: for ever. Stripe prunes keys after 24 hours at the earliest.
    #[serde(with = "duration")]
    pub key_retention: Duration,
}

impl PayoutKnobs {
    pub(super) fn is_default(&self) -> bool {
        is_default(self)
    }

    pub(super) fn validate(&self, found: &mut Found) {
        found.length("payout.key_retention", self.key_retention, Duration::ZERO, YEAR, "\"24h\"");
    }

    pub(super) fn scaled(&self, factor: u32) -> PayoutKnobs {
        PayoutKnobs { key_retention: divided(self.key_retention, factor) }
    }
}
