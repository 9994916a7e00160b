//! One run, kept as one TOML file: what was deployed, what went wrong, the seed, what broke,
//! and the digest that a replay has to reach. Everything needed to replay is in it.

use crate::class::FaultClass;
use crate::explore::{Finding, Observed};
use crate::plan::FaultPlan;
use crate::scenario::{NODES, Scenario};
use crate::seed::Seed;
use crate::time::SimTime;
use crate::trace::Digest;
use crate::world::EngineKind;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The version of the format that this program writes and reads.
pub const FORMAT: i64 = 1;

/// A kept run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Witness {
    /// Version of this format, [`FORMAT`].
    pub format: i64,
    /// The fault class from which the run was drawn.
    pub faults: FaultClass,
    /// The seed, in decimal. Text, because TOML's numbers end at 2⁶³ − 1.
    #[serde(with = "seed_text")]
    pub seed: Seed,
    /// The engine that carried the run.
    #[serde(with = "engine_text")]
    pub engine: EngineKind,
    /// Digest of the run's history, 16 hexadecimal digits.
    #[serde(with = "digest_text")]
    pub digest: Digest,
    /// The run as a story. For people; replaying does not read it.
    #[serde(default)]
    pub story: String,
    /// What it comes down to, in one sentence. For people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub sentence: String,
    /// The events of which the sentence is made, with their times. For people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub because: Vec<String>,
    /// What broke.
    #[serde(default, rename = "violation")]
    pub violations: Vec<Expected>,
    /// What was deployed, every knob; the strategy is one of them.
    pub scenario: Scenario,
    /// What went wrong.
    #[serde(default)]
    pub plan: FaultPlan,
    /// What it was before it was shrunk, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shrunk_from: Option<ShrunkFrom>,
}

/// Something that broke.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// The invariant's name, or `no-panic`, or `ends`.
    pub rule: String,
    /// When it broke, in milliseconds of true time since the run began.
    pub at_ms: SimTime,
    /// One sentence.
    pub what: String,
}

/// What a shrunk run came from, and what was done to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShrunkFrom {
    /// The first run's seed.
    #[serde(with = "seed_text")]
    pub seed: Seed,
    /// The faults of its plan.
    pub faults: usize,
    /// Its scheduler nodes.
    pub nodes: u8,
    /// Its periods.
    pub periods: u32,
    /// Its players.
    pub players: u32,
    /// What they earned in a period, in times.
    pub earnings: u32,
    /// The rule that had to go on breaking.
    pub rule: String,
    /// Smaller runs that were tried.
    pub tried: u64,
    /// Those that still broke, each of them twice.
    pub accepted: u64,
    /// Nothing smaller was left to try. Otherwise the budget was spent.
    pub converged: bool,
    /// A fault is of another, milder kind than all of the first run.
    #[serde(default, skip_serializing_if = "is_false")]
    pub milder: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(is: &bool) -> bool {
    !is
}

impl From<&Finding> for Expected {
    fn from(f: &Finding) -> Expected {
        Expected { rule: f.rule.to_owned(), at_ms: f.at, what: f.what.clone() }
    }
}

/// Why a text is not a witness: where in its file, and what to write.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Unreadable {
    /// The file, as it was named.
    pub file: String,
    /// Line in the file, from 1, if it is about one.
    pub line: Option<usize>,
    /// A lowercase fragment.
    pub what: String,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.file, self.what),
            None => write!(f, "{}: {}", self.file, self.what),
        }
    }
}

impl Witness {
    /// Keeps a run.
    pub fn of(scenario: &Scenario, class: FaultClass, engine: EngineKind, plan: &FaultPlan, seen: &Observed, story: &[String]) -> Witness {
        Witness {
            format: FORMAT,
            faults: class,
            seed: seen.run.seed,
            engine,
            digest: seen.run.trace.digest(),
            story: story.iter().flat_map(|line| [line.as_str(), "\n"]).collect(),
            sentence: String::new(),
            because: Vec::new(),
            violations: seen.findings.iter().map(Expected::from).collect(),
            scenario: scenario.clone(),
            plan: plan.clone(),
            shrunk_from: None,
        }
    }

    /// The strategy that was deployed.
    pub fn strategy(&self) -> &str {
        &self.scenario.strategy
    }

    /// The text of its file.
    ///
    /// # Panics
    /// Never: everything in a witness can be written as TOML.
    pub fn to_toml(&self) -> String {
        let rules: Vec<&str> = self.violations.iter().map(|v| v.rule.as_str()).collect();
        let body = toml::to_string_pretty(self).expect("a witness has only values that TOML knows");
        let broke = if rules.is_empty() { "nothing".to_owned() } else { rules.join(", ") };
        format!(
            "# {} under {} breaks {broke}.\n# Replay it with: onceproof replay THIS_FILE\n{body}",
            self.scenario.database.rules.label(self.strategy()),
            self.faults
        )
    }

