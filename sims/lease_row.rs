//! A lease in a row of the database, one attempt a period. It excludes overlap like any lease; what
//! keeps a node that comes late from settling again is the least time for which the row is kept,
//! and by whose clock that is counted.

use crate::stage::{N0, Played, before, both_of, boundary, fault, one_period, pause};
use onceproof::class::FaultClass;
use onceproof::explore::{Mark, observe};
use onceproof::id::Letter;
use onceproof::plan::{FaultPlan, Harm, Trigger};
use onceproof::scenario::{LeaseRowKnobs, Over, RowClock, RowKey, Scenario};
use onceproof::seed::Seed;
use onceproof::settlement::Schedule;
use onceproof::time::Span;
use onceproof::trace::{Belief, Event};
use onceproof::world::{Deployment, EngineKind};
use std::time::Duration;

fn kept(clock: RowClock, at_least: Duration) -> Scenario {
    Scenario { lease_row: LeaseRowKnobs { clock, at_least, ..LeaseRowKnobs::default() }, ..one_period("lease-row") }
}

/// n0's clock is slow by four and a half minutes: it comes when the others are done, two minutes after the boundary.
fn one_comes_late(scenario: &Scenario, tell: impl Fn(&Played)) {
    let slow = Harm::ClockOffset { host: N0, by_ms: -270_000 };
    both_of(scenario, &FaultPlan::of([slow.when(Trigger::start())]), |played| {
        played.saw("a lease row taken", |e| matches!(e, Event::LeaseRowSet { granted: true, .. }));
        tell(played);
    });
}

/// Whoever comes asks whether the row is over by a clock that shows the boundary. The row was
/// given back two minutes after that, by the clock of its holder.
#[test]
fn by_the_nodes_clocks_a_late_one_is_refused_without_a_least_time() {
    one_comes_late(&kept(RowClock::Application, Duration::ZERO), |played| {
        assert_eq!(played.believed(Belief::Busy), 2);
        played.holds();
    });
}

/// By the one clock that is right the row is over when n0 comes, unless it is kept for longer than the clocks are apart.
#[test]
fn by_the_databases_clock_a_late_one_is_refused_within_the_least_time() {
    for over in [Duration::ZERO, 4.minutes()] {
        one_comes_late(&kept(RowClock::Database, over), |played| {
            assert_eq!(played.settlements(), 2);
            played.breaks(&[Letter::D]);
        });
    }
    one_comes_late(&kept(RowClock::Database, 10.minutes()), Played::holds);
}

/// n0 is not scheduled from before the boundary until the others are long done.
fn one_sleeps_over_it(scenario: &Scenario, tell: impl Fn(&Played)) {
    let sleeps = Harm::Pause { host: N0, lasts: 40.minutes() };
    both_of(scenario, &fault(sleeps, Trigger::At { at_ms: boundary() - 2.minutes() }), tell);
}

/// Its clock is right, so it knows that the row is over.
#[test]
fn who_comes_after_the_least_time_settles_again() {
    for clock in [RowClock::Application, RowClock::Database] {
        one_sleeps_over_it(&kept(clock, 10.minutes()), |played| played.breaks(&[Letter::D]));
    }
}

/// The control: a row that is kept for longer than anybody comes late.
#[test]
fn who_comes_within_the_least_time_does_not() {
    let mut scenario = kept(RowClock::Application, 1.hours());
    scenario.lease_row.at_most = 1.hours();
    one_sleeps_over_it(&scenario, Played::holds);
}

/// The first node stops between reading its clock and sending its statement, for longer than the row is kept.
fn one_asks_late(clock: RowClock, tell: impl Fn(&Played)) {
    both_of(&kept(clock, 10.minutes()), &fault(pause(40.minutes()), before("row.update")), tell);
}

/// It asks whether the row was over forty minutes ago. It was not there then.
#[test]
fn an_old_question_by_the_nodes_clock_is_refused() {
    one_asks_late(RowClock::Application, |played| {
        assert_eq!(played.settlements(), 1);
        played.holds();
    });
}

/// The database knows how late it is, and that the row is over. That another has settled it does not know.
#[test]
fn an_old_question_is_new_to_the_databases_clock() {
    one_asks_late(RowClock::Database, |played| played.breaks(&[Letter::D]));
}

/// An hour's job under a lease of half an hour, kept alive: the row is still its own in the end.
#[test]
fn a_row_is_kept_alive_while_the_job_is_at_work() {
    let mut scenario = kept(RowClock::Database, Duration::ZERO);
    scenario.lease_row.keep_alive = 10.minutes();
    let slow = Harm::SlowStep { extra: 45.minutes() };
    both_of(&scenario, &fault(slow, before("work.3")), |played| {
        assert_eq!(played.count(|e| matches!(e, Event::LeaseRowSet { granted: true, .. })), 1);
        assert!(played.count(|e| matches!(e, Event::LeaseRowSet { granted: false, .. })) >= 4, "nobody kept it alive");
        played.holds();
    });
}

/// What breaks on the event engine, whose milliseconds are exact, and which has room for two periods.
fn broken(scenario: &Scenario, plan: &FaultPlan) -> Vec<Mark> {
    let deployment = Deployment::new(scenario, EngineKind::Event).expect("a story is deployed well");
    let class = if plan.faults.is_empty() { FaultClass::Calm } else { FaultClass::Pause };
    let seen = observe(&deployment, class, Seed(2026), plan).expect("a story can be simulated");
    seen.findings.iter().map(|finding| finding.mark).collect()
}

/// n0 asks in the millisecond in which the row ends: ten minutes after the others asked, to whom it
/// was the boundary.
#[test]
fn a_row_is_over_at_its_end_or_after_it() {
    let sleeps = Harm::Pause { host: N0, lasts: 12.minutes() };
    let plan = fault(sleeps, Trigger::At { at_ms: boundary() - 2.minutes() });
    let ends = |over| {
        let mut scenario = kept(RowClock::Application, 10.minutes());
        (scenario.node.jitter, scenario.lease_row.over) = (Duration::ZERO, over);
        scenario
    };
    assert_eq!(broken(&ends(Over::At), &plan), [Mark::Letter(Letter::D)]);
    assert_eq!(broken(&ends(Over::After), &plan), []);
}

/// The next boundary comes before the least time is over: a row for both keeps everybody from it.
#[test]
fn a_row_for_the_job_keeps_the_next_period_out() {
    let every = |key| {
        let mut scenario = kept(RowClock::Database, 10.minutes());
        scenario.schedule = Schedule::Interval { every: 6.minutes(), periods: 2 };
        scenario.node.attention = 5.minutes();
        scenario.lease_row.key = key;
        scenario
    };
    assert_eq!(broken(&every(RowKey::Job), &FaultPlan::none()), [Mark::Letter(Letter::L)]);
    assert_eq!(broken(&every(RowKey::Period), &FaultPlan::none()), []);
}
