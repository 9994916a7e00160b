//! A witness as a test, to be pasted into a file in `sims`: it names everything that it needs,
//! and fails when the rule holds again.

use crate::explore::Witness;
use crate::plan::Fault;
use crate::report::words::wrap;
use crate::scenario::Scenario;
use serde::Serialize;
use std::fmt::Write;

/// Columns of a doc comment, without its slashes.
const WIDTH: usize = 100;

/// The text of a test that breaks `rule` as the witness does.
///
/// # Panics
/// Never: everything in a witness can be written as TOML.
pub fn test(witness: &Witness, rule: &str) -> String {
    let strategy = witness.scenario.database.rules.label(witness.strategy());
    let about =
        if witness.sentence.is_empty() { format!("{strategy} under {} breaks {rule}.", witness.faults) } else { witness.sentence.clone() };
    let doc: String = wrap(&about, WIDTH).iter().flat_map(|line| ["/// ", line, "\n"]).collect();
    let name = identifier(&format!("{strategy} under {} breaks {rule}", witness.faults));
    let plan = match witness.plan.faults.is_empty() {
        true => "    let plan = FaultPlan::none();\n".to_owned(),
        false => format!(
            "    let plan: FaultPlan = toml::from_str(\n        {}\n    )\n    .expect(\"a plan\");\n",
            raw(&faults(&witness.plan.faults))
        ),
    };
    let scenario = raw(&knobs(&witness.scenario));
    let (class, engine, seed) = (witness.faults, witness.engine, witness.seed);
    format!(
        "{doc}#[test]
fn {name}() {{
    use onceproof::explore::observe;
    use onceproof::world::{{Deployment, EngineKind}};
    use onceproof::{{FaultClass, plan::FaultPlan, scenario::Scenario, seed::Seed}};

    let scenario: Scenario = toml::from_str(
        {scenario}
    )
    .expect(\"a scenario\");
{plan}    let deployment = Deployment::new(&scenario, EngineKind::{engine:?}).expect(\"it can be deployed\");
    deployment.check_plan(&plan).expect(\"the plan can strike it\");
    let seen = observe(&deployment, FaultClass::{class:?}, Seed({seed}), &plan).expect(\"it can be simulated\");
    let broken: Vec<&str> = seen.findings.iter().map(|finding| finding.rule).collect();
    assert!(broken.contains(&\"{rule}\"), \"{rule} holds; broken: {{broken:?}}\");
}}
"
    )
}

/// The knobs that are not those of the default deployment.
fn knobs(scenario: &Scenario) -> String {
    fn differing(value: toml::Table, usual: &toml::Table) -> toml::Table {
        let differs = |(key, value): (String, toml::Value)| match (value, usual.get(&key)) {
            (value, Some(usual)) if value == *usual => None,
            // A schedule is one thing, whatever it has in common with another.
            (toml::Value::Table(table), Some(toml::Value::Table(usual))) if key != "schedule" => {
                Some((key, differing(table, usual).into()))
            }
            (value, _) => Some((key, value)),
        };
        value.into_iter().filter_map(differs).collect()
    }
    let table = |scenario: &Scenario| toml::Table::try_from(scenario).expect("a scenario has only values that TOML knows");
    let mut told = differing(table(scenario), &table(&Scenario::default()));
    told.insert("strategy".to_owned(), scenario.strategy.clone().into());
    toml::to_string(&told).expect("a scenario has only values that TOML knows")
}

fn faults(faults: &[Fault]) -> String {
    let mut text = String::new();
    for fault in faults {
        let _ = write!(text, "[[fault]]\nharm = {}\nwhen = {}\n", inline(&fault.harm), inline(&fault.when));
    }
    text
}

/// A value in one line.
fn inline(value: &impl Serialize) -> String {
    toml::Value::try_from(value).expect("a fault has only values that TOML knows").to_string()
}

/// A raw string literal of several lines, as an argument.
fn raw(text: &str) -> String {
    let hashes = if text.contains('"') { "#" } else { "" };
    format!("r{hashes}\"\n{text}\"{hashes},")
}

/// Words as a name in Rust.
fn identifier(words: &str) -> String {
    words.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' }).collect()
}
