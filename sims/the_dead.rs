//! Who is down or paused makes no step: not even one that the same task makes beside the step in which it was struck.

use onceproof::class::FaultClass;
use onceproof::explore::Staged;
use onceproof::id::HostId;
use onceproof::scenario::Scenario;
use onceproof::seed::Seed;
use onceproof::trace::{Event, Trace};
use onceproof::world::{Deployment, EngineKind};
use std::collections::BTreeSet;

/// Of those that make several steps beside each other, and of those that do not.
const STRATEGIES: [&str; 8] =
    ["redlock", "dual-guard", "lease-watchdog", "advisory-lock", "consensus-lease", "queue-reliable", "leader", "two-phase-commit"];

/// What a node did while it was down or paused, and how often any was.
fn done_by_the_absent(trace: &Trace) -> (Vec<String>, usize) {
    let (mut absent, mut times, mut found) = (BTreeSet::new(), 0, Vec::new());
    for record in trace.records() {
        let acts = match record.event {
            Event::Crashed { host } | Event::PoweredOff { host } | Event::Paused { host } => {
                absent.insert(host);
                times += 1;
                None
            }
            Event::Booted { host, .. } | Event::Resumed { host } => {
                absent.remove(&host);
                None
            }
            Event::Step { attempt, .. } | Event::AttemptBegan { attempt, .. } | Event::AttemptEnded { attempt, .. } => Some(attempt.node),
            Event::Looked { node, .. } => Some(node),
            _ => None,
        };
        if acts.is_some_and(|node| absent.contains(&HostId::Node(node))) {
            found.push(format!("{record:?}"));
        }
    }
    (found, times)
}

#[test]
fn the_absent_do_nothing() {
    for strategy in STRATEGIES {
        let deployment = Deployment::new(&Scenario::calm(strategy), EngineKind::Event).expect("the default scenario is good");
        let mut absences = 0;
        for class in [FaultClass::Crash, FaultClass::Power, FaultClass::Pause] {
            for seed in (1..=12).map(Seed) {
                let staged = Staged::of(&deployment, class, seed);
                let run = staged.run(seed, &staged.plan(class, seed)).expect("the catalogue is well behaved");
                let (found, times) = done_by_the_absent(&run.trace);
                assert!(found.is_empty(), "{strategy} under {class}, seed {seed}: {found:#?}");
                absences += times;
            }
        }
        assert!(absences > 10, "{strategy}: {absences} absences: nothing tested");
    }
}
