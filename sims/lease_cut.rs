//! Whoever is granted the lease first is cut from its store, and from nothing else, for 40
//! minutes: it cannot renew, the lease runs out, and another takes over while it is at work.

use crate::stage::{Played, before, both, fault};
use onceproof::id::{HostId, Letter};
use onceproof::plan::{Direction, Harm, Target};
use onceproof::time::Span;
use onceproof::trace::{Belief, Event};

fn holder_cannot_renew(strategy: &str, tell: impl Fn(&Played)) {
    let cut = Harm::Partition { host: Target::Self_, from: Target::Host(HostId::Lease), direction: Direction::Both, lasts: 40.minutes() };
    both(strategy, &fault(cut, before("work.1")), |played| {
        let expired = played.first("a lease that ran out", |e| matches!(e, Event::LeaseExpired { .. }));
        assert!(expired < played.first("the healing", |e| matches!(e, Event::Healed { .. })));
        assert!(played.count(|e| matches!(e, Event::LeaseGranted { .. })) > 1, "nobody took the lease over");
        tell(played);
    });
}

/// Its renewal has failed, and its job goes on: nobody told it.
#[test]
fn who_is_not_told_settles_beside_the_next_holder() {
    holder_cannot_renew("lease-watchdog-silent", |played| {
        assert_eq!(played.settlements(), 2);
        played.breaks(&[Letter::D, Letter::S]);
    });
}

/// The control: it is told before the lease has run out, and stops.
#[test]
fn who_is_told_stops() {
    holder_cannot_renew("lease-watchdog", |played| {
        let failed = played.first("an attempt that was given up", |e| matches!(e, Event::AttemptEnded { belief: Belief::Failed, .. }));
        assert!(failed < played.first("a settlement", |e| matches!(e, Event::Settled { .. })));
        assert_eq!(played.settlements(), 1);
        played.holds();
    });
}
