//! A deployment as its owner describes it: one TOML file, in the terms of whoever runs schedulers.
//!
//! [`keys`] is the list of everything that may stand in it; reader, JSON [`schema`] and hints come
//! from it, so they cannot disagree. [`read`](mod@read) turns text into typed entries and finds what is wrong
//! with each; `build` makes a [`Scenario`] of them and finds what is wrong between them; all
//! [`mistake`]s are told at once, with their places. [`checks`] then says what can be known without a
//! single run.
//!
//! Places come from toml's own parser (`toml::de::DeTable` keeps the span of every key and value),
//! and the line with its caret is forty lines here: serde would stop at the first mistake, and a crate
//! that draws it would be larger than this folder.

pub mod checks;
pub mod keys;
pub mod mistake;
pub mod read;
pub mod schema;
pub mod terms;

mod build;
mod told;

pub use mistake::{Mistake, Mistakes, Place};

use crate::class::FaultClass;
use crate::profile::Profile;
use crate::scenario::Scenario;
use crate::seed::Seed;
use crate::strategy::{Policy, Strategy};
use read::Entries;

/// A commented file that can be run as it is.
pub const EXAMPLE: &str = include_str!("deployment_file/example.toml");

/// Runs for each fault class unless the file says otherwise.
pub const SEEDS: u64 = 120;

/// A file that was read, and what it asks for.
#[derive(Clone)]
pub struct DeploymentFile {
    /// The file, as it was named.
    pub file: String,
    /// Which guard.
    pub guard: &'static dyn Strategy,
    /// The profile that says so, if the file names one.
    pub profile: Option<&'static Profile>,
    /// What is deployed.
    pub scenario: Scenario,
    /// Which faults to try; calm is among them.
    pub classes: Vec<FaultClass>,
    /// Runs for each class.
    pub seeds: u64,
    /// The seed from which all others come.
    pub seed: Seed,
    text: String,
    entries: Entries,
}

impl DeploymentFile {
    /// Reads the text of a file called `file`.
    ///
    /// # Errors
    /// All mistakes, each with its place and what to write instead.
    pub fn read(file: &str, text: &str) -> Result<DeploymentFile, Mistakes> {
        let (entries, mistakes) = Entries::read(text);
        build::build(file, text, entries, mistakes).map_err(|all| Mistakes::of(file, text, all))
    }

    /// What stands in it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Where the value of a key is, if the file has it.
    pub fn place(&self, key: &str) -> Option<Place> {
        self.entries.span(key).map(|span| Place::of(&self.text, &span))
    }

    /// What a node does after an attempt.
    pub fn policy(&self) -> Policy {
        self.scenario.node.policy.unwrap_or(self.guard.policy())
    }

    /// Where a key is in what the file says about one node, if it is there.
    pub fn place_of(&self, node: u8, key: &str) -> Option<Place> {
        let own = self.entries.overrides().iter().rfind(|own| own.number("node") == Some(node.into()))?;
        own.span(key).map(|span| Place::of(&self.text, &span))
    }

    /// Whether the file says it itself.
    pub fn says(&self, key: &str) -> bool {
        self.entries.has(key)
    }
}

#[cfg(test)]
mod tests;
