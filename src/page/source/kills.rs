//! `kills.json`, as a page reads it: how many runs each search needs until it finds a defect.
//! `cargo bench --bench mutants -- --json` writes it.

use crate::page::source::Document;
use serde::{Deserialize, Serialize};

/// The mutation score.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Kills {
    /// Version of this schema: 1.
    pub format: u32,
    /// Version of the program.
    pub onceproof: String,
    /// Runs of the longest hunt.
    pub most: u64,
    /// The score, as a sentence.
    pub score: String,
    /// The defects.
    pub defects: Vec<Defect>,
}

impl Document for Kills {
    const FORMAT: u32 = 1;
    const AGAIN: &'static str = "run `cargo bench --bench mutants -- --json` again";
}

/// A small defect in a strategy that is right without it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Defect {
    /// Its name: `table-key.marker-ignored`.
    pub name: String,
    /// What it does wrong.
    pub what: String,
    /// `killed`, `wasteful` or `equivalent`.
    pub fate: String,
    /// What becomes of it, in words.
    pub told: String,
    /// Runs until drawn faults of one class after the other found it.
    pub random: Option<u64>,
    /// Runs until mixed faults found it.
    pub swarm: Option<u64>,
    /// Runs until enumeration found it.
    pub enumeration: Option<u64>,
    /// Runs of the whole enumeration.
    pub enumerated: u64,
}
