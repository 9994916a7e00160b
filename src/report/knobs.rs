//! Every knob of a scenario, for people who write one: meaning, unit and bounds here, the
//! default from [`Scenario::default`], so that it cannot be wrong.

use crate::report::words::wrap;
use crate::scenario::Scenario;
use serde::Serialize;
use std::collections::BTreeMap;

/// A knob, by its path in a scenario's TOML.
pub struct Knob {
    /// `node.poll`.
    pub path: &'static str,
    /// What it is.
    pub about: &'static str,
    /// Its unit and bounds.
    pub bounds: &'static str,
    /// What it means not to set it, for a knob that is not in the default scenario's TOML.
    unset: Option<&'static str>,
}

const DURATION: &str = "duration";

/// All knobs, in the order of the TOML.
pub const ALL: &[Knob] = &[
    knob("strategy", "which guard the nodes run", "name"),
    knob("nodes", "scheduler nodes", "1 to 32"),
    knob("players", "players", "1 to 10,000"),
    knob("earnings", "earnings in a period, a third within a minute of its end", "0 to 1,000"),
    knob("liveness_bound", "everything must be settled this long after the last boundary or healing", DURATION),
    knob("schedule.kind", "how boundaries are given", "cron or interval"),
    knob("schedule.cron", "when periods end: minute, hour, day of month, month, day of week", "cron text"),
    knob("schedule.zone", "in which time zone", "IANA name"),
    knob("schedule.from", "local time at which the run begins", "date and time"),
    knob("schedule.periods", "boundaries that the run watches", "1 to 1,000"),
    knob("node.jitter", "a node wakes up to this long after a boundary", "duration, 0s to 10m"),
    knob("node.poll", "time between two attempts at a period", "duration, 1ms to 1h"),
    knob("node.attention", "how long after a boundary or its start a node keeps polling", DURATION),
    knob("node.work", "how long the job takes", "duration, 0s to 24h"),
    knob("node.timeout", "how long a client waits for a connection or an answer", DURATION),
    knob("node.step_jitter", "largest seeded pause before a client operation", DURATION),
    knob("guard.lease", "expiry of leases without renewal", "duration, at least 1ms"),
    knob("guard.setnx_lease", "expiry that lease-setnx-expire sets with its second command", "duration, at least 1ms"),
    knob("guard.machine_lease", "expiry of lease-machine-id", "duration, at least 1ms"),
    knob("guard.watchdog_lease", "expiry of the leases that a watchdog renews", "duration, at least 1ms"),
    knob("guard.renew_every", "time between two renewals by a watchdog", "duration, less than watchdog_lease"),
    knob("guard.dual_lease", "expiry of dual-guard's lease", "duration, at least 1ms"),
    knob("guard.dual_renew_every", "time between two renewals of dual-guard's lease", "duration, less than dual_lease"),
    knob("guard.heartbeat", "time between two heartbeats in the task row", DURATION),
    knob("guard.stale_after", "age of a heartbeat after which a claim counts as dead", "duration, more than heartbeat"),
    knob("guard.backoff", "first wait after a job error; doubles", DURATION),
    knob("guard.backoff_max", "longest wait after a job error", DURATION),
    knob("guard.dead_letter_after", "job errors after which a period is given up", "at least 1"),
    unset("guard.operator", "nobody", "a human looks for alerts so often, and gives back what was given up", DURATION),
    knob("guard.wake_after", "table-key-published wakes this long after the boundary", DURATION),
    knob("network.latency_min", "smallest one-way latency", "duration, at least 1ms"),
    knob("network.latency_max", "largest one-way latency", DURATION),
    knob(
        "database.rules",
        "whose isolation rules, at which level; a database alone stands for its default level",
        "postgresql, innodb, or DATABASE-LEVEL",
    ),
    knob("database.lock_timeout", "how long a statement waits for another transaction", DURATION),
    knob("database.idle_in_transaction_timeout", "a session idle in a transaction is ended after this long", DURATION),
    knob("queue.block", "how long a consumer waits for a message before it asks again", "duration, 1ms to 1h"),
    knob("queue.listen", "how long after a boundary queue-consumer asks for messages", "duration, at least block"),
    knob("queue.answer", "how long the third party of queue-consumer takes", "duration, 0s to 24h"),
    knob("queue.ask_every", "time between the first questions to the third party", "duration, at least 1ms"),
    knob("queue.visibility", "queue-reliable puts a message in again after this long", "duration, at least 1ms"),
];

