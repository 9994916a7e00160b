//! A process dies between COMMIT and the first payment: the period is settled, and nobody is paid.

use crate::stage::{Played, after, both, crash, fault};
use onceproof::id::Letter;
use onceproof::time::Span;
use onceproof::trace::Event;

fn committer_dies(strategy: &str, tell: impl Fn(&Played)) {
    both(strategy, &fault(crash(5.minutes()), after("tx.commit")), |played| {
        let settled = played.first("a settlement", |e| matches!(e, Event::Settled { .. }));
        let died = played.first("a dead committer", |e| matches!(e, Event::Crashed { .. }));
        assert!(settled <= died);
        tell(played);
    });
}

/// Whoever committed pays, and it is dead. For everybody else there is nothing left to do.
#[test]
fn who_pays_after_the_commit_pays_nobody() {
    committer_dies("lease-set-px-checked", |played| {
        played.never_saw("a payment", |e| matches!(e, Event::Paid { .. }));
        played.breaks(&[Letter::L]);
    });
}

/// What is to be paid was committed with the settlement, and any node can deliver it.
#[test]
fn an_outbox_is_emptied_by_another_node() {
    for strategy in ["table-key", "version-reclaim", "dual-guard"] {
        committer_dies(strategy, |played| {
            let queued = played.authors(|e| matches!(e, Event::Queued { .. }));
            let delivered = played.authors(|e| matches!(e, Event::Delivered { .. }));
            assert_eq!((queued.len(), delivered.len()), (3, 3));
            assert!(delivered.iter().all(|by| *by != queued[0]), "delivered by {delivered:?}, queued by {queued:?}");
            played.holds();
        });
    }
}
