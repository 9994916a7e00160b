use super::*;
use crate::id::HostId;
use crate::plan::{Fault, Harm, Target as Whom, Trigger};
use crate::step::Step;
use crate::time::{SimTime, Span};
use crate::trace::Phase;
use proptest::prelude::*;
use std::sync::atomic::AtomicU64;

const STEPS: [Step; 2] = [Step::lease("lease.acquire"), Step::work("work.1")];

/// A fault that is told from others by how far it moves a clock.
fn marked(by_ms: i64) -> Fault {
    Harm::ClockOffset { host: Whom::Host(HostId::node(0)), by_ms }.when(Trigger::start())
}

fn case(faults: impl IntoIterator<Item = Fault>) -> Candidate {
    Candidate { scenario: Scenario::default(), seed: Seed(77), plan: FaultPlan::of(faults), usual: None }
}

fn broken_if(breaks: bool) -> Answer {
    if breaks { Answer::Breaks(Digest(1)) } else { Answer::Holds }
}

fn shrunk(start: &Candidate, runs: u64, threads: usize, ask: &(dyn Fn(&Candidate) -> Answer + Sync)) -> Result<Shrunk, Failed> {
    let limits = Limits { runs, threads, cancelled: &AtomicBool::new(false), out_of_time: &|| false, progress: &|_| () };
    shrink(start, &STEPS, ask, &limits)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Whatever two of six to fifteen faults are needed: exactly those are left, on one thread and on three, and nothing else changes what is found.
    #[test]
    fn exactly_the_faults_that_are_needed_are_left((n, one, other) in (6_i64..16).prop_flat_map(|n| (Just(n), 0..n, 0..n))) {
        // Values far apart and on no ladder, so that a shortened fault is still the fault that it was.
        let is = |fault: &Fault, which: i64| matches!(fault.harm, Harm::ClockOffset { by_ms, .. } if by_ms > which * 100_000_000 && by_ms <= (which + 1) * 100_000_000);
        let needed = |case: &Candidate| [one, other].iter().all(|which| case.plan.faults.iter().any(|fault| is(fault, *which)));
        let start = case((0..n).map(|which| marked(which * 100_000_000 + 54_321_987)));
        let alone = shrunk(&start, 10_000, 1, &|case| broken_if(needed(case))).unwrap();
        let mut left: Vec<i64> = (0..n).filter(|which| alone.case.plan.faults.iter().any(|fault| is(fault, *which))).collect();
        left.sort_unstable();
        let mut expected = vec![one, other];
        expected.sort_unstable();
        expected.dedup();
        prop_assert_eq!(left, expected.clone());
        prop_assert_eq!(alone.case.plan.faults.len(), expected.len());
        prop_assert!(alone.converged);
        prop_assert_eq!(shrunk(&start, 10_000, 3, &|case| broken_if(needed(case))).unwrap(), alone);
    }
}

/// More than two faults that are all needed stay: nothing is thrown away to look small.
#[test]
fn five_needed_faults_stay_five() {
    let start = case((0..9).map(|n| marked(n * 7 + 86_400_001)));
    let kept = |case: &Candidate| (0..5).all(|n| case.plan.faults.iter().any(|f| *f == marked(n * 7 + 86_400_001)));
    let small = shrunk(&start, 10_000, 1, &|case| broken_if(kept(case))).unwrap();
    assert_eq!(small.case.plan.faults.len(), 5);
    assert!(small.converged);
}

/// The shortest pause that still breaks, rounded; one period, one player, nothing earned; what the predicate wants is kept.
#[test]
fn everything_that_does_not_matter_becomes_small_and_round() {
    let pause = Harm::Power { host: Whom::Self_, back_after: 2_371.seconds() }.when(Trigger::nth("work.1", Phase::Before, 3));
    let mut start = case([pause]);
    start.scenario.guard.lease = 17.minutes();
    start.scenario.node.jitter = 3.seconds();
    let long_enough = |case: &Candidate| {
        let lasts = case.plan.faults.first().and_then(|fault| fault.harm.heals_after()).unwrap_or_default();
        broken_if(lasts > 30.minutes() && case.scenario.nodes >= 2 && case.scenario.guard.lease == 17.minutes())
    };
    let small = shrunk(&start, 10_000, 2, &long_enough).unwrap();
    assert_eq!(small.case.plan, FaultPlan::of([Harm::SlowStep { extra: 40.minutes() }.when(Trigger::first("work.1", Phase::Before))]));
    let scenario = &small.case.scenario;
    assert_eq!((scenario.nodes, size::periods(&scenario.schedule), scenario.players, scenario.earnings), (2, 1, 1, 0));
    assert_eq!((scenario.guard.lease, scenario.node.jitter), (17.minutes(), 5.seconds()));
    assert_eq!(small.case.seed, Seed(1));
    assert!(small.converged && small.tried() > small.accepted() && small.runs > small.tried());
}

