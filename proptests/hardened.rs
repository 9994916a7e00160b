//! Hardened rows hold whatever the deployment and whatever goes wrong: drawn deployments, within
//! the relations that a sensible one keeps, under drawn plans. A row is hardened if it declares
//! that nothing ever breaks in any class, so new ones join by themselves.
//!
//! A case that breaks is shrunk, written as a witness, and its message says how to replay it.

mod deployment;
mod plan;

use onceproof::class::FaultClass;
use onceproof::explore::{Witness, observe};
use onceproof::id::Letter;
use onceproof::plan::FaultPlan;
use onceproof::scenario::{Rules, Scenario};
use onceproof::seed::Seed;
use onceproof::strategy::{self, Expectation};
use onceproof::world::{Deployment, EngineKind};
use plan::Draft;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, FileFailurePersistence, RngAlgorithm, TestCaseResult, TestError, TestRng, TestRunner};
use std::cell::RefCell;
use std::path::PathBuf;

/// Rows that may not break.
type Rows = &'static [&'static dyn strategy::Strategy];

/// One run to make.
#[derive(Clone, Debug)]
struct Case {
    scenario: Scenario,
    class: FaultClass,
    seed: Seed,
    plan: FaultPlan,
}

/// Every letter in every class.
fn is_hardened(row: &dyn strategy::Strategy) -> bool {
    let expectations = row.expectations(Rules::default());
    let never = |class: FaultClass, letter: Letter| {
        expectations.iter().any(|claim| match claim {
            Expectation::Never { scope, letters, .. } => scope.covers(class) && letters.contains(&letter),
            Expectation::Must { .. } => false,
        })
    };
    FaultClass::ALL.into_iter().all(|class| Letter::ALL.into_iter().all(|letter| never(class, letter)))
}

fn rows(which: impl Fn(&dyn strategy::Strategy) -> bool) -> Rows {
    let rows: Vec<_> = strategy::catalogue().iter().copied().filter(|row| which(*row)).collect();
    assert!(!rows.is_empty(), "no such row: nothing tested");
    rows.leak()
}

fn cases(rows: Rows, plans: impl Strategy<Value = Draft>) -> impl Strategy<Value = Case> {
    (any::<Index>(), deployment::scenario(), any::<u64>(), plans).prop_map(move |(row, scenario, seed, draft)| {
        let row = *row.get(rows);
        let mut scenario = Scenario { strategy: row.name().to_owned(), ..scenario };
        if !row.runs_under(scenario.database.rules) {
            scenario.database.rules = Rules::default();
        }
        // Who has the right time zone comes in time: one node that has another is nobody's excuse.
        if draft.class() == FaultClass::Civil {
            scenario.nodes = scenario.nodes.max(2);
        }
        let calendar = scenario.schedule.calendar().expect("only good schedules are drawn");
        let plan = draft.plan(Seed(seed), &scenario, &calendar, row.steps());
        Case { scenario: deployment::patient(scenario, &plan), class: draft.class(), seed: Seed(seed), plan }
    })
}

/// Runs a case. If anything breaks, the witness is written to a file of this name, in place of that of a larger case.
fn holds(case: &Case, file: &str) -> TestCaseResult {
    let fail = |why: String| Err(TestCaseError::fail(why));
    let deployment = match Deployment::new(&case.scenario, EngineKind::Event) {
        Ok(deployment) => deployment,
        Err(refused) => return fail(format!("a drawn deployment is refused: {refused}")),
    };
    if let Err(refused) = deployment.check_plan(&case.plan) {
        return fail(format!("a drawn plan is refused: {refused}"));
    }
    let seen = match observe(&deployment, case.class, case.seed, &case.plan) {
        Ok(seen) => seen,
        Err(no_result) => return fail(no_result.to_string()),
    };
    if seen.findings.is_empty() {
        return Ok(());
    }
    let broke: Vec<String> = seen.findings.iter().map(|finding| format!("{}: {}", finding.rule, finding.what)).collect();
    let witness = Witness::of(&case.scenario, case.class, EngineKind::Event, &case.plan, &seen, &broke);
    let path = witness_file(file);
    std::fs::write(&path, witness.to_toml()).expect("the build's directory for tests can be written");
    fail(format!("{}\nreplay it with: cargo run -- replay {}", broke.join("\n"), path.display()))
}

