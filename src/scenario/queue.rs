//! The constants of the guards that work through a queue.

use crate::plan::duration;
use crate::plan::scale::divided;
use crate::time::Span;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How producers and consumers behave. They are real times: where the deployment is scaled, they
/// are divided by its `time_scale` when they are used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct QueueKnobs {
    /// How long a consumer waits for a message at the store before it asks again. 1 ms to 1 h.
    #[serde(with = "duration")]
    pub block: Duration,
    /// How long after a boundary queue-consumer asks for messages; then it sleeps until the next one. At least `block`.
    #[serde(with = "duration")]
    pub listen: Duration,
    /// How long the third party of queue-consumer takes to have the result. 0 s to 1 day.
    #[serde(with = "duration")]
    pub answer: Duration,
    /// Until queue-consumer asks the third party for the first time, and between its first questions; later ones
    /// are twice and three times as far apart. At least 1 ms.
    #[serde(with = "duration")]
    pub ask_every: Duration,
    /// How long after queue-reliable put a message into the queue it is put in again, unless its period is settled. At least 1 ms.
    #[serde(with = "duration")]
    pub visibility: Duration,
}

impl Default for QueueKnobs {
    fn default() -> QueueKnobs {
        QueueKnobs { block: 5.seconds(), listen: 10.minutes(), answer: 5.seconds(), ask_every: 1.seconds(), visibility: 5.minutes() }
    }
}

impl QueueKnobs {
    /// Whether they are left as they are, and need no place in a file.
    pub(super) fn are_usual(&self) -> bool {
        *self == QueueKnobs::default()
    }

    /// In the scale of a deployment.
    #[must_use]
    pub fn scaled(&self, time_scale: u32) -> QueueKnobs {
        let d = |d: Duration| divided(d, time_scale.max(1));
        QueueKnobs {
            block: d(self.block),
            listen: d(self.listen),
            answer: d(self.answer),
            ask_every: d(self.ask_every),
            visibility: d(self.visibility),
        }
    }
}
