//! A clock that was right when its owner fell asleep, and is wrong when it counts: it runs fast,
//! or jumps. A timer that follows the clock comes early, and so does whoever waits for it.
//!
//! At 2 %, as the fault class has it, a clock needs two hours to be minutes off; here it runs 40 %
//! fast, so that nine minutes are enough, on both engines.

use crate::stage::{N0, Played, both, boundary, fault};
use onceproof::id::{HostId, Letter, NodeId};
use onceproof::plan::{FaultPlan, Harm, Trigger};
use onceproof::time::Span;
use onceproof::trace::{Event, Proof};

/// 9 min on true clocks are 12 min 36 s on this one: it is 2 min 34 s early.
fn runs_fast() -> FaultPlan {
    fault(Harm::ClockDrift { host: N0, ppm: 400_000, lasts: Some(2.hours()) }, Trigger::At { at_ms: boundary() - 9.minutes() })
}

/// The boundary is behind it at once.
fn jumps() -> FaultPlan {
    fault(Harm::ClockOffset { host: N0, by_ms: 600_000 }, Trigger::At { at_ms: boundary() - 9.minutes() })
}

fn comes_early(strategy: &str, plan: &FaultPlan, tell: impl Fn(&Played)) {
    both(strategy, plan, |played| {
        let began = |e: &Event| matches!(e, Event::AttemptBegan { attempt, .. } if attempt.node == NodeId(0));
        assert!(played.first("the early node", began) < played.due(), "it came in time");
        played
            .saw("the proof", |e| matches!(e, Event::Felt { proof: Proof::WrongClock { host: HostId::Node(NodeId(0)), by_ms: 1.. }, .. }));
        tell(played);
    });
}

/// Nobody but the early node is there: it has settled and let go when the others come. What was
/// earned in between makes another winner, who is paid too.
#[test]
fn a_lease_is_granted_to_whoever_comes_early() {
    for plan in [runs_fast(), jumps()] {
        comes_early("lease-set-px", &plan, |played| {
            let settled = played.first("a settlement", |e| matches!(e, Event::Settled { .. }));
            assert!(settled < played.due(), "it settled after the boundary, at {settled}");
            played.breaks(&[Letter::D, Letter::Two, Letter::E]);
        });
    }
}

/// The control: the same clocks, but the database's own says that the period is not due.
#[test]
fn the_clock_of_the_database_has_the_last_word() {
    for plan in [runs_fast(), jumps()] {
        for strategy in ["table-key", "lease-fenced", "version-reclaim", "dual-guard"] {
            comes_early(strategy, &plan, |played| {
                assert_eq!(played.settlements(), 1);
                played.holds();
            });
        }
    }
}

/// After two hours a time service sets the clock right: what it gained is taken back.
#[test]
fn a_drift_ends_with_a_clock_that_is_right() {
    both("dual-guard", &runs_fast(), |played| {
        played.saw("the right rate", |e| matches!(e, Event::ClockDrifts { ppm: 0, .. }));
        let back = |e: &Event| matches!(e, Event::ClockSet { by: ..0, .. });
        assert!(played.first("a clock set back", back) > played.due());
    });
}
