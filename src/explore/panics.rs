//! Keeps panics of simulated code off the terminal. A strategy that panics is a finding, and a
//! sweep may find the same one ten thousand times; the engine catches each, and the default
//! hook would print each.
//!
//! Only threads of our own that carry runs are quiet. A panic anywhere else prints as ever.

use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe};
use std::thread;

/// Threads that carry runs have names that start with this.
const QUIET: &str = "onceproof-run";

thread_local! {
    /// What the hook would have printed last on this thread.
    static LAST: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Silences the panics of threads that carry runs, for the rest of the process.
pub fn quiet_runs() {
    let loud = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if thread::current().name().is_some_and(|name| name.starts_with(QUIET)) {
            LAST.with(|last| *last.borrow_mut() = Some(info.to_string().replace('\n', ": ")));
        } else {
            loud(info);
        }
    }));
}

/// A thread that carries runs.
pub fn run_thread(number: usize) -> thread::Builder {
    thread::Builder::new().name(format!("{QUIET}-{number}"))
}

/// Runs `work` on a fresh thread that carries runs, and waits for it.
///
/// # Panics
/// As `work` does.
pub fn on_run_thread<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let carried = run_thread(0).spawn_scoped(scope, work).expect("the system can start one more thread");
        carried.join().unwrap_or_else(|panic| panic::resume_unwind(panic))
    })
}

/// Does `work`; a panic of our own code becomes a value.
///
/// # Errors
/// What the panic said, and where.
pub fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    panic::catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let said = payload.downcast_ref::<&str>().map(ToString::to_string).or_else(|| payload.downcast_ref::<String>().cloned());
        LAST.with(|last| last.borrow_mut().take()).or(said).unwrap_or_else(|| "no message".to_owned())
    })
}
