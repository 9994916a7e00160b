//! A winner is paid, and the answer never arrives: whoever paid asks again.

use crate::stage::{Played, before, both, fault, reply_lost};
use onceproof::id::{HostId, Letter};
use onceproof::trace::{Event, StepName};

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
