//! Every knob of a scenario, for people who write one: meaning, unit and bounds here, the
//! default from [`Scenario::default`], so that it cannot be wrong.

use crate::plan::duration;
use crate::report::words::wrap;
use crate::scenario::Scenario;
use crate::settlement::Schedule;
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
}

const DURATION: &str = "duration";

/// All knobs, in the order of the TOML.
pub const ALL: &[Knob] = &[
    knob("strategy", "which guard the nodes run", "name"),
    knob("nodes", "scheduler nodes", "1 to 32"),
    knob("players", "players", "1 to 10,000"),
    knob("earnings", "earnings in a period, a third within a minute of its end", "0 to 1,000"),
    knob("time_scale", "by how much all constants are smaller than real ones; drawn faults are divided by it", "1 to 3,600"),
    knob("liveness_bound", "everything must be settled this long after the last boundary or healing", DURATION),
    knob("schedule.kind", "how boundaries are given", "cron or interval"),
    knob("schedule.cron", "when periods end: minute, hour, day of month, month, day of week", "cron text"),
    knob("schedule.zone", "in which time zone", "IANA name"),
    knob("schedule.from", "local time at which the run begins", "date and time"),
    knob(
        "schedule.gap",
        "a local time that summer time skips comes at the end of the gap, as much later as that is long, or not",
        "end, shift or skip",
    ),
    knob("schedule.fold", "a local time that comes twice: nodes wake the first time, the second, or both", "first, second or both"),
    knob("schedule.every", "where kind is interval: the length of a period", "duration, at least 1ms"),
    knob("schedule.periods", "boundaries that the run watches", "1 to 1,000"),
    knob("node.jitter", "a node wakes up to this long after a boundary", "duration, 0s to 10m"),
    knob("node.poll", "time between two attempts at a period", "duration, 1ms to 1h"),
    knob("node.attention", "how long after a boundary or its start a node keeps polling", DURATION),
    knob("node.work", "how long the job takes", "duration, 0s to 24h"),
    knob("node.timeout", "how long a client waits for a connection or an answer", DURATION),
    knob("node.step_jitter", "largest seeded pause before a client operation", DURATION),
    knob("node.policy", "what a node does after an attempt; as its strategy has it if it is not said", "skip, retry or retry-checked"),
    knob("node.misfire.policy", "what a node does about boundaries that it missed", "fire-all, fire-once or skip"),
    knob("node.misfire.grace", "a boundary that is first seen so long after it is not missed", "duration, more than jitter and wake_after"),
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
    knob("guard.operator", "a human looks for alerts so often, and gives back what was given up; 0s: nobody", DURATION),
    knob("guard.wake_after", "table-key-published wakes this long after the boundary", DURATION),
    knob("guard.key_prefix", "stands before every key in the lease store", "text"),
    knob("clocks.error", "wrong clocks are wrong by at most this, either way", "duration, 0s to 24h"),
    knob("clocks.drift_ppm", "drifting clocks run fast or slow by at most so many parts per million", "0 to 100,000"),
    knob("job_lengths.p50", "the job's length is drawn for each run: half of them take at most so long", "duration, 0s to p95"),
    knob("job_lengths.p95", "all but 5 of 100 are shorter", "duration, up to p99"),
    knob("job_lengths.p99", "all but 1 of 100 are shorter", "duration, up to max"),
    knob("job_lengths.max", "none is longer", "duration, up to 24h"),
    knob("network.latency_min", "smallest one-way latency", "duration, at least 1ms"),
    knob("network.latency_max", "largest one-way latency", DURATION),
    knob(
        "database.rules",
        "whose isolation rules, at which level; a database alone stands for its default level",
        "postgresql, innodb, or DATABASE-LEVEL",
    ),
    knob("database.lock_timeout", "how long a statement waits for another transaction", DURATION),
    knob("database.idle_in_transaction_timeout", "a session idle in a transaction is ended after this long", DURATION),
    knob(
        "database.replica_lag",
        "what is read outside of transactions was committed so long ago, on a replica; 0s: the primary serves it",
        DURATION,
    ),
    knob("database.pool.sessions", "a pooler in transaction mode has so many sessions of the server; none if it is not said", "1 to 1,000"),
    knob("database.pool.round_robin", "it hands them out in turn; else the one that was used last goes first", "true or false"),
    knob("queue.block", "how long a consumer waits for a message before it asks again", "duration, 1ms to 1h"),
    knob("queue.listen", "how long after a boundary queue-consumer asks for messages", "duration, at least block"),
    knob("queue.answer", "how long the third party of queue-consumer takes", "duration, 0s to 24h"),
    knob("queue.ask_every", "time between the first questions to the third party", "duration, at least 1ms"),
    knob("queue.visibility", "queue-reliable puts a message in again after this long", "duration, at least 1ms"),
    knob("log.heartbeat", "time between two heartbeats of the log's leader", "duration, at least 2ms"),
    knob("log.election", "shortest silence after which a member of the log stands for election", "duration, more than two heartbeats"),
    knob("log.rest_after", "the log rests when nobody has asked it for so long", "duration, more than four elections"),
    knob("log.lease", "a grant of the log runs out after this", "duration, at least 1ms"),
    knob("log.renew_every", "time between two renewals of a grant of the log", "duration, less than lease"),
    knob("centre.timeout", "a run that is not done after this is given to another node", "duration, at least 1ms"),
    knob("lease_row.clock", "whose clock a lease row runs by", "application or database"),
    knob("lease_row.at_most", "a lease row is over after this, whatever became of its holder", "duration, at least 1ms"),
    knob("lease_row.at_least", "given back earlier, a lease row is kept for the rest of this", "duration, at most at_most"),
    knob("lease_row.keep_alive", "time between two extensions during the job; 0s: none", "duration, less than at_most"),
    knob("lease_row.over", "whether a lease row is over at its end or after it", "at or after"),
    knob("lease_row.key", "whether a lease row is named after the job or the period", "job or period"),
    knob("slot_key.time", "whether a slot is named by the boundary or by what the node's clock shows", "nominal or observed"),
    knob("slot_key.rounded_to", "to what an observed time is rounded down", "duration, 1ms to 24h"),
    knob("slot_key.kept", "how long the key of a slot is kept", "duration, at least 1ms"),
    knob("leader.held_in", "where the leader's lease is", "lease-store or row"),
    knob("leader.lasts", "a leader's lease runs out after this", "duration, at least 1ms"),
    knob("leader.renew_every", "time between two renewals, and between two bids", "duration, less than lasts"),
    knob("leader.ahead", "how long before a boundary the election begins", "duration, more than lasts"),
    knob("leader.remembers", "what of the schedule outlives its leader", "nothing, last-tick or slot"),
    knob("leader.on_error", "what an error means to who bids", "follow or lead"),
    knob("leader.renews", "whose lease a leader renews", "own or any"),
    knob("leader.adds_again", "whether who is elected again adds the schedule once more", "true or false"),
    knob("leader.late_by", "a missed boundary that is older does not fire; 0s: every one does", DURATION),
    knob("leader.most_missed", "with more missed boundaries than this, none fires; 0: however many", "at least 0"),
    knob("row_lock.acquires", "whether a due time is taken under the lock", "locked or unlocked"),
    knob("row_lock.reads", "when the next due time is read", "under-lock or before"),
    knob("row_lock.ahead", "how long before it is due a time is taken", "duration, 0s to 1h"),
    knob("row_lock.misfire_after", "a time that is taken later than this is missed", "duration, at least 1ms"),
    knob("row_lock.on_misfire", "what becomes of a missed time", "skip or fire"),
    knob("row_lock.recovers", "what is done again for a node that seems dead", "nothing, acquired or fired"),
    knob("row_lock.check_in", "time between two check-ins of a node at work", "duration, at least 1ms"),
    knob("row_lock.dead_after", "a node that has not checked in for this long seems dead", "duration, more than check_in"),
    knob("payout.key_retention", "how long the payout service remembers a key; 0s: for ever", DURATION),
    knob("override.node", "a node that is configured otherwise, in a table `[[override]]` of its own", "0 to 31, each once"),
    knob("override.zone", "it takes boundaries for those of this time zone", "IANA name, or offset"),
    knob("override.cron", "it goes by this cron text", "cron text"),
    knob("override.unscheduled", "it does not know the schedule", "true or false"),
    knob("override.elsewhere", "it belongs to another environment, which shares the lease store", "true or false"),
    knob("override.guard", "constants of its guard", "knobs of guard"),
    knob("override.behaviour", "what it does otherwise", "knobs of node"),
];

