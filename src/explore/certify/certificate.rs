//! What a build found when it made its runs in every way, as a file against which another build,
//! or another machine, is held. It is small: for each run its digest, and for each record four
//! characters of a hash of everything up to it, which is enough to find the first that differs.

use crate::class::FaultClass;
use crate::explore::witness::Unreadable;
use crate::plan::FaultPlan;
use crate::scenario::{Rules, Scenario};
use crate::seed::Seed;
use crate::trace::{Digest, Record, Trace};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use std::hash::{Hash, Hasher};

/// The version of the format that this program writes and reads.
pub const FORMAT: i64 = 1;

/// Which program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Runs that a thread has made before it makes each one the last time.
pub const OTHERS: u64 = 1_000;

/// Characters of a mark.
const MARK: usize = 4;

/// What they are: 24 bits, six in each.
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// The certificate of a build.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// Version of this format, [`FORMAT`].
    pub format: i64,
    /// Version of the program.
    pub onceproof: String,
    /// What was built.
    pub build: Build,
    /// Other runs that were made before each was made the last time.
    pub after_others: u64,
    /// The runs.
    pub runs: Vec<Entry>,
}

/// What a program knows about its own build. How it was optimised is not among it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Build {
    /// The processor, as Rust calls it.
    pub arch: String,
    /// The operating system, as Rust calls it.
    pub os: String,
    /// Bits of a pointer.
    pub pointer_bits: u32,
    /// Whether assertions are checked that a release leaves out.
    pub debug_assertions: bool,
}

impl Build {
    /// This one.
    pub fn this() -> Build {
        Build {
            arch: std::env::consts::ARCH.to_owned(),
            os: std::env::consts::OS.to_owned(),
            pointer_bits: usize::BITS,
            debug_assertions: cfg!(debug_assertions),
        }
    }
}

impl fmt::Display for Build {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let assertions = if self.debug_assertions { "with" } else { "without" };
        write!(f, "{} {}, {} bits, {assertions} debug assertions", self.os, self.arch, self.pointer_bits)
    }
}

/// Which run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Named {
    /// The strategy.
    pub strategy: String,
    /// The rules of its database.
    pub rules: Rules,
    /// The fault class.
    pub faults: FaultClass,
    /// The seed, in decimal.
    #[serde(with = "crate::explore::witness::seed_text")]
    pub seed: Seed,
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} under {}, seed {}", self.rules.label(&self.strategy), self.faults, self.seed)
    }
}

/// One run, as it was in every way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Which run.
    pub run: Named,
    /// Digest of what was deployed.
    #[serde(with = "crate::explore::witness::digest_text")]
    pub scenario: Digest,
    /// Digest of what went wrong.
    #[serde(with = "crate::explore::witness::digest_text")]
    pub plan: Digest,
    /// Digest of its history.
    #[serde(with = "crate::explore::witness::digest_text")]
    pub digest: Digest,
    /// How many records it has.
    pub records: usize,
    /// Four characters for each record: 24 bits of a hash of all records up to it.
    pub marks: String,
    /// Every record as text, if the file was to be complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told: Option<Vec<String>>,
}

/// Where a run is not the one of the certificate.
#[expect(missing_docs, reason = "the fields are named after what they are")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parting {
    /// Already what goes wrong in it was drawn otherwise.
    Plan,
    /// At this record (from 0): what is here, `None` after the end; what is there, if that is known.
    Record { number: usize, here: Option<Record>, there: There },
    /// All records are the same; something beneath them, such as the order of deliveries, is not.
    Beneath,
}

/// What another build had in some place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum There {
    /// This.
    Told(String),
    /// Something else; the certificate does not say what.
    Untold,
    /// Nothing: its history had ended.
    End,
}

impl fmt::Display for Parting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Parting::Plan => f.write_str("its fault plan is drawn otherwise here"),
            Parting::Record { number, here, there } => {
                let here = here.map_or("the end".to_owned(), |record| record.to_string());
                let there = match there {
                    There::Told(told) => told.as_str(),
                    There::Untold => "another one, which only a certificate made with --full names",
                    There::End => "the end",
                };
                write!(f, "it first differs at record {number}: here that is {here}, there {there}")
            }
            Parting::Beneath => f.write_str("every record is the same, but not what the network did beneath them"),
        }
    }
}

fn json<T: Serialize>(what: &T) -> String {
    serde_json::to_string(what).expect("a certificate has only values that JSON knows")
}

/// The marks of a history, one after the other.
fn marks(trace: &Trace) -> String {
    let mut digest = Digest::EMPTY;
    let mut marks = String::with_capacity(MARK * trace.records().len());
    for record in trace.records() {
        digest.mix(record.at.0);
        record.event.hash(&mut digest);
        let bits = digest.finish() >> 40;
        marks.extend([18, 12, 6, 0].map(|shift| char::from(ALPHABET[(bits >> shift & 63) as usize])));
    }
    marks
}

/// A digest of anything that can be written as TOML.
fn digest_of(what: &impl Serialize) -> Digest {
    let text = toml::to_string(what).expect("scenarios and plans can be written as TOML");
    Digest::of_text(&text)
}