fn witness_file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name).with_extension("toml")
}

fn config(cases: u32) -> Config {
    let failure_persistence = Some(Box::new(FileFailurePersistence::WithSource("regressions")) as Box<_>);
    Config { cases, failure_persistence, max_shrink_iters: 2_000, ..Config::default() }
}

proptest! {
    #![proptest_config(config(1_500))]

    /// Under the plans that a sweep draws.
    #[test]
    fn nothing_breaks_under_the_plans_of_a_class(case in cases(rows(is_hardened), plan::of_a_class())) {
        holds(&case, "hardened-class")?;
    }

    /// Under plans that no sweep would draw.
    #[test]
    fn nothing_breaks_under_free_plans(case in cases(rows(is_hardened), plan::free())) {
        holds(&case, "hardened-free")?;
    }
}

/// The control: other rows break under such cases. What is found shrinks to a fault or two, and its file replays to the same digest.
#[test]
fn other_rows_break_and_their_witness_replays() {
    // A row that breaks without any fault would show nothing about the plans.
    let breaks_under_faults = |row: &dyn strategy::Strategy| {
        let must =
            |claim: &Expectation, calm: bool| matches!(claim, Expectation::Must { class, .. } if (*class == FaultClass::Calm) == calm);
        row.expectations(Rules::default()).iter().any(|claim| must(claim, false))
            && !row.expectations(Rules::default()).iter().any(|claim| must(claim, true))
    };
    for (name, plans) in [("control-class", plan::of_a_class().boxed()), ("control-free", plan::free().boxed())] {
        let config = Config { failure_persistence: None, ..config(200) };
        let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
        let found = runner.run(&cases(rows(breaks_under_faults), plans), |case| holds(&case, name));
        let Err(TestError::Fail(why, case)) = found else { panic!("{name}: nothing broke: {found:?}") };
        assert!(case.plan.faults.len() <= 2, "{name}: {case:#?}");

        let path = witness_file(name);
        assert!(why.message().contains(&format!("cargo run -- replay {}", path.display())), "{why}");
        let text = std::fs::read_to_string(&path).expect("it was written");
        let witness = Witness::from_toml(name, &text).expect("it is a witness");
        assert_eq!((&witness.scenario, &witness.plan), (&case.scenario, &case.plan), "{name}: the file is the shrunk case");
        let deployment = Deployment::new(&witness.scenario, witness.engine).expect("it ran before");
        let again = deployment.run(witness.seed, &witness.plan).expect("it ran before");
        assert_eq!(again.trace.digest(), witness.digest, "{name}");
    }
}

/// Drawn cases are evidence: in most of them somebody feels a fault, and in nearly all of them every period is settled.
#[test]
fn drawn_cases_are_felt() {
    let (felt, settled) = (RefCell::new(0), RefCell::new(0));
    let cases = cases(rows(is_hardened), prop_oneof![plan::of_a_class(), plan::free()]);
    let config = Config { failure_persistence: None, ..config(100) };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let run = runner.run(&cases, |case| {
        let deployment = Deployment::new(&case.scenario, EngineKind::Event).expect("only good deployments are drawn");
        let seen = observe(&deployment, case.class, case.seed, &case.plan).expect("the catalogue's strategies can be simulated");
        *felt.borrow_mut() += u32::from(seen.run.receipts.iter().any(|receipt| receipt.felt.is_some()));
        *settled.borrow_mut() += u32::from(seen.run.end.settlements.len() == deployment.calendar().periods.len());
        Ok(())
    });
    assert!(run.is_ok(), "{run:?}");
    let (felt, settled) = (felt.take(), settled.take());
    assert!(felt >= 50 && settled >= 90, "of 100 cases {felt} were felt, and in {settled} every period was settled");
}
