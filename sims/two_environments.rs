//! Two environments with databases of their own share one lease store, and the name of the lease.

use crate::stage::{Played, both_of, one_period};
use onceproof::id::{HostId, Letter, NodeId};
use onceproof::plan::FaultPlan;
use onceproof::scenario::{GuardKnobs, NodeKnobs, Override, Part, Scenario};
use onceproof::time::Span;
use onceproof::trace::{Belief, Event};

/// n0 belongs to the other environment, and is the first to ask for the lease. Its own begins with `prefix`.
fn another_asks_first(strategy: &str, prefix: &str, tell: impl Fn(&Played)) {
    let usual = one_period(strategy);
    let first = NodeKnobs { jitter: 0.ms(), ..usual.node.clone() };
    let guard = GuardKnobs { key_prefix: prefix.to_owned(), ..usual.guard.clone() };
    let other = Override {
        elsewhere: true,
        behaviour: Part::differing(&first, &usual.node),
        guard: Part::differing(&guard, &usual.guard),
        ..Override::default()
    };
    both_of(&Scenario { overrides: vec![other], ..usual }, &FaultPlan::none(), |played| {
        let granted = played.first("the lease of the other", |e| matches!(e, Event::LeaseGranted { to: HostId::Node(NodeId(0)), .. }));
        assert!(played.due() <= granted);
        let believes = |e: &Event| matches!(e, Event::AttemptEnded { attempt, belief: Belief::Settled, .. } if attempt.node == NodeId(0));
        played.saw("a settlement in the other's own database", believes);
        assert!(!played.authors(|e| matches!(e, Event::Settled { .. })).contains(&HostId::node(0)), "that is none of this one");
        tell(played);
    });
}

/// The other environment wins, and has settled its own books; these nodes were refused, and do not come back.
#[test]
fn whoever_shares_the_name_of_its_lease_loses_the_period() {
    another_asks_first("lease-set-px", "", |played| {
        assert_eq!(played.settlements(), 0);
        played.breaks(&[Letter::L]);
    });
}

/// The control: the name of the lease says whose it is.
#[test]
fn a_name_for_each_environment_keeps_them_apart() {
    another_asks_first("lease-set-px", "staging:", |played| {
        assert_eq!(played.settlements(), 1);
        played.holds();
    });
}

/// The control: whoever comes back for what is not settled is late, and loses nothing.
#[test]
fn who_comes_back_is_only_late() {
    for strategy in ["lease-fenced", "dual-guard"] {
        another_asks_first(strategy, "", |played| {
            assert_eq!(played.settlements(), 1);
            played.holds();
        });
    }
}