    /// Reads the text of a file called `file`.
    ///
    /// # Errors
    /// The text is not TOML, is from another version, or has a key, type or value that a witness does not have.
    pub fn from_toml(file: &str, text: &str) -> Result<Witness, Unreadable> {
        let unreadable = |line, what| Unreadable { file: file.to_owned(), line, what };
        let from_toml = |e: toml::de::Error| {
            let line = e.span().map(|span| line_of(text, span.start));
            unreadable(line, explain(e.message(), line.and_then(|n| text.lines().nth(n - 1))))
        };
        // The version comes first: in a file from another version, any other complaint would mislead.
        let table: toml::Table = toml::from_str(text).map_err(from_toml)?;
        match table.get("format").map(toml::Value::as_integer) {
            Some(Some(FORMAT)) => {}
            Some(Some(other)) => {
                let what = format!(
                    "the witness has format {other}, and this version reads format {FORMAT}; replay it with the version that wrote it"
                );
                return Err(unreadable(line_with(text, "format"), what));
            }
            Some(None) => {
                return Err(unreadable(line_with(text, "format"), format!("`format` must be a number; write `format = {FORMAT}`")));
            }
            None => return Err(unreadable(None, format!("not a witness: it has no `format`; a witness begins with `format = {FORMAT}`"))),
        }
        toml::from_str(text).map_err(from_toml)
    }
}

/// TOML's messages, with the cure where they have none, and in words of TOML rather than of Rust.
fn explain(message: &str, line: Option<&str>) -> String {
    let message = message.lines().collect::<Vec<_>>().join("; ");
    if message.contains("untagged enum Trigger") {
        return "a fault's `when` is neither `{ at_ms = 1000 }` nor `{ step = \"lease.acquire\", phase = \"before\", nth = 1 }`".to_owned();
    }
    if message.contains("missing field") {
        return format!("{message}; write it, or take the file as onceproof wrote it");
    }
    if let (true, Some(line)) = (message.starts_with("invalid "), line) {
        let mut told = format!("`{}`: {message}", line.trim());
        // A number that does not even fit is told the bounds that validation would have told.
        if line.trim_start().starts_with("nodes") {
            told = told.replace("expected u8", &format!("expected a whole number from {} to {}", NODES.start(), NODES.end()));
        }
        for rust in ["u8", "u16", "u32", "u64", "i32", "i64"] {
            told = told.replace(&format!("expected {rust}"), "expected a whole number");
        }
        return told.replace("expected a string", "expected text in quotes");
    }
    message
}

fn line_of(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|b| *b == b'\n').count()
}

fn line_with(text: &str, key: &str) -> Option<usize> {
    text.lines().position(|line| line.trim_start().starts_with(key)).map(|n| n + 1)
}

/// A seed as text; a seed that somebody wrote as a number is read as well.
pub(super) mod seed_text {
    use crate::seed::Seed;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Number(u64),
        Text(String),
    }

    pub(in crate::explore) fn serialize<S: Serializer>(seed: &Seed, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(seed)
    }

    pub(in crate::explore) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Seed, D::Error> {
        let no_seed = |given: &str| D::Error::custom(format!("{given} is not a seed; write a whole number in quotes, for example \"42\""));
        match Written::deserialize(d) {
            Ok(Written::Number(n)) => Ok(Seed(n)),
            Ok(Written::Text(text)) => text.parse().map(Seed).map_err(|_| no_seed(&format!("`{text}`"))),
            Err(_) => Err(no_seed("this")),
        }
    }
}

/// An engine by its name.
mod engine_text {
    use crate::world::EngineKind;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(engine: &EngineKind, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(engine.name())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<EngineKind, D::Error> {
        let text = String::deserialize(d)?;
        let found = EngineKind::ALL.into_iter().find(|e| e.name() == text);
        found.ok_or_else(|| D::Error::custom(format!("unknown engine `{text}`; write `event` or `turmoil`")))
    }
}

/// A digest as 16 hexadecimal digits.
pub(super) mod digest_text {
    use crate::trace::Digest;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(in crate::explore) fn serialize<S: Serializer>(digest: &Digest, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(digest)
    }

    pub(in crate::explore) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Digest, D::Error> {
        let text = String::deserialize(d)?;
        u64::from_str_radix(&text, 16)
            .map(Digest)
            .map_err(|_| D::Error::custom(format!("`{text}` is not a digest; write 16 hexadecimal digits")))
    }
}

#[cfg(test)]
mod tests;
