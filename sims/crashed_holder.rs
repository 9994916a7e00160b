//! The holder of a lease dies in the middle of its job, and the lease lives on for half an hour.

use crate::stage::{Played, before, both, crash, fault};
use onceproof::id::Letter;
use onceproof::time::Span;
use onceproof::trace::Event;

fn holder_dies(strategy: &str, tell: impl Fn(&Played)) {
    both(strategy, &fault(crash(5.minutes()), before("work.3")), |played| {
        let granted = played.first("a lease", |e| matches!(e, Event::LeaseGranted { .. }));
        assert!(granted < played.first("a dead holder", |e| matches!(e, Event::Crashed { .. })));
        tell(played);
    });
}

/// The others were refused, and wait for the next period.
#[test]
fn who_does_not_come_back_loses_the_period() {
    holder_dies("lease-set-px", |played| {
        assert_eq!(played.settlements(), 0);
        played.breaks(&[Letter::L]);
    });
}

/// The control: who comes back finds the lease run out, half an hour later.
#[test]
fn who_comes_back_settles_when_the_lease_has_run_out() {
    holder_dies("lease-set-px-checked", |played| {
        let expired = played.first("a lease that ran out", |e| matches!(e, Event::LeaseExpired { .. }));
        assert!(expired <= played.first("a settlement", |e| matches!(e, Event::Settled { .. })));
        played.holds();
    });
}
