//! The command line: parse, run, print, exit. One command a file.

mod certify;
mod exhaust;
mod exit;
mod format;
mod frontier;
mod incident;
mod init;
mod input;
mod list;
mod merge;
mod names;
mod numbers;
mod out;
mod pages;
mod progress;
mod replay;
mod report;
mod run;
mod shrink;
mod stopwatch;
mod verify;
mod witnesses;

pub use exit::Exit;

use crate::explore::Shard;
use crate::world::INTERRUPTED as CANCELLED;
use clap::{Args, Parser, Subcommand};
use format::Format;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

const ABOUT: &str = "Will a scheduled job run exactly once when several servers share it?";

const LONG_ABOUT: &str = "\
Will a scheduled job run exactly once when several servers share it?

onceproof runs guards that articles recommend (a unique key, a lease, an optimistic version, \
two of them at once) on simulated servers with real client libraries, breaks clocks, processes \
and networks, and judges what the servers recorded. Without a command it verifies all \
strategies under all fault classes and prints the truth table.";

const EXAMPLES: &str = "\
Examples:
  onceproof                                      the whole table, about a minute on two cores
  onceproof --strategy dual-guard --seeds 5000   one row, looked at eighty times as hard
  onceproof --faults crash,pause --budget 30s    two columns, as many seeds as fit in 30 s
  onceproof --strategy dual-guard --until-bound 0.001
                                                 until fewer than one run in a thousand may break it
  onceproof --seeds 6000 --shard 1/3             a third of it here, the rest elsewhere; see `onceproof merge --help`
  onceproof replay reports/witnesses/no-guard--calm.toml
                                                 the story of a run that broke something
  onceproof replay --strategy lease-set-px --faults skew --seed 42
  onceproof exhaust --strategy table-key         every single fault at every step
  onceproof --format markdown                    for the page of a CI job; junit for its test report
  onceproof report old-reports                   pages of an older sweep, made anew from its JSON
  onceproof list                                 what there is to choose from
  onceproof init && onceproof run                your own deployment, from a file

Exit codes:
  0  everything is as the strategies declare
  1  a cell is not as expected: it broke and never may, or held and must break
  2  wrong usage or bad input, or the output cannot be written
  3  the harness cannot be trusted: a run did not repeat, or nothing was felt
  130  interrupted";

#[derive(Debug, Parser)]
#[command(name = "onceproof", version, about = ABOUT, long_about = LONG_ABOUT, after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    verify: VerifyArgs,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Sweep strategies over fault classes and print the truth table (what happens without a command)
    #[command(after_help = EXAMPLES)]
    Verify(VerifyArgs),
    /// Join the shards that `verify --shard` or `exhaust --shard` has written into one verdict
    Merge(merge::MergeArgs),
    /// Tell the story of one run: of a witness file, or of a strategy, a fault class and a seed
    Replay(ReplayArgs),
    /// Try every single fault, or every pair, at every step of a calm period
    Exhaust(exhaust::ExhaustArgs),
    /// Make a sample of runs in every way that must not matter, and keep a certificate, or hold this build against one
    Certify(certify::CertifyArgs),
    /// The runs that standard input names, for a certificate
    #[command(hide = true)]
    CertifyAgain,
    /// Measure where a lease stops protecting, beside the line that says where it should
    Frontier(frontier::FrontierArgs),
    /// Make a witness small: the fewest, mildest, shortest faults that still break its rule, in a sentence and as a #[test]
    Shrink(shrink::ShrinkArgs),
    /// Public reports of jobs that ran twice, never, or got stuck: each as a run that shows it, with the fix
    Incident(incident::IncidentArgs),
    /// Make the pages of a reports folder anew from its JSON files, or print its verdicts for CI
    Report(report::ReportArgs),
    /// Show strategies, fault classes, invariants and knobs
    List(ListArgs),
    /// Simulate your own deployment, described in a file, and say what would have to be different
    Run(run::RunArgs),
    /// Write a commented deployment file for `run`, or the JSON Schema of such files
    Init(init::InitArgs),
}

