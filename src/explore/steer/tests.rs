use super::*;
use crate::explore::Shard;
use crate::explore::sweep::{Quota, Sweep, Swept};
use crate::scenario::Scenario;
use crate::world::{Deployment, EngineKind};
use std::sync::atomic::AtomicBool;

const CLASSES: [FaultClass; 2] = [FaultClass::Calm, FaultClass::Swarm];

fn unwatched() -> Watch<'static> {
    static NEVER: AtomicBool = AtomicBool::new(false);
    Watch { cancelled: &NEVER, out_of_time: &|| false, progress: &|_| {} }
}

/// Steering reaches what chance did not, counts it apart, makes no more runs than it may, and does
/// the same on any number of threads.
#[test]
fn what_chance_left_out_is_reached_and_counted_apart() {
    let deployment = Deployment::new(&Scenario::calm("table-key"), EngineKind::Event).unwrap();
    let subjects: [&dyn Subject; 1] = [&deployment];
    let quota = Quota::Seeds(100);
    let sweep = Sweep { subjects: &subjects, classes: &CLASSES, base: Seed(1), quota, shard: Shard::WHOLE, threads: 2 };
    let Swept { tallies, .. } = sweep.run(&unwatched()).unwrap();
    let steered = |threads| {
        let mut tallies = tallies.clone();
        let samples = Steering { subjects: &subjects, classes: &CLASSES, base: Seed(1), threads }.run(&mut tallies, &unwatched()).unwrap();
        (tallies, samples.iter().map(|s| (s.case.clone(), s.trace.digest())).collect::<Vec<_>>())
    };
    let one = steered(1);
    assert_eq!(one, steered(3));
    let (before, after) = (&tallies[0][1], &one.0[0][1]);
    assert_eq!(
        (after.runs, after.felt, &after.coverage.drawn),
        (before.runs, before.felt, &before.coverage.drawn),
        "no bound follows from it"
    );
    assert_eq!(after.apart.runs, 200 / SHARE, "as many as it may, for much is left out after a hundred runs");
    assert!(after.coverage.by_steering() > after.apart.runs as usize / 2, "{} of {}", after.coverage.by_steering(), after.apart.runs);
    assert_eq!(one.0[0][0], tallies[0][0], "calm has nothing to steer to");
    assert_eq!(one.1.len(), 1, "its first run is made again");
}
