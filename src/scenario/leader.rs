//! The constants of an election.

use super::is_default;
use super::validate::{Found, YEAR};
use crate::plan::{duration, scale::divided};
use crate::time::Span;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The election of `leader`: where it is held, how long a term lasts, and what a leader knows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LeaderKnobs {
    /// Where the leader's lease is.
    pub held_in: HeldIn,
    /// A leader's lease runs out after this. At least 1 ms.
    #[serde(with = "duration")]
    pub lasts: Duration,
    /// Time between two renewals, and between two bids of who does not lead; less than `lasts`.
    #[serde(with = "duration")]
    pub renew_every: Duration,
    /// How long before a boundary the election begins in a run: a deployment holds it all the time. Longer than `lasts`.
    #[serde(with = "duration")]
    pub ahead: Duration,
    /// What of the schedule outlives a leader.
    pub remembers: Remembers,
    /// What an error means to who bids.
    pub on_error: OnError,
    /// Whose lease a leader renews.
    pub renews: Renews,
    /// Whether a leader that is elected again adds the schedule to the one that it still has.
    pub adds_again: bool,
    /// A leader that looks back fires nothing that was due longer ago, and does not count it as missed; 0 s: it looks back as far as there is.
    #[serde(with = "duration")]
    pub late_by: Duration,
    /// With more missed boundaries than this none of them fires, for ever after; 0: however many.
    pub most_missed: u32,
}

/// Where a leader's lease is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HeldIn {
    /// In the lease store.
    #[default]
    LeaseStore,
    /// In a row of the database, by the database's clock.
    Row,
}

/// What of a schedule outlives its leader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Remembers {
    /// Nothing: a leader waits for the first boundary after its election.
    #[default]
    Nothing,
    /// When the schedule fired last: a leader looks back, and fires what was missed.
    LastTick,
    /// Each slot that fired, by a unique name: a slot fires once, whoever leads.
    Slot,
}

/// What an error means to a node that asks whether it leads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnError {
    /// That it does not.
    #[default]
    Follow,
    /// That it does: nobody said otherwise.
    Lead,
}

/// Whose lease a leader renews.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Renews {
    /// Its own, or none.
    #[default]
    Own,
    /// Whatever lease there is.
    Any,
}

impl Default for LeaderKnobs {
    fn default() -> LeaderKnobs {
        LeaderKnobs {
            held_in: HeldIn::default(),
            lasts: 30.seconds(),
            renew_every: 10.seconds(),
            ahead: 2.minutes(),
            remembers: Remembers::default(),
            on_error: OnError::default(),
            renews: Renews::default(),
            adds_again: false,
            late_by: Duration::ZERO,
            most_missed: 0,
        }
    }
}

impl LeaderKnobs {
    pub(super) fn is_default(&self) -> bool {
        is_default(self)
    }

    pub(super) fn validate(&self, found: &mut Found) {
        found.length("leader.lasts", self.lasts, 1.ms(), YEAR, "\"30s\"");
        found.length("leader.renew_every", self.renew_every, 1.ms(), YEAR, "\"10s\"");
        found.less_than(("leader.renew_every", self.renew_every, "\"10s\""), ("leader.lasts", self.lasts, "\"30s\""));
        found.length("leader.ahead", self.ahead, 1.ms(), YEAR, "\"2m\"");
        found.length("leader.late_by", self.late_by, Duration::ZERO, YEAR, "\"10m\"");
        found.more_than(("leader.ahead", self.ahead, "\"2m\""), ("leader.lasts", self.lasts, "\"30s\""));
    }

    /// A renewal takes a round trip at least, which does not shrink: `floor` is the least time between two of them.
    pub(super) fn scaled(&self, factor: u32, floor: Duration) -> LeaderKnobs {
        let renew_every = divided(self.renew_every, factor).max(floor);
        let lasts = divided(self.lasts, factor).max(renew_every * 2);
        let ahead = divided(self.ahead, factor).max(lasts * 2);
        let late_by = if self.late_by.is_zero() { Duration::ZERO } else { divided(self.late_by, factor).max(floor) };
        LeaderKnobs { lasts, renew_every, ahead, late_by, ..self.clone() }
    }
}
