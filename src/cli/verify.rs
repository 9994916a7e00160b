//! `onceproof verify`: sweep, certify, weigh, keep witnesses, write, print; or a shard of that, for
//! `onceproof merge`.

pub mod conclusion;
pub mod order;
pub mod part;

use crate::cli::exit::Failure;
use crate::cli::format::Format;
use crate::cli::stopwatch::Stopwatch;
use crate::cli::{Exit, VerifyArgs, listen_for_interrupts, out};
use crate::explore::Subject;
use crate::report::files::Folder;
use crate::report::table::Made;
use conclusion::Conclusion;
use order::Order;

/// Verifies.
pub fn run(args: &VerifyArgs) -> Result<Exit, Failure> {
    let format = args.format();
    if args.shard.is_some() && matches!(format, Format::Junit | Format::Markdown) {
        return Err(Failure::Usage(format!(
            "a shard has no verdicts yet: write --format json, merge the shards, then `onceproof report --format {}`",
            format.name()
        )));
    }
    let order = Order::of(args)?;
    let deployments = order.deployments()?;
    let subjects: Vec<&dyn Subject> = deployments.iter().map(|d| d as &dyn Subject).collect();
    let folder = Folder::open(&args.reports).map_err(Failure::usage)?;
    listen_for_interrupts();
    if format == Format::Table {
        out::print(&order.announced(order::time_scale(&subjects), args.shard))?;
    }
    let watch = Stopwatch::start();
    if let Some(shard) = args.shard {
        return part::make(&order, &subjects, shard, watch, &folder, args);
    }
    let swept = order.sweep(&subjects, None, watch)?;
    let conclusion = Conclusion { order: &order, subjects: &subjects, folder: &folder, reports: &args.reports, format };
    conclusion.draw(swept, 0, watch, |took| Made::Here { took, threads: order.threads })
}
