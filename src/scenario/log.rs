//! The replicated log, where a strategy asks one.

use crate::plan::duration;
use crate::time::Span;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The replicated log and what is granted in it. All durations are on the clock of whoever waits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LogKnobs {
    /// Time between two heartbeats of a leader, and how long it waits for an answer of a follower; more than a round trip.
    #[serde(with = "duration")]
    pub heartbeat: Duration,
    /// A member that hears nothing calls an election after two to four times as long, drawn when it begins to work; more than two heartbeats.
    #[serde(with = "duration")]
    pub election: Duration,
    /// Members rest, without leader and heartbeats, when nothing was asked for so long; more than four times `election`.
    #[serde(with = "duration")]
    pub rest_after: Duration,
    /// How long a grant lasts by the log's own time, unless it is renewed. At least 1 ms.
    #[serde(with = "duration")]
    pub lease: Duration,
    /// Time between two renewals; less than `lease`.
    #[serde(with = "duration")]
    pub renew_every: Duration,
}

impl Default for LogKnobs {
    fn default() -> LogKnobs {
        LogKnobs { heartbeat: 3.seconds(), election: 8.seconds(), rest_after: 40.seconds(), lease: 90.seconds(), renew_every: 30.seconds() }
    }
}

impl LogKnobs {
    /// Whether nothing was changed, so that files need not name it.
    pub(super) fn is_default(&self) -> bool {
        *self == LogKnobs::default()
    }
}
