//! The job takes 45 minutes, and the lease was for 30. When the first holder is done it deletes
//! the lease without looking: by now it is somebody else's, and the door stands open.

use crate::stage::{Played, before, both, both_of, fault, one_period};
use onceproof::id::Letter;
use onceproof::plan::Harm;
use onceproof::time::Span;
use onceproof::trace::Event;

fn job_takes_long(strategy: &str, tell: impl Fn(&Played)) {
    both(strategy, &fault(Harm::SlowStep { extra: 45.minutes() }, before("work.3")), tell);
}

/// Whether a lease was deleted by somebody it had not been granted to.
fn stolen(event: &Event) -> bool {
    matches!(event, Event::LeaseReleased { by, holder } if by != holder)
}

/// Both nodes settle: the second takes the lease that ran out while the first was still at work,
/// and the table was empty when each of them looked.
#[test]
fn a_job_that_outlasts_its_lease_settles_twice() {
    job_takes_long("lease-set-px-checked", |played| {
        played.saw("a lease that ran out", |e| matches!(e, Event::LeaseExpired { .. }));
        assert_eq!(played.settlements(), 2);
        played.breaks(&[Letter::D, Letter::S]);
    });
}

/// With a job of 20 minutes, 45 for the first holder: the second takes the lease after 30 and
/// is in the middle of its job when the first is done, settles, and frees what it does not hold.
#[test]
fn the_late_delete_frees_the_next_holders_lease() {
    let mut scenario = one_period("lease-set-px-checked");
    scenario.node.work = 20.minutes();
    both_of(&scenario, &fault(Harm::SlowStep { extra: 25.minutes() }, before("work.3")), |played| {
        let expired = played.first("a lease that ran out", |e| matches!(e, Event::LeaseExpired { .. }));
        let freed = played.first("a lease deleted by somebody else", stolen);
        assert!(expired < freed);
        assert_eq!(played.settlements(), 2);
        played.breaks(&[Letter::D, Letter::S]);
    });
}

/// The owner's name on the lease keeps it from deleting the next holder's, and not from settling.
#[test]
fn a_name_on_the_lease_stops_the_delete_only() {
    job_takes_long("lease-machine-id", |played| {
        played.saw("a lease that ran out", |e| matches!(e, Event::LeaseExpired { .. }));
        played.never_saw("a lease deleted by somebody else", stolen);
        assert_eq!(played.settlements(), 2);
        played.breaks(&[Letter::D, Letter::S]);
    });
}

/// The control: a lease that is renewed does not run out, and is deleted by its owner only.
#[test]
fn a_renewed_lease_outlasts_any_job() {
    for (strategy, renewals) in [("dual-guard", 90), ("lease-watchdog", 270), ("lease-fenced", 270)] {
        job_takes_long(strategy, |played| {
            played.never_saw("a lease that ran out", |e| matches!(e, Event::LeaseExpired { .. }));
            let renewed = played.count(|e| matches!(e, Event::LeaseExtended { .. }));
            assert!(renewed * 2 > renewals, "{renewals} renewals in 47 minutes, {renewed} on a network that is slower in scale");
            played.never_saw("a lease deleted by somebody else", stolen);
            assert_eq!(played.settlements(), 1);
            played.holds();
        });
    }
}
