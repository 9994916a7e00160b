//! `exhaust.json`, as a page reads it. Its fields are documented in `reports/README.md`.

use crate::page::source::Document;
use crate::page::source::verdicts::{self, First};
use crate::report::exhaust;
use serde::Deserialize;

/// Every single fault, or every pair.
#[derive(Clone, Debug, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "reports/README.md documents every field")]
pub struct Exhaust {
    pub format: u32,
    pub onceproof: String,
    /// `single` or `pairs`.
    pub faults: String,
    /// Whether every kind of fault was tried; files without it are taken to say so.
    pub all_kinds: bool,
    pub as_expected: bool,
    pub strategies: Vec<Strategy>,
}

impl Default for Exhaust {
    fn default() -> Self {
        let (onceproof, faults, strategies) = (String::new(), String::new(), Vec::new());
        Exhaust { format: 0, onceproof, faults, all_kinds: true, as_expected: false, strategies }
    }
}

impl Exhaust {
    /// The kinds of (first) faults that struck some strategy, in the order of the file.
    pub fn kinds(&self) -> Vec<&str> {
        let mut kinds: Vec<&str> = Vec::new();
        for kind in self.strategies.iter().flat_map(|strategy| &strategy.kinds) {
            if !kinds.contains(&kind.kind.as_str()) {
                kinds.push(&kind.kind);
            }
        }
        kinds
    }
}

impl Document for Exhaust {
    const FORMAT: u32 = exhaust::FORMAT;
    const AGAIN: &'static str = "run `onceproof exhaust` again";
}

/// A strategy.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "reports/README.md documents every field")]
pub struct Strategy {
    pub name: String,
    pub rules: String,
    pub seed: String,
    pub as_expected: bool,
    pub steps: u64,
    pub runs: u64,
    pub felt: u64,
    pub pruned: u64,
    pub later: u64,
    pub calm: Vec<String>,
    pub unmade: Vec<String>,
    pub unreached: Vec<String>,
    pub kinds: Vec<Kind>,
}

impl Strategy {
    /// The kinds that broke something of their own.
    pub fn broken(&self) -> impl Iterator<Item = &Kind> {
        self.kinds.iter().filter(|kind| kind.broken.iter().any(|b| !b.inherited))
    }

    /// What people call the row.
    pub fn label(&self) -> String {
        verdicts::Strategy { name: self.name.clone(), rules: self.rules.clone(), ..verdicts::Strategy::default() }.label()
    }
}

/// A kind of fault.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "reports/README.md documents every field")]
pub struct Kind {
    pub kind: String,
    pub class: String,
    pub phase: String,
    pub runs: u64,
    pub felt: u64,
    pub as_expected: bool,
    pub broken: Vec<Broken>,
    pub witness: Option<String>,
}

/// What broke.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "reports/README.md documents every field")]
pub struct Broken {
    pub letter: String,
    pub runs: u64,
    pub inherited: bool,
    pub surprising: bool,
    pub first: First,
}
