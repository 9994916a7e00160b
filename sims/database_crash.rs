//! The database dies while a COMMIT is on its way to it, and is back after ten seconds. Whether
//! the settlement was committed is known to the database alone.

use crate::stage::{Played, both, fault, sent};
use onceproof::id::{HostId, Letter};
use onceproof::plan::{Harm, Target};
use onceproof::time::Span;
use onceproof::trace::Event;

fn database_dies_at_the_commit(strategy: &str, tell: impl Fn(&Played)) {
    let harm = Harm::Crash { host: Target::Host(HostId::Database), back_after: 10.seconds() };
    both(strategy, &fault(harm, sent("tx.commit")), |played| {
        played.saw("a dead database", |e| matches!(e, Event::Crashed { host: HostId::Database }));
        played.saw("a database that is back", |e| matches!(e, Event::Booted { host: HostId::Database, incarnation: 1 }));
        tell(played);
    });
}

/// Committed or not, the next attempt finds out: the marker is there, or the claim is.
#[test]
fn the_next_attempt_finds_out() {
    for strategy in ["table-key", "version-reclaim", "dual-guard"] {
        database_dies_at_the_commit(strategy, |played| {
            assert_eq!(played.settlements(), 1);
            played.holds();
        });
    }
}

/// The control: one attempt, an error, and no way back.
#[test]
fn without_a_next_attempt_it_is_stuck() {
    database_dies_at_the_commit("version-published", |played| played.breaks(&[Letter::K, Letter::L]));
}