/// A time becomes a step where that breaks too, else a round time.
#[test]
fn times_become_steps_or_round() {
    let at = |ms| Harm::Crash { host: Whom::Host(HostId::node(2)), back_after: 1.minutes() }.when(Trigger::At { at_ms: SimTime(ms) });
    let start = case([at(86_431_234)]);
    let at_the_work = |case: &Candidate| matches!(&case.plan.faults[..], [fault] if fault.when == Trigger::first("work.1", Phase::After));
    let small = shrunk(&start, 10_000, 1, &|case| broken_if(*case == start || at_the_work(case))).unwrap();
    assert!(at_the_work(&small.case), "{:?}", small.case.plan);
    let in_the_minute =
        |case: &Candidate| matches!(&case.plan.faults[..], [fault] if matches!(fault.when, Trigger::At { at_ms } if 86_400_000 < at_ms.0));
    let small = shrunk(&start, 10_000, 1, &|case| broken_if(in_the_minute(case))).unwrap();
    assert_eq!(small.case.plan.faults[0].when, Trigger::At { at_ms: SimTime(86_431_000) });
}

/// Nodes that a plan names take the first numbers when others go.
#[test]
fn named_nodes_move_up() {
    let pause = Harm::Pause { host: Whom::Host(HostId::node(2)), lasts: 1.minutes() };
    let start = case([pause.when(Trigger::At { at_ms: SimTime(3_600_000) })]);
    let struck = |case: &Candidate| matches!(&case.plan.faults[..], [fault] if matches!(fault.harm, Harm::Pause { host: Whom::Host(HostId::Node(n)), .. } if n.0 + 1 >= case.scenario.nodes));
    let small = shrunk(&start, 10_000, 1, &|case| broken_if(struck(case))).unwrap();
    assert_eq!(small.case.scenario.nodes, 1);
    assert!(matches!(small.case.plan.faults[0].harm, Harm::Pause { host: Whom::Host(host), .. } if host == HostId::node(0)));
}

/// An answer that changes when it is asked again, or a history that does, is no result but an error, wherever it is met.
#[test]
fn a_flaky_predicate_is_distrusted() {
    let start = case((0..6).map(|n| marked(n * 7 + 86_400_001)));
    let mut passes = BTreeSet::new();
    for sound in [0, 1, 2, 5, 9, 14] {
        let asked = AtomicU64::new(0);
        let flaky = |_: &Candidate| match asked.fetch_add(1, Ordering::Relaxed) {
            n if n < sound => Answer::Breaks(Digest(1)),
            n => broken_if(n % 2 == 0),
        };
        let failed = shrunk(&start, 10_000, 1, &flaky);
        let Err(Failed::Flaky { pass, .. }) = failed else { panic!("sound {sound} times: {failed:?}") };
        passes.insert(pass);
    }
    assert!(passes.len() > 1, "only found out at {passes:?}");
    let histories = AtomicU64::new(0);
    let shifty = |_: &Candidate| Answer::Breaks(Digest(histories.fetch_add(1, Ordering::Relaxed)));
    assert!(matches!(shrunk(&start, 10_000, 1, &shifty), Err(Failed::Flaky { pass: "start", .. })));
}

#[test]
fn what_does_not_break_is_not_shrunk() {
    let start = case([marked(5)]);
    assert_eq!(shrunk(&start, 10, 1, &|_| Answer::Holds), Err(Failed::NotBroken(Answer::Holds)));
    assert_eq!(shrunk(&start, 10, 1, &|_| Answer::Bug("no".to_owned())), Err(Failed::Bug("no".to_owned())));
}

/// Out of budget it gives what it has, and says so; cancelled it gives nothing.
#[test]
fn a_spent_budget_is_told() {
    let start = case((0..6).map(|n| marked(n * 7 + 86_400_001)));
    let small = shrunk(&start, 12, 2, &|case| broken_if(!case.plan.faults.is_empty())).unwrap();
    assert!(!small.converged);
    assert!(small.runs <= 12 + 3, "{} runs", small.runs);
    let cancelled = AtomicBool::new(true);
    let limits = Limits { runs: 100, threads: 1, cancelled: &cancelled, out_of_time: &|| false, progress: &|_| () };
    assert_eq!(shrink(&start, &STEPS, &|_| Answer::Breaks(Digest(1)), &limits), Err(Failed::Cancelled));
}
