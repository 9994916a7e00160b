//! How wrong clocks are where the fault plan says that they are wrong.

use crate::plan::duration;
use crate::time::Span;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The magnitudes of drawn clock errors: real time, as those of all drawn faults; a scaled deployment divides them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ClockKnobs {
    /// Clocks of the class skew are wrong by at most this, and two of them differ by at least four fifths of it. 0 s to 1 day.
    #[serde(with = "duration")]
    pub error: Duration,
    /// Clocks of the class drift run fast or slow by at most so many parts per million. 0 to 100,000.
    pub drift_ppm: u32,
}

impl Default for ClockKnobs {
    /// The catalogue's: five minutes, two percent.
    fn default() -> ClockKnobs {
        ClockKnobs { error: 5.minutes(), drift_ppm: 20_000 }
    }
}

impl ClockKnobs {
    /// Whether they are the catalogue's: then no file mentions them.
    pub fn are_usual(&self) -> bool {
        *self == ClockKnobs::default()
    }
    /// By how much more than the catalogue's they are wrong.
    pub fn beyond_usual(&self) -> Duration {
        self.error.saturating_sub(ClockKnobs::default().error)
    }
}
