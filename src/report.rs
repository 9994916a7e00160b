//! Results as text and as files. Everything here turns data that the explorers made into
//! text and returns it; nothing prints. Text for a terminal carries its colours as escape
//! codes, which the writer strips where they are not wanted.

pub mod deployment;
pub mod doom;
pub mod exhaust;
pub mod files;
pub mod frontier;
pub mod gist;
pub mod incident;
pub mod json;
pub mod knobs;
pub mod list;
pub mod regression;
pub mod run;
pub mod shard;
pub mod shrink;
pub mod story;
pub mod table;
pub mod twin;
pub mod twins;
pub mod words;

mod paint;
mod witness;

pub use witness::{Kept, NotRepeated, command, with_twin, witness};
