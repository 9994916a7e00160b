//! A lease excludes overlap, not repetition. The same lease under three policies, in calm: who
//! does not come back settles once, who comes back settles again, and who looks before coming
//! back settles once, until something goes wrong between looking and acting (`paused_holder`).

use crate::stage::both;
use onceproof::id::Letter;
use onceproof::plan::FaultPlan;
use onceproof::trace::Event;

#[test]
fn losers_that_do_not_come_back_do_no_harm() {
    both("lease-set-px", &FaultPlan::none(), |played| {
        played.saw("a refused lease", |e| matches!(e, Event::LeaseRefused { .. }));
        assert_eq!(played.settlements(), 1);
        played.holds();
    });
}

/// The holder lets go as soon as it has settled. The next node takes the free lease and settles
/// too: it knows nothing but its own attempts.
#[test]
fn losers_that_come_back_settle_again() {
    both("lease-set-px-retry", &FaultPlan::none(), |played| {
        played.never_saw("a lease that ran out", |e| matches!(e, Event::LeaseExpired { .. }));
        assert_eq!(played.settlements(), 3);
        played.breaks(&[Letter::D]);
    });
}

#[test]
fn losers_that_look_first_find_it_done() {
    both("lease-set-px-checked", &FaultPlan::none(), |played| {
        played.saw("a refused lease", |e| matches!(e, Event::LeaseRefused { .. }));
        assert_eq!(played.settlements(), 1);
        played.holds();
    });
}
