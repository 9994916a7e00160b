//! The program: parse, run, print, exit.

use onceproof::cli::{self, Exit};

/// Simulated clients and servers allocate a little for every message; the time budgets are measured with this allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> Exit {
    cli::run(std::env::args_os())
}
