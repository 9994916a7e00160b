//! In the middle of its job a node can still hear, but no longer be heard, for 40 minutes.

use crate::stage::{Played, before, both, fault};
use onceproof::id::Letter;
use onceproof::plan::{Direction, Harm, Target};
use onceproof::time::Span;
use onceproof::trace::{Belief, Event};

fn holder_is_not_heard(strategy: &str, tell: impl Fn(&Played)) {
    let cut = Harm::Partition { host: Target::Self_, from: Target::Everyone, direction: Direction::Outbound, lasts: 40.minutes() };
    both(strategy, &fault(cut, before("work.3")), |played| {
        played.saw("a cut link", |e| matches!(e, Event::Cut { .. }));
        assert!(played.believed(Belief::Failed) > 0, "the cut node did not notice");
        tell(played);
    });
}

/// The claim is out, its settlement cannot come, and neither can the word that it failed.
#[test]
fn a_claim_that_cannot_be_given_back_is_stuck() {
    holder_is_not_heard("version-published", |played| {
        assert_eq!(played.settlements(), 0);
        played.breaks(&[Letter::K, Letter::L]);
    });
}

/// Without renewals the lease runs out, without heartbeats the claim; another node settles
/// while the first is still cut off.
#[test]
fn a_lease_that_cannot_be_renewed_passes_on() {
    holder_is_not_heard("dual-guard", |played| {
        played.saw("a lease that ran out", |e| matches!(e, Event::LeaseExpired { .. }));
        let settled = played.first("a settlement", |e| matches!(e, Event::Settled { .. }));
        assert!(settled < played.first("the healing", |e| matches!(e, Event::Healed { .. })));
        played.holds();
    });
}
