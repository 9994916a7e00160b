//! The engine that runs on this thread. Streams and sleeps find it here, so that they are
//! plain numbers: `Send` and `Sync` without a lock, and harmless after their run.

use super::machine::Machine;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

thread_local! {
    static CURRENT: RefCell<Option<Rc<Machine>>> = const { RefCell::new(None) };
    static THREAD_STARTED: Cell<bool> = const { Cell::new(false) };
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

/// Names a thread that tokio starts for `spawn_blocking`. Tokio asks for the name on the thread
/// that spawns, which is how the run notices.
pub(super) fn name_thread() -> String {
    THREAD_STARTED.set(true);
    "stray".to_owned()
}

/// Whether a thread was started since this was last asked.
pub(super) fn take_thread_started() -> bool {
    THREAD_STARTED.replace(false)
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
