//! `onceproof list`: what there is to choose from.

use crate::cli::{Exit, ListArgs, out};
use crate::report::list;
use crate::strategy;

/// Lists.
pub fn run(args: &ListArgs) -> Exit {
    out::print(&if args.json { list::json(strategy::catalogue()) } else { list::render(strategy::catalogue(), out::width()) });
    Exit::AsExpected
}
