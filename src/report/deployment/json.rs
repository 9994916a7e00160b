//! The outcome as JSON. It depends on nothing but the file and its seeds: no time, no machine.

use crate::deployment_file::checks::Check;
use crate::explore::advice::Replayed;
use crate::profile::Profile;
use crate::report::deployment::{Outcome, digest, undecided};
use crate::report::json::cell;
use serde::Serialize;
use serde_json::{Value, json};

/// Version of the schema; changes when a reader of the last one would be misled.
pub const FORMAT: u32 = 1;

#[derive(Serialize)]
struct Report<'a> {
    format: u32,
    onceproof: &'static str,
    file: &'a str,
    digest: String,
    guard: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    profile: Option<Value>,
    verdict: &'static str,
    base_seed: String,
    seeds_per_class: u64,
    certified_runs: usize,
    scenario: &'a crate::scenario::Scenario,
    checks: Vec<Value>,
    classes: Vec<Value>,
    witnesses: Vec<Value>,
    advice: Vec<Value>,
}

/// All of it.
///
/// # Panics
/// Never: everything in it can be written as JSON.
pub fn json(outcome: &Outcome<'_>, stem: &str) -> String {
    let file = outcome.file;
    let verdict = match (outcome.holds(), outcome.broken().is_empty()) {
        (true, _) => "holds",
        (false, true) => "undecided",
        (false, false) => "breaks",
    };
    let report = Report {
        format: FORMAT,
        onceproof: env!("CARGO_PKG_VERSION"),
        file: &file.file,
        digest: digest(file),
        guard: file.guard.name(),
        profile: file.profile.map(profile),
        verdict,
        base_seed: file.seed.to_string(),
        seeds_per_class: file.seeds,
        certified_runs: outcome.certified,
        scenario: &file.scenario,
        checks: checks(outcome),
        classes: outcome
            .cells
            .iter()
            .map(|one| {
                let mut value = serde_json::to_value(cell(stem, one)).expect("a cell has only values that JSON knows");
                // A guard's declarations are no part of somebody's own deployment.
                if let Some(table) = value.as_object_mut() {
                    table.retain(|key, _| key != "surprises" && key != "as_expected" && key != "expected");
                    if undecided(one) {
                        table.insert("verdict".to_owned(), "undecided".into());
                    }
                }
                value
            })
            .collect(),
        witnesses: outcome
            .witnesses
            .iter()
            .map(|(class, name, witness)| {
                let rules: Vec<&str> = witness.violations.iter().map(|broken| broken.rule.as_str()).collect();
                json!({ "faults": class, "file": name, "rules": rules, "sentence": witness.sentence, "because": witness.because })
            })
            .collect(),
        advice: outcome
            .advice
            .iter()
            .map(|(advice, trials)| {
                let cures: Vec<Value> = advice.cures.iter().map(|(class, mark)| json!({ "faults": class, "letter": mark })).collect();
                let trials: Vec<Value> = trials
                    .iter()
                    .map(|trial| {
                        let (witness, why) = match &trial.witness {
                            Replayed::Held => ("held", None),
                            Replayed::Broke => ("broke", None),
                            Replayed::Unfit(why) => ("unfit", Some(why)),
                            Replayed::None => ("none", None),
                        };
                        json!({
                            "faults": trial.class, "helped": trial.helped() && trial.counts(), "witness": witness, "unfit": why,
                            "runs": trial.runs, "felt": trial.felt, "broke": trial.broke, "letters": trial.marks,
                            "still": trial.still, "new": trial.new, "cannot_strike": trial.misses,
                        })
                    })
                    .collect();
                json!({ "name": advice.name, "say": advice.say, "change": advice.line(file), "cures": cures, "tried": trials })
            })
            .collect(),
    };
    serde_json::to_string_pretty(&report).expect("an outcome has only values that JSON knows") + "\n"
}

/// What a profile says about itself: that it is a model, of what, and what it leaves out.
fn profile(profile: &Profile) -> Value {
    json!({ "name": profile.name, "about": profile.about, "model": profile.model, "limits": profile.limits })
}

/// Only what the file says about itself.
///
/// # Panics
/// Never: everything in it can be written as JSON.
pub fn checks_json(outcome: &Outcome<'_>) -> String {
    let file = outcome.file;
    let mut report = json!({ "format": FORMAT, "onceproof": env!("CARGO_PKG_VERSION"), "file": file.file, "guard": file.guard.name(), "checks": checks(outcome) });
    if let Some(found) = file.profile {
        report["profile"] = profile(found);
    }
    serde_json::to_string_pretty(&report).expect("checks have only values that JSON knows") + "\n"
}

fn checks(outcome: &Outcome<'_>) -> Vec<Value> {
    let check = |check: &Check| {
        json!({
            "name": check.name, "severity": check.severity.name(), "key": check.key,
            "line": check.place.as_ref().map(|place| place.line), "what": check.what, "cure": check.cure,
        })
    };
    outcome.checks.iter().map(check).collect()
}
