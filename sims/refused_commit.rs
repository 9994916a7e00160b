//! The database refuses to commit a settlement, or ends the session in the middle of it: nothing
//! of it remains, and whoever is told so may try again.

use crate::stage::{Played, before, both, fault};
use onceproof::id::Letter;
use onceproof::plan::{Harm, Target};
use onceproof::trace::{Event, TaskStatus};

fn refused(strategy: &str, tell: impl Fn(&Played)) {
    both(strategy, &fault(Harm::CommitFails { host: Target::Self_ }, before("tx.commit")), |played| {
        let refused = played.first("a refused commit", |e| matches!(e, Event::CommitRefused { .. }));
        let early = |r: &onceproof::trace::Record| r.at <= refused && matches!(r.event, Event::Settled { .. });
        assert!(!played.records().iter().any(early), "what was refused is not committed");
        tell(played);
    });
}

fn ended(strategy: &str, tell: impl Fn(&Played)) {
    both(strategy, &fault(Harm::SessionEnds { host: Target::Self_ }, before("tx.points")), |played| {
        played.saw("an ended session", |e| matches!(e, Event::SessionEnded { .. }));
        tell(played);
    });
}

#[test]
fn who_may_try_again_does() {
    for strategy in ["table-key", "version-reclaim", "lease-fenced", "dual-guard"] {
        refused(strategy, |played| {
            assert_eq!(played.settlements(), 1);
            played.holds();
        });
        ended(strategy, |played| {
            assert_eq!(played.settlements(), 1);
            played.holds();
        });
    }
}

/// The control: a failure that is final loses the period.
#[test]
fn who_may_not_loses_the_period() {
    let loses = |played: &Played| {
        played.saw("a failed task", |e| matches!(e, Event::TaskSet { status: TaskStatus::Failed, .. }));
        assert_eq!(played.settlements(), 0);
        played.breaks(&[Letter::L]);
    };
    refused("version-published", loses);
    ended("version-published", loses);
}
