//! Who takes a lease dies right after it was granted. Whether the lease runs out depends on
//! whether its expiry came with the grant or was still to be set.

use crate::stage::{Played, before, both, crash, fault};
use onceproof::id::Letter;
use onceproof::time::Span;
use onceproof::trace::{Event, StepName};

/// `next` is what a holder does first under its lease.
fn holder_dies_at_once(strategy: &str, next: StepName, tell: impl Fn(&Played)) {
    both(strategy, &fault(crash(5.minutes()), before(next)), |played| {
        let granted = played.first("a lease", |e| matches!(e, Event::LeaseGranted { .. }));
        assert!(granted < played.first("a dead holder", |e| matches!(e, Event::Crashed { .. })));
        tell(played);
    });
}

/// `SETNX` was applied and `EXPIRE` never sent: nobody will ever hold this lease again.
#[test]
fn an_expiry_in_a_second_command_may_never_come() {
    holder_dies_at_once("lease-setnx-expire", "lease.expire", |played| {
        played.saw("a lease without expiry", |e| matches!(e, Event::LeaseGranted { ttl_ms: 0, .. }));
        played.never_saw("a lease that ran out", |e| matches!(e, Event::LeaseExpired { .. }));
        assert_eq!(played.settlements(), 0);
        played.breaks(&[Letter::L, Letter::K]);
    });
}

/// One command grants and limits. This period is lost as well, for the others were refused and do
/// not come back, but the lease is nobody's in the end.
#[test]
fn an_expiry_in_the_same_command_is_always_there() {
    holder_dies_at_once("lease-set-px", "work.1", |played| {
        played.never_saw("a lease without expiry", |e| matches!(e, Event::LeaseGranted { ttl_ms: 0, .. }));
        played.breaks(&[Letter::L]);
    });
}

/// The control: the same death, and somebody who comes back when the lease has run out.
#[test]
fn who_comes_back_takes_the_lease_over() {
    holder_dies_at_once("lease-watchdog", "work.1", |played| {
        let expired = played.first("a lease that ran out", |e| matches!(e, Event::LeaseExpired { .. }));
        assert!(expired < played.first("a settlement", |e| matches!(e, Event::Settled { .. })));
        played.holds();
    });
}
