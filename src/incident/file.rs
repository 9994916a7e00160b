//! What stands in the file of an incident.

use crate::plan::FaultPlan;
use crate::profile::{self, lay};
use crate::scenario::Scenario;
use serde::{Deserialize, Serialize};
use std::fmt;
use toml::{Table, Value};

/// What happened to the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Damage {
    /// It was done more than once.
    Twice,
    /// It was not done.
    Lost,
    /// Nothing could be done until a human acted.
    Stuck,
    /// What it left behind is wrong.
    Corrupt,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Damage::Twice => "done twice",
            Damage::Lost => "lost",
            Damage::Stuck => "stuck",
            Damage::Corrupt => "corrupt",
        })
    }
}

/// How well the report shows its cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Evidence {
    /// The cause is shown in the report, its fix or its source.
    A,
    /// The cause is plausible, and partly inferred.
    B,
    /// Only the symptom is known.
    C,
}

/// A report, reproduced.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Incident {
    /// Its number in our list of reports: `B23`.
    #[serde(skip)]
    pub id: String,
    /// Where it was reported: `owner/name#number`, or a page.
    pub source: String,
    /// The report's title.
    pub title: String,
    /// What happened to the work.
    pub damage: Damage,
    /// How well the cause is shown.
    pub evidence: Evidence,
    /// What a simulator must offer to reproduce it, in the letters of our list.
    pub knobs: Vec<String>,
    /// What was reported, in our words.
    pub happened: String,
    /// How it is modelled here: what stands for what.
    pub here: String,
    /// The rule that breaks: an invariant's name.
    pub breaks: String,
    /// The run's seed.
    #[serde(default = "one")]
    pub seed: u64,
    /// `strategy = "…"` or `profile = "…"`, and the knobs that differ from its calm deployment of one period.
    deployment: Table,
    /// What goes wrong.
    #[serde(default)]
    pub plan: FaultPlan,
    /// Under what the same run holds.
    pub fix: Fix,
}

/// What mends it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fix {
    /// In a sentence: what is deployed otherwise, and why that is enough.
    pub what: String,
    /// What differs from the deployment of the incident.
    deployment: Table,
    /// The corresponding faults, where those of the incident cannot strike the fix.
    #[serde(default)]
    pub plan: Option<FaultPlan>,
    /// Why they cannot.
    #[serde(default)]
    pub other_plan: Option<String>,
}

/// A report that is not reproduced.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Unexpressed {
    /// Its number in our list of reports.
    pub id: String,
    /// Where it was reported.
    pub source: String,
    /// The report's title.
    pub title: String,
    /// What happened to the work.
    pub damage: Damage,
    /// How well the cause is shown.
    pub evidence: Evidence,
    /// What a simulator must offer to reproduce it.
    pub knobs: Vec<String>,
    /// Why not.
    pub reason: String,
}

fn one() -> u64 {
    1
}

impl Incident {
    /// Reads the file of the incident with this number.
    ///
    /// # Errors
    /// What in it is wrong, and where.
    pub fn read(id: &str, text: &str) -> Result<Incident, String> {
        let read: Incident = toml::from_str(text).map_err(|e| e.to_string())?;
        Ok(Incident { id: id.to_owned(), ..read })
    }

    /// What was deployed.
    ///
    /// # Errors
    /// It is not a deployment.
    pub fn deployment(&self) -> Result<Scenario, String> {
        deployed(&self.deployment)
    }

    /// What is deployed with the fix.
    ///
    /// # Errors
    /// It is not a deployment.
    pub fn fixed_deployment(&self) -> Result<Scenario, String> {
        let mut all = self.deployment.clone();
        lay(&mut all, &self.fix.deployment);
        deployed(&all)
    }
}

impl Unexpressed {
    /// Reads the list.
    ///
    /// # Errors
    /// What in it is wrong, and where.
    pub fn read(text: &str) -> Result<Vec<Unexpressed>, String> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct List {
            #[serde(default)]
            report: Vec<Unexpressed>,
        }
        toml::from_str(text).map(|list: List| list.report).map_err(|e| e.to_string())
    }
}