/// What to verify.
#[derive(Args, Clone, Debug)]
struct VerifyArgs {
    /// Seeds for each cell of the table [default: 60; on turmoil, where a run takes about 0.3 s, 2]
    #[arg(long, value_name = "N", value_parser = numbers::seeds, allow_negative_numbers = true)]
    seeds: Option<u64>,
    /// Base seed: run i of every cell gets the i-th seed after it
    #[arg(long, value_name = "S", default_value_t = 1, value_parser = numbers::seed, allow_negative_numbers = true)]
    seed: u64,
    /// Only these strategies, separated by commas or given repeatedly
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    strategy: Vec<String>,
    /// Only these fault classes, and calm, which the others are compared with
    #[arg(long, value_name = "CLASS", value_delimiter = ',')]
    faults: Vec<String>,
    /// Rules of the database for all rows: postgresql, innodb, or DATABASE-LEVEL such as postgres-serializable
    /// [default: postgresql, and innodb once more where it decides]
    #[arg(long, value_name = "RULES")]
    rules: Option<String>,
    /// Instead of a number of seeds: as many as fit in this time, such as 30s or 10m
    #[arg(long, value_name = "TIME", conflicts_with = "seeds")]
    budget: Option<String>,
    /// Instead of a number of seeds: until each cell has felt and held so often that, with 95 % confidence, fewer
    /// than this share of runs breaks it (0.001), or something broke, or it has had four times as many seeds
    #[arg(long, value_name = "P", conflicts_with_all = ["seeds", "budget"], value_parser = numbers::share, allow_negative_numbers = true)]
    until_bound: Option<f64>,
    /// Only a part of the runs, such as 2/3, for `onceproof merge`: written to shard-2-of-3.json, without a verdict
    #[arg(long, value_name = "I/N", conflicts_with_all = ["budget", "until_bound"], value_parser = numbers::shard, allow_hyphen_values = true)]
    shard: Option<Shard>,
    /// What to print: table, json (verdicts.json), junit (XML, a test case for each cell) or markdown (for the page of a
    /// CI job)
    #[arg(long, value_name = "FORMAT", default_value = "table", hide_possible_values = true)]
    format: Format,
    /// Short for --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Threads to run on [default: all cores]
    #[arg(long, value_name = "N", value_parser = numbers::threads, allow_negative_numbers = true)]
    threads: Option<u16>,
    /// Network that carries the runs: event (ours) or turmoil (tick-driven, slow, independent)
    #[arg(long, value_name = "ENGINE", default_value = "event")]
    engine: String,
    /// Keep witnesses as they were found, instead of the smallest run that breaks the same rule; on turmoil nothing is shrunk
    #[arg(long)]
    no_shrink: bool,
    /// Folder for index.html, verdicts.json and witnesses with their pages
    #[arg(long, value_name = "DIR", default_value = "reports")]
    reports: PathBuf,
}

impl VerifyArgs {
    /// What to print.
    fn format(&self) -> Format {
        if self.json { Format::Json } else { self.format }
    }
}

/// What to replay.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  onceproof replay reports/witnesses/no-guard--calm.toml
  onceproof replay --strategy lease-set-px --faults skew --seed 42
  onceproof replay --strategy no-guard --faults calm --pinned    the plan that has to break it
  onceproof replay reports/witnesses/lease-set-px-checked--pause.toml --doomed
                                                                 and from when on it had to break

Exit codes:
  0  told; what broke is what the witness says, or nothing that never may
  1  something else broke, or something that never may
  2  wrong usage or bad input, or the output cannot be written
  3  the history is not the one that the witness recorded, or the run does not repeat")]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line")]
