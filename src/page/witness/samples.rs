//! Made-up runs for tests: small, and with everything that a page shows.

use crate::report::twin::Twin;

/// A node is stopped for longer than its lease lasts, and settles again when it wakes.
pub fn pause() -> Twin {
    serde_json::from_str(include_str!("samples/pause.json")).expect("the sample is a twin")
}

/// A node is cut off from its lease store and goes on.
pub fn partition() -> Twin {
    serde_json::from_str(include_str!("samples/partition.json")).expect("the sample is a twin")
}
