//! How many seeds a second each strategy of the catalogue makes on one core, judged, with a new
//! plan for each: under calm, and under a swarm of faults. What a sweep over all rows costs.
//!
//! `cargo bench --bench strategies`

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use onceproof::class::FaultClass;
use onceproof::explore::Staged;
use onceproof::scenario::Scenario;
use onceproof::seed::Seed;
use onceproof::strategy::catalogue;
use onceproof::world::{Deployment, EngineKind};
use std::time::Duration;

/// The allocator of the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn strategies(c: &mut Criterion) {
    for class in [FaultClass::Calm, FaultClass::Swarm] {
        let mut group = c.benchmark_group(class.name());
        group.throughput(Throughput::Elements(1)).sample_size(20);
        group.warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_secs(2));
        for strategy in catalogue() {
            let deployment = Deployment::new(&Scenario::calm(strategy.name()), EngineKind::Event).expect("the default scenario is valid");
            // The same seeds for every strategy.
            let mut seeds = (0..).map(|n| Seed(1).nth(n));
            let mut next = || seeds.next().expect("seeds do not run out");
            group.bench_function(BenchmarkId::from_parameter(strategy.name()), |b| {
                b.iter_batched(
                    &mut next,
                    |seed| {
                        let staged = Staged::of(&deployment, class, seed);
                        let run = staged.run(seed, &staged.plan(class, seed)).expect("the catalogue's strategies can be simulated");
                        staged.judge(&run)
                    },
                    BatchSize::SmallInput,
                );
            });
        }
        group.finish();
    }
}

criterion_group!(benches, strategies);
criterion_main!(benches);
