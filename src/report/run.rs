//! One run as JSON, for programs: what was planned, what struck, what was noticed and what
//! shows that, what broke, what was excused.

use crate::class::FaultClass;
use crate::explore::doomed::Doom;
use crate::explore::witness::Expected;
use crate::explore::{Finding, Observed};
use crate::plan::{Fault, FaultPlan};
use crate::report::knobs::Drawn;
use crate::report::{doom, words};
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
    #[serde(skip_serializing_if = "Option::is_none")]
    doomed: Option<doom::Row<'a>>,
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

/// One run, and what is to be told about it.
#[derive(Clone, Copy)]
pub struct Replayed<'a> {
    /// The strategy's name.
    pub strategy: &'a str,
    /// The fault class from which the run was drawn.
    pub faults: FaultClass,
    /// The engine that carried it.
    pub engine: EngineKind,
    /// The knobs in which its deployment differs from the usual one.
    pub knobs: &'a [Drawn],
    /// What went wrong.
    pub plan: &'a FaultPlan,
    /// What was seen.
    pub seen: &'a Observed,
    /// From when on this finding could not be avoided any more, if that was asked for.
    pub doom: Option<(&'a Finding, &'a Doom)>,
}

/// The text of one run.
///
/// # Panics
/// Never: everything in a run can be written as JSON.
pub fn render(run: &Replayed<'_>) -> String {
    let Replayed { strategy, faults, engine, knobs, plan, seen, doom } = *run;
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
        doomed: doom.map(|(finding, doom)| doom::row(finding, doom)),
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
        insta::assert_snapshot!(render(&Replayed {
            strategy: "made-up-safe",
            faults: FaultClass::Pause,
            engine: EngineKind::Event,
            knobs: &[],
            plan: &plan,
            seen: &seen,
            doom: None,
        }));
    }
}
