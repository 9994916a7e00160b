//! Swarm: a seeded mix of the other classes, on a deployment whose knobs are drawn as well.

use crate::class::{Class, Draw, FaultClass, Mixes, knobs};
use crate::plan::Fault;
use crate::scenario::Scenario;
use crate::seed::Seed;
use rand::RngExt;
use rand::seq::IndexedRandom;

/// One to four sets of faults of mixed classes, each of its own strength.
pub(super) struct Swarm;

impl Class for Swarm {
    fn name(&self) -> &'static str {
        "swarm"
    }

    fn about(&self) -> &'static str {
        "a seeded mix of the other classes, magnitudes drawn, and so are the deployment's knobs"
    }

    fn draw(&self, draw: &mut Draw<'_>) -> Vec<Fault> {
        let mixes = |class: &FaultClass| class.class().mixes() != Mixes::Never && class.misses(draw.steps).is_none();
        let mut classes: Vec<FaultClass> = FaultClass::ALL.into_iter().filter(mixes).collect();
        let mut faults = Vec::new();
        for n in 0..draw.rng.random_range(1..=4) {
            let class = *classes.choose(&mut draw.rng).expect("some classes mix freely and strike any strategy");
            let percent = draw.rng.random_range(10..=150);
            faults.extend(class.class().draw(&mut draw.within(&format!("swarm {n}"), percent)));
            if class.class().mixes() == Mixes::Once {
                classes.retain(|c| *c != class);
            }
        }
        faults
    }

    fn knobs(&self, seed: Seed, given: &Scenario) -> Option<Scenario> {
        knobs::drawn(seed, given)
    }

    fn mixes(&self) -> Mixes {
        Mixes::Never
    }
}
