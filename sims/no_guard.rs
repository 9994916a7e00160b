//! Three nodes, no guard, nothing wrong: the complaint with which all of this began.

use crate::stage::both;
use onceproof::id::Letter;
use onceproof::plan::FaultPlan;

/// Every node wakes at the boundary and does the job. The first takes all earnings; what the
/// others settle is what it left behind: nothing, or an earning that came in between.
#[test]
fn every_node_settles() {
    both("no-guard", &FaultPlan::none(), |played| {
        assert_eq!(played.settlements(), 3);
        played.breaks(&[Letter::D]);
    });
}

/// A mutex keeps the threads of one process apart, and these are three processes.
#[test]
fn every_node_has_a_mutex_of_its_own() {
    both("local-mutex", &FaultPlan::none(), |played| {
        assert_eq!(played.settlements(), 3);
        played.breaks(&[Letter::D]);
    });
}

/// The control: with a unique key, the same three nodes settle once.
#[test]
fn with_a_unique_key_one_does() {
    both("table-key", &FaultPlan::none(), |played| {
        assert_eq!(played.settlements(), 1);
        played.holds();
    });
}
