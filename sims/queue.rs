//! A task in a queue: from when it is popped, it is nowhere but in the process that popped it.
//! Where it is moved instead, and asked for again when nobody says that it is done, it may be lost,
//! late and doubled: the marker in the transaction of the effect is what decides.

use crate::stage::{Played, after, before, both, crash, fault, one_period, pause};
use onceproof::id::{HostId, Letter};
use onceproof::plan::{FaultPlan, Harm, Target, Trigger};
use onceproof::scenario::Scenario;
use onceproof::time::Span;
use onceproof::trace::{Event, Phase, Proof};

fn popped(event: &Event) -> bool {
    matches!(event, Event::Popped { .. })
}

fn moved(event: &Event) -> bool {
    matches!(event, Event::Moved { .. })
}

/// The message comes after the job: all three find none. Each leaves one.
#[test]
fn a_message_that_comes_after_the_job_keeps_nobody_out() {
    both("queue-marker", &FaultPlan::none(), |played| {
        assert_eq!(played.count(|e| matches!(e, Event::Pushed { .. })), 3);
        assert_eq!(played.settlements(), 3);
        played.breaks(&[Letter::D]);
    });
}

/// Calm: one node puts the task into the list, one takes it out, one settles.
#[test]
fn a_task_is_pushed_once_and_taken_once() {
    for strategy in ["queue-consumer", "queue-reliable"] {
        both(strategy, &FaultPlan::none(), |played| {
            assert_eq!(played.count(|e| matches!(e, Event::Pushed { .. })), 1);
            assert_eq!(played.settlements(), 1);
            played.holds();
        });
    }
}

/// The consumer dies with the task in its hands.
#[test]
fn a_task_dies_with_whoever_popped_it() {
    both("queue-consumer", &fault(crash(5.minutes()), before("work.3")), |played| {
        let died = played.first("a death", |e| matches!(e, Event::Crashed { .. }));
        assert!(played.first("a pop", popped) < died);
        assert_eq!(played.settlements(), 0);
        played.breaks(&[Letter::L]);
    });
}

/// The control: moved, not popped. When the visibility timeout is over, it is put in again.
#[test]
fn a_task_that_was_moved_is_done_by_another() {
    both("queue-reliable", &fault(crash(5.minutes()), before("work.3")), |played| {
        let died = played.first("a death", |e| matches!(e, Event::Crashed { .. }));
        assert!(played.first("a message that was moved", moved) < died);
        let again = played.records().iter().find(|r| r.at > died && matches!(r.event, Event::Pushed { .. }));
        assert!(again.is_some(), "nobody put it in again");
        assert_eq!((played.count(moved), played.settlements()), (2, 1));
        played.holds();
    });
}

/// The pop took it out, and its answer was lost; nobody has heard of it.
#[test]
fn a_task_is_lost_with_the_answer_to_its_pop() {
    let lost = |step: &str| {
        FaultPlan::of((0..3).map(|node| {
            let when = Trigger::Step { step: step.to_owned(), phase: Phase::Sent, nth: 1, node: Some(HostId::node(node)) };
            Harm::ReplyLost { host: Target::Self_, from: Target::Host(HostId::Lease) }.when(when)
        }))
    };
    both("queue-consumer", &lost("queue.pop"), |played| {
        played.saw("a pop", popped);
        assert_eq!(played.settlements(), 0);
        played.breaks(&[Letter::L]);
    });
    // The control: it is still in the list of what is worked on.
    both("queue-reliable", &lost("queue.take"), |played| {
        played.saw("a message that was moved", moved);
        assert_eq!(played.settlements(), 1);
        played.holds();
    });
}

/// The store restarts empty while the message is worked on: there is nothing to acknowledge, and nothing is missed.
#[test]
fn a_queue_that_is_lost_is_filled_again_from_the_database() {
    let wipe = || Harm::LeaseWipe { store: HostId::Lease, back_after: 10.seconds() };
    let lost = |played: &Played| {
        played.saw("a message that was lost", |e| matches!(e, Event::MessageLost { .. }));
        played.saw("the proof", |e| matches!(e, Event::Felt { proof: Proof::MessageLost { .. } | Proof::LeaseLost { .. }, .. }));
    };
    both("queue-reliable", &fault(wipe(), before("work.3")), |played| {
        lost(played);
        assert_eq!(played.settlements(), 1);
        played.holds();
    });
    // Before anybody has taken it.
    both("queue-reliable", &fault(wipe(), after("queue.push")), |played| {
        lost(played);
        assert_eq!(played.settlements(), 1);
        played.holds();
    });
    // The control, to which the same queue was all it had.
    let emptied = fault(wipe(), before("queue.push"));
    both("queue-consumer", &emptied, |played| {
        assert_eq!(played.settlements(), 0);
        played.breaks(&[Letter::L]);
    });
}

/// The consumer stops for longer than the visibility timeout, another gets the message and settles, and
/// the first wakes and goes on: its marker is there already.
#[test]
fn of_two_that_work_on_one_message_one_settles() {
    both("queue-reliable", &fault(pause(40.minutes()), before("tx.begin")), |played| {
        assert_eq!(played.count(moved), 2);
        let rolled_back = played
            .first("a settlement that came to nothing", |e| matches!(e, Event::Step { step: "tx.rollback", phase: Phase::After, .. }));
        assert!(played.first("a settlement", |e| matches!(e, Event::Settled { .. })) < rolled_back);
        assert_eq!(played.settlements(), 1);
        played.holds();
    });
}

/// A visibility timeout that is shorter than the job gives the message to one after the other while the first still works.
#[test]
fn a_short_visibility_timeout_costs_work_and_nothing_else() {
    let mut scenario: Scenario = one_period("queue-reliable");
    scenario.queue.visibility = 30.seconds();
    crate::stage::both_of(&scenario, &FaultPlan::none(), |played| {
        assert!(played.count(moved) > 1, "nobody was given the message of another");
        assert_eq!(played.settlements(), 1);
        played.holds();
    });
}

/// A queue delivers at least once: the task comes again when it is done.
#[test]
fn a_task_that_is_delivered_again_is_done_again() {
    both("queue-consumer", &fault(Harm::Redeliver, after("tx.commit")), |played| {
        let again = played.first("a task that comes again", |e| matches!(e, Event::Redelivered { .. }));
        assert!(played.first("a settlement", |e| matches!(e, Event::Settled { .. })) < again);
        assert_eq!(played.settlements(), 2);
        played.breaks(&[Letter::D]);
    });
}

/// The control: while the first works the second gets it too, and finds the marker of the first.
#[test]
fn a_message_that_is_delivered_again_changes_nothing() {
    both("queue-reliable", &fault(Harm::Redeliver, before("work.3")), |played| {
        played.saw("a message that comes again", |e| matches!(e, Event::Redelivered { .. }));
        played.saw("a settlement that came to nothing", |e| matches!(e, Event::Step { step: "tx.rollback", phase: Phase::After, .. }));
        assert_eq!(played.settlements(), 1);
        played.holds();
    });
}
