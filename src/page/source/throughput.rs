//! `throughput.json`: what criterion measured of `benches/contention.rs`, brought into the folder
//! by `onceproof report`. The one file there that depends on a machine.

use crate::page::source::Document;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::{fs, io};

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
    const AGAIN: &'static str = "remove it and run `onceproof report --criterion DIR`";
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

/// What criterion says about a benchmark, as far as it is needed.
#[derive(Deserialize)]
struct Estimates {
    mean: Estimate,
}

#[derive(Deserialize)]
struct Estimate {
    point_estimate: f64,
    confidence_interval: Interval,
}

#[derive(Deserialize)]
struct Interval {
    lower_bound: f64,
    upper_bound: f64,
}

impl Throughput {
    /// What criterion left of the last `cargo bench --bench contention` in this folder, which is
    /// `target/criterion/contention`. Nothing, if the folder is not there or has no measurement.
    ///
    /// # Errors
    /// A folder or file in it cannot be read; the error names it.
    pub fn from_criterion(folder: &Path) -> io::Result<Option<Self>> {
        if !folder.is_dir() {
            return Ok(None);
        }
        let mut strategies: BTreeMap<String, Vec<Point>> = BTreeMap::new();
        for name in folders(folder)? {
            let strategy = folder.join(&name);
            for nodes in folders(&strategy)? {
                // `report`, and whatever else criterion puts there, is no number of nodes.
                let Ok(n) = nodes.parse() else { continue };
                let file = strategy.join(&nodes).join("new").join("estimates.json");
                if file.is_file() {
                    strategies.entry(name.clone()).or_default().push(point(n, &read::<Estimates>(&file)?.mean));
                }
            }
        }
        let strategies = strategies.into_iter().map(|(name, mut points)| {
            points.sort_by_key(|point| point.nodes);
            Strategy { name, points }
        });
        let strategies: Vec<Strategy> = strategies.collect();
        Ok((!strategies.is_empty()).then_some(Throughput { format: Self::FORMAT, strategies }))
    }
}

fn point(nodes: u32, mean: &Estimate) -> Point {
    let Interval { lower_bound: lower_ns, upper_bound: upper_ns } = mean.confidence_interval;
    Point { nodes, mean_ns: mean.point_estimate, lower_ns, upper_ns }
}

/// The folders in a folder.
fn folders(of: &Path) -> io::Result<BTreeSet<String>> {
    let named = |why| about(of, &why);
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(of).map_err(named)? {
        let entry = entry.map_err(named)?;
        if entry.path().is_dir() {
            names.insert(entry.file_name().to_string_lossy().into_owned());
        }
    }
    Ok(names)
}

fn read<T: DeserializeOwned>(file: &Path) -> io::Result<T> {
    let text = fs::read_to_string(file).map_err(|why| about(file, &why))?;
    serde_json::from_str(&text).map_err(|why| about(file, &why.into()))
}

fn about(path: &Path, why: &io::Error) -> io::Error {
    io::Error::new(why.kind(), format!("{}: {why}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    /// As criterion 0.8 writes it.
    fn estimates(mean: f64) -> String {
        let of = |value: f64| {
            let (lower, upper) = (value * 0.9, value * 1.1);
            format!(
                r#"{{"confidence_interval":{{"confidence_level":0.95,"lower_bound":{lower},"upper_bound":{upper}}},"point_estimate":{value},"standard_error":1.5}}"#
            )
        };
        let (mean, other) = (of(mean), of(1.0));
        format!(r#"{{"mean":{mean},"median":{other},"median_abs_dev":{other},"slope":null,"std_dev":{other}}}"#)
    }

    fn write(root: &Path, path: &str, text: &str) -> PathBuf {
        let file = root.join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        file
    }

    #[test]
    fn what_criterion_left_is_read_by_strategy_and_nodes() {
        let folder = tempfile::tempdir().unwrap();
        for (path, mean) in [("table-key/16", 400.0), ("table-key/2", 200.0), ("lease-fenced/2", 100.0)] {
            write(folder.path(), &format!("{path}/new/estimates.json"), &estimates(mean));
            write(folder.path(), &format!("{path}/base/estimates.json"), "not this one");
        }
        write(folder.path(), "report/index.html", "");
        write(folder.path(), "table-key/report/index.html", "");
        fs::create_dir_all(folder.path().join("table-key/4/new")).unwrap();
        let found = Throughput::from_criterion(folder.path()).unwrap().unwrap();
        assert_eq!(found.format, 1);
        let told: Vec<(&str, Vec<(u32, f64)>)> =
            found.strategies.iter().map(|of| (of.name.as_str(), of.points.iter().map(|at| (at.nodes, at.mean_ns)).collect())).collect();
        assert_eq!(told, [("lease-fenced", vec![(2, 100.0)]), ("table-key", vec![(2, 200.0), (16, 400.0)])]);
        let Point { lower_ns, upper_ns, .. } = found.strategies[0].points[0];
        assert_eq!((lower_ns.round(), upper_ns.round()), (90.0, 110.0));
    }

    #[test]
    fn where_nothing_was_measured_there_is_nothing() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Throughput::from_criterion(&folder.path().join("contention")).unwrap().is_none());
        assert!(Throughput::from_criterion(folder.path()).unwrap().is_none());
    }

    #[test]
    fn a_file_that_cannot_be_read_is_named() {
        let folder = tempfile::tempdir().unwrap();
        for text in ["{", "{}"] {
            let file = write(folder.path(), "table-key/2/new/estimates.json", text);
            let why = Throughput::from_criterion(folder.path()).unwrap_err().to_string();
            assert!(why.starts_with(&format!("{}: ", file.display())), "{why}");
        }
    }
}
