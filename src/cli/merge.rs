//! `onceproof merge`: the shards of a sweep, or of an enumeration, become the whole.

use crate::cli::exit::Failure;
use crate::cli::format::Format;
use crate::cli::stopwatch::Stopwatch;
use crate::cli::verify::conclusion::Conclusion;
use crate::cli::verify::part::Parts;
use crate::cli::{Exit, exhaust, input, listen_for_interrupts, numbers, threads};
use crate::explore::Subject;
use crate::report::files::Folder;
use crate::report::shard;
use crate::report::table::Made;
use clap::Args;
use std::path::PathBuf;

/// Bytes of the longest shard that is read: a hundred times what the whole table has.
const LONGEST: u64 = 512 * 1024 * 1024;

/// What to merge.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  onceproof verify --seeds 6000 --shard 1/3      on one machine; 2/3 and 3/3 on two others
  onceproof merge reports/shard-*-of-3.json      where all three files are

What comes out is what `onceproof verify --seeds 6000` writes, to the byte. Runs towards what the
drawn ones have left out are made here: at most one for ten of those.

Exit codes:
  0  everything is as the strategies declare
  1  a cell is not as expected
  2  a shard is missing, there twice, cut off, of another sweep, version or build; or wrong usage
  3  the harness cannot be trusted: a run did not repeat, or nothing was felt
  130  interrupted")]
pub struct MergeArgs {
    /// The files that `verify --shard`, or `exhaust --shard`, has written, all of one command line
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Folder for index.html, verdicts.json and witnesses with their pages
    #[arg(long, value_name = "DIR", default_value = "reports")]
    reports: PathBuf,
    /// Print the verdicts as JSON instead of the table
    #[arg(long)]
    json: bool,
    /// Keep witnesses as they were found
    #[arg(long)]
    no_shrink: bool,
    /// Threads to run on [default: all cores]
    #[arg(long, value_name = "N", value_parser = numbers::threads, allow_negative_numbers = true)]
    threads: Option<u16>,
}

/// Merges.
pub fn run(args: &MergeArgs) -> Result<Exit, Failure> {
    let read = |path: &PathBuf| Ok((path.display().to_string(), input::read(path, "shard", LONGEST)?));
    let files = args.files.iter().map(read).collect::<Result<Vec<_>, Failure>>()?;
    if shard::command(&files[0].1).as_deref() == Some(exhaust::part::COMMAND) {
        return exhaust::merge(&files, threads(args.threads), &args.reports, args.json);
    }
    let parts = Parts::of(&files, threads(args.threads), !args.no_shrink)?;
    let deployments = parts.order.deployments()?;
    let subjects: Vec<&dyn Subject> = deployments.iter().map(|d| d as &dyn Subject).collect();
    let folder = Folder::open(&args.reports).map_err(Failure::usage)?;
    listen_for_interrupts();
    let (watch, shards) = (Stopwatch::start(), parts.shards);
    let (order, swept, certified) = parts.merged(&subjects)?;
    let format = if args.json { Format::Json } else { Format::Table };
    let conclusion = Conclusion { order: &order, subjects: &subjects, folder: &folder, reports: &args.reports, format };
    conclusion.draw(swept, certified, watch, |_| Made::Merged { shards })
}
