//! How wrong each clock was.

use crate::report::twin::Clock;
use crate::report::twins::view::View;

/// The clocks that were wrong.
pub fn clocks(view: &View<'_>) -> Vec<Clock> {
    let wrong = view.clocks.wrong().filter(|host| view.shows(*host));
    wrong.map(|host| Clock { host: host.to_string(), points: view.clocks.points(host, view.ends) }).collect()
}
