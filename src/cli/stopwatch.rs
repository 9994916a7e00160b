//! The only place that reads a real clock: how long a sweep has taken, for people and for
//! `--budget`. Nothing that a run sees depends on it.

use std::time::{Duration, Instant};

/// Running since it was made.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts.
    #[expect(clippy::disallowed_methods, reason = "people's time is real")]
    pub fn start() -> Stopwatch {
        Stopwatch(Instant::now())
    }

    /// How long it has run.
    pub fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}
