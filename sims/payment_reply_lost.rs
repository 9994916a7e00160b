//! A winner is paid, and the answer never arrives: whoever paid asks again.

use crate::stage::{Played, after, before, both, both_of, fault, one_period, reply_lost};
use onceproof::id::{HostId, Letter};
use onceproof::plan::{Harm, Target};
use onceproof::time::Span;
use onceproof::trace::{Event, StepName};
use std::time::Duration;

fn payment_unanswered(strategy: &str, step: StepName, tell: impl Fn(&Played)) {
    both(strategy, &fault(reply_lost(HostId::Payout), before(step)), |played| {
        played.saw("a lost answer", |e| matches!(e, Event::ReplyLost { from: HostId::Payout, .. }));
        tell(played);
    });
}

/// Without a key the second request is another payment.
#[test]
fn without_a_key_a_winner_is_paid_twice() {
    payment_unanswered("lease-set-px-checked", "pay", |played| played.breaks(&[Letter::Two]));
}

/// The control: with a key the service answers without paying again.
#[test]
fn with_a_key_it_is_one_payment() {
    payment_unanswered("table-key", "outbox.pay", |played| {
        played.saw("a repeated payment", |e| matches!(e, Event::PaymentRepeated { .. }));
        played.holds();
    });
}

/// Somebody is paid, and nobody is up to note it, or to ask again, for forty minutes.
fn asked_again_after_forty_minutes(key_retention: Duration, tell: impl Fn(&Played)) {
    let mut scenario = one_period("table-key");
    scenario.payout.key_retention = key_retention;
    let nobody = Harm::Crash { host: Target::AllNodes, back_after: 40.minutes() };
    both_of(&scenario, &fault(nobody, after("outbox.pay")), tell);
}

/// The service has forgotten the key by then.
#[test]
fn a_key_that_is_forgotten_protects_no_more() {
    asked_again_after_forty_minutes(30.minutes(), |played| played.breaks(&[Letter::Two]));
}

/// The control: it remembers the key for longer than anybody waits.
#[test]
fn a_key_that_is_remembered_protects() {
    asked_again_after_forty_minutes(2.hours(), |played| {
        played.saw("a repeated payment", |e| matches!(e, Event::PaymentRepeated { .. }));
        played.holds();
    });
}
