//! One node is down at the boundary and starts a minute later, while another is at work under
//! the lease.

use crate::stage::{N0, Played, both, boundary, fault};
use onceproof::id::{HostId, Letter};
use onceproof::plan::{Harm, Trigger};
use onceproof::time::Span;
use onceproof::trace::Event;

fn node_starts_meanwhile(strategy: &str, tell: impl Fn(&Played)) {
    let down = Harm::Crash { host: N0, back_after: 5.minutes() };
    both(strategy, &fault(down, Trigger::At { at_ms: boundary() - 4.minutes() }), |played| {
        let granted = played.first("a lease", |e| matches!(e, Event::LeaseGranted { .. }));
        let again = |e: &Event| matches!(*e, Event::Booted { host, incarnation: 1 } if host == HostId::node(0));
        let back = played.first("the node starting again", again);
        assert!(granted < back && back < played.first("a settlement", |e| matches!(e, Event::Settled { .. })));
        tell(played);
    });
}

/// It deletes the lease that it finds, for it might be its own from before; it is not.
#[test]
fn who_clears_up_at_start_frees_the_lease_of_another() {
    node_starts_meanwhile("lease-machine-id", |played| {
        played.saw("a lease deleted by somebody else", |e| matches!(e, Event::LeaseReleased { by, holder } if by != holder));
        assert_eq!(played.settlements(), 2);
        played.breaks(&[Letter::D, Letter::S]);
    });
}

/// The control: a lease that only its owner deletes, and time.
#[test]
fn who_waits_until_it_runs_out_does_not() {
    node_starts_meanwhile("lease-watchdog", |played| {
        played.never_saw("a lease deleted by somebody else", |e| matches!(e, Event::LeaseReleased { by, holder } if by != holder));
        assert_eq!(played.settlements(), 1);
        played.holds();
    });
}
