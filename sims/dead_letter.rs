//! A job that fails again and again: the period waits longer each time, becomes a dead letter,
//! and a human is called. Until somebody gives it back, nobody settles it.

use crate::stage::{Played, before, both_of, fault, one_period};
use onceproof::id::{HostId, Letter};
use onceproof::plan::Harm;
use onceproof::scenario::Scenario;
use onceproof::time::Span;
use onceproof::trace::{Event, TaskStatus};

/// Three errors are enough to be given up.
fn impatient(strategy: &str) -> Scenario {
    let mut scenario = one_period(strategy);
    scenario.guard.dead_letter_after = 3;
    scenario
}

fn set(played: &Played, wanted: TaskStatus) -> usize {
    played.count(|e| matches!(e, Event::TaskSet { status, .. } if *status == wanted))
}

fn given_up(played: &Played) {
    assert_eq!(set(played, TaskStatus::Failed), 2, "two errors wait for a backoff");
    assert_eq!(set(played, TaskStatus::Dead), 1, "the third gives it up");
    assert_eq!(played.count(|e| matches!(e, Event::Alerted { .. })), 1, "a human is called once");
}

#[test]
fn a_dead_letter_calls_a_human_and_waits() {
    for strategy in ["dual-guard", "version-reclaim"] {
        both_of(&impatient(strategy), &fault(Harm::JobError { times: 3 }, before("work.3")), |played| {
            given_up(played);
            assert_eq!((played.settlements(), played.count(|e| matches!(e, Event::AlertHandled { .. }))), (0, 0));
            played.breaks(&[Letter::L]);
        });
    }
}

#[test]
fn what_a_human_gives_back_is_settled_once() {
    for strategy in ["dual-guard", "version-reclaim"] {
        let mut scenario = impatient(strategy);
        scenario.guard.operator = 20.minutes();
        both_of(&scenario, &fault(Harm::JobError { times: 3 }, before("work.3")), |played| {
            given_up(played);
            let handled = played.first("an alert that somebody has seen to", |e| matches!(e, Event::AlertHandled { .. }));
            let settled = played.first("a settlement", |e| matches!(e, Event::Settled { .. }));
            assert!(handled < settled, "it is settled only when it was given back");
            let by_hand = |e: &Event| matches!(e, Event::Committed { by: HostId::Traffic, .. });
            assert!(played.records().iter().any(|r| r.at == handled && by_hand(&r.event)), "no node gives it back");
            assert_eq!(played.settlements(), 1);
            played.holds();
        });
    }
}
