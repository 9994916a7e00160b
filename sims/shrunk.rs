//! What breaks is made small: every claim of the catalogue that something must break ends in at
//! most two faults and at most six lines, and the test that comes of it compiles and passes.

mod generated;

use crate::stage::{N0, before, one_period, pause};
use onceproof::class::FaultClass;
use onceproof::explore::shrink::{Failed, Limits, Target};
use onceproof::explore::{Mark, Observed, Subject, Witness, observe, seeds_of_a_claim};
use onceproof::id::{HostId, Letter};
use onceproof::plan::{FaultPlan, Harm, Target as Whom, Trigger};
use onceproof::report::regression;
use onceproof::report::shrink::{Smaller, shrink};
use onceproof::scenario::{Rules, Scenario};
use onceproof::seed::Seed;
use onceproof::strategy::{self, Expectation, Strategy};
use onceproof::time::Span;
use onceproof::world::{Deployment, EngineKind};
use std::fmt::Write;
use std::sync::atomic::AtomicBool;
use std::{env, fs};

/// Runs for one witness. What needs more is not as easily told as it should be.
const RUNS: u64 = 2_000;

fn deployed(strategy: &dyn Strategy, rules: Rules) -> Deployment {
    let mut scenario = Scenario::calm(strategy.name());
    scenario.database.rules = rules;
    Deployment::new(&scenario, EngineKind::Event).expect("the default can be run")
}

fn broke(seen: &Observed, letter: Letter) -> bool {
    seen.findings.iter().any(|f| f.mark == Mark::Letter(letter))
}

fn smaller(deployment: &Deployment, class: FaultClass, plan: &FaultPlan, seen: &Observed, letter: Letter) -> Result<Smaller, Failed> {
    let finding = seen.findings.iter().find(|f| f.mark == Mark::Letter(letter)).expect("it broke");
    let witness = Witness::of(deployment.scenario(), class, EngineKind::Event, plan, seen, &[]);
    let (strategy, engine) = (deployment.strategy(), EngineKind::Event);
    let target = Target { strategy, engine, class, mark: finding.mark, rule: finding.rule.to_owned() };
    let limits = Limits { runs: RUNS, threads: 1, cancelled: &AtomicBool::new(false), out_of_time: &|| false, progress: &|_| () };
    shrink(&witness, None, &target, &limits)
}

/// The smaller witness, in a file and out of it, breaks the rule with the history that it says.
fn really_breaks(place: &str, small: &Smaller) {
    let read = Witness::from_toml("small.toml", &small.after.to_toml()).expect("a witness survives its file");
    let deployment = Deployment::new(&read.scenario, read.engine).expect("it can be deployed");
    deployment.check_plan(&read.plan).expect("the plan can strike it");
    let seen = observe(&deployment, read.faults, read.seed, &read.plan).expect("it can be simulated");
    assert!(seen.findings.iter().any(|f| f.rule == small.rule), "{place}: {} holds in what is left", small.rule);
    assert_eq!(seen.run.trace.digest(), read.digest, "{place}");
}

/// Two faults; but a lock of most of five stores is lost when three of them lose it, and not before.
fn at_most(strategy: &dyn Strategy) -> usize {
    let asks = |store| strategy.steps().iter().any(|step| step.peer == Some(store));
    if asks(HostId::FurtherLease(4)) { 4 } else { 2 }
}

/// The pinned plan of every must-claim, and what it comes down to, in the catalogue's order. The
/// sentences are a snapshot: whoever changes how runs are told reads them all.
#[test]
fn every_claim_comes_down_to_two_faults_and_six_lines() {
    let (mut told, mut claims) = (String::new(), 0);
    for strategy in strategy::catalogue() {
        for rules in std::iter::once(Rules::default()).chain(strategy.also_under().iter().copied()) {
            let deployment = deployed(*strategy, rules);
            for claim in strategy.expectations(rules) {
                let Expectation::Must { class, letters, plan, .. } = claim else { continue };
                let plan = plan(Subject::scenario(&deployment), Subject::calendar(&deployment));
                let runs =
                    seeds_of_a_claim(&deployment, class, Seed(1)).map(|seed| observe(&deployment, class, seed, &plan).expect("a run"));
                let seen = runs.into_iter().find(|seen| letters.iter().all(|letter| broke(seen, *letter))).expect("it must break");
                for letter in letters {
                    let place = format!("{} under {class} breaks {letter}", rules.label(strategy.name()));
                    let small = smaller(&deployment, class, &plan, &seen, *letter).unwrap_or_else(|e| panic!("{place}: {e}"));
                    let after = &small.after;
                    assert!(small.shrunk.converged, "{place}: not converged after {} runs", small.shrunk.runs);
                    assert!(after.plan.faults.len() <= at_most(*strategy), "{place}: {:?}", after.plan);
                    assert!((1..=6).contains(&after.because.len()), "{place}: {:#?}", after.because);
                    really_breaks(&place, &small);
                    writeln!(told, "{place}, {}:\n  {}", small.rule, after.sentence).expect("text grows");
                    claims += 1;
                }
            }
        }
    }
    assert!(claims > 50, "only {claims} claims: the test reads the wrong list");
    insta::assert_snapshot!(told);
}

