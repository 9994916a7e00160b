//! A shard of a sweep: what one machine makes, and how the shards become the whole again.

use crate::class::FaultClass;
use crate::cli::exit::Failure;
use crate::cli::format::Format;
use crate::cli::stopwatch::Stopwatch;
use crate::cli::verify::order::Order;
use crate::cli::{CANCELLED, Exit, VerifyArgs, names, out};
use crate::explore::certify::certify;
use crate::explore::fingerprint::fingerprint;
use crate::explore::sweep::{Quota, Swept};
use crate::explore::{Shard, Subject, Tally};
use crate::report::files::Folder;
use crate::report::shard::{File, Unmergeable, whole};
use crate::report::words::count;
use crate::scenario::Rules;
use crate::seed::Seed;
use crate::trace::Digest;
use crate::world::EngineKind;
use serde::{Deserialize, Serialize};
use std::sync::atomic::Ordering;

/// The command that writes shards of sweeps.
pub const COMMAND: &str = "verify";

/// An order, as a file holds it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    engine: String,
    base_seed: String,
    quota: Quota,
    rows: Vec<(String, Rules)>,
    classes: Vec<FaultClass>,
    single: bool,
}

/// What a shard saw.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seen {
    /// Runs that were made twice.
    certified: usize,
    /// Row by row.
    tallies: Vec<Vec<Tally>>,
}

/// What a program is told about a shard.
#[derive(Serialize)]
struct Done<'a> {
    shard: Shard,
    runs: u64,
    pinned_runs: usize,
    certified_runs: usize,
    file: &'a str,
}

/// Makes a shard and writes its file.
pub fn make(
    order: &Order,
    subjects: &[&dyn Subject],
    shard: Shard,
    watch: Stopwatch,
    folder: &Folder,
    args: &VerifyArgs,
) -> Result<Exit, Failure> {
    let swept = order.sweep(subjects, Some(shard), watch)?;
    let certified = certify(subjects, &swept.samples, order.threads, &CANCELLED).map_err(|e| Failure::Distrust(e.to_string()))?;
    let tallies = || swept.tallies.iter().flatten();
    let (runs, pinned_runs) = (tallies().map(|tally| tally.runs).sum::<u64>(), tallies().map(|tally| tally.pinned.len()).sum::<usize>());
    let file = File::new(COMMAND, shard, print_of(order, subjects)?, &written(order), Seen { certified, tallies: swept.tallies });
    if CANCELLED.load(Ordering::SeqCst) {
        return Err(Failure::Interrupted);
    }
    folder.replace(&[(file.name(), file.render())], &[]).map_err(Failure::usage)?;

    let (path, of) = (args.reports.join(file.name()).display().to_string(), shard.of());
    if args.format() == Format::Json {
        let done = Done { shard, runs, pinned_runs, certified_runs: certified, file: &path };
        out::print(&(serde_json::to_string_pretty(&done).map_err(Failure::usage)? + "\n"))?;
    } else {
        let all = args.reports.join(format!("shard-*-of-{of}.json"));
        out::print(&format!(
            "shard {shard}: {}, {}, {} made twice with equal digests\nwritten: {path}\nwhen all {of} are there: onceproof merge {}\n",
            count(runs as usize, "run"),
            count(pinned_runs, "pinned plan"),
            count(certified, "run"),
            all.display()
        ))?;
    }
    Ok(Exit::AsExpected)
}

/// The number of what an order sweeps.
fn print_of(order: &Order, subjects: &[&dyn Subject]) -> Result<Digest, Failure> {
    fingerprint(subjects, order.base).map_err(|e| Failure::Distrust(format!("onceproof itself failed: {e}")))
}

fn written(order: &Order) -> Written {
    Written {
        engine: order.engine.name().to_owned(),
        base_seed: order.base.to_string(),
        quota: order.quota,
        rows: order.rows.iter().map(|(strategy, rules)| (strategy.name().to_owned(), *rules)).collect(),
        classes: order.classes.clone(),
        single: order.single,
    }
}

