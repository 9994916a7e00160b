//! The lease store forgets that it has granted the lease, while the holder is in the middle of
//! its job and every process is well. It grants it again to whoever asks next.

use crate::stage::{Played, after, before, both, fault, sent};
use onceproof::id::{HostId, Letter};
use onceproof::plan::{FaultPlan, Harm, Target, Trigger};
use onceproof::time::Span;
use onceproof::trace::{Belief, Event, Proof};

fn lost(event: &Event) -> bool {
    matches!(event, Event::LeaseLost { .. })
}

/// Two are granted the lease before anybody has given it back.
fn granted_twice(strategy: &str, plan: &FaultPlan, tell: impl Fn(&Played)) {
    both(strategy, plan, |played| {
        let lost = played.first("a lease that was lost", lost);
        let again = played.records().iter().find(|r| r.at > lost && matches!(r.event, Event::LeaseGranted { .. }));
        let again = again.expect("nobody was granted the lease again").at;
        let released = played.records().iter().find(|r| matches!(r.event, Event::LeaseReleased { .. }));
        assert!(released.is_none_or(|r| again < r.at), "it had been given back");
        played.never_saw("a lease that ran out", |e| matches!(e, Event::LeaseExpired { .. }));
        tell(played);
    });
}

fn restarts_empty(when: Trigger) -> FaultPlan {
    fault(Harm::LeaseWipe { store: HostId::Lease, back_after: 10.seconds() }, when)
}

/// A Redis without persistence, restarted: nobody tells the holder of a bare lease.
#[test]
fn a_store_that_comes_back_empty_grants_the_lease_twice() {
    granted_twice("lease-set-px-checked", &restarts_empty(before("work.3")), |played| {
        assert_eq!(played.settlements(), 2);
        played.breaks(&[Letter::D, Letter::S]);
    });
}

/// A watchdog finds out at its next renewal, and tells the worker while it works.
#[test]
fn a_renewal_finds_out_that_the_store_is_empty() {
    granted_twice("lease-watchdog", &restarts_empty(before("work.3")), |played| {
        let failed = played.first("an attempt that was given up", |e| matches!(e, Event::AttemptEnded { belief: Belief::Failed, .. }));
        assert!(failed < played.first("a settlement", |e| matches!(e, Event::Settled { .. })));
        assert_eq!(played.settlements(), 1);
        played.holds();
    });
}

/// The control: the same restart of a store that keeps what it has.
#[test]
fn a_store_that_keeps_its_data_grants_it_once() {
    let restart = Harm::Crash { host: Target::Host(HostId::Lease), back_after: 10.seconds() };
    both("lease-set-px-checked", &fault(restart, before("work.3")), |played| {
        played.never_saw("a lease that was lost", lost);
        assert_eq!(played.settlements(), 1);
        played.holds();
    });
}

/// The replica that is promoted has not heard of the grant, which is two seconds old at most.
#[test]
fn a_failover_forgets_the_grant() {
    let failover = Harm::LeaseFailover { store: HostId::Lease, lag: 5.seconds(), back_after: 2.seconds() };
    granted_twice("lease-set-px-checked", &fault(failover, before("work.1")), |played| {
        played.saw("the proof", |e| matches!(e, Event::Felt { proof: Proof::LeaseLost { .. }, .. }));
        assert_eq!(played.settlements(), 2);
        played.breaks(&[Letter::D, Letter::S]);
    });
}

/// Whatever the store forgets: the version, the fence and the attempt number decide.
#[test]
fn who_does_not_rely_on_the_lease_settles_once() {
    for strategy in ["dual-published", "dual-guard", "lease-fenced"] {
        both(strategy, &restarts_empty(before("work.3")), |played| {
            played.saw("a lease that was lost", lost);
            assert_eq!(played.settlements(), 1);
            played.breaks(&[]);
        });
    }
}

/// The release is forgotten as well: the lease is there again, and nobody holds it. It runs out by itself.
#[test]
fn a_failover_brings_back_a_lease_that_was_given_back() {
    let failover = Harm::LeaseFailover { store: HostId::Lease, lag: 5.seconds(), back_after: 2.seconds() };
    both("lease-fenced", &fault(failover, after("lease.release")), |played| {
        played.saw("a lease that is there again", |e| matches!(e, Event::LeaseReturned { .. }));
        assert_eq!(played.settlements(), 1);
        played.holds();
    });
}

/// A slow command: whoever asks meanwhile is answered when it is over, by what is there then.
#[test]
fn requests_wait_for_a_slow_command() {
    both("lease-watchdog", &fault(Harm::LeaseStall { store: HostId::Lease, lasts: 3.seconds() }, sent("lease.acquire")), |played| {
        let began = played.first("a slow command", |e| matches!(e, Event::Blocked { .. }));
        let over = played.first("its end", |e| matches!(e, Event::Unblocked { .. }));
        let waited = played.first("a request that waits", |e| matches!(e, Event::Waited { .. }));
        assert!(began <= waited && waited < over);
        assert!(over <= played.first("a lease", |e| matches!(e, Event::LeaseGranted { .. })));
        assert_eq!(played.settlements(), 1);
        played.holds();
    });
}

/// The store's clock jumps ahead by more than a lease: it ends at the next look. Nothing was
/// lost, and the effect is the same.
#[test]
fn a_store_whose_clock_jumps_ends_the_lease_early() {
    let jump = Harm::ClockOffset { host: Target::Host(HostId::Lease), by_ms: 2_400_000 };
    both("lease-set-px-checked", &fault(jump, before("work.3")), |played| {
        let expired = played.first("a lease that ran out", |e| matches!(e, Event::LeaseExpired { .. }));
        assert!(expired < played.first("a settlement", |e| matches!(e, Event::Settled { .. })));
        assert_eq!(played.settlements(), 2);
        played.breaks(&[Letter::D, Letter::S]);
    });
}
