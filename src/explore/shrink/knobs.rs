//! Knobs that were drawn, back to those of the deployment that was given, or to their defaults: all of them, then one at a time.

use crate::explore::shrink::Candidate;
use crate::scenario::Scenario;
use crate::step::Step;
use serde_json::Value;

/// What makes the deployment this one, or has a pass of its own.
const KEPT: [&str; 6] = ["strategy", "nodes", "players", "earnings", "schedule", "time_scale"];

/// The knobs that differ from the default deployment's, taken back.
pub fn default_ones(case: &Candidate, _: &[Step]) -> Vec<Candidate> {
    let usual = case.usual.as_deref().cloned().unwrap_or_else(|| usual(&case.scenario));
    let (mut now, mut usual) = (leaves(&case.scenario), leaves(&usual));
    for knobs in [&mut now, &mut usual] {
        knobs.retain(|(path, _)| !KEPT.contains(&path[0].as_str()) && path.join(".") != "database.rules");
    }
    let other: Vec<(Vec<String>, Value)> = usual.into_iter().filter(|knob| !now.contains(knob)).collect();
    let back = |knobs: &[(Vec<String>, Value)]| {
        let mut table = serde_json::to_value(&case.scenario).ok()?;
        for (path, value) in knobs {
            *path.iter().try_fold(&mut table, |table, key| table.get_mut(key))? = value.clone();
        }
        Some(Candidate { scenario: serde_json::from_value(table).ok()?, ..case.clone() })
    };
    let all = (other.len() > 1).then(|| back(&other)).flatten();
    all.into_iter().chain(other.iter().filter_map(|one| back(std::slice::from_ref(one)))).collect()
}

/// The default deployment in the same scale.
fn usual(scenario: &Scenario) -> Scenario {
    let real = Scenario::calm(&scenario.strategy);
    if scenario.time_scale > 1 { real.scaled_for_turmoil() } else { real }
}

/// Every knob with its place in the file.
fn leaves(scenario: &Scenario) -> Vec<(Vec<String>, Value)> {
    fn collect(path: &[String], value: Value, found: &mut Vec<(Vec<String>, Value)>) {
        match value {
            Value::Object(table) => table.into_iter().for_each(|(key, value)| collect(&[path, &[key]].concat(), value, found)),
            knob => found.push((path.to_vec(), knob)),
        }
    }
    let mut found = Vec::new();
    let table = serde_json::to_value(scenario).expect("a scenario has only values that JSON knows");
    collect(&[], table, &mut found);
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::FaultPlan;
    use crate::seed::Seed;
    use crate::time::Span;
    use std::sync::Arc;

    /// A lease that its owner has chosen is no drawn knob; the job that was drawn is.
    #[test]
    fn knobs_go_back_to_those_of_the_given_deployment() {
        let mut given = Scenario::calm("lease-set-px");
        given.guard.lease = 10.minutes();
        let mut drawn = given.clone();
        drawn.node.work = 7.minutes();
        let case = Candidate { scenario: drawn, seed: Seed(1), plan: FaultPlan::none(), usual: Some(Arc::new(given.clone())) };
        let back: Vec<Scenario> = default_ones(&case, &[]).into_iter().map(|next| next.scenario).collect();
        assert_eq!(back, [given.clone()]);
        let usual = default_ones(&Candidate { usual: None, ..case }, &[]);
        assert!(usual.iter().any(|next| next.scenario.guard.lease != given.guard.lease), "without one it is the catalogue's");
    }
}
