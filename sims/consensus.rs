//! A replicated log of three members: what it grants while its leader dies, is cut off or sleeps,
//! and what no grant can keep a sleeper from.

use crate::stage::{Played, after, before, both, both_made, both_of, cut, fault, one_period, pause};
use onceproof::class::FaultClass;
use onceproof::explore::Staged;
use onceproof::id::{HostId, Letter};
use onceproof::plan::{FaultPlan, Harm, Moved, Target, Trigger};
use onceproof::scenario::Scenario;
use onceproof::seed::Seed;
use onceproof::time::{SimTime, Span};
use onceproof::trace::{Belief, Event};
use onceproof::world::{Deployment, EngineKind};
use std::collections::BTreeSet;

fn is_grant(event: &Event) -> bool {
    matches!(event, Event::LogGranted { .. })
}

fn is_settlement(event: &Event) -> bool {
    matches!(event, Event::Settled { .. })
}

/// When a member began to lead, and who.
fn leaders(played: &Played) -> Vec<(SimTime, HostId)> {
    let leads = |r: &onceproof::trace::Record| match r.event {
        Event::LogLeads { host, .. } => Some((r.at, host)),
        _ => None,
    };
    played.records().iter().filter_map(leads).collect()
}

/// Who leads at the first grant when nothing goes wrong: a run with a fault is the same until it strikes.
fn leader(deployment: &Deployment) -> HostId {
    let calm = deployment.run(Seed(2026), &FaultPlan::none()).expect("a story can be simulated");
    let through = |event: &Event| if let Event::LogGranted { through, .. } = event { Some(*through) } else { None };
    calm.trace.events().find_map(through).expect("somebody grants")
}

/// Plays a story in which something happens to whoever leads, at a step; lengths are real.
fn leader_struck(strategy: &str, harm: impl Fn(Target) -> Harm, when: impl Fn() -> Trigger, tell: impl Fn(&Played)) {
    let plan = |deployment: &Deployment| {
        let real = fault(harm(Target::Host(leader(deployment))), when());
        real.scaled_onto(deployment.scenario().time_scale, |at| Some(Moved::to(at)))
    };
    both_made(&one_period(strategy), plan, tell);
}

/// Undisturbed, one node is granted the job, works, and pays.
#[test]
fn one_node_settles_and_the_log_knows() {
    for strategy in ["consensus-log", "consensus-lease"] {
        both(strategy, &FaultPlan::none(), |played| {
            assert_eq!((leaders(played).is_empty(), played.count(is_grant)), (false, 1));
            assert_eq!((played.settlements(), played.believed(Belief::Settled)), (1, 1));
            played.holds();
        });
    }
}

/// Nothing fails and latencies are short: one leader, no election, and a grant within seconds, whatever the seed.
#[test]
fn a_healthy_log_grants_at_once() {
    for strategy in ["consensus-log", "consensus-lease"] {
        let deployment = Deployment::new(&one_period(strategy), EngineKind::Event).expect("the default scenario is good");
        for seed in (1..=200).map(Seed) {
            let run = deployment.run(seed, &FaultPlan::none()).expect("a calm run can be simulated");
            let events = || run.trace.records().iter();
            let leaderships = events().filter(|r| matches!(r.event, Event::LogLeads { .. })).count();
            assert_eq!(leaderships, 1, "{strategy}, seed {seed}");
            let asked = events().find(|r| matches!(r.event, Event::Step { step: "log.grant", .. })).expect("somebody asks").at;
            let granted = events().find(|r| is_grant(&r.event)).expect("somebody is granted").at;
            assert!(granted.since(asked) < 5.seconds(), "{strategy}, seed {seed}: granted after {:?}", granted.since(asked));
        }
    }
}

/// A leadership is told when its leader is elected, not when somebody catches up with it: once, and no two at a time.
#[test]
fn a_leadership_is_told_when_it_begins() {
    for strategy in ["consensus-log", "consensus-lease"] {
        let deployment = Deployment::new(&Scenario::calm(strategy), EngineKind::Event).expect("the default scenario is good");
        let mut leaderships = 0;
        for seed in (1..=40).map(Seed) {
            let staged = Staged::of(&deployment, FaultClass::LogFault, seed);
            let run = staged.run(seed, &staged.plan(FaultClass::LogFault, seed)).expect("the catalogue is well behaved");
            let (mut times, mut terms, mut down) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
            for record in run.trace.records() {
                match record.event {
                    Event::Crashed { host } | Event::PoweredOff { host } | Event::Paused { host } => drop(down.insert(host)),
                    Event::Booted { host, .. } | Event::Resumed { host } => drop(down.remove(&host)),
                    Event::LogLeads { host, term } => {
                        leaderships += 1;
                        assert!(times.insert(record.at), "{strategy}, seed {seed}: two begin to lead at {:?}", record.at);
                        assert!(terms.insert((term, host)), "{strategy}, seed {seed}: {host} twice in term {term}");
                        assert!(!down.contains(&host), "{strategy}, seed {seed}: {host} is down");
                    }
                    _ => {}
                }
            }
        }
        assert!(leaderships > 50, "{strategy}: {leaderships} leaderships: nothing tested");
    }
}

