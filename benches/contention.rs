//! What contention costs: every strategy of the catalogue with 1 to 32 nodes that want the same
//! period, on embedded stores.
//!
//! Criterion measures how many settlements a second of one core makes, each with everything
//! around it: a whole run of one period, from the traffic before it to the last poll after it.
//! Afterwards a table says what time does not show: how many requests the nodes sent to their
//! stores for one due period, how many more for each node more, and how often it was settled.
//! The table is counted, not measured: it is the same on every machine.
//!
//! `cargo bench --bench contention`

use criterion::measurement::WallTime;
use criterion::{BatchSize, BenchmarkGroup, BenchmarkId, Criterion, SamplingMode, Throughput};
use onceproof::plan::FaultPlan;
use onceproof::scenario::Scenario;
use onceproof::seed::Seed;
use onceproof::strategy::catalogue;
use onceproof::trace::{Event, Phase, StepName};
use onceproof::world::{Deployment, EngineKind, Run};
use std::time::Duration;

/// The allocator of the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Contending nodes.
const NODES: [u8; 6] = [1, 2, 4, 8, 16, 32];

/// Runs over which the table's figures are taken: their median.
const RUNS: u64 = 15;

/// One period, calm.
fn deployment(strategy: &str, nodes: u8) -> Deployment {
    let scenario = Scenario { nodes, ..Scenario::calm(strategy).of_one_period() };
    Deployment::new(&scenario, EngineKind::Event).expect("one period of the default scenario is valid")
}

fn run(deployment: &Deployment, seed: u64) -> Run {
    deployment.run(Seed(seed), &FaultPlan::none()).expect("the catalogue's strategies can be simulated")
}

/// Requests of nodes to stores, all of which are answered in a calm run, and settlements.
fn counted(deployment: &Deployment, seed: u64) -> (usize, usize) {
    let run = run(deployment, seed);
    let asks = |name: StepName| deployment.strategy().steps().iter().any(|step| step.name == name && !step.is_work());
    let is_request = |e: &&Event| matches!(e, Event::Step { step, phase: Phase::Before, .. } if asks(step));
    (run.trace.events().filter(is_request).count(), run.end.settlements.len())
}

fn strategy_under_contention(group: &mut BenchmarkGroup<'_, WallTime>, strategy: &str) {
    for nodes in NODES {
        let deployment = deployment(strategy, nodes);
        let mut seeds = 0..;
        group.bench_function(BenchmarkId::new(strategy, nodes), |b| {
            b.iter_batched(|| seeds.next().expect("seeds do not run out"), |seed| run(&deployment, seed), BatchSize::SmallInput);
        });
    }
}

/// The middle one of some figures.
fn median(mut figures: Vec<usize>) -> usize {
    figures.sort_unstable();
    figures[figures.len() / 2]
}

fn print_table(runs: u64) {
    println!("\nround trips to the stores for one due period, by contending nodes; in brackets how often it was settled, if not once");
    let width = catalogue().iter().map(|strategy| strategy.name().len()).max().unwrap_or_default();
    println!("{:<width$}{}{:>12}", "", NODES.map(|nodes| format!("{nodes:>12}")).concat(), "a node more");
    for strategy in catalogue() {
        let figures = NODES.map(|nodes| {
            let deployment = deployment(strategy.name(), nodes);
            let (sent, settled): (Vec<usize>, Vec<usize>) = (0..runs).map(|seed| counted(&deployment, seed)).unzip();
            (median(sent), median(settled))
        });
        let row = figures.map(|(sent, settled)| match settled {
            1 => format!("{sent:>12}"),
            times => format!("{:>12}", format!("{sent} ({times})")),
        });
        let (first, last) = (figures[0].0 as f64, figures[NODES.len() - 1].0 as f64);
        let more = (last - first) / f64::from(NODES[NODES.len() - 1] - NODES[0]);
        println!("{:<width$}{}{more:>12.1}", strategy.name(), row.concat());
    }
}

fn main() {
    // Drawing takes longer than measuring.
    let mut criterion = Criterion::default().without_plots().configure_from_args();
    let mut group = criterion.benchmark_group("contention");
    // One due period a run, however often it is settled.
    group.throughput(Throughput::Elements(1));
    // Few long samples: thirty-two nodes take a hundred times as long as one.
    group.sampling_mode(SamplingMode::Flat).sample_size(10);
    group.warm_up_time(Duration::from_millis(150)).measurement_time(Duration::from_millis(700));
    for strategy in catalogue() {
        strategy_under_contention(&mut group, strategy.name());
    }
    group.finish();
    criterion.final_summary();
    // In a test run each bench runs once, and so does what the table counts.
    let once = std::env::args().any(|argument| argument == "--test");
    print_table(if once { 1 } else { RUNS });
}