/// The calm deployment of one period of the named strategy, or that of the named profile, with some knobs set.
fn deployed(knobs: &Table) -> Result<Scenario, String> {
    let mut knobs = knobs.clone();
    let profile = knobs.remove("profile");
    let usual = match (profile.as_ref().and_then(Value::as_str), knobs.get("strategy").and_then(Value::as_str)) {
        (Some(name), _) => profile::find(name).ok_or_else(|| unknown(name))?.scenario(),
        (None, Some(strategy)) => Scenario::calm(strategy),
        (None, None) => return Err("names neither a `strategy` nor a `profile` in its deployment".to_owned()),
    };
    let mut all = Table::try_from(usual.of_one_period()).map_err(|e| e.to_string())?;
    lay(&mut all, &knobs);
    all.try_into().map_err(|e: toml::de::Error| e.to_string())
}

fn unknown(profile: &str) -> String {
    let known: Vec<&str> = profile::all().iter().map(|profile| profile.name.as_str()).collect();
    format!("names the unknown profile `{profile}`; write one of {}", known.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settlement::Schedule;
    use crate::time::Span;

    #[test]
    fn knobs_lie_over_the_usual_ones_and_a_fix_over_both() {
        let text = "source = \"a/b#1\"\ntitle = \"t\"\ndamage = \"twice\"\nevidence = \"A\"\nknobs = []\nhappened = \"h\"\nhere = \"h\"\nbreaks = \"settled-once\"\n\
            deployment = { strategy = \"lease-set-px\", nodes = 2, guard = { lease = \"5m\" } }\n\
            fix = { what = \"w\", deployment = { guard = { lease = \"1h\" } } }\n";
        let read = Incident::read("B1", text).unwrap();
        let (broken, fixed) = (read.deployment().unwrap(), read.fixed_deployment().unwrap());
        assert_eq!((broken.nodes, broken.guard.lease.as_secs()), (2, 300));
        assert_eq!((fixed.nodes, fixed.guard.lease.as_secs()), (2, 3600));
        assert_eq!(broken.guard.heartbeat, Scenario::calm("lease-set-px").guard.heartbeat);
    }

    #[test]
    fn a_wrong_knob_is_named() {
        let text = "source = \"a/b#1\"\ntitle = \"t\"\ndamage = \"twice\"\nevidence = \"A\"\nknobs = []\nhappened = \"h\"\nhere = \"h\"\nbreaks = \"settled-once\"\n\
            deployment = { strategy = \"lease-set-px\", guard = { leese = \"5m\" } }\nfix = { what = \"w\", deployment = {} }\n";
        assert!(Incident::read("B1", text).unwrap().deployment().unwrap_err().contains("leese"));
        assert!(Incident::read("B1", &text.replace("damage", "demage")).unwrap_err().contains("demage"));
    }

    /// A report about a system that we have a profile of: its constants, one period, and the same knobs over them.
    #[test]
    fn a_profile_stands_for_a_system() {
        let text = "source = \"a/b#1\"\ntitle = \"t\"\ndamage = \"twice\"\nevidence = \"A\"\nknobs = []\nhappened = \"h\"\nhere = \"h\"\nbreaks = \"settled-once\"\n\
            deployment = { profile = \"shedlock\", nodes = 2, schedule = { kind = \"interval\", every = \"1h\", periods = 2 } }\n\
            fix = { what = \"w\", deployment = { lease_row = { at_least = \"5m\" } } }\n";
        let read = Incident::read("B1", text).unwrap();
        let (broken, fixed) = (read.deployment().unwrap(), read.fixed_deployment().unwrap());
        let profile = profile::find("shedlock").unwrap().scenario();
        assert_eq!((broken.strategy.as_str(), broken.nodes, &broken.lease_row), ("lease-row", 2, &profile.lease_row));
        assert_eq!(broken.schedule, Schedule::Interval { every: 1.hours(), periods: 2 });
        assert_eq!((fixed.lease_row.at_least, fixed.lease_row.at_most), (5.minutes(), profile.lease_row.at_most));
        let said = |text: &str| Incident::read("B1", text).unwrap().deployment().unwrap_err();
        assert!(said(&text.replace("shedlock", "shredlock")).contains("`shredlock`; write one of shedlock, "));
        assert!(said(&text.replace("profile = \"shedlock\", ", "")).contains("neither a `strategy` nor a `profile`"));
    }
}