/// The first witness of a drawn plan, with all the faults that a swarm has.
#[test]
fn a_swarm_comes_down_to_two_faults() {
    for name in ["lease-set-px-checked", "version-published", "table-key-published", "version-timestamp", "dual-published"] {
        let deployment = deployed(strategy::find(name).expect("it is in the catalogue"), Rules::default());
        let runs = (0..40).map(|n| {
            let plan = Subject::plan(&deployment, FaultClass::Swarm, Seed(1).nth(n));
            let seen = observe(&deployment, FaultClass::Swarm, Seed(1).nth(n), &plan).expect("it can be simulated");
            (plan, seen)
        });
        let letter =
            |seen: &Observed| seen.findings.iter().find_map(|f| if let Mark::Letter(letter) = f.mark { Some(letter) } else { None });
        let (plan, seen) =
            runs.into_iter().find(|(plan, seen)| plan.faults.len() > 2 && letter(seen).is_some()).expect("a swarm breaks it");
        let small = smaller(&deployment, FaultClass::Swarm, &plan, &seen, letter(&seen).expect("it broke")).expect("it shrinks");
        assert!(small.after.plan.faults.len() <= 2, "{name}: {:?}", small.after.plan);
        assert!((1..=6).contains(&small.after.because.len()), "{name}: {:#?}", small.after.because);
        really_breaks(name, &small);
    }
}

/// What has nothing to do with it goes, wherever it stands in the plan; what it needs stays.
#[test]
fn an_irrelevant_fault_goes() {
    let deployment = Deployment::new(&one_period("lease-set-px-checked"), EngineKind::Event).expect("it can be deployed");
    let needed = pause(40.minutes()).when(before("work.3"));
    let idle = |ms| {
        Harm::Pause { host: Whom::Host(HostId::Traffic), lasts: 1.minutes() }.when(Trigger::At { at_ms: onceproof::time::SimTime(ms) })
    };
    let clock = Harm::ClockOffset { host: N0, by_ms: 20 }.when(Trigger::start());
    let plan = FaultPlan::of([idle(3_600_000), needed, clock, idle(7_200_000)]);
    let seen = observe(&deployment, FaultClass::Pause, Seed(2026), &plan).expect("it can be simulated");
    let small = smaller(&deployment, FaultClass::Pause, &plan, &seen, Letter::D).expect("it shrinks");
    let [fault] = &small.after.plan.faults[..] else { panic!("{:?}", small.after.plan) };
    assert!(matches!(&fault.when, Trigger::Step { step, .. } if step == "work.3"), "{fault:?}");
    assert_eq!(small.after.scenario.nodes, 2);
    let from = small.after.shrunk_from.as_ref().expect("it says where it comes from");
    assert_eq!((from.faults, from.nodes, from.rule.as_str(), from.converged), (4, 3, "settled-once", true));
    really_breaks("a pause among others", &small);
}

/// The strategies and classes whose tests are kept in `shrunk/generated.rs`.
const GENERATED: [(&str, FaultClass, Letter); 6] = [
    ("local-mutex", FaultClass::Calm, Letter::D),
    ("table-key-published", FaultClass::Calm, Letter::C),
    ("lease-setnx-expire", FaultClass::Crash, Letter::K),
    ("lease-set-px-checked", FaultClass::Pause, Letter::D),
    ("version-published", FaultClass::ReplyLost, Letter::L),
    ("lease-watchdog", FaultClass::LeaseLoss, Letter::D),
];

/// The file is what the program writes, byte for byte, and it is a module of this one: so what
/// the program writes compiles, and each of its tests passes. `INSTA_UPDATE=always` writes it anew.
#[test]
fn the_generated_tests_are_the_ones_that_run_here() {
    let mut text = "//! Tests as `onceproof shrink` writes them; `shrunk.rs` holds this file against what it writes now.\n".to_owned();
    for (name, class, letter) in GENERATED {
        let deployment = deployed(strategy::find(name).expect("it is in the catalogue"), Rules::default());
        let (plan, _) = deployment.claims(class).into_iter().find(|(_, letters)| letters.contains(&letter)).expect("a claim");
        let seen = observe(&deployment, class, Seed(1), &plan).expect("it can be simulated");
        let small = smaller(&deployment, class, &plan, &seen, letter).expect("it shrinks");
        text += "\n";
        text += &regression::test(&small.after, &small.rule);
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/sims/shrunk/generated.rs");
    if env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        fs::write(path, &text).expect("the file can be written");
    }
    assert_eq!(text, fs::read_to_string(path).expect("it is committed"), "sims/shrunk/generated.rs is not what is written now");
}
