//! From when on a run was doomed: it is continued from each of its moments with other luck.

use crate::stage::{before, fault, one_period, pause};
use onceproof::class::FaultClass;
use onceproof::explore::doomed::{Doom, Doomed, Undecidable};
use onceproof::explore::{Observed, Subject, observe};
use onceproof::id::HostId;
use onceproof::invariant::Verdict;
use onceproof::plan::{FaultPlan, Harm, Target, Trigger};
use onceproof::scenario::Scenario;
use onceproof::seed::Seed;
use onceproof::time::{SimTime, Span};
use onceproof::trace::{Event, Record};
use onceproof::world::{Deployment, EngineKind};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

const SEED: Seed = Seed(2026);

fn deployed(scenario: &Scenario) -> Deployment {
    Deployment::new(scenario, EngineKind::Event).expect("it can be deployed")
}

fn doomed(deployment: &Deployment, plan: &FaultPlan, rule: &str) -> (Doom, Observed) {
    let class = if plan.faults.is_empty() { FaultClass::Calm } else { FaultClass::Swarm };
    let seen = observe(deployment, class, SEED, plan).expect("it can be simulated");
    let run = Doomed { deployment, class, seed: SEED, plan, seen: &seen };
    let doom = run.to(rule, 20, 2, &AtomicBool::new(false)).unwrap_or_else(|e| panic!("{e}"));
    (doom, seen)
}

/// Up to the moment the run is the same, record for record; after it, other luck shows: in what
/// nodes, network and players do. Drawn plans of all kinds, wrong clocks of the players among them.
#[test]
fn a_continuation_is_the_same_run_up_to_its_moment() {
    let deployment = deployed(&Scenario::calm("dual-guard"));
    let clock = Harm::ClockOffset { host: Target::Host(HostId::Traffic), by_ms: 200_000 }.when(Trigger::start());
    let plans =
        [FaultClass::Calm, FaultClass::Swarm, FaultClass::DbCut, FaultClass::Drift].map(|class| Subject::plan(&deployment, class, SEED));
    for plan in plans.into_iter().chain([FaultPlan::of([clock])]) {
        let whole = deployment.run(SEED, &plan).expect("it can be simulated");
        let records = whole.trace.records();
        let upto = |records: &[Record], at: SimTime| records.iter().take_while(|r| r.at < at).copied().collect::<Vec<_>>();
        for n in (1..records.len()).step_by(records.len() / 7) {
            let at = records[n].at;
            let other = deployment.run_reseeded(SEED, &plan, at, Seed(n as u64)).expect("it can be simulated");
            assert_eq!(upto(other.trace.records(), at), upto(records, at), "from {at} under {plan:?}");
            if n < records.len() / 2 {
                assert_ne!(other.trace.digest(), whole.trace.digest(), "nothing else happened from {at} on");
            }
        }
    }
    let calm = |seed| deployment.run(seed, &FaultPlan::none()).expect("it can be simulated").trace.digest();
    let anew = deployment.run_reseeded(SEED, &FaultPlan::none(), SimTime::ZERO, Seed(3)).expect("it can be simulated");
    assert_eq!(anew.trace.digest(), calm(Seed(3)), "drawn anew from the beginning, it is the run of the other seed");
}

/// What players earn after the moment is drawn anew, what they have earned stays.
#[test]
fn players_earn_something_else() {
    let deployment = deployed(&one_period("dual-guard"));
    let half = SimTime(deployment.calendar().due(deployment.calendar().periods[0]).0 / 2);
    let earned = |records: &[Record], late: bool| -> Vec<Event> {
        let earnings = records.iter().filter(|r| (half <= r.at) == late && matches!(r.event, Event::Earned { .. }));
        earnings.map(|r| r.event).collect()
    };
    let plain = deployment.run(SEED, &FaultPlan::none()).expect("it can be simulated").trace;
    let other = deployment.run_reseeded(SEED, &FaultPlan::none(), half, Seed(5)).expect("it can be simulated").trace;
    assert!(!earned(plain.records(), false).is_empty() && !earned(plain.records(), true).is_empty());
    assert_eq!(earned(plain.records(), false), earned(other.records(), false));
    assert_ne!(earned(plain.records(), true), earned(other.records(), true));
}

/// The holder sleeps for longer than its lease. Before it does, nothing had to happen; once it
/// does, whatever else happens, somebody else settles, and then the holder does.
#[test]
fn a_long_sleep_dooms_when_it_begins() {
    let deployment = deployed(&one_period("lease-set-px-checked"));
    let (doom, seen) = doomed(&deployment, &fault(pause(40.minutes()), before("work.3")), "settled-once");
    let from = doom.from.expect("it is certain at the latest when it has happened");
    let slept = seen.run.receipts[0].fired.expect("the holder slept");
    assert!(slept <= from.at && from.at <= seen.findings[0].at, "{slept} {from:?}");
    assert!(doom.moments.iter().filter(|m| m.at < slept).all(|m| m.broke == 0), "without the sleep it holds: {doom:#?}");
    assert!(doom.moments.iter().filter(|m| from.at <= m.at).all(|m| m.broke == 20), "what is certain stays so: {doom:#?}");
    assert_eq!(from.at, slept, "a sleep of 40 minutes outlives a lease of 30, with whatever luck");
}

