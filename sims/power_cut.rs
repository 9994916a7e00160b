//! A node loses power in the middle of its job: nobody is told, not even by a closed socket.

use crate::stage::{Played, after, before, both, fault};
use onceproof::id::Letter;
use onceproof::plan::{Harm, Target, Trigger};
use onceproof::time::Span;
use onceproof::trace::{Event, TaskStatus};

fn power_goes(strategy: &str, when: Trigger, tell: impl Fn(&Played)) {
    let plan = fault(Harm::Power { host: Target::Self_, back_after: 5.minutes() }, when);
    both(strategy, &plan, |played| {
        played.saw("a host without power", |e| matches!(e, Event::PoweredOff { .. }));
        tell(played);
    });
}

#[test]
fn a_claim_of_a_dead_host_is_stuck() {
    power_goes("version-published", before("work.3"), |played| played.breaks(&[Letter::K, Letter::L]));
}

/// The control: its heart no longer beats, so the claim is taken over.
#[test]
fn a_claim_without_a_heartbeat_is_taken_over() {
    for strategy in ["version-reclaim", "dual-guard"] {
        power_goes(strategy, before("work.3"), |played| {
            played.saw("a second claim", |e| matches!(e, Event::TaskSet { status: TaskStatus::Executing, attempt: 2, .. }));
            played.holds();
        });
    }
}

/// Inside the transaction it leaves an open one behind, on a connection that looks alive. The
/// server ends it after a minute, or nobody could write any more.
#[test]
fn an_open_transaction_of_a_dead_host_is_ended() {
    power_goes("table-key", after("tx.ranking"), |played| {
        played.saw("a transaction that the server ended", |e| matches!(e, Event::IdleInTransaction { .. }));
        assert_eq!(played.settlements(), 1);
        played.holds();
    });
}