const fn knob(path: &'static str, about: &'static str, bounds: &'static str) -> Knob {
    Knob { path, about, bounds }
}

impl Knob {
    /// Its default, as TOML; `None` if the default deployment has nothing of the kind.
    pub fn default(&self) -> Option<String> {
        leaves(&Scenario::default()).into_iter().find(|(path, _)| path == self.path).map(|(_, value)| value.to_string())
    }
}

/// Path and TOML value of everything in a scenario.
fn leaves(scenario: &Scenario) -> Vec<(String, toml::Value)> {
    let mut leaves = Vec::new();
    flatten("", whole(scenario), &mut leaves);
    leaves
}

fn flatten(at: &str, table: toml::Table, leaves: &mut Vec<(String, toml::Value)>) {
    for (key, value) in table {
        let path = if at.is_empty() { key } else { format!("{at}.{key}") };
        match value {
            toml::Value::Table(inner) => flatten(&path, inner, leaves),
            leaf => leaves.push((path, leaf)),
        }
    }
}

/// A scenario with all that is in it: what has its default is left out of files, and is a knob all the same.
fn whole(scenario: &Scenario) -> toml::Table {
    let Scenario { node, guard, database, .. } = scenario;
    let mut left_out = vec![
        ("time_scale", value(&scenario.time_scale)),
        ("queue", value(&scenario.queue)),
        ("log", value(&scenario.log)),
        ("centre", value(&scenario.centre)),
        ("lease_row", value(&scenario.lease_row)),
        ("slot_key", value(&scenario.slot_key)),
        ("leader", value(&scenario.leader)),
        ("row_lock", value(&scenario.row_lock)),
        ("payout", value(&scenario.payout)),
        ("clocks", value(&scenario.clocks)),
        ("node.misfire", value(&node.misfire)),
        ("guard.key_prefix", value(&guard.key_prefix)),
        ("database.replica_lag", value(&duration::text(database.replica_lag))),
    ];
    if let Schedule::Cron { gap, fold, .. } = &scenario.schedule {
        left_out.extend([("schedule.gap", value(gap)), ("schedule.fold", value(fold))]);
    }
    let mut whole = match value(scenario) {
        toml::Value::Table(whole) => whole,
        other => unreachable!("a scenario is a table, not {other}"),
    };
    for (path, part) in left_out {
        let (group, name) = path.split_once('.').map_or((None, path), |(group, name)| (Some(group), name));
        match group.and_then(|group| whole.get_mut(group)).and_then(toml::Value::as_table_mut) {
            Some(inner) => inner.insert(name.to_owned(), part),
            None => whole.insert(name.to_owned(), part),
        };
    }
    whole
}

