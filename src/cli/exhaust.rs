//! `onceproof exhaust`: every single fault, or every pair, at every step of a calm period.

mod kept;
mod order;
pub mod part;

use crate::cli::exit::Failure;
use crate::cli::stopwatch::Stopwatch;
use crate::cli::{Exit, listen_for_interrupts, numbers, out};
use crate::explore::Shard;
use crate::explore::exhaust::Faults;
use crate::report::files::Folder;
use crate::report::words::{count, thousands};
use clap::Args;
use kept::Kept;
use order::Order;
use std::path::{Path, PathBuf};

/// What to exhaust.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
A calm run of one period is made first, and its steps are numbered. Then one run for every step of \
every node and every kind of fault that can strike there: crash before, in and after a request, \
power cut, a pause that outlives any lease, the reply lost, every kind of partition, a store that \
restarts, a clock that jumps. A run with one fault is the calm run up to the moment when it strikes, \
so every place is reached. `onceproof list` shows the kinds.

Examples:
  onceproof exhaust --strategy dual-guard             all single faults, a second or two
  onceproof exhaust                                   of every strategy
  onceproof exhaust --strategy table-key --faults 2   all pairs of the seven kinds of the table
  onceproof exhaust --faults 2 --shard 1/3            a third of all pairs, for onceproof merge
  onceproof exhaust --strategy lease-fenced --kinds pause-before,pause-after,reply-lost

Pairs take longer. Ctrl-C keeps what has been done beside the reports, and the same command goes on \
from there.

Exit codes:
  0  everything is as the strategies declare
  1  something broke that never may
  2  wrong usage or bad input, or the output cannot be written
  3  the harness cannot be trusted: nothing was felt
  130  interrupted")]
pub struct ExhaustArgs {
    /// Only these strategies, separated by commas or given repeatedly [default: all]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    strategy: Vec<String>,
    /// Faults in a plan: 1, or 2 for all pairs, the second after the first
    #[arg(long, value_name = "N", default_value = "1", value_parser = faults, allow_negative_numbers = true)]
    faults: Faults,
    /// Kinds of faults, separated by commas; core: the seven of the table's column [default: all, or core for pairs]
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    kinds: Vec<String>,
    /// Rules of the database: postgresql, innodb, or DATABASE-LEVEL [default: postgresql, and innodb once more where it decides]
    #[arg(long, value_name = "RULES")]
    rules: Option<String>,
    /// The seed of all runs
    #[arg(long, value_name = "S", default_value_t = 1, value_parser = numbers::seed, allow_negative_numbers = true)]
    seed: u64,
    /// Make only the i-th of n parts, from 1, and write it for `onceproof merge`
    #[arg(long, value_name = "I/N", value_parser = numbers::shard)]
    shard: Option<Shard>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    /// Threads to run on [default: all cores]
    #[arg(long, value_name = "N", value_parser = numbers::threads, allow_negative_numbers = true)]
    threads: Option<u16>,
    /// Folder for index.html, exhaust.json and witnesses with their pages
    #[arg(long, value_name = "DIR", default_value = "reports")]
    reports: PathBuf,
}

fn faults(text: &str) -> Result<Faults, String> {
    match text {
        "1" => Ok(Faults::Single),
        "2" => Ok(Faults::Pairs),
        _ => Err("write 1 for single faults, or 2 for pairs".to_owned()),
    }
}

/// Exhausts.
pub fn run(args: &ExhaustArgs) -> Result<Exit, Failure> {
    let order = Order::of(args)?;
    let deployments = order.deployments()?;
    let folder = Folder::open(&args.reports).map_err(Failure::usage)?;
    listen_for_interrupts();
    if !args.json {
        out::print(&order.announced(args.shard))?;
    }
    let watch = Stopwatch::start();
    let (mut done, mut before) = (Vec::with_capacity(order.rows.len()), 0);
    for (n, (enumeration, label)) in order.enumerations(&deployments)?.into_iter().zip(order.labels()).enumerate() {
        let kept = Kept::of(&order, &label, &enumeration, args.shard.unwrap_or(Shard::WHOLE), &folder, args);
        let (whole, kept) = kept.go_on(&enumeration, &format!("{label} ({}/{})", n + 1, order.rows.len()))?;
        done.push((enumeration, whole));
        before += kept;
    }
    let place = (&folder, args.reports.as_path());
    if let Some(shard) = args.shard {
        let done = done.into_iter().map(|(_, done)| done).collect();
        return part::write(&order, &deployments, done, shard, place, args.json);
    }
    let seconds = watch.elapsed().as_secs_f64();
    order.conclude(&deployments, done, place, args.json, |runs| {
        let made = runs.saturating_sub(before);
        let rate = (made as f64 / seconds.max(0.001)) as u64;
        let kept = if before == 0 { String::new() } else { format!(", and {} kept from before", thousands(before)) };
        let (made, threads) = (count(made as usize, "run"), count(order.threads, "thread"));
        format!("{made} in {seconds:.1} s, {} runs/s on {threads}{kept}", thousands(rate))
    })
}

/// Joins shards, each file with its name.
pub fn merge(files: &[(String, String)], threads: usize, reports: &Path, json: bool) -> Result<Exit, Failure> {
    let merged = part::merged(files, threads)?;
    let (order, deployments, shards) = (&merged.order, &merged.deployments, merged.shards);
    let enumerations = order.enumerations(deployments)?;
    for ((enumeration, done), label) in enumerations.iter().zip(&merged.done).zip(order.labels()) {
        let units = enumeration.units();
        if done.units.iter().copied().ne(0..units) {
            return Err(Failure::Usage(format!("the shards do not hold all {units} units of {label}; make them again")));
        }
    }
    let done = enumerations.into_iter().zip(merged.done.iter().cloned()).collect();
    let folder = Folder::open(reports).map_err(Failure::usage)?;
    listen_for_interrupts();
    order.conclude(deployments, done, (&folder, reports), json, |runs| {
        format!("{} from {}", count(runs as usize, "run"), count(shards as usize, "shard"))
    })
}
