//! A clock that goes wrong only after everything was settled: the fault strikes, and nobody
//! acts by that clock any more. It must not count as felt, least of all because its owner made
//! attempts before. The control: the same fault from the beginning is felt.

use onceproof::id::HostId;
use onceproof::plan::{FaultPlan, Harm, Target, Trigger};
use onceproof::scenario::Scenario;
use onceproof::seed::Seed;
use onceproof::time::Span;
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
