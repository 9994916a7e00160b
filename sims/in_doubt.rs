//! The coordinator of a two-phase commit is gone between the phases: both stores have promised, and
//! nobody has said how it ends. What was prepared keeps its locks until somebody does.

use crate::stage::{Played, after, before, both, crash, fault, pause};
use onceproof::id::{HostId, Letter};
use onceproof::plan::{Harm, Target};
use onceproof::time::Span;
use onceproof::trace::{Belief, Event};

/// How each part that was prepared ended, in order.
fn ends(played: &Played) -> Vec<bool> {
    played
        .records()
        .iter()
        .filter_map(|r| if let Event::PreparedEnded { committed, .. } = r.event { Some(committed) } else { None })
        .collect()
}

/// Who ended the first part, and whether by a commit.
fn first_end(played: &Played) -> (HostId, bool) {
    let end = |e: &Event| if let Event::PreparedEnded { by, committed, .. } = *e { Some((by, committed)) } else { None };
    played.records().iter().find_map(|r| end(&r.event)).expect("somebody ended it")
}

fn victim(played: &Played) -> HostId {
    let dies = |e: &Event| if let Event::Crashed { host } | Event::Paused { host } = *e { Some(host) } else { None };
    played.records().iter().find_map(|r| dies(&r.event)).expect("the fault struck")
}

/// Nobody else knows of it: the marker is locked, and the period is never settled.
#[test]
fn nobody_asks_and_it_stays_so() {
    both("two-phase-commit-no-recovery", &fault(crash(5.minutes()), after("payout.prepare")), |played| {
        played.saw("a prepared transaction", |e| matches!(e, Event::Prepared { .. }));
        played.saw("prepared payments", |e| matches!(e, Event::PaymentsPrepared { .. }));
        assert!(ends(played).is_empty() && played.settlements() == 0);
        assert!(played.broke("nothing-stuck").ends_with("is still in doubt"), "{}", played.broke("nothing-stuck"));
        played.breaks(&[Letter::L, Letter::K]);
    });
}

/// The control: nobody has decided to commit, so another node decides that it does not, and settles.
#[test]
fn no_decision_is_an_abort() {
    both("two-phase-commit", &fault(crash(40.minutes()), after("payout.prepare")), |played| {
        let (by, committed) = first_end(played);
        assert!(by != victim(played) && !committed, "{by} ended it, committed: {committed}");
        played.saw("payments that were given up", |e| matches!(e, Event::PaymentsEnded { committed: false, .. }));
        assert_eq!((ends(played), played.settlements()), (vec![false, true], 1));
        played.holds();
    });
}

/// The commit was decided: another node makes it, of both parts or of what is left.
#[test]
fn a_decision_is_brought_to_its_end() {
    for step in ["decide", "db.end"] {
        both("two-phase-commit", &fault(crash(40.minutes()), after(step)), |played| {
            let paid = |e: &Event| matches!(*e, Event::PaymentsEnded { by, committed: true, .. } if by != victim(played));
            played.saw("payments made by another", paid);
            assert_eq!((ends(played), played.settlements()), (vec![true], 1), "after {step}");
            played.holds();
        });
    }
}

/// The coordinator is not dead. When it wakes up, its commit is off, and it reads so.
#[test]
fn who_wakes_up_obeys_the_decision() {
    both("two-phase-commit", &fault(pause(40.minutes()), before("decide")), |played| {
        let (by, committed) = first_end(played);
        assert!(by != victim(played) && !committed);
        assert_eq!((played.settlements(), played.believed(Belief::Settled)), (1, 1));
        played.holds();
    });
}

/// The database's process dies as well: what it has prepared is there when it is back.
#[test]
fn what_is_prepared_survives_the_server() {
    let harm = Harm::Crash { host: Target::Host(HostId::Database), back_after: 10.seconds() };
    both("two-phase-commit", &fault(harm, after("decide")), |played| {
        let back = played.first("a restart", |e| matches!(e, Event::Booted { host: HostId::Database, incarnation: 1 }));
        assert!(back < played.first("the commit", |e| matches!(e, Event::PreparedEnded { committed: true, .. })));
        assert_eq!(played.settlements(), 1);
        played.holds();
    });
}
