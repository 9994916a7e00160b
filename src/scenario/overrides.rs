//! Nodes that are configured otherwise than the deployment: other constants, another time zone, another cron text, or no
//! schedule at all. A scenario holds a list of them, and each node is given the deployment as it knows it, once.

use crate::scenario::{GuardKnobs, NodeKnobs, Scenario};
use crate::settlement::{Calendar, Schedule, ScheduleError};
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize};
use std::marker::PhantomData;

/// What one node has that the deployment does not. What is left out is as in the deployment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Override {
    /// Which node, from 0. Each at most once.
    pub node: u8,
    /// It takes boundaries for those of this time zone: a name, or an offset such as `+09:00`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    /// It goes by this cron text. Only where the schedule is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cron: Option<String>,
    /// It does not know the schedule: it never wakes, and can make nothing of what it finds.
    #[serde(default, skip_serializing_if = "is_false")]
    pub unscheduled: bool,
    /// It belongs to another environment: it works on a database of its own and shares the lease store. What it settles there is no settlement.
    #[serde(default, skip_serializing_if = "is_false")]
    pub elsewhere: bool,
    /// Constants of its guard, by their names in `[guard]`.
    #[serde(default, skip_serializing_if = "Part::is_empty")]
    pub guard: Part<GuardKnobs>,
    /// What it does otherwise, by the names in `[node]`.
    #[serde(default, skip_serializing_if = "Part::is_empty")]
    pub behaviour: Part<NodeKnobs>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(knob: &bool) -> bool {
    !knob
}

/// Some knobs of a group, by their names in its TOML table. A name or a value that the group does not have is refused
/// when it is read, in the line of the table.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Part<K> {
    given: toml::Table,
    #[serde(skip)]
    of: PhantomData<fn() -> K>,
}

impl<K> Default for Part<K> {
    fn default() -> Part<K> {
        Part { given: toml::Table::new(), of: PhantomData }
    }
}

impl<'de, K: Default + Serialize + DeserializeOwned> Deserialize<'de> for Part<K> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Part<K>, D::Error> {
        let some = Part { given: toml::Table::deserialize(d)?, of: PhantomData };
        some.merged(&K::default()).map_err(|why| D::Error::custom(why.message()))?;
        Ok(some)
    }
}

impl<K: Default + Serialize + DeserializeOwned + Clone> Part<K> {
    /// Those that `all` has otherwise than `usual`.
    ///
    /// # Panics
    /// A group has values that TOML does not know, which a test of all knobs rules out.
    pub fn differing(all: &K, usual: &K) -> Part<K> {
        let (all, usual) = (table(all), table(usual));
        let given = all.into_iter().filter(|(name, value)| usual.get(name) != Some(value)).collect();
        Part { given, of: PhantomData }
    }

    /// The group with these knobs in it.
    pub fn on(&self, usual: &K) -> K {
        // What was read fits, and what was made was taken from such a group.
        self.merged(usual).unwrap_or_else(|_| usual.clone())
    }

    /// Those of `all` that are given here.
    fn of(&self, all: &K) -> Part<K> {
        let given = table(all).into_iter().filter(|(name, _)| self.given.contains_key(name)).collect();
        Part { given, of: PhantomData }
    }
}

impl<K> Part<K> {
    fn is_empty(&self) -> bool {
        self.given.is_empty()
    }
}

impl<K: Serialize + DeserializeOwned> Part<K> {
    fn merged(&self, usual: &K) -> Result<K, toml::de::Error> {
        let mut merged = table(usual);
        merged.extend(self.given.clone());
        merged.try_into()
    }
}

fn table<K: Serialize>(knobs: &K) -> toml::Table {
    toml::Table::try_from(knobs).expect("knobs have only values that TOML knows")
}

impl Scenario {
    /// What is said about this node alone.
    pub fn override_of(&self, node: u8) -> Option<&Override> {
        self.overrides.iter().find(|other| other.node == node)
    }