/// A shard can have seen what it says: as many runs as are its own, and no more felt than made.
fn check(order: &Order, file: &File<Seen>) -> Result<(), Failure> {
    for ((strategy, rules), tallies) in order.rows.iter().zip(&file.payload.tallies) {
        for (class, tally) in order.classes.iter().zip(tallies) {
            let runs = match order.quota {
                _ if class.misses(strategy.steps()).is_some() => Some(0),
                Quota::Seeds(n) => Some(file.shard.share(0..n)),
                Quota::Time | Quota::Felt(_) => None,
            };
            if runs.is_some_and(|runs| runs != tally.runs) || tally.felt > tally.runs || tally.excused > tally.runs {
                let row = rules.label(strategy.name());
                return Err(Failure::Usage(format!(
                    "shard {} holds {} of {row} under {class}, {} felt, which it cannot have seen; make it again",
                    file.shard,
                    count(tally.runs as usize, "run"),
                    tally.felt
                )));
            }
        }
    }
    Ok(())
}

/// The order of some shards, and the shards themselves.
pub struct Parts {
    /// What they are parts of.
    pub order: Order,
    /// How many they are.
    pub shards: u32,
    fingerprint: String,
    seen: Vec<Seen>,
}

impl Parts {
    /// Reads files, each with its name.
    pub fn of(files: &[(String, String)], threads: usize, shrinks: bool) -> Result<Parts, Failure> {
        let read = |(name, text): &(String, String)| Ok((name.clone(), File::<Seen>::read(name, COMMAND, text)?));
        let files = files.iter().map(read).collect::<Result<Vec<_>, Unmergeable>>().and_then(whole).map_err(Failure::usage)?;
        let first = &files[0];
        let written: Written = serde_json::from_value(first.order.clone()).map_err(Failure::usage)?;
        let order = Order {
            rows: written.rows.iter().map(|(name, rules)| Ok((names::strategy(name)?, *rules))).collect::<Result<_, Failure>>()?,
            classes: written.classes,
            single: written.single,
            base: Seed(written.base_seed.parse().map_err(|_| Failure::usage("a shard's base seed is no number; make the shards again"))?),
            quota: written.quota,
            budget: None,
            threads,
            shrinks: shrinks && names::engine(&written.engine)? == EngineKind::Event,
            engine: names::engine(&written.engine)?,
        };
        let (cells, rows) = (order.classes.len(), order.rows.len());
        if let Some(file) = files.iter().find(|f| f.payload.tallies.len() != rows || f.payload.tallies.iter().any(|row| row.len() != cells))
        {
            return Err(Failure::Usage(format!("shard {} does not hold {rows} × {cells} cells; make it again", file.shard)));
        }
        for file in &files {
            check(&order, file)?;
        }
        let (shards, fingerprint) = (first.shard.of(), first.fingerprint.clone());
        Ok(Parts { order, shards, fingerprint, seen: files.into_iter().map(|file| file.payload).collect() })
    }

    /// What all of them saw, and how many runs they have made twice.
    pub fn merged(self, subjects: &[&dyn Subject]) -> Result<(Order, Swept, usize), Failure> {
        let here = print_of(&self.order, subjects)?.to_string();
        if here != self.fingerprint {
            return Err(Failure::Usage(format!(
                "the shards have the fingerprint {}, and the same sweep has {here} here: another build of onceproof made them; merge them with that build, or make them again with this one",
                self.fingerprint
            )));
        }
        let mut tallies = vec![vec![Tally::default(); self.order.classes.len()]; self.order.rows.len()];
        let mut certified = 0;
        for seen in self.seen {
            certified += seen.certified;
            for (into, tally) in tallies.iter_mut().flatten().zip(seen.tallies.into_iter().flatten()) {
                into.merge(tally);
            }
        }
        Ok((self.order, Swept { tallies, samples: Vec::new() }, certified))
    }
}
