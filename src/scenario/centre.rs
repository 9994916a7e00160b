//! The dispatch centre, where a strategy asks one.

use crate::plan::duration;
use crate::time::Span;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The dispatch centre.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CentreKnobs {
    /// How long after it assigned a run, by its own clock, it calls the run failed and assigns it again. At least 1 ms.
    #[serde(with = "duration")]
    pub timeout: Duration,
}

impl Default for CentreKnobs {
    fn default() -> CentreKnobs {
        CentreKnobs { timeout: 10.minutes() }
    }
}

impl CentreKnobs {
    /// Whether nothing was changed, so that files need not name it.
    pub(super) fn is_default(&self) -> bool {
        *self == CentreKnobs::default()
    }
}