struct ReplayArgs {
    /// A witness file, as `verify` writes them
    #[arg(value_name = "WITNESS", conflicts_with_all = ["strategy", "faults", "rules", "seed", "pinned", "engine"])]
    witness: Option<PathBuf>,
    /// The strategy, if there is no witness
    #[arg(long, value_name = "NAME", requires = "faults")]
    strategy: Option<String>,
    /// The fault class
    #[arg(long, value_name = "CLASS", requires = "strategy")]
    faults: Option<String>,
    /// Rules of its database: postgresql, innodb, or DATABASE-LEVEL [default: postgresql]
    #[arg(long, value_name = "RULES", requires = "strategy")]
    rules: Option<String>,
    /// The run's seed [default: 1]
    #[arg(long, value_name = "N", requires = "strategy", value_parser = numbers::seed, allow_negative_numbers = true)]
    seed: Option<u64>,
    /// Not a drawn plan, but the one pinned to the strategy's must-claim in this class
    #[arg(long, requires = "strategy")]
    pinned: bool,
    /// Network that carries the run: event or turmoil
    #[arg(long, value_name = "ENGINE", requires = "strategy")]
    engine: Option<String>,
    /// Every record of the run instead of its story
    #[arg(long)]
    records: bool,
    /// Also find the moment from which it could only end so: continue the run from each of its moments under other seeds,
    /// without the faults that had not struck by then (event engine only)
    #[arg(long, conflicts_with = "records")]
    doomed: bool,
    /// The run as JSON instead of its story: each fault planned, fired, felt and by what, and what broke
    #[arg(long, conflicts_with = "records")]
    json: bool,
    /// Folder for the run's page, and index.html
    #[arg(long, value_name = "DIR", default_value = "reports")]
    reports: PathBuf,
    /// Only tell the run: write no page
    #[arg(long)]
    no_page: bool,
}

/// How to list.
#[derive(Args, Clone, Debug)]
struct ListArgs {
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// Parses the arguments, does what they say, and tells how it went. Errors are one line on
/// standard error that begins with `error:`.
pub fn run(args: impl IntoIterator<Item = std::ffi::OsString>) -> Exit {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(e) => {
            // Help and version come this way too; clap knows which of the two streams is right.
            let printed = e.print();
            return if e.use_stderr() { Exit::Usage } else { ended(out::written(printed).map(|()| Exit::AsExpected)) };
        }
    };
    let done = match &cli.command {
        None => verify::run(&cli.verify),
        Some(Command::Verify(args)) => verify::run(args),
        Some(Command::Merge(args)) => merge::run(args),
        Some(Command::Replay(args)) => replay::run(args),
        Some(Command::Exhaust(args)) => exhaust::run(args),
        Some(Command::Certify(args)) => certify::run(args),
        Some(Command::CertifyAgain) => certify::again(),
        Some(Command::Frontier(args)) => frontier::run(args),
        Some(Command::Shrink(args)) => shrink::run(args),
        Some(Command::Incident(args)) => incident::run(args),
        Some(Command::Report(args)) => report::run(args),
        Some(Command::List(args)) => list::run(args),
        Some(Command::Run(args)) => run::run(args),
        Some(Command::Init(args)) => init::run(args),
    };
    ended(done)
}

/// Tells a failure. Whatever a run that was interrupted led to says nothing of its own.
fn ended(done: Result<Exit, exit::Failure>) -> Exit {
    done.unwrap_or_else(|failure| {
        let kept = matches!(failure, exit::Failure::Suspended(_)) || !CANCELLED.load(Ordering::SeqCst);
        let failure = if kept { failure } else { exit::Failure::Interrupted };
        out::complain(&failure.to_string());
        failure.exit()
    })
}

/// As many threads as were asked for, or as there are cores.
fn threads(asked: Option<u16>) -> usize {
    asked.map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), usize::from)
}

/// From now on Ctrl-C asks for an orderly end, of the runs that are on as well; a second one does not ask.
fn listen_for_interrupts() {
    // A handler can be set once a process; a second call, as in tests, changes nothing.
    let _ = ctrlc::set_handler(|| {
        if CANCELLED.swap(true, Ordering::SeqCst) {
            std::process::exit(i32::from(Exit::Interrupted.code()));
        }
    });
}
