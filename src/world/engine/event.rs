//! The event engine: hosts, their tasks and their network in one thread, in true time that
//! jumps from one event to the next.
//!
//! | file | noun |
//! |---|---|
//! | `machine` | all parts together: the [`Engine`] that a world holds |
//! | `rounds` | the main loop |
//! | `agenda` | true time, and the heap of what is due in it |
//! | `timers`, `waiting` | sleeps; whoever waits for anything |
//! | `executor` | tasks, and which of them is polled next |
//! | `lifecycle` | how processes start and die |
//! | `fabric`, `kernel`, `stall` | the network: segments, sockets, and what does not get through |
//! | `conn`, `link` | one connection; one direction between two hosts |
//! | `stream` | what host code holds of the network |
//! | `current`, `panics` | the run on this thread; what tokio says to code that cannot be simulated |
//!
//! Tokio's clock exists here, paused and in step with true time, so that
//! `tokio::time::Instant::now` is right; tokio's timer driver does not, so that a timer of
//! tokio's panics at once instead of never firing. That panic, like a raw `tokio::spawn` or
//! `spawn_blocking`, refuses the run.

mod agenda;
mod conn;
mod current;
mod executor;
mod fabric;
mod kernel;
mod lifecycle;
mod link;
mod machine;
mod panics;
mod rounds;
mod stall;
mod stream;
#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the tests show what becomes of code that calls them")]
mod tests;
mod timers;
mod waiting;

use crate::id::HostId;
use crate::world::engine::{Boot, Ended, Engine, Observer, Refused, Reseed, Settings};
use lifecycle::Teardown;
use machine::Machine;
use rounds::Rounds;
use std::rc::Rc;

/// Runs a world until its horizon. `build` gets the engine and gives what each host boots.
///
/// The engine may be kept: after the run it still tells the time at which the run ended, and
/// does nothing else. The observer is called while the engine works: from `note`, `felt` and
/// `reply_lost` it may ask for the time, and nothing else.
///
/// # Errors
/// The code of a host cannot be simulated faithfully.
///
/// # Panics
/// A run is already on in this thread, `build` names a host twice, or code of the world panicked.
pub fn run(
    settings: &Settings,
    observer: Rc<dyn Observer>,
    build: impl FnOnce(Rc<dyn Engine>) -> Vec<(HostId, Boot)>,
) -> Result<Ended, Refused> {
    run_reseeded(settings, None, observer, build)
}

/// As [`run`]; from the time that `reseed` says on, latencies, ties and the order of ready tasks are drawn from its seed.
///
/// # Errors
/// The code of a host cannot be simulated faithfully.
///
/// # Panics
/// As [`run`].
pub fn run_reseeded(
    settings: &Settings,
    reseed: Option<Reseed>,
    observer: Rc<dyn Observer>,
    build: impl FnOnce(Rc<dyn Engine>) -> Vec<(HostId, Boot)>,
) -> Result<Ended, Refused> {
    assert!(!current::is_set(), "runs do not nest: one is on in this thread already");
    // A fresh runtime for each run: one that was used keeps traces of its past.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .start_paused(true)
        .thread_name_fn(current::name_thread)
        .build()
        .expect("a runtime without drivers asks nothing of the system");
    current::take_thread_started();
    let _context = runtime.enter();
    let machine = Rc::new(Machine::new(settings, observer));
    current::set(machine.clone());
    let teardown = Teardown(machine.clone());
    if let Some(reseed) = reseed {
        machine.reseed_at(reseed);
    }
    machine.boot_all(build(machine.clone()));
    let ended = Rounds::new(&machine, settings, runtime.metrics()).run();
    drop(teardown);
    ended
}