/// Between the periods the members rest: fifteen days later the same one leads, and nobody had to be elected.
#[test]
fn members_rest_between_periods() {
    both_of(&Scenario::calm("consensus-log"), &FaultPlan::none(), |played| {
        assert_eq!(leaders(played).len(), 1);
        played.holds();
    });
}

/// The leader dies as soon as it has granted the lease. What it granted is in the log: whoever
/// leads next refuses the others, and lets the holder renew.
#[test]
fn a_lease_outlives_the_leader_that_granted_it() {
    leader_struck(
        "consensus-lease",
        |host| Harm::Crash { host, back_after: 5.minutes() },
        || after("log.grant"),
        |played| {
            let died = played.first("a dead leader", |e| matches!(e, Event::Crashed { .. }));
            let settled = played.first("a settlement", is_settlement);
            assert!(leaders(played).iter().any(|(at, _)| died < *at && *at < settled), "nobody else led: nothing tested");
            assert_eq!(played.records().iter().filter(|r| is_grant(&r.event) && r.at < settled).count(), 1, "granted twice");
            assert!(played.believed(Belief::Busy) > 0, "nobody was refused");
            assert_eq!(played.settlements(), 1);
            played.holds();
        },
    );
}

/// It dies while the request for the grant is on its way to it: nobody knows what became of it, and asking again is safe.
#[test]
fn a_grant_whose_leader_dies_in_the_middle_is_asked_for_again() {
    let sent = || Trigger::nth("log.decide", onceproof::trace::Phase::Sent, 1);
    leader_struck(
        "consensus-log",
        |host| Harm::Power { host, back_after: 5.minutes() },
        sent,
        |played| {
            let died = played.first("a dead leader", |e| matches!(e, Event::PoweredOff { .. }));
            assert!(died < played.first("a decision", |e| matches!(e, Event::LogDecided { .. })));
            assert_eq!((played.settlements(), leaders(played).len() > 1), (1, true));
            played.holds();
        },
    );
}

/// The leader stops for forty minutes and wakes believing that it leads: nobody follows it.
#[test]
fn a_leader_that_wakes_decides_nothing() {
    leader_struck(
        "consensus-log",
        |host| Harm::Pause { host, lasts: 40.minutes() },
        || before("work.2"),
        |played| {
            assert!(leaders(played).len() > 1, "nobody else led: nothing tested");
            assert_eq!(played.settlements(), 1);
            played.holds();
        },
    );
}

/// The holder reaches everything but the log, and its job takes longer than its lease: it is told in time, and another takes over.
#[test]
fn a_holder_that_is_cut_from_the_log_stops() {
    let cuts = (0..3).map(|n| cut(HostId::Log(n), 40.minutes()).when(before("work.1")));
    let mut scenario = one_period("consensus-lease");
    scenario.node.work = 10.minutes();
    both_of(&scenario, &FaultPlan::of(cuts), |played| {
        let gave_up = played.first("an attempt that was given up", |e| matches!(e, Event::AttemptEnded { belief: Belief::Failed, .. }));
        assert!(gave_up < played.first("a settlement", is_settlement) && played.count(is_grant) > 1);
        assert_eq!(played.settlements(), 1);
        played.holds();
    });
}

/// Two of three members are down: the third grants nothing, and everything is settled when they are back.
#[test]
fn a_minority_decides_nothing() {
    let down = |n| Harm::Crash { host: Target::Host(HostId::Log(n)), back_after: 40.minutes() }.when(before("work.2"));
    both("consensus-log", &FaultPlan::of([down(0), down(1)]), |played| {
        let back = played.first("a member that is back", |e| matches!(e, Event::Booted { incarnation: 1, .. }));
        assert!(back < played.first("a settlement", is_settlement));
        assert_eq!(played.settlements(), 1);
        played.holds();
    });
}

fn holder_sleeps(strategy: &str, step: onceproof::trace::StepName, tell: impl Fn(&Played)) {
    both(strategy, &fault(pause(40.minutes()), before(step)), |played| {
        assert!(played.first("a settlement", is_settlement) < played.first("the waking", |e| matches!(e, Event::Resumed { .. })));
        tell(played);
    });
}

/// The sleeper was decided for and has not committed. Another carries the decision out, under the
/// sleeper's number, and the sleeper finds that when it wakes.
#[test]
fn a_decision_is_carried_out_once() {
    holder_sleeps("consensus-log", "tx.begin", |played| {
        assert_eq!((played.count(is_grant), played.count(|e| matches!(e, Event::LogDecided { .. }))), (1, 1));
        assert_eq!(played.settlements(), 1);
        played.holds();
    });
}

/// The sleeper had done its work and was not decided for: another was granted the period, and decided it.
#[test]
fn a_stale_grant_decides_nothing() {
    holder_sleeps("consensus-log", "log.decide", |played| {
        assert_eq!((played.count(is_grant), played.count(|e| matches!(e, Event::LogDecided { .. }))), (2, 1));
        assert_eq!(played.settlements(), 1);
        played.holds();
    });
}

/// The control: a lease, from whatever store, keeps nobody from committing who has stopped looking at it.
#[test]
fn a_lease_from_a_log_is_a_lease() {
    holder_sleeps("consensus-lease", "tx.begin", |played| {
        assert_eq!((played.count(is_grant), played.settlements()), (2, 2));
        played.breaks(&[Letter::D, Letter::S]);
    });
}
