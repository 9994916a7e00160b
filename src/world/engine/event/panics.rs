//! Panics of simulated code: caught, kept quiet, and sorted. A strategy that panics is a
//! finding; code that starts a tokio timer cannot be simulated at all.

use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    static CONTAINED: Cell<bool> = const { Cell::new(false) };
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs simulated code; a panic comes back as its message and place, and nothing is printed.
pub(super) fn contain<R>(work: impl FnOnce() -> R) -> Result<R, String> {
    let outer = CONTAINED.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(work));
    CONTAINED.set(outer);
    result.map_err(|payload| {
        let what = match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
            (Some(text), _) => (*text).to_owned(),
            (None, Some(text)) => text.clone(),
            (None, None) => "a panic without a message".to_owned(),
        };
        match PLACE.take() {
            Some(place) => format!("{what}, at {place}"),
            None => what,
        }
    })
}

/// Installs the quiet hook, once a process. Panics outside simulated code go on to the hook that was there.
pub(super) fn hush() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if CONTAINED.try_with(Cell::get).unwrap_or(false) {
                let place = info.location().map(|at| format!("{}:{}", at.file(), at.line()));
                // The place is a courtesy; without thread-local storage there is nobody to read it.
                let _ = PLACE.try_with(|known| known.replace(place));
            } else {
                previous(info);
            }
        }));
    });
}

/// Whether tokio panicked because its runtime here has no timers (its messages, tokio 1.54).
pub(super) fn is_tokio_timer(message: &str) -> bool {
    ["timers are disabled", "there is no timer running", "there is no reactor running"].iter().any(|known| message.contains(known))
}

/// Whether tokio panicked because a local task was spawned outside a local set (its message, tokio 1.54).
pub(super) fn is_tokio_spawn(message: &str) -> bool {
    message.contains("`spawn_local` called from outside")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_and_place_come_back() {
        hush();
        let caught = contain(|| panic!("lost {}", 3)).expect_err("it panicked");
        assert!(caught.starts_with("lost 3, at ") && caught.contains("panics.rs:"), "{caught}");
        assert_eq!(contain(|| 7), Ok(7));
    }
}
