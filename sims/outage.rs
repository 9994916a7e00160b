//! No node is alive from five minutes before the boundary to two hours after it.

use crate::stage::{Played, both, boundary, fault};
use onceproof::id::Letter;
use onceproof::plan::{Harm, Target, Trigger};
use onceproof::time::Span;
use onceproof::trace::Event;

fn nobody_is_there(strategy: &str, tell: impl Fn(&Played)) {
    let dead = Harm::Crash { host: Target::AllNodes, back_after: 2.hours() + 5.minutes() };
    both(strategy, &fault(dead, Trigger::At { at_ms: boundary() - 5.minutes() }), |played| {
        assert_eq!(played.count(|e| matches!(e, Event::Crashed { .. })), 3);
        let back = played.first("a node that is back", |e| matches!(e, Event::Booted { incarnation: 1, .. }));
        assert!(played.due() < back);
        tell(played);
    });
}

/// The boundary lived in the memory of a process. The next one computes the next boundary.
#[test]
fn a_boundary_in_memory_is_forgotten() {
    nobody_is_there("table-key-published", |played| {
        played.never_saw("an attempt", |e| matches!(e, Event::AttemptBegan { .. }));
        played.breaks(&[Letter::L]);
    });
}

/// The control: who asks the database what is not settled yet finds the period.
#[test]
fn what_the_database_knows_is_made_up_for() {
    for strategy in ["table-key", "dual-guard"] {
        nobody_is_there(strategy, |played| {
            assert_eq!(played.settlements(), 1);
            played.holds();
        });
    }
}