fn value(knobs: &impl Serialize) -> toml::Value {
    toml::Value::try_from(knobs).expect("a scenario has only values that TOML knows")
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
    use std::time::Duration;

    /// What may stand in a table of a scenario, also what files leave out: what is said about a name that may not.
    fn names(table: &str) -> Vec<String> {
        let text = match table {
            "" => "\"?\" = 0\n".to_owned(),
            "override" => "[[override]]\n\"?\" = 0\n".to_owned(),
            table => format!("[{table}]\n\"?\" = 0\n"),
        };
        let error = toml::from_str::<Scenario>(&text).expect_err("there is no knob `?`");
        let names = error.message().strip_prefix("unknown field `?`, expected ").unwrap_or_default();
        names.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    }

    fn paths(table: &str, found: &mut BTreeSet<String>) {
        for name in names(table) {
            let path = if table.is_empty() { name } else { format!("{table}.{name}") };
            let leaf = table == "override" || names(&path).is_empty();
            if leaf {
                found.insert(path);
            } else {
                paths(&path, found);
            }
        }
    }

    /// A knob that is added to a scenario and not here, or taken away there and not here, fails, whether or not files leave it out.
    #[test]
    fn the_list_is_the_scenario() {
        let listed: BTreeSet<String> = ALL.iter().map(|knob| knob.path.to_owned()).collect();
        let mut there = BTreeSet::new();
        paths("", &mut there);
        assert!(there.contains("node.misfire.grace") && there.contains("override.zone"), "{there:?}");
        assert_eq!(listed, there);
    }

    /// What has a default is shown with it, also if files leave it out.
    #[test]
    fn only_what_is_not_there_has_no_default() {
        let without: Vec<&str> = ALL.iter().filter(|knob| knob.default().is_none()).map(|knob| knob.path).collect();
        let not_there = ["schedule.every", "node.policy", "job_lengths.", "database.pool.", "override."];
        assert!(without.iter().all(|path| not_there.iter().any(|start| path.starts_with(start))), "{without:?}");
        assert_eq!(without.len(), 15);
    }

    /// A knob that files leave out is told with what the deployment has, and once it is said, with what it was.
    #[test]
    fn what_files_leave_out_is_compared_too() {
        let given = Scenario::default();
        let mut of = given.clone();
        of.node.misfire.grace = Duration::from_mins(3);
        of.database.replica_lag = Duration::from_secs(5);
        assert_eq!(told(&drawn(&of, &given), 100)[0], "knobs: database.replica_lag 5s (not 0s), node.misfire.grace 3m (not 2m)");
        assert!(drawn(&given, &given).is_empty());
    }
}
