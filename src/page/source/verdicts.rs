//! `verdicts.json`, as a page reads it. Its fields are documented in `reports/README.md`.

use crate::page::source::Document;
use crate::report::json;
use serde::{Deserialize, Deserializer};
use std::collections::{BTreeMap, BTreeSet};

/// The whole table.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "reports/README.md documents every field")]
pub struct Verdicts {
    pub format: u32,
    pub onceproof: String,
    pub engine: String,
    pub base_seed: String,
    pub seeds_per_cell: Option<u64>,
    pub as_expected: bool,
    pub runs: u64,
    pub pinned_runs: u64,
    pub apart: Apart,
    pub certified_runs: u64,
    pub letters: Vec<Letter>,
    pub strategies: Vec<Strategy>,
    pub differences: Vec<Difference>,
}

impl Document for Verdicts {
    const FORMAT: u32 = json::FORMAT;
    const AGAIN: &'static str = "run `onceproof verify` again";
}

/// Runs that were chosen, not drawn.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "reports/README.md documents every field")]
pub struct Apart {
    pub runs: u64,
    pub felt: u64,
}

/// What a letter means.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "reports/README.md documents every field")]
pub struct Letter {
    pub letter: String,
    pub meaning: String,
    pub rules: Vec<String>,
}

/// A row.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "reports/README.md documents every field")]
pub struct Strategy {
    pub name: String,
    pub rules: String,
    /// What people call the row: since format 2. Older files: the name, and `@innodb` where the rules are `InnoDB`'s.
    pub label: String,
    pub policy: String,
    pub about: String,
    pub cells: Vec<Cell>,
}

/// A cell.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "reports/README.md documents every field")]
pub struct Cell {
    pub faults: String,
    /// `holds`, `breaks`, `misses` or `undecided`.
    pub verdict: String,
    pub misses: Option<String>,
    pub as_expected: bool,
    pub runs: u64,
    pub felt: u64,
    pub apart: Apart,
    pub felt_needed: u64,
    pub excused: u64,
    pub pinned_runs: u64,
    pub receipts: Receipts,
    #[serde(deserialize_with = "share")]
    pub upper_bound: Option<f64>,
    pub broken: Vec<Broken>,
    pub surprises: Vec<Surprise>,
    pub coverage: Option<Coverage>,
    /// `witnesses/….toml`; the page has the same name with `.html`, the JSON twin with `.json`.
    pub witness: Option<String>,
    /// What the strategy declares about this class: since format 2.
    pub expected: Vec<Expected>,
    /// What it cost: since format 2.
    pub cost: Option<Cost>,
}

/// What became of faults.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "reports/README.md documents every field")]
pub struct Receipts {
    pub planned: u64,
    pub fired: u64,
    pub felt: u64,
    pub proofs: BTreeMap<String, u64>,
}

/// What broke.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "reports/README.md documents every field")]
pub struct Broken {
    pub letter: String,
    pub runs: u64,
    pub apart: u64,
    pub inherited: bool,
    #[serde(deserialize_with = "shares")]
    pub rate: Option<Rate>,
    pub first: First,
}

/// How often.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "reports/README.md documents every field")]
pub struct Rate {
    pub seen: f64,
    pub lower: f64,
    pub upper: f64,
    pub to_believe_a_fix: Option<u64>,
}

/// Where first.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "reports/README.md documents every field")]
pub struct First {
    pub seed: String,
    pub how: String,
    pub rule: String,
    pub at_ms: u64,
    pub period: Option<String>,
    pub what: String,
}

/// Why a cell is not as expected.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "reports/README.md documents every field")]
pub struct Surprise {
    pub kind: String,
    pub letters: Vec<String>,
    pub because: String,
}

/// Where faults were felt.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "reports/README.md documents every field")]
pub struct Coverage {
    pub possible: u64,
    pub drawn: u64,
    pub steered: u64,
    /// `crash × task.claim × sent`.
    pub never: Vec<String>,
    pub never_made: BTreeSet<String>,
    pub at_a_time: BTreeMap<String, u64>,
    pub pairs_possible: u64,
    pub pairs_never: Vec<String>,
    /// Every possible place and how often it was felt, drawn and steered: since format 2.
    pub places: Vec<Place>,
}

/// A place where a fault can strike.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "reports/README.md documents every field")]
pub struct Place {
    pub kind: String,
    pub step: String,
    pub phase: String,
    pub drawn: u64,
    pub steered: u64,
}

/// What a strategy declares.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "reports/README.md documents every field")]
pub struct Expected {
    /// `must` (break, in its pinned plan) or `never`.
    pub kind: String,
    pub letters: Vec<String>,
    pub because: String,
}

/// What the drawn runs of a cell cost.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "reports/README.md documents every field")]
pub struct Cost {
    /// Periods that were due, in all drawn runs.
    pub due: u64,
    /// Those that were settled.
    pub settled: u64,
    pub attempts: u64,
    /// Attempts that did not settle.
    pub wasted: u64,
    /// From the end of a period to the first commit that settles it.
    pub to_settle: Spread,
    /// The same from the first fault that struck between these two: how long it took to recover.
    pub recovery: Option<Spread>,
}

/// How a duration is distributed.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "reports/README.md documents every field")]
pub struct Spread {
    pub n: u64,
    pub p50_ms: u64,
    pub p95_ms: u64,
    pub max_ms: u64,
    /// Upper end of a bucket in milliseconds, and how many are in it; ascending, empty ones left out.
    pub buckets: Vec<(u64, u64)>,
}

/// Where simulated servers answer otherwise than real ones.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "reports/README.md documents every field")]
pub struct Difference {
    pub id: String,
    pub server: String,
    pub what: String,
    pub why: String,
}

/// A share from 0 to 1; whatever else a file says is none.
fn share<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    Ok(Option::<f64>::deserialize(from)?.filter(|share| (0.0..=1.0).contains(share)))
}

/// A rate of shares from 0 to 1; whatever else a file says is none.
fn shares<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Rate>, D::Error> {
    let is_share = |rate: &Rate| [rate.seen, rate.lower, rate.upper].iter().all(|share| (0.0..=1.0).contains(share));
    Ok(Option::<Rate>::deserialize(from)?.filter(is_share))
}

impl Strategy {
    /// What people call the row.
    pub fn label(&self) -> String {
        match (self.label.as_str(), self.rules.as_str()) {
            ("", "" | "postgres-read-committed") => self.name.clone(),
            ("", "innodb-repeatable-read") => format!("{}@innodb", self.name),
            ("", rules) => format!("{}@{rules}", self.name),
            (label, _) => label.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_share_is_none() {
        let bound = |said: &str| serde_json::from_str::<Cell>(&format!("{{\"upper_bound\": {said}}}")).unwrap().upper_bound;
        assert_eq!(["0", "0.3", "1", "5", "-0.1", "null"].map(bound), [Some(0.0), Some(0.3), Some(1.0), None, None, None]);
        let rate = |upper: &str| serde_json::from_str::<Broken>(&format!("{{\"rate\": {{\"upper\": {upper}}}}}")).unwrap().rate;
        assert!(rate("0.5").is_some() && rate("7").is_none() && rate("-1").is_none());
    }
}
