//! `frontier.json`, as a page reads it. Its fields are documented in `reports/README.md`.

use crate::page::source::Document;
use crate::report::frontier;
use serde::Deserialize;

/// Where leases stop protecting.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "reports/README.md documents every field")]
pub struct Frontier {
    pub format: u32,
    pub onceproof: String,
    pub base_seed: String,
    pub seeds: u64,
    pub resolution_ms: u64,
    pub as_expected: bool,
    pub points: Vec<Point>,
}

impl Document for Frontier {
    const FORMAT: u32 = frontier::FORMAT;
    const AGAIN: &'static str = "run `onceproof frontier` again";
}

/// One point.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "reports/README.md documents every field")]
pub struct Point {
    pub strategy: String,
    pub ttl_ms: Option<u64>,
    pub along: String,
    pub stops: String,
    pub given: Given,
    pub runs: u64,
    pub overlap: Found,
    pub settled_twice: Found,
}

/// Under which conditions.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "reports/README.md documents every field")]
pub struct Given {
    pub job_ms: u64,
    pub stall_ms: u64,
    pub lateness_ms: u64,
    pub store_drift_ppm: i32,
    pub holder_drift_ppm: i32,
    pub store_set_ms: i64,
}

/// What was found there.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "reports/README.md documents every field")]
pub struct Found {
    pub line: String,
    pub line_ms: Option<u64>,
    pub measured: String,
    pub holds_at_ms: Option<u64>,
    pub breaks_at_ms: Option<u64>,
    pub seen: u64,
    pub of: u64,
    pub differs_ms: Option<i64>,
    pub as_expected: bool,
}
