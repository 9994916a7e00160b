//! Memory is flat: what a seed takes, it gives back.
//!
//! 100,000 full seeds in one thread (3,000 with `-- --test`), the resident memory of the process
//! printed after every tenth of them. The bench fails if it grew by more than 2 MiB after the
//! first tenth. Only Linux tells a process its size in a file; elsewhere nothing is measured.
//!
//! `cargo bench --bench memory`

use onceproof::plan::FaultPlan;
use onceproof::scenario::Scenario;
use onceproof::seed::Seed;
use onceproof::world::{Deployment, EngineKind};
use std::process::ExitCode;

/// The allocator of the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How much the process may grow after the first tenth, in pages of 4 KiB: 2 MiB, for an
/// allocator rounds up; a leak of 24 bytes a seed would exceed it.
const GROWTH: u64 = 512;

/// Resident pages of this process.
fn resident() -> Option<u64> {
    let sizes = std::fs::read_to_string("/proc/self/statm").ok()?;
    sizes.split(' ').nth(1)?.parse().ok()
}

fn main() -> ExitCode {
    let seeds: u64 = if std::env::args().any(|argument| argument == "--test") { 3_000 } else { 100_000 };
    let deployment = Deployment::new(&Scenario::default(), EngineKind::Event).expect("the default scenario is valid");
    let plan = FaultPlan::default();
    let mut sizes = Vec::new();
    for tenth in 0..10 {
        for n in 0..seeds / 10 {
            let run = deployment.run(Seed(tenth * seeds + n), &plan).expect("the catalogue's strategies can be simulated");
            deployment.judge(&run);
        }
        let Some(pages) = resident() else {
            println!("memory: this system has no /proc/self/statm; nothing was measured");
            return ExitCode::SUCCESS;
        };
        println!("memory: {:>6} seeds, {:>6} pages resident", (tenth + 1) * seeds / 10, pages);
        sizes.push(pages);
    }
    let (Some(first), Some(largest)) = (sizes.first(), sizes.iter().max()) else { return ExitCode::FAILURE };
    if largest - first > GROWTH {
        eprintln!("memory grew by {} pages over {seeds} seeds", largest - first);
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