const fn knob(path: &'static str, about: &'static str, bounds: &'static str) -> Knob {
    Knob { path, about, bounds, unset: None }
}

/// A knob that is not written where it has its default.
const fn unset(path: &'static str, means: &'static str, about: &'static str, bounds: &'static str) -> Knob {
    Knob { path, about, bounds, unset: Some(means) }
}

impl Knob {
    /// Its default, as TOML; in a word, for a knob that is not written then.
    ///
    /// # Panics
    /// The knob is not part of a scenario; a test asks for all of them.
    pub fn default(&self) -> String {
        let written = || defaults().into_iter().find(|(path, _)| path == self.path).map(|(_, value)| value);
        self.unset.map(str::to_owned).or_else(written).expect("every knob is part of a scenario")
    }
}

/// Path and TOML value of everything in the default scenario.
fn defaults() -> Vec<(String, String)> {
    leaves(&Scenario::default()).into_iter().map(|(path, value)| (path, value.to_string())).collect()
}

/// Path and TOML value of everything in a scenario.
fn leaves(scenario: &Scenario) -> Vec<(String, toml::Value)> {
    const KNOWN: &str = "a scenario has only values that TOML knows";
    let queue = toml::Table::try_from(&scenario.queue).expect(KNOWN);
    let mut scenario = toml::Table::try_from(scenario).expect(KNOWN);
    // What is as usual stands in no file, and is a knob all the same.
    scenario.entry("queue").or_insert(queue.into());
    let mut leaves = Vec::new();
    for (key, value) in scenario {
        match value {
            toml::Value::Table(inner) => leaves.extend(inner.into_iter().map(|(k, v)| (format!("{key}.{k}"), v))),
            other => leaves.push((key, other)),
        }
    }
    leaves
}

/// A knob of a run that is not what its deployment has.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Drawn {
    /// Its path in a scenario's TOML.
    pub knob: String,
    /// What it was in the run.
    pub drawn: toml::Value,
    /// What the deployment has; `None` if it has no such knob.
    pub given: Option<toml::Value>,
}

/// The knobs that a run does not share with the deployment that it varies, in the order of the TOML.
pub fn drawn(of: &Scenario, given: &Scenario) -> Vec<Drawn> {
    let known: BTreeMap<String, toml::Value> = leaves(given).into_iter().collect();
    let all = leaves(of).into_iter().map(|(knob, drawn)| Drawn { given: known.get(&knob).cloned(), knob, drawn });
    all.filter(|knob| knob.given.as_ref() != Some(&knob.drawn)).collect()
}

/// The same for people: lines of at most `width` columns and an empty one, or nothing at all.
pub fn told(drawn: &[Drawn], width: usize) -> Vec<String> {
    if drawn.is_empty() {
        return Vec::new();
    }
    let plain = |value: &toml::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let told = |knob: &Drawn| match &knob.given {
        Some(given) => format!("{} {} (not {})", knob.knob, plain(&knob.drawn), plain(given)),
        None => format!("{} {}", knob.knob, plain(&knob.drawn)),
    };
    let list: Vec<String> = drawn.iter().map(told).collect();
    let mut lines = wrap(&format!("knobs: {}", list.join(", ")), width);
    lines.push(String::new());
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// A knob that is added to the scenario and not here, or taken away there and not here, fails.
    #[test]
    fn the_list_is_the_scenario() {
        let listed: BTreeSet<String> = ALL.iter().filter(|knob| knob.unset.is_none()).map(|knob| knob.path.to_owned()).collect();
        let deployed: BTreeSet<String> = defaults().into_iter().map(|(path, _)| path).collect();
        assert_eq!(listed, deployed);
    }
}
