//! A shard of an enumeration: what one machine makes, and how the shards become the whole again.

use crate::cli::exhaust::order::Order;
use crate::cli::exit::Failure;
use crate::cli::{Exit, names, out};
use crate::explore::exhaust::{Done, Faults};
use crate::explore::fingerprint::fingerprint;
use crate::explore::{Shard, Subject};
use crate::report::files::Folder;
use crate::report::shard::{File, Unmergeable, whole};
use crate::report::words::{count, thousands};
use crate::scenario::Rules;
use crate::seed::Seed;
use crate::trace::Digest;
use crate::world::Deployment;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The command that writes these shards.
pub const COMMAND: &str = "exhaust";

/// An order, as a file holds it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    seed: String,
    faults: Faults,
    kinds: Vec<String>,
    rows: Vec<(String, Rules)>,
}

/// What a program is told about a shard.
#[derive(Serialize)]
struct Told<'a> {
    shard: Shard,
    runs: u64,
    felt: u64,
    file: &'a str,
}

/// Writes the file of a shard, and says what to do next.
pub fn write(
    order: &Order,
    deployments: &[Deployment],
    done: Vec<Done>,
    shard: Shard,
    (folder, reports): (&Folder, &Path),
    json: bool,
) -> Result<Exit, Failure> {
    let written = Written {
        seed: order.seed.to_string(),
        faults: order.faults,
        kinds: order.kinds.iter().map(|kind| kind.name.to_owned()).collect(),
        rows: order.rows.iter().map(|(strategy, rules)| (strategy.name().to_owned(), *rules)).collect(),
    };
    let (runs, felt) = done.iter().map(Done::runs).fold((0, 0), |sum, apart| (sum.0 + apart.runs, sum.1 + apart.felt));
    let file = File::new(COMMAND, shard, print_of(order, deployments)?, &written, done);
    let partial = order.labels().map(|label| super::kept::partial_name(&label, order.faults, shard)).collect::<Vec<_>>();
    folder.replace(&[(file.name(), file.render())], &partial).map_err(Failure::usage)?;
    let (path, of) = (reports.join(file.name()).display().to_string(), shard.of());
    if json {
        out::print(&(serde_json::to_string_pretty(&Told { shard, runs, felt, file: &path }).map_err(Failure::usage)? + "\n"))?;
    } else {
        let all = reports.join(format!("exhaust-shard-*-of-{of}.json"));
        let runs = count(runs as usize, "run");
        out::print(&format!(
            "shard {shard}: {runs}, {} felt\nwritten: {path}\nwhen all {of} are there: onceproof merge {}\n",
            thousands(felt),
            all.display()
        ))?;
    }
    Ok(Exit::AsExpected)
}

fn print_of(order: &Order, deployments: &[Deployment]) -> Result<Digest, Failure> {
    let subjects: Vec<&dyn Subject> = deployments.iter().map(|d| d as &dyn Subject).collect();
    fingerprint(&subjects, order.seed).map_err(|e| Failure::Distrust(format!("onceproof itself failed: {e}")))
}

/// Shards that were joined.
pub struct Merged {
    /// What they are parts of.
    pub order: Order,
    /// Its rows.
    pub deployments: Vec<Deployment>,
    /// What all of them have done of each row.
    pub done: Vec<Done>,
    /// How many they are.
    pub shards: u32,
}

/// Joins shards, each file with its name.
pub fn merged(files: &[(String, String)], threads: usize) -> Result<Merged, Failure> {
    let read = |(name, text): &(String, String)| Ok((name.clone(), File::<Vec<Done>>::read(name, COMMAND, text)?));
    let files = files.iter().map(read).collect::<Result<Vec<_>, Unmergeable>>().and_then(whole).map_err(Failure::usage)?;
    let written: Written = serde_json::from_value(files[0].order.clone()).map_err(Failure::usage)?;
    let order = Order {
        rows: written.rows.iter().map(|(name, rules)| Ok((names::strategy(name)?, *rules))).collect::<Result<_, Failure>>()?,
        kinds: written.kinds.iter().map(|name| names::kind(name)).collect::<Result<_, Failure>>()?,
        faults: written.faults,
        seed: Seed(written.seed.parse().map_err(|_| Failure::usage("a shard's seed is no number; make the shards again"))?),
        threads,
    };
    let deployments = order.deployments()?;
    let here = print_of(&order, &deployments)?.to_string();
    if here != files[0].fingerprint {
        return Err(Failure::Usage(format!(
            "the shards have the fingerprint {}, and the same enumeration has {here} here: another build of onceproof made them; merge them with that build, or make them again with this one",
            files[0].fingerprint
        )));
    }
    let shards = files[0].shard.of();
    let mut all = vec![Done::default(); order.rows.len()];
    for file in files {
        if file.payload.len() != all.len() {
            return Err(Failure::Usage(format!("shard {} does not hold {}; make it again", file.shard, count(all.len(), "row"))));
        }
        for (into, done) in all.iter_mut().zip(file.payload) {
            into.merge(done);
        }
    }
    Ok(Merged { order, deployments, done: all, shards })
}
