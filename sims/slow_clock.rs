//! One node's clock is four and a half minutes slow: when it comes, the others are done and the lease is free.

use crate::stage::{N0, Played, both, fault};
use onceproof::id::{HostId, Letter};
use onceproof::plan::{Harm, Trigger};
use onceproof::trace::Event;

fn late_node(strategy: &str, tell: impl Fn(&Played)) {
    let plan = fault(Harm::ClockOffset { host: N0, by_ms: -270_000 }, Trigger::start());
    both(strategy, &plan, |played| {
        let came = played
            .first("the late node", |e| matches!(e, Event::AttemptBegan { attempt, .. } if HostId::Node(attempt.node) == HostId::node(0)));
        assert!(played.first("a settlement", |e| matches!(e, Event::Settled { .. })) < came, "it came at {came}, in time");
        tell(played);
    });
}

/// A lease remembers nothing.
#[test]
fn a_free_lease_is_taken_again() {
    for strategy in ["lease-set-px", "lease-setnx-expire"] {
        late_node(strategy, |played| {
            assert_eq!(played.authors(|e| matches!(e, Event::Settled { .. })).last(), Some(&HostId::node(0)));
            played.breaks(&[Letter::D]);
        });
    }
}

/// The control: the same lease and the same clock, but the node looks into the table first.
#[test]
fn who_looks_into_the_table_finds_it_done() {
    late_node("lease-set-px-checked", |played| {
        assert_eq!(played.settlements(), 1);
        played.holds();
    });
}
