//! The engine that runs on this thread. Streams and sleeps find it here, so that they are
//! plain numbers: `Send` and `Sync` without a lock, and harmless after their run.

use super::machine::Machine;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

thread_local! {
    static CURRENT: RefCell<Option<Rc<Machine>>> = const { RefCell::new(None) };
}

/// Tells runs apart, over all threads: what was made in one run must mean nothing in another.
/// It never shows in a run's behaviour.
pub(super) fn next_run() -> u64 {
    static RUNS: AtomicU64 = AtomicU64::new(1);
    RUNS.fetch_add(1, Ordering::Relaxed)
}

/// Does something with this thread's engine; `None` = no run is on.
pub(super) fn with<R>(work: impl FnOnce(&Machine) -> R) -> Option<R> {
    CURRENT.try_with(|current| current.borrow().as_ref().map(|machine| work(machine))).ok().flatten()
}

/// Whether a run is on.
pub(super) fn is_set() -> bool {
    with(|_| ()).is_some()
}

/// Makes an engine this thread's.
pub(super) fn set(machine: Rc<Machine>) {
    CURRENT.with(|current| *current.borrow_mut() = Some(machine));
}

/// Takes the engine away: from here on, whatever is left of the run does nothing.
pub(super) fn clear() {
    let machine = CURRENT.try_with(|current| current.borrow_mut().take()).ok().flatten();
    drop(machine);
}
