//! The settlement is committed, and the answer to COMMIT never arrives: the node that settled does not know it.

use crate::stage::{Played, before, both, fault, reply_lost};
use onceproof::id::{HostId, Letter};
use onceproof::trace::{Belief, Event};

fn commit_unanswered(strategy: &str, tell: impl Fn(&Played)) {
    both(strategy, &fault(reply_lost(HostId::Database), before("tx.commit")), |played| {
        let settled = played.first("a settlement", |e| matches!(e, Event::Settled { .. }));
        assert!(settled <= played.first("a lost answer", |e| matches!(e, Event::ReplyLost { from: HostId::Database, .. })));
        assert!(played.believed(Belief::Failed) > 0, "nobody was mistaken");
        assert_eq!(played.settlements(), 1, "whoever settles again was not told by the database");
        tell(played);
    });
}

/// Its committer believes in a failure: it pays nobody, and does not set the row to completed.
#[test]
fn who_does_not_know_that_it_settled_pays_nobody() {
    commit_unanswered("dual-published", |played| {
        played.never_saw("a payment", |e| matches!(e, Event::Paid { .. }));
        played.breaks(&[Letter::K, Letter::L]);
    });
}

/// The control: settlement, status and payments were one transaction, and whoever looks next sees all of it.
#[test]
fn what_was_one_transaction_needs_no_answer() {
    for strategy in ["table-key", "version-reclaim", "dual-guard"] {
        commit_unanswered(strategy, |played| {
            assert_eq!(played.count(|e| matches!(e, Event::Paid { .. })), 3);
            played.holds();
        });
    }
}
