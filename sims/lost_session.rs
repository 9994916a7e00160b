//! An advisory lock belongs to a session of the database. Whoever loses the session has lost the lock,
//! works on, and settles over a new connection; whoever falls silent keeps both.

use crate::stage::{before, both, fault, pause};
use onceproof::id::{HostId, Letter};
use onceproof::plan::{Harm, Target};
use onceproof::time::Span;
use onceproof::trace::Event;

/// The database restarts while the holder is at work: the next one is granted the lock, and both settle.
#[test]
fn the_lock_dies_with_its_session() {
    let harm = Harm::Crash { host: Target::Host(HostId::Database), back_after: 10.seconds() };
    both("advisory-lock", &fault(harm, before("work.3")), |played| {
        assert_eq!(played.settlements(), 2);
        assert!(played.broke("settled-once").contains("then again"), "{}", played.broke("settled-once"));
    });
}

/// The server ends the holder's session alone: so too.
#[test]
fn an_ended_session_gives_the_lock_to_the_next() {
    both("advisory-lock", &fault(Harm::SessionEnds { host: Target::Self_ }, before("work.3")), |played| {
        played.saw("an ended session", |e| matches!(e, Event::SessionEnded { .. }));
        assert_eq!(played.settlements(), 2);
    });
}

/// The control: the holder stops for longer than any lease. Its session is open, and nobody else may work.
#[test]
fn who_sleeps_keeps_the_lock() {
    both("advisory-lock", &fault(pause(40.minutes()), before("work.3")), |played| {
        let woken = played.first("the holder waking up", |e| matches!(e, Event::Resumed { .. }));
        assert!(woken < played.first("a settlement", |e| matches!(e, Event::Settled { .. })));
        assert_eq!(played.settlements(), 1);
        played.holds();
    });
}

/// A client without power says nothing, and the server waits for it: the lock is nobody's and everybody's.
#[test]
fn silence_keeps_the_lock_for_ever() {
    let harm = Harm::Power { host: Target::Self_, back_after: 5.minutes() };
    both("advisory-lock", &fault(harm, before("work.3")), |played| {
        assert_eq!(played.settlements(), 0);
        played.breaks(&[Letter::L]);
    });
}
