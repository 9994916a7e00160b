//! `onceproof frontier`: measure where leases stop protecting, write, print.

use crate::cli::exit::Failure;
use crate::cli::progress::Units;
use crate::cli::{CANCELLED, Exit, listen_for_interrupts, names, numbers, out, pages};
use crate::explore::frontier::{Frontier, Measured, NoFrontier, Point};
use crate::plan::duration;
use crate::report::files::{self, Folder};
use crate::report::frontier::{self, Setting};
use crate::seed::Seed;
use crate::strategy::Strategy;
use clap::Args;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Whose frontier is measured unless told otherwise: a bare lease under two policies, a shorter one whose expiry is a
/// second command, and one that is renewed.
const STRATEGIES: [&str; 4] = ["lease-set-px-checked", "lease-set-px", "lease-machine-id", "lease-watchdog-silent"];

/// Runs at each value unless told otherwise: with two who wait, one of them looks within a second after a lease has run out.
const SEEDS: u64 = 60;

/// Where a lease stops protecting.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
What is measured:
  A lease protects as long as the job, and whatever stops it meanwhile, is over before the lease is:
  stop + job > lease is where two nodes begin to work at the same time. For each strategy, several job
  lengths, and clocks that are wrong, halving finds the first value at which a run shows it, and the
  first at which a period is settled twice; both stand beside the value that the line says.

Examples:
  onceproof frontier                                  four leases
  onceproof frontier --strategy lease-setnx-expire    one whose lease is far shorter than its job
  onceproof frontier --strategy dual-guard            overlap, but never a second settlement
  onceproof frontier --seeds 200 --resolution 100ms --json

Exit codes:
  0  everything that has a line begins where it says
  1  something begins elsewhere, or has no threshold: seen at a value and not at a larger one
  2  wrong usage, or the output cannot be written
  3  the harness cannot be trusted
  130  interrupted")]
pub struct FrontierArgs {
    /// Only these strategies, separated by commas or given repeatedly [default: four leases]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    strategy: Vec<String>,
    /// Runs at each value, 1 to 10000 [default: 60]
    #[arg(long, value_name = "N", value_parser = numbers::frontier_seeds, allow_negative_numbers = true)]
    seeds: Option<u64>,
    /// Base seed: run i at every value gets the i-th seed after it
    #[arg(long, value_name = "S", default_value_t = 1, value_parser = numbers::seed, allow_negative_numbers = true)]
    seed: u64,
    /// How closely a threshold is bracketed, such as 100ms
    #[arg(long, value_name = "TIME", default_value = "1s", allow_hyphen_values = true)]
    resolution: String,
    /// Print JSON instead of the table
    #[arg(long)]
    json: bool,
    /// Threads to run on [default: all cores]
    #[arg(long, value_name = "N", value_parser = numbers::threads, allow_negative_numbers = true)]
    threads: Option<u16>,
    /// Folder for frontier.json and index.html
    #[arg(long, value_name = "DIR", default_value = "reports")]
    reports: PathBuf,
}

/// Measures.
pub fn run(args: &FrontierArgs) -> Result<Exit, Failure> {
    let named: Vec<&str> = if args.strategy.is_empty() { STRATEGIES.to_vec() } else { args.strategy.iter().map(String::as_str).collect() };
    let strategies = named.into_iter().map(names::strategy).collect::<Result<Vec<&'static dyn Strategy>, _>>()?;
    let points: Vec<Point> = strategies.into_iter().flat_map(Point::all_of).collect();
    if let Some(point) = points.iter().find(|p| !p.strategy.steps().iter().any(|step| step.name == p.stops.step)) {
        return Err(Failure::Usage(format!(
            "{} never makes `{}`, where its holder is to be stopped",
            point.strategy.name(),
            point.stops.step
        )));
    }
    let setting = Setting { base: Seed(args.seed), seeds: args.seeds.unwrap_or(SEEDS) as usize, resolution: resolution(&args.resolution)? };
    let folder = Folder::open(&args.reports).map_err(Failure::usage)?;
    listen_for_interrupts();
    let threads = crate::cli::threads(args.threads);
    let frontier = Frontier { points: &points, base: setting.base, seeds: setting.seeds, resolution: setting.resolution, threads };
    let bar = Units::new(points.len() as u64);
    let measured = frontier.run(&CANCELLED, &|done| bar.show(done as u64, format!("{done}/{} points", points.len())));
    bar.end();
    let measured = measured.map_err(|why| match why {
        NoFrontier::Misconfigured(why) => Failure::usage(why),
        NoFrontier::Stopped(stopped) => Failure::from(stopped),
    })?;
    let json = frontier::json(&measured, &setting);
    if CANCELLED.load(Ordering::SeqCst) {
        return Err(Failure::Interrupted);
    }
    let mut files = vec![(frontier::FILE.to_owned(), json.clone())];
    files.push(pages::index(&args.reports, &files, &[]));
    folder.replace(&files, &[]).map_err(Failure::usage)?;
    let written = || files::written(&args.reports.display().to_string(), frontier::FILE);
    out::print(&if args.json { json } else { format!("{}\n{}\n", frontier::render(&measured, &setting, out::width()), written()) })?;
    Ok(if measured.iter().all(Measured::as_expected) { Exit::AsExpected } else { Exit::Unexpected })
}

fn resolution(text: &str) -> Result<Duration, Failure> {
    let read = duration::parse(text).map_err(|e| Failure::Usage(format!("--resolution: {e}")))?;
    if !(Duration::from_millis(1)..=Duration::from_mins(1)).contains(&read) {
        return Err(Failure::usage("--resolution: write a time from 1ms to 60s"));
    }
    Ok(read)
}
