//! Schedulers and locks that people run, each as a deployment of ours: which strategy its
//! documented mechanism is, with its documented constants, and what of it is not modelled.
//!
//! A profile speaks of our model of the documented mechanism, never of the product itself. Every
//! constant says where it is documented and what stands there; a constant that is nowhere
//! documented is the user's to give, and is left as the scenario has it.

use crate::scenario::Scenario;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// What a scheduler documents about itself, as a deployment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// What it is called in commands and deployment files: the name of its file.
    #[serde(skip_deserializing)]
    pub name: String,
    /// One line: whose mechanism it is, and in which setting.
    pub about: String,
    /// Our model of the documented mechanism, in a few sentences.
    pub model: String,
    /// What the mechanism does and the model does not.
    pub limits: Vec<String>,
    /// Where each constant comes from.
    #[serde(default)]
    pub documented: Vec<Documented>,
    /// The part of a scenario that it sets, `strategy` first; everything else has its default.
    #[serde(rename = "scenario")]
    pub knobs: toml::Table,
}

/// Where a constant of a profile is documented.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Documented {
    /// The knob, by its path in a scenario's TOML: `guard.watchdog_lease`.
    pub knob: String,
    /// What is said there, in our words.
    pub says: String,
    /// Where it is said.
    pub url: String,
}

/// Declares the files of the profiles, in the order in which they are listed.
macro_rules! profiles {
    ($($name:literal)+) => {
        const FILES: [(&str, &str); [$($name),+].len()] = [$(($name, include_str!(concat!("profile/", $name, ".toml")))),+];
    };
}

profiles! {
    "shedlock"
    "shedlock-db-time"
    "redisson"
    "db-scheduler"
    "quartz"
    "xxl-job"
    "redbeat"
    "river"
    "kubernetes-cronjob"
}

/// Every profile, in the order in which they are listed.
///
/// # Panics
/// A file of ours is wrong, which the tests rule out.
pub fn all() -> &'static [Profile] {
    static ALL: LazyLock<Vec<Profile>> = LazyLock::new(|| {
        let read = |(name, text): (&str, &str)| match toml::from_str::<Profile>(text) {
            Ok(profile) => Profile { name: name.to_owned(), ..profile },
            Err(error) => panic!("the profile {name} is wrong: {error}"),
        };
        FILES.into_iter().map(read).collect()
    });
    &ALL
}

/// The profile with this name.
pub fn find(name: &str) -> Option<&'static Profile> {
    all().iter().find(|profile| profile.name == name)
}

impl Profile {
    /// The deployment that it describes: its own knobs, and the default of every other.
    ///
    /// # Panics
    /// Its file is wrong, which the tests rule out.
    #[must_use]
    pub fn scenario(&self) -> Scenario {
        self.with(&toml::Table::new()).unwrap_or_else(|error| panic!("the profile {} is wrong: {error}", self.name))
    }

    /// The same deployment with some knobs set otherwise: `own` is a part of a scenario's TOML, and wins.
    ///
    /// # Errors
    /// `own` names a knob that there is not, or gives one a value of the wrong kind.
    pub fn with(&self, own: &toml::Table) -> Result<Scenario, toml::de::Error> {
        let mut knobs = self.knobs.clone();
        lay(&mut knobs, own);
        knobs.try_into()
    }

    /// The strategy that stands for its mechanism, by its name in the catalogue.
    #[must_use]
    pub fn strategy(&self) -> &str {
        self.knobs.get("strategy").and_then(toml::Value::as_str).unwrap_or_default()
    }

    /// What it sets a knob to, by its path in a scenario's TOML, as TOML; `None` if it leaves it alone.
    #[must_use]
    pub fn sets(&self, knob: &str) -> Option<String> {
        let mut parts = knob.split('.');
        let first = self.knobs.get(parts.next()?)?;
        parts.try_fold(first, |value, part| value.get(part)).map(ToString::to_string)
    }
}

/// Lays `own` over `knobs`, table by table. A schedule of another kind takes the place of the whole one.
pub(crate) fn lay(knobs: &mut toml::Table, own: &toml::Table) {
    for (key, value) in own {
        match (knobs.get_mut(key), value) {
            (Some(toml::Value::Table(below)), toml::Value::Table(above)) if !above.contains_key("kind") => lay(below, above),
            _ => {
                knobs.insert(key.clone(), value.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests;
