//! A replicated log of three members: what it grants while its leader dies, is cut off or sleeps,
//! and what no grant can keep a sleeper from.

use crate::stage::{after, before, both, boundary, crash, cut, fault, one_period, pause};
use onceproof::id::HostId;
use onceproof::plan::{Direction, FaultPlan, Harm, Target, Trigger};
use onceproof::time::Span;
use onceproof::trace::{Belief, Event};

/// Undisturbed, one node is granted the period, works, is decided for, and pays.
#[test]
fn one_node_settles_and_the_log_knows() {
    for strategy in ["consensus-log", "consensus-lease"] {
        both(strategy, &FaultPlan::none(), |played| {
            played.saw("a leader", |e| matches!(e, Event::LogLeads { .. }));
            played.saw("a grant", |e| matches!(e, Event::LogGranted { .. }));
            assert_eq!((played.settlements(), played.believed(Belief::Settled)), (1, 1));
            played.holds();
        });
    }
}
