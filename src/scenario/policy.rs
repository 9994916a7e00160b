//! What a node does after an attempt.

use serde::{Deserialize, Serialize};

/// What a node does after an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// One attempt a period; whatever happens, wait for the next.
    Skip,
    /// Again every poll until the node knows that the period is settled, by what its strategy lets it know.
    Retry,
    /// As `Retry`, but each attempt begins with a plain read of the settlement table (check, then act).
    RetryChecked,
}

impl Policy {
    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Policy::Skip => "skip",
            Policy::Retry => "retry",
            Policy::RetryChecked => "retry-checked",
        }
    }
}
