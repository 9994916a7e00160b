//! What is in a reports folder, as far as pages need it. Readers are lenient: what an older
//! version did not write is missing, not wrong.

pub mod document;
pub mod exhaust;
mod folder;
pub mod frontier;
pub mod kills;
pub mod throughput;
pub mod verdicts;

pub use document::{Document, Unreadable};
pub use exhaust::Exhaust;
pub use frontier::Frontier;
pub use kills::Kills;
pub use throughput::Throughput;
pub use verdicts::Verdicts;

use std::collections::BTreeSet;

/// A sum of what files say, which may be anything.
pub fn sum(all: impl IntoIterator<Item = u64>) -> u64 {
    all.into_iter().fold(0, u64::saturating_add)
}

/// Everything from which the front page is made.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// `verdicts.json`.
    pub verdicts: Option<Verdicts>,
    /// `exhaust.json`.
    pub exhaust: Option<Exhaust>,
    /// `frontier.json`.
    pub frontier: Option<Frontier>,
    /// `kills.json`: how many runs each search needs to find a defect.
    pub kills: Option<Kills>,
    /// `throughput.json`: settlements a second by contending nodes.
    pub throughput: Option<Throughput>,
    /// Pages of runs that are there, as paths in the folder: `witnesses/no-guard--calm.html`.
    pub pages: BTreeSet<String>,
    /// Files that are there and could not be read, and why.
    pub unreadable: Vec<(String, String)>,
}
