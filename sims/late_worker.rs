//! A worker that starts long after its claim was made, as from a queue that is full: by then the claim may be over.

use crate::stage::{Played, before, both, fault};
use onceproof::plan::Harm;
use onceproof::time::Span;
use onceproof::trace::{Event, Phase, StepName};

/// Between the claim and the first slice of the job there are 35 minutes.
fn starts_late(strategy: &str, tell: impl Fn(&Played)) {
    both(strategy, &fault(Harm::SlowStep { extra: 35.minutes() }, before("work.1")), tell);
}

fn done(step: StepName) -> impl Fn(&Event) -> bool {
    move |e: &Event| matches!(e, Event::Step { step: s, phase: Phase::After, .. } if *s == step)
}

/// The lease of 30 minutes has run out before its worker has begun.
#[test]
fn a_claim_without_renewal_is_over_before_its_worker_begins() {
    starts_late("lease-set-px-checked", |played| {
        let over = played.first("a lease that ran out", |e| matches!(e, Event::LeaseExpired { .. }));
        assert!(over < played.records().iter().rfind(|r| done("work.1")(&r.event)).expect("both have worked").at);
        assert!(played.settlements() > 1);
        assert!(played.broke("settled-once").contains("settled"));
    });
}

/// The control: what is renewed from the claim on, and fenced, may begin as late as it likes.
#[test]
fn a_claim_that_is_renewed_from_the_beginning_waits_for_its_worker() {
    for strategy in ["lease-fenced", "version-reclaim", "dual-guard"] {
        starts_late(strategy, |played| {
            assert_eq!(played.settlements(), 1);
            played.holds();
        });
    }
}
