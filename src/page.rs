//! The reports folder as pages. Everything here is made of the JSON files in it ([`Sources`] and
//! [`Twin`]) and of nothing else, so `onceproof report` writes again what the sweep wrote.
//!
//! A page is one file: no network, no other file but links to the pages beside it. Text that
//! comes from elsewhere is escaped by the templates.

pub mod front;
pub mod junit;
pub mod layout;
pub mod markdown;
pub mod plot;
#[cfg(test)]
mod sample;
pub mod source;
pub mod surprise;
pub mod witness;

pub use source::Sources;

use crate::report::twin::Twin;

/// Where the front page is, in the reports folder.
pub const INDEX: &str = "index.html";

/// How a command begins that is to be run inside of the reports folder, whatever that is called.
pub const IN_THE_FOLDER: &str = "onceproof replay --reports . ";

/// The front page.
pub fn index(sources: &Sources) -> String {
    front::page(sources).into_string()
}

/// The page of a run.
pub fn run(twin: &Twin) -> String {
    witness::page(twin).into_string()
}
