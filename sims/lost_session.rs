//! An advisory lock belongs to a session of the database. Whoever loses the session has lost the lock,
//! works on, and settles over a new connection; whoever falls silent keeps both until the server's kernel asks.

use crate::stage::{before, both, fault, one_period, pause};
use onceproof::id::HostId;
use onceproof::plan::{Direction, Harm, Target};
use onceproof::seed::Seed;
use onceproof::time::Span;
use onceproof::trace::{Event, Phase, Record};
use onceproof::world::{Deployment, EngineKind};
use std::time::Duration;

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

/// Plays the loss of power of the holder in the middle of its job, in real lengths: when its client is found gone, and how
/// often the period was settled after that.
fn loses_power(back_after: Duration) -> (Duration, usize) {
    let mut scenario = one_period("advisory-lock");
    scenario.liveness_bound = 6.hours();
    let deployment = Deployment::new(&scenario, EngineKind::Event).expect("the scenario is good");
    let plan = fault(Harm::Power { host: Target::Self_, back_after }, before("work.3"));
    let run = deployment.run(Seed(2026), &plan).expect("a story can be simulated");
    let when = |is: fn(&Event) -> bool| run.trace.records().iter().find(|record| is(&record.event)).map(|record| record.at);
    let took = when(|e| matches!(e, Event::Step { step: "advisory.take", phase: Phase::After, .. })).expect("somebody takes the lock");
    let gone = when(|e| matches!(e, Event::ClientGone { .. })).expect("the client is found gone");
    let settled = |record: &&Record| matches!(record.event, Event::Settled { .. }) && record.at > gone;
    (gone.since(took), run.trace.records().iter().filter(settled).count())
}

/// A client without power says nothing, and the server waits for it: the first probe after two idle hours finds a host
/// that does not know the connection, and the lock is free.
#[test]
fn silence_keeps_the_lock_for_two_hours() {
    let (kept, settled) = loses_power(5.minutes());
    // Two hours after the last segment, which came before the lock was held.
    assert!((2.hours().saturating_sub(1.seconds())..2.hours()).contains(&kept), "kept for {kept:?}");
    assert_eq!(settled, 1);
}

/// A host that stays silent answers no probe: nine of them, 75 s apart, and the lock is free.
#[test]
fn a_silent_host_keeps_the_lock_for_eleven_minutes_more() {
    let (kept, settled) = loses_power(4.hours());
    let long: Duration = 2.hours() + 9 * 75.seconds();
    assert!((long.saturating_sub(1.seconds())..long).contains(&kept), "kept for {kept:?}");
    assert_eq!(settled, 1);
}

/// The control: a holder that sleeps for longer than any probe, on a host that answers, is not gone.
#[test]
fn a_host_that_answers_is_not_gone() {
    let mut scenario = one_period("advisory-lock");
    scenario.liveness_bound = 6.hours();
    scenario.node.work = 3.hours();
    let cut_off =
        Harm::Partition { host: Target::Self_, from: Target::Host(HostId::Database), direction: Direction::Both, lasts: 1.hours() };
    let deployment = Deployment::new(&scenario, EngineKind::Event).expect("the scenario is good");
    let run = deployment.run(Seed(2026), &fault(cut_off, before("work.2"))).expect("a story can be simulated");
    assert!(run.trace.events().all(|e| !matches!(e, Event::ClientGone { .. })));
    assert_eq!(run.trace.events().filter(|e| matches!(e, Event::Settled { .. })).count(), 1);
}
