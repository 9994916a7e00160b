//! Leases in a Redis-style store, one member a file, from the oldest recipe to the one that
//! holds: two commands instead of one, no owner, an owner that is compared, renewal, and a
//! fence behind it.

mod fenced;
mod machine_id;
mod redlock;
mod set_px;
mod setnx_expire;
mod watchdog;

pub use fenced::LeaseFenced;
pub use machine_id::LeaseMachineId;
pub use redlock::Redlock;
pub use set_px::LeaseSetPx;
pub use setnx_expire::LeaseSetnxExpire;
pub use watchdog::LeaseWatchdog;

/// The one lease of the job, whatever the period.
const KEY: &str = "settlement";
