//! A panic in the code of a host is a finding, not a crash of the harness: it is caught and
//! handed on as a value, and the panic hook stays silent meanwhile.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// Whether this thread is inside the code of a host.
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Runs code of a host.
///
/// # Errors
/// The message of the panic, if it panics.
pub(super) fn quietly<R>(code: impl FnOnce() -> R) -> Result<R, String> {
    static SILENCER: Once = Once::new();
    SILENCER.call_once(|| {
        // The hook is one for all threads; only those inside the code of a host are silenced.
        let loud = take_hook();
        set_hook(Box::new(move |info| {
            if !QUIET.get() {
                loud(info);
            }
        }));
    });
    let outer = QUIET.replace(true);
    // Whatever the code shares with others is dropped with its process, or guarded by the engine.
    let result = catch_unwind(AssertUnwindSafe(code));
    QUIET.set(outer);
    result.map_err(|payload| message(&*payload))
}

fn message(payload: &(dyn Any + Send)) -> String {
    if let Some(text) = payload.downcast_ref::<&str>() {
        (*text).to_owned()
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text.clone()
    } else {
        "a panic without a message".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_value_and_a_result_passes() {
        assert_eq!(quietly(|| 7), Ok(7));
        assert_eq!(quietly(|| panic!("plain")), Err::<(), _>("plain".to_owned()));
        assert_eq!(quietly(|| panic!("number {}", 7)), Err::<(), _>("number 7".to_owned()));
        assert_eq!(quietly(|| std::panic::panic_any(7)), Err::<(), _>("a panic without a message".to_owned()));
        assert!(!QUIET.get(), "panics outside are loud again");
    }
}
