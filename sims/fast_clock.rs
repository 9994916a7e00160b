//! One node's clock is four and a half minutes fast: it comes before the period has ended.

use crate::stage::{N0, Played, both_of, fault, one_period};
use onceproof::id::{HostId, Letter};
use onceproof::plan::{Harm, Trigger};
use onceproof::scenario::Scenario;
use onceproof::trace::{Belief, Event};

fn early_node(strategy: &str, tell: impl Fn(&Played)) {
    let plan = fault(Harm::ClockOffset { host: N0, by_ms: 270_000 }, Trigger::start());
    // Few earnings: none falls into the settlement transaction, which is another story (`late_earning`).
    both_of(&Scenario { earnings: 2, ..one_period(strategy) }, &plan, |played| {
        let came = played.first("the early node", |e| matches!(e, Event::AttemptBegan { .. }));
        assert!(came < played.due(), "it came at {came}, not early");
        tell(played);
    });
}

/// "My clock is past the end" is all it asks.
#[test]
fn who_trusts_its_own_clock_settles_early() {
    early_node("table-key-published", |played| {
        assert_eq!(played.authors(|e| matches!(e, Event::Settled { .. })), [HostId::node(0)]);
        assert!(played.first("a settlement", |e| matches!(e, Event::Settled { .. })) < played.due());
        played.breaks(&[Letter::E]);
    });
}

/// The control: the transaction asks the database's clock, which is true. The early node has
/// worked in vain, and the period is settled once it has ended.
#[test]
fn who_asks_the_database_waits() {
    for strategy in ["table-key", "lease-fenced", "dual-guard"] {
        early_node(strategy, |played| {
            assert!(played.first("a settlement", |e| matches!(e, Event::Settled { .. })) >= played.due());
            assert!(played.believed(Belief::Busy) + played.believed(Belief::Failed) > 0, "the early attempt was not turned away");
            played.holds();
        });
    }
}
