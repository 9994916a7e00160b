//! Regression: a boundary passed while a node was still at work for the one before. It took its
//! bearings from the clock afterwards, and the next boundary it saw was one too far.

use crate::stage::{Played, before, both_of, fault};
use onceproof::id::Letter;
use onceproof::plan::Harm;
use onceproof::scenario::{NetworkKnobs, NodeKnobs, Scenario};
use onceproof::settlement::Schedule;
use onceproof::time::Span;
use onceproof::trace::{Event, Phase};

/// Two periods of half a minute, and a job that takes one second, but the first time forty.
/// Short enough to be played as it is on both engines.
fn second_boundary_passes(strategy: &str, tell: impl Fn(&Played)) {
    let node = NodeKnobs { jitter: 0.ms(), poll: 5.seconds(), attention: 1.minutes(), work: 1.seconds(), ..NodeKnobs::default() };
    let scenario = Scenario {
        nodes: 1,
        schedule: Schedule::Interval { every: 30.seconds(), periods: 2 },
        node,
        network: NetworkKnobs { latency_min: 12.ms(), latency_max: 18.ms() },
        liveness_bound: 1.minutes(),
        ..Scenario::calm(strategy)
    };
    both_of(&scenario, &fault(Harm::SlowStep { extra: 40.seconds() }, before("work.1")), |played| {
        let done = played.first("the end of the first job", |e| matches!(e, Event::Step { step: "work.5", phase: Phase::After, .. }));
        assert!(played.due() + 30.seconds() < done, "the second boundary came after the first job");
        tell(played);
    });
}

#[test]
fn what_passed_meanwhile_is_woken_for_at_once() {
    for strategy in ["table-key", "dual-guard", "lease-set-px-retry", "lease-set-px-checked"] {
        second_boundary_passes(strategy, |played| {
            assert_eq!(played.settlements(), 2);
            played.holds();
        });
    }
}

/// The control: who makes one attempt a period, and waits for the next one after its own now, loses the second.
#[test]
fn who_looks_only_ahead_loses_it() {
    second_boundary_passes("lease-set-px", |played| {
        assert_eq!(played.settlements(), 1);
        played.breaks(&[Letter::L]);
    });
}
