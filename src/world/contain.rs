//! A panic of simulated code is a finding, not a crash of the harness: it is caught, handed on
//! as a value, and kept off the terminal. A sweep may meet the same one ten thousand times.

use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    /// Whether this thread is inside contained code.
    static CONTAINED: Cell<bool> = const { Cell::new(false) };
    /// Where the last contained panic of this thread was raised.
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Does `work`. Containment nests; what the work shares with others is for the caller to give up.
///
/// # Errors
/// If it panics: what the panic said, and where.
pub fn contain<R>(work: impl FnOnce() -> R) -> Result<R, String> {
    hush();
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

/// Makes the panic hook silent inside contained code, once a process. All other panics go on to the hook that was there.
fn hush() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let loud = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if CONTAINED.try_with(Cell::get).unwrap_or(false) {
                let place = info.location().map(|at| format!("{}:{}", at.file(), at.line()));
                // The place is a courtesy; without thread-local storage there is nobody to read it.
                let _ = PLACE.try_with(|known| known.replace(place));
            } else {
                loud(info);
            }
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_value_and_a_result_passes() {
        assert_eq!(contain(|| 7), Ok(7));
        for (said, starts) in [
            (contain(|| panic!("lost {}", 3)), "lost 3, at "),
            (contain(|| panic!("plain")), "plain, at "),
            (contain(|| panic::panic_any(7)), "a panic without a message, at "),
        ] {
            let said: String = said.map(|(): ()| ()).expect_err("it panicked");
            assert!(said.starts_with(starts) && said.contains("contain.rs:"), "{said}");
        }
        assert!(!CONTAINED.get(), "panics outside are loud again");
    }

    #[test]
    fn containment_nests() {
        let outer = contain(|| {
            let inner: Result<(), String> = contain(|| panic!("inner"));
            assert!(CONTAINED.get(), "still inside");
            inner.expect_err("it panicked")
        });
        assert!(outer.expect("only the inner work panicked").starts_with("inner, at "));
    }
}
