//! `onceproof list`: what there is to choose from.

use crate::cli::exit::Failure;
use crate::cli::{Exit, ListArgs, out};
use crate::report::list;
use crate::strategy;

/// Lists.
pub fn run(args: &ListArgs) -> Result<Exit, Failure> {
    out::print(&if args.json { list::json(strategy::catalogue()) } else { list::render(strategy::catalogue(), out::width()) })?;
    Ok(Exit::AsExpected)
}
