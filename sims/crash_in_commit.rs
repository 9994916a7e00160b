//! The node that settles dies, loses power or stops while its COMMIT is under way. The commit
//! stands, although nobody has seen it: the others find the marker and deliver the payments.
//! This is also what says that a fault in the middle of a step strikes after the request has left.

use crate::stage::{before, both, crash, fault, pause, sent};
use onceproof::id::HostId;
use onceproof::plan::{Harm, Target};
use onceproof::time::Span;
use onceproof::trace::Event;

fn struck(event: &Event) -> Option<HostId> {
    match event {
        Event::Crashed { host } | Event::PoweredOff { host } | Event::Paused { host } => Some(*host),
        _ => None,
    }
}

#[test]
fn what_has_left_is_applied() {
    let power = Harm::Power { host: Target::Self_, back_after: 5.minutes() };
    for harm in [crash(5.minutes()), power, pause(40.minutes())] {
        both("table-key", &fault(harm, sent("tx.commit")), |played| {
            let victim = played.records().iter().find_map(|r| struck(&r.event)).expect("the fault struck");
            let at = played.first("the blow", |e| struck(e).is_some());
            assert!(played.first("the commit", |e| matches!(e, Event::Settled { .. })) > at, "it was under way");
            assert_eq!(played.authors(|e| matches!(e, Event::Settled { .. })), [victim], "its commit stands, and is the only one");
            played.holds();
        });
    }
}

/// The control: struck a moment earlier the request has not left, and another node settles.
#[test]
fn what_has_not_left_is_not() {
    both("table-key", &fault(crash(5.minutes()), before("tx.commit")), |played| {
        let victim = played.records().iter().find_map(|r| struck(&r.event)).expect("the fault struck");
        let authors = played.authors(|e| matches!(e, Event::Settled { .. }));
        assert!(authors.len() == 1 && authors[0] != victim, "{authors:?}");
        played.holds();
    });
}
