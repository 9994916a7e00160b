//! What one full seed costs: three nodes under dual-guard, three calendar periods, traffic, real
//! clients, SQL and payouts.
//!
//! | bench | budget, CPU on one core |
//! |---|---|
//! | `seed/run` | 0.75 ms; with isolation 1.1 ms |
//! | `seed/<rules>` | the same under other rules of the database; InnoDB's repeatable read 1.3 ms |
//! | `seed/run and judge` | 0.75 ms |
//! | `seed/floor` | the same SQL and leases without network, clients and runtime: what no engine can save |
//! | `threads/one` : `threads/two` | at least 1.9 : 1; both run the same number of seeds |
//!
//! `cargo bench --bench seed`. Criterion measures real time: on a machine that is busy with
//! other things, the figures say more about those.

#[path = "seed/floor.rs"]
mod floor;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use floor::Floor;
use onceproof::plan::FaultPlan;
use onceproof::scenario::{Rules, Scenario};
use onceproof::seed::Seed;
use onceproof::world::{Deployment, EngineKind, Run};
use std::hint::black_box;
use std::ops::Range;

/// The allocator of the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Seeds of one iteration of the thread benches: so many that making a thread's database does not count.
const MANY: u64 = 1_000;

fn deployment() -> Deployment {
    Deployment::new(&Scenario::default(), EngineKind::Event).expect("the default scenario is valid")
}

fn run(deployment: &Deployment, seed: u64) -> Run {
    deployment.run(Seed(seed), &FaultPlan::default()).expect("the catalogue's strategies can be simulated")
}

fn seed(c: &mut Criterion) {
    let deployment = deployment();
    let mut group = c.benchmark_group("seed");
    let mut seeds = 0..;
    let mut next = || seeds.next().expect("seeds do not run out");
    group.bench_function("run", |b| b.iter(|| black_box(run(&deployment, next()))));
    group.bench_function("run and judge", |b| {
        b.iter(|| {
            let run = run(&deployment, next());
            black_box(deployment.judge(&run))
        });
    });
    for rules in Rules::ALL.into_iter().filter(|rules| *rules != Rules::default()) {
        let mut scenario = Scenario::default();
        scenario.database.rules = rules;
        let deployment = Deployment::new(&scenario, EngineKind::Event).expect("the default scenario is valid");
        group.bench_function(rules.name(), |b| b.iter(|| black_box(run(&deployment, next()))));
    }
    let floor = Floor::new();
    assert_eq!(floor.seed(), 9, "three payments for each of three periods");
    group.bench_function("floor", |b| b.iter(|| black_box(floor.seed())));
    group.finish();
}

fn run_all(deployment: &Deployment, seeds: Range<u64>) {
    for n in seeds {
        black_box(run(deployment, n));
    }
}

fn threads(c: &mut Criterion) {
    let deployment = deployment();
    let mut group = c.benchmark_group("threads");
    group.sample_size(10).throughput(Throughput::Elements(MANY));
    for (name, threads) in [("one", 1), ("two", 2)] {
        group.bench_function(name, |b| {
            b.iter(|| {
                std::thread::scope(|scope| {
                    for t in 0..threads {
                        let share = MANY / threads * t..MANY / threads * (t + 1);
                        let deployment = &deployment;
                        scope.spawn(move || run_all(deployment, share));
                    }
                });
            });
        });
    }
    group.finish();
}

criterion_group!(benches, seed, threads);
criterion_main!(benches);
