//! What tokio says when simulated code asks it for what simulated time does not have. Such code
//! is refused; any other panic is a finding.

/// Whether tokio panicked because its runtime here has no timers (its messages, tokio 1.54).
pub(super) fn is_tokio_timer(message: &str) -> bool {
    ["timers are disabled", "there is no timer running", "there is no reactor running"].iter().any(|known| message.contains(known))
}

/// Whether tokio panicked because a local task was spawned outside a local set (its message, tokio 1.54).
pub(super) fn is_tokio_spawn(message: &str) -> bool {
    message.contains("`spawn_local` called from outside")
}
