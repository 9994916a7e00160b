//! A node is paused inside its settlement transaction, which holds what everybody else needs.
//! The server ends a transaction that is idle for a minute, and the others go on.

use crate::stage::{Played, after, both, both_of, fault, one_period, pause};
use onceproof::Rules;
use onceproof::id::Letter;
use onceproof::scenario::Scenario;
use onceproof::time::Span;
use onceproof::trace::{Event, Record, TaskStatus};
use std::time::Duration;

fn sleeper_in_a_transaction(strategy: &str, tell: impl Fn(&Played)) {
    both(strategy, &fault(pause(40.minutes()), after("tx.ranking")), |played| {
        let paused = played.first("a paused node", |e| matches!(e, Event::Paused { .. }));
        let ended = played.first("a transaction that the server ended", |e| matches!(e, Event::IdleInTransaction { .. }));
        let resumed = played.first("the node waking up", |e| matches!(e, Event::Resumed { .. }));
        assert!(paused < ended && ended < resumed);
        tell(played);
    });
}

#[test]
fn others_settle_while_it_sleeps() {
    for strategy in ["table-key", "version-reclaim", "dual-guard"] {
        sleeper_in_a_transaction(strategy, |played| {
            let settled = played.first("a settlement", |e| matches!(e, Event::Settled { .. }));
            assert!(settled < played.first("the node waking up", |e| matches!(e, Event::Resumed { .. })));
            assert_eq!(played.settlements(), 1);
            played.holds();
        });
    }
}

/// It blocks the rows that it changed and nobody else. InnoDB's repeatable read has locked all
/// earnings, because it searched them without an index, and the gaps between: there, players wait too.
#[test]
fn it_blocks_rows_and_not_the_world() {
    for rules in Rules::ALL {
        let mut scenario = Scenario { earnings: 60, ..one_period("table-key") };
        scenario.node.work = Duration::ZERO;
        scenario.node.jitter = Duration::ZERO;
        scenario.database.rules = rules;
        both_of(&scenario, &fault(pause(40.minutes()), after("tx.ranking")), |played| {
            let paused = played.first("a paused node", |e| matches!(e, Event::Paused { .. }));
            let ended = played.first("a transaction that the server ended", |e| matches!(e, Event::IdleInTransaction { .. }));
            let earned = |r: &&Record| paused < r.at && r.at < ended && matches!(r.event, Event::Earned { .. });
            let earnings = played.records().iter().filter(earned).count();
            assert_eq!(earnings == 0, rules == Rules::InnodbRepeatableRead, "{}: {earnings} earnings meanwhile", rules.name());
            assert_eq!(played.settlements(), 1);
            played.holds();
        });
    }
}

/// The control: it wakes, finds its transaction gone, and calls that a failure of the job, which is final.
#[test]
fn a_failure_that_is_final_loses_the_period() {
    sleeper_in_a_transaction("version-published", |played| {
        played.saw("a failed task", |e| matches!(e, Event::TaskSet { status: TaskStatus::Failed, .. }));
        assert_eq!(played.settlements(), 0);
        played.breaks(&[Letter::L]);
    });
}
