//! Asking a strategy many times: sweeping seeds over fault classes, certifying that a run
//! repeats, and keeping the first run that broke something.
//!
//! In reading order: a [`subject`] can be run and judged; [`mod@observe`] runs it once; [`sweep`]
//! runs it, or a [`shard`] of it, under many seeds on all threads and tallies what it saw;
//! [`cost`] says what they took, [`coverage`] where faults were felt, and [`steer`] goes where none was; [`exhaust`] tries
//! every fault at every step instead; a [`cell`] weighs a tally against what the strategy declares,
//! with a [`bound`] on what it did not see; [`certify`] runs a sample again; a [`witness`] keeps one
//! run for replay, [`mod@shrink`] makes it small, and [`doomed`] says from when it could not end well;
//! a [`described`] deployment is somebody's own, and
//! [`advice`] says what would have to be different in it; a [`frontier`] is where a lease stops protecting. A [`survey`] is the whole table, the only thing
//! that reports of it read.
//!
//! Nothing here prints, reads a clock or writes a file.

pub mod advice;
pub mod bound;
pub mod case;
pub mod cell;
pub mod certify;
pub mod cost;
pub mod coverage;
pub mod crew;
pub mod described;
pub mod doomed;
pub mod exhaust;
pub mod fingerprint;
pub mod frontier;
pub mod mark;
pub mod observe;
pub mod shard;
pub mod shrink;
pub mod steer;
pub mod subject;
pub mod survey;
pub mod sweep;
pub mod witness;

#[cfg(test)]
pub mod made_up;

pub use case::{Case, RunKey};
pub use cell::{Cell, Surprise, Tally};
pub use cost::Cost;
pub use coverage::Coverage;
pub use mark::Mark;
pub use observe::{Finding, Observed, judged, observe};
pub use shard::Shard;
pub use subject::{Staged, Subject, seeds_of_a_claim};
pub use survey::{Row, Survey};
pub use witness::Witness;
