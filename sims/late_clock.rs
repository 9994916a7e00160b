//! A clock that goes wrong only after everything was settled: the fault strikes, and nobody
//! acts by that clock any more. It must not count as felt, least of all because its owner made
//! attempts before. The control: the same fault from the beginning is felt.

use onceproof::id::{FaultId, HostId};
use onceproof::plan::{FaultPlan, Harm, Target, Trigger};
use onceproof::scenario::Scenario;
use onceproof::seed::Seed;
use onceproof::time::Span;
use onceproof::trace::{Event, Phase, Proof};
use onceproof::world::{Deployment, EngineKind, Receipt};

/// What became of a clock fault of n0 that strikes at the beginning, or an hour after the last boundary.
fn receipt(late: bool) -> Receipt {
    let deployment = Deployment::new(&Scenario::calm("dual-guard"), EngineKind::Event).expect("the default scenario is good");
    let last = *deployment.calendar().periods.last().expect("three periods are watched");
    let when = if late { Trigger::At { at_ms: deployment.calendar().due(last) + 1.hours() } } else { Trigger::start() };
    let plan = FaultPlan::of([Harm::ClockOffset { host: Target::Host(HostId::node(0)), by_ms: 1_000 }.when(when)]);
    deployment.run(Seed(1), &plan).expect("nothing to refuse").receipts[0]
}

#[test]
fn a_clock_that_nobody_acts_by_is_not_felt() {
    let late = receipt(true);
    assert!(late.fired.is_some() && late.felt.is_none(), "{late:?}");
}

#[test]
fn a_clock_that_its_owner_acts_by_is() {
    let early = receipt(false);
    assert!(early.fired.is_some() && early.felt.is_some(), "{early:?}");
}

/// Whoever sets a fault off by a step is struck by it, and notices at its next boundary.
#[test]
fn a_clock_that_jumps_at_a_step_of_its_owner_is() {
    let deployment = Deployment::new(&Scenario::calm("table-key"), EngineKind::Event).expect("the default scenario is good");
    let jump = Harm::ClockOffset { host: Target::Self_, by_ms: 600_000 }.when(Trigger::nth("work.3", Phase::Before, 2));
    let run = deployment.run(Seed(1), &FaultPlan::of([jump])).expect("nothing to refuse");
    let (fired, felt) = (run.receipts[0].fired.expect("it struck"), run.receipts[0].felt.expect("its owner looked by it"));
    assert!(matches!(felt.proof, Proof::WrongClock { by_ms: 600_000, .. }), "{felt:?}");
    let proved = run.trace.records().iter().find(|r| matches!(r.event, Event::Felt { .. })).expect("the trace says so too");
    assert_eq!((proved.at, proved.event), (felt.at, Event::Felt { fault: FaultId(0), proof: felt.proof }));
    let second = deployment.calendar().due(deployment.calendar().periods[1]);
    assert!(fired < felt.at && felt.at < second, "a fast clock wakes its owner before the boundary: {}", felt.at);
}