    /// Whether this node belongs to another environment.
    pub fn is_elsewhere(&self, node: u8) -> bool {
        self.override_of(node).is_some_and(|other| other.elsewhere)
    }

    /// The deployment as this node knows it; its boundaries are another matter ([`Override::calendar`]).
    #[must_use]
    pub fn known_to(&self, node: u8) -> Scenario {
        let mut known = self.clone();
        if let Some(other) = self.override_of(node) {
            known.node = other.behaviour.on(&self.node);
            known.guard = other.guard.on(&self.guard);
        }
        known
    }
}

impl Override {
    /// The boundaries that the node knows, where `truth` is those that there are, by `schedule`.
    ///
    /// # Errors
    /// The zone or the cron text is no good.
    pub fn calendar(&self, schedule: &Schedule, truth: &Calendar) -> Result<Calendar, ScheduleError> {
        if self.unscheduled {
            return Ok(truth.unknown());
        }
        schedule.seen_with(self.zone.as_deref(), self.cron.as_deref(), truth)
    }

    /// The same difference between `scaled` deployments: each constant that is given is that of its scaled whole.
    pub(super) fn scaled(&self, node: &NodeKnobs, guard: &GuardKnobs, zone: impl Fn(&str) -> String) -> Override {
        Override { behaviour: self.behaviour.of(node), guard: self.guard.of(guard), zone: self.zone.as_deref().map(zone), ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Span;

    fn read(text: &str) -> Scenario {
        toml::from_str(text).expect(text)
    }

    #[test]
    fn a_node_has_what_is_said_and_the_rest_of_the_deployment() {
        let scenario =
            read("[guard]\nlease = \"20m\"\n[[override]]\nnode = 1\nguard = { heartbeat = \"4m\" }\nbehaviour = { poll = \"30s\" }\n");
        let known = scenario.known_to(1);
        assert_eq!((known.guard.lease, known.guard.heartbeat, known.node.poll), (20.minutes(), 4.minutes(), 30.seconds()));
        assert_eq!((&scenario.known_to(0).guard, &scenario.known_to(0).node), (&scenario.guard, &scenario.node));
        assert_eq!(toml::from_str::<Scenario>(&toml::to_string(&scenario).unwrap()).unwrap(), scenario);
        assert_eq!(Part::differing(&known.guard, &scenario.guard), scenario.overrides[0].guard);
    }

    #[test]
    fn what_no_group_has_is_refused_with_its_line() {
        for (text, line, said) in [
            ("[[override]]\nnode = 1\n[override.guard]\nleese = \"1m\"\n", 3, "unknown field `leese`"),
            ("[[override]]\nnode = 1\nbehaviour = { poll = 30 }\n", 3, "expected a duration in quotes"),
            ("[[override]]\nnode = 1\ntimezone = \"UTC\"\n", 3, "unknown field `timezone`"),
            ("[[override]]\nzone = \"UTC\"\n", 1, "missing field `node`"),
        ] {
            let error = toml::from_str::<Scenario>(text).expect_err(text).to_string();
            assert!(error.contains(&format!("line {line},")) && error.contains(said), "{text}\n{error}");
        }
    }

    /// The 10th ends an hour earlier in Tokyo than in Shanghai, and the 25th too.
    #[test]
    fn another_zone_has_the_same_dates_at_other_instants() {
        let scenario = Scenario::default();
        let truth = scenario.schedule.calendar().unwrap();
        let there = Override { zone: Some("Asia/Tokyo".to_owned()), ..Override::default() };
        let seen = there.calendar(&scenario.schedule, &truth).unwrap();
        assert_eq!(
            seen.periods.iter().map(|p| (p.id, p.due + 1.hours())).collect::<Vec<_>>(),
            truth.periods.iter().map(|p| (p.id, p.due)).collect::<Vec<_>>()
        );
        assert_eq!((seen.beyond.id, seen.origin), (truth.beyond.id, truth.origin));
        let unscheduled = Override { unscheduled: true, ..there };
        assert!(unscheduled.calendar(&scenario.schedule, &truth).unwrap().periods.is_empty());
    }
}