/// Two transactions that may meet, or may not: it is decided after somebody has begun, and before both have committed.
#[test]
fn a_race_is_decided_between_its_beginning_and_its_end() {
    let deployment = deployed(&one_period("table-key-ignores-error"));
    let race = (0..60).map(|n| SEED.nth(n)).find_map(|seed| {
        let seen = observe(&deployment, FaultClass::Calm, seed, &FaultPlan::none()).expect("it can be simulated");
        seen.findings.iter().any(|f| f.rule == "paid-once").then_some((seed, seen))
    });
    let (seed, seen) = race.expect("two transactions meet in one run of four");
    let run = Doomed { deployment: &deployment, class: FaultClass::Calm, seed, plan: &FaultPlan::none(), seen: &seen };
    let doom = run.to("paid-once", 20, 2, &AtomicBool::new(false)).expect("it can be told");
    let from = doom.from.expect("it is certain when it has happened");
    let began = seen.run.trace.records().iter().find(|r| matches!(r.event, Event::AttemptBegan { .. })).expect("somebody began").at;
    let broke = seen.findings.iter().find(|f| f.rule == "paid-once").expect("it broke").at;
    assert!(doom.moments[0].broke < 20, "it was certain from the beginning: {doom:#?}");
    assert!(began <= from.at && from.at <= broke, "{from:?}");
}

/// Nothing is left to luck: no jitter, one latency, nothing earned, nothing goes wrong. What breaks then was certain from the beginning.
#[test]
fn without_luck_it_is_certain_from_the_beginning() {
    let mut scenario = Scenario { nodes: 2, players: 1, earnings: 0, ..one_period("no-guard") };
    (scenario.node.jitter, scenario.node.step_jitter) = (Duration::ZERO, Duration::ZERO);
    scenario.network.latency_max = scenario.network.latency_min;
    let (doom, _) = doomed(&deployed(&scenario), &FaultPlan::none(), "settled-once");
    assert!(doom.moments.iter().all(|m| m.broke == 20), "{doom:#?}");
    assert_eq!(doom.from, Some(doom.moments[0]));
    assert_eq!(doom.moments[0].at, SimTime::ZERO);
}

/// A clock that is wrong from the beginning has struck before anything can be continued: with it every seed breaks,
/// so the run was doomed at the beginning, and not when somebody later did something.
#[test]
fn what_strikes_at_the_beginning_has_struck_in_every_continuation() {
    let deployment = deployed(&one_period("lease-set-px"));
    let clock = Harm::ClockOffset { host: Target::Host(HostId::node(0)), by_ms: -600_000 };
    let plan = fault(clock, Trigger::start());
    let other = deployment.run_reseeded(SEED, &plan, SimTime::ZERO, Seed(3)).expect("it can be simulated");
    let run = deployment.run(Seed(3), &plan).expect("it can be simulated");
    assert_eq!(other.trace.digest(), run.trace.digest(), "drawn anew from the beginning, it is the run of the other seed");
    let (doom, _) = doomed(&deployment, &plan, "settled-once");
    assert!(doom.moments.iter().all(|m| m.broke == 20), "{doom:#?}");
    assert_eq!(doom.from.map(|m| m.after), Some(None), "{doom:#?}");
}

/// A moment at time zero is another than the beginning, and each has continuations of its own.
#[test]
fn the_beginning_and_a_moment_at_time_zero_are_told_apart() {
    let deployment = deployed(&one_period("table-key-ignores-error"));
    let plan = fault(Harm::ClockOffset { host: Target::Host(HostId::Lease), by_ms: 1 }, Trigger::start());
    let seen = (0..60).map(|n| SEED.nth(n)).find_map(|seed| {
        let seen = observe(&deployment, FaultClass::Skew, seed, &plan).expect("it can be simulated");
        seen.findings.iter().any(|f| f.rule == "paid-once").then_some((seed, seen))
    });
    let (seed, seen) = seen.expect("two transactions meet in one run of four");
    let run = Doomed { deployment: &deployment, class: FaultClass::Skew, seed, plan: &plan, seen: &seen };
    let doom = run.to("paid-once", 20, 2, &AtomicBool::new(false)).expect("it can be told");
    let breaks = |from: SimTime| {
        let seeds = (0..20).map(|n| seed.fork("doomed").nth(n));
        let runs = seeds.map(|other| deployment.run_reseeded(seed, &plan, from, other).expect("it can be simulated"));
        runs.filter(|run| {
            deployment.judge(run).iter().any(|(id, verdict)| id.name() == "paid-once" && matches!(verdict, Verdict::Broken(_)))
        })
        .count() as u64
    };
    let shares: Vec<_> = doom.moments[..2].iter().map(|m| (m.at, m.after.is_none(), m.broke)).collect();
    assert_eq!(shares, [(SimTime::ZERO, true, breaks(SimTime::ZERO)), (SimTime::ZERO, false, breaks(SimTime(1)))]);
}

/// What cannot be told is an error, not a moment.
#[test]
fn other_engines_and_other_rules_are_refused() {
    let deployment = deployed(&one_period("no-guard"));
    let seen = observe(&deployment, FaultClass::Calm, SEED, &FaultPlan::none()).expect("it can be simulated");
    let run = Doomed { deployment: &deployment, class: FaultClass::Calm, seed: SEED, plan: &FaultPlan::none(), seen: &seen };
    let never = AtomicBool::new(false);
    assert_eq!(run.to("not-early", 20, 1, &never), Err(Undecidable::Held("not-early".to_owned())));
    let turmoil = Deployment::new(&one_period("no-guard"), EngineKind::Turmoil).expect("it can be deployed");
    assert_eq!(Doomed { deployment: &turmoil, ..run }.to("settled-once", 20, 1, &never), Err(Undecidable::Engine));
    assert!(turmoil.run_reseeded(SEED, &FaultPlan::none(), SimTime::ZERO, SEED).is_err());
}
