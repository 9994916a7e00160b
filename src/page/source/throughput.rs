//! `throughput.json`: what criterion measured of `benches/contention.rs`, brought into the folder
//! by `onceproof report`. The one file there that depends on a machine.

use crate::page::source::Document;
use serde::{Deserialize, Serialize};

/// Settlements a second by contending nodes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Throughput {
    /// Version of this schema: 1.
    pub format: u32,
    /// The rows.
    pub strategies: Vec<Strategy>,
}

impl Document for Throughput {
    const FORMAT: u32 = 1;
    const AGAIN: &'static str = "run `onceproof report --criterion DIR` after removing it";
}

/// A strategy.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Strategy {
    /// Its name.
    pub name: String,
    /// Its measurements, by ascending number of nodes.
    pub points: Vec<Point>,
}

/// A measurement.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Point {
    /// Contending nodes.
    pub nodes: u32,
    /// Nanoseconds for a due period, mean.
    pub mean_ns: f64,
    /// Lower end of its 95 % confidence interval.
    pub lower_ns: f64,
    /// Upper end of it.
    pub upper_ns: f64,
}