impl Entry {
    /// A run and what came of it; with `full` every record is kept as text.
    pub fn of(run: Named, scenario: &Scenario, plan: &FaultPlan, trace: &Trace, full: bool) -> Entry {
        Entry {
            run,
            scenario: digest_of(scenario),
            plan: digest_of(plan),
            digest: trace.digest(),
            records: trace.records().len(),
            marks: marks(trace),
            told: full.then(|| trace.records().iter().map(Record::to_string).collect()),
        }
    }

    /// Whether this is what it deployed.
    pub fn deployed(&self, scenario: &Scenario) -> bool {
        self.scenario == digest_of(scenario)
    }

    /// Where this run is not the same; `None` if it is.
    pub fn parts_from(&self, plan: &FaultPlan, trace: &Trace) -> Option<Parting> {
        if self.plan != digest_of(plan) {
            return Some(Parting::Plan);
        }
        let here = marks(trace);
        let mark = |marks: &str, number: usize| marks.get(number * MARK..(number + 1) * MARK).map(str::to_owned);
        let longest = self.records.max(trace.records().len());
        if let Some(number) = (0..longest).find(|n| mark(&self.marks, *n) != mark(&here, *n)) {
            let there = match self.told.as_ref().and_then(|told| told.get(number)) {
                _ if self.records <= number => There::End,
                Some(told) => There::Told(told.clone()),
                None => There::Untold,
            };
            return Some(Parting::Record { number, here: trace.records().get(number).copied(), there });
        }
        (self.digest != trace.digest()).then_some(Parting::Beneath)
    }

    /// Whether its digest is that of this history and its marks, of the same plan, are not: no build has written that.
    pub fn was_changed(&self, plan: &FaultPlan, trace: &Trace) -> bool {
        self.digest == trace.digest() && matches!(self.parts_from(plan, trace), Some(Parting::Record { .. }))
    }

    /// What in it cannot be so.
    fn mistake(&self) -> Option<String> {
        let short = |what: &str, has: usize| {
            format!("{} has {} records and {what} for {has}; the file was changed or cut short", self.run, self.records)
        };
        if !self.marks.is_ascii() || self.marks.len() != self.records * MARK {
            return Some(short("marks", self.marks.len() / MARK));
        }
        self.told.as_ref().filter(|told| told.len() != self.records).map(|told| short("text", told.len()))
    }
}

impl Certificate {
    /// The certificate of this build.
    pub fn new(runs: Vec<Entry>) -> Certificate {
        Certificate { format: FORMAT, onceproof: VERSION.to_owned(), build: Build::this(), after_others: OTHERS, runs }
    }

    /// The text of its file, a run a line.
    ///
    /// # Panics
    /// Never: everything in a certificate can be written as JSON.
    pub fn to_json(&self) -> String {
        let runs: Vec<String> = self.runs.iter().map(json).collect();
        format!(
            "{{\n\"format\": {},\n\"onceproof\": {},\n\"build\": {},\n\"after_others\": {},\n\"runs\": [\n{}\n]}}\n",
            self.format,
            json(&self.onceproof),
            json(&self.build),
            self.after_others,
            runs.join(",\n")
        )
    }

    /// Reads the text of a file called `file`.
    ///
    /// # Errors
    /// The text is not a certificate, is from another version, or contradicts itself.
    pub fn from_json(file: &str, text: &str) -> Result<Certificate, Unreadable> {
        let unreadable = |line, what: String| Unreadable { file: file.to_owned(), line, what };
        let no_json = |e: serde_json::Error| {
            let cut = if e.is_eof() { "the file is cut short" } else { "not a certificate" };
            unreadable(Some(e.line()), format!("{cut}: {e}; write one with `onceproof certify --out FILE`"))
        };
        // The versions come first: in a file from another version, any other complaint would mislead.
        let value: serde_json::Value = serde_json::from_str(text).map_err(no_json)?;
        let Some(format) = value.get("format").and_then(serde_json::Value::as_i64) else {
            return Err(unreadable(
                None,
                "not a certificate: it has no `format`; write one with `onceproof certify --out FILE`".to_owned(),
            ));
        };
        let other = |what: &str, has: &dyn fmt::Display, reads: &dyn fmt::Display| {
            unreadable(None, format!("the certificate is of {what} {has}, and this is {what} {reads}; only equal versions can be compared"))
        };
        if format != FORMAT {
            return Err(other("format", &format, &FORMAT));
        }
        match value.get("onceproof").and_then(serde_json::Value::as_str) {
            Some(VERSION) => {}
            version => return Err(other("onceproof", &version.unwrap_or("of no version"), &VERSION)),
        }
        let certificate: Certificate = serde_json::from_str(text).map_err(no_json)?;
        match certificate.mistake() {
            Some(what) => Err(unreadable(None, what)),
            None => Ok(certificate),
        }
    }

    /// What in it cannot be so.
    fn mistake(&self) -> Option<String> {
        if self.runs.is_empty() {
            return Some("the certificate has no runs: nothing can be compared".to_owned());
        }
        if self.after_others != OTHERS {
            let others = self.after_others;
            return Some(format!("`after_others` is {others}, and this version makes {OTHERS} other runs; the file was changed"));
        }
        let mut seen = BTreeSet::new();
        let doubled = self.runs.iter().find(|entry| !seen.insert(&entry.run));
        let doubled = doubled.map(|entry| format!("{} is in it more than once; the file was changed", entry.run));
        doubled.or_else(|| self.runs.iter().find_map(Entry::mistake))
    }
}

#[cfg(test)]
mod tests;
