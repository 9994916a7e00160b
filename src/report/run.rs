//! One run as JSON, for programs: what was planned, what struck, what was noticed and what
//! shows that, what broke, what was excused.

use crate::class::FaultClass;
use crate::explore::Observed;
use crate::explore::witness::Expected;
use crate::plan::{Fault, FaultPlan};
use crate::report::knobs::Drawn;
use crate::report::words;
use crate::world::EngineKind;
use serde::Serialize;

/// Version of the schema; changes when a reader of the last one would be misled.
pub const FORMAT: u32 = 1;

#[derive(Serialize)]
struct RunRow<'a> {
    format: u32,
    onceproof: &'static str,
    strategy: &'a str,
    faults: FaultClass,
    seed: String,
    engine: &'static str,
    digest: String,
    felt: bool,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    knobs: &'a [Drawn],
    receipts: Vec<ReceiptRow<'a>>,
    broken: Vec<Expected>,
    excused: Vec<ExcuseRow<'a>>,
}

/// One fault of the plan.
#[derive(Serialize)]
struct ReceiptRow<'a> {
    planned: &'a Fault,
    what: String,
    fired_at_ms: Option<u64>,
    felt_at_ms: Option<u64>,
    proof: Option<ProofRow>,
}

#[derive(Serialize)]
struct ProofRow {
    kind: &'static str,
    what: String,
}

#[derive(Serialize)]
struct ExcuseRow<'a> {
    rule: &'static str,
    why: &'a str,
}

/// The text of one run, with the knobs in which it differs from its deployment.
///
/// # Panics
/// Never: everything in a run can be written as JSON.
pub fn render(strategy: &str, faults: FaultClass, engine: EngineKind, knobs: &[Drawn], plan: &FaultPlan, seen: &Observed) -> String {
    let receipts = plan.faults.iter().zip(&seen.run.receipts).map(|(planned, receipt)| ReceiptRow {
        planned,
        what: words::fault(planned),
        fired_at_ms: receipt.fired.map(|at| at.0),
        felt_at_ms: receipt.felt.map(|felt| felt.at.0),
        proof: receipt.felt.map(|felt| ProofRow { kind: felt.proof.kind(), what: felt.proof.to_string() }),
    });
    let row = RunRow {
        format: FORMAT,
        onceproof: env!("CARGO_PKG_VERSION"),
        strategy,
        faults,
        seed: seen.run.seed.to_string(),
        engine: engine.name(),
        digest: seen.run.trace.digest().to_string(),
        felt: seen.felt,
        knobs,
        receipts: receipts.collect(),
        broken: seen.findings.iter().map(Expected::from).collect(),
        excused: seen.excuses.iter().map(|(id, why)| ExcuseRow { rule: id.name(), why }).collect(),
    };
    serde_json::to_string_pretty(&row).expect("a run has only values that JSON knows") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::made_up::{MadeUp, SAFE};
    use crate::explore::{Subject, observe};
    use crate::invariant::InvariantId;
    use crate::seed::Seed;

    #[test]
    fn the_schema_of_a_run_is_pinned() {
        let subject = MadeUp::of(&SAFE).breaking(|_, _| &[InvariantId::PaidOnce]);
        let plan = subject.plan(FaultClass::Pause, Seed(3));
        let seen = observe(&subject, FaultClass::Pause, Seed(3), &plan).unwrap();
        insta::assert_snapshot!(render("made-up-safe", FaultClass::Pause, EngineKind::Event, &[], &plan, &seen));
    }
}
