//! Every key of a deployment file: once, for the reader, the JSON schema and the hints.

/// What may stand behind a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A duration in quotes.
    Length,
    /// A whole number in these bounds.
    Number {
        /// The smallest.
        least: u64,
        /// The largest.
        most: u64,
    },
    /// Text.
    Text,
    /// One of some names.
    Name(Names),
    /// Several of some names.
    Names(Names),
    /// A seed: a number, or text where it is larger than TOML's numbers.
    Seed,
    /// A part of a scenario, as it stands in a witness.
    Knobs,
    /// True or false.
    Flag,
}

/// From which list a name comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// Guards of the catalogue.
    Guards,
    /// Profiles of schedulers.
    Profiles,
    /// Fault classes.
    Classes,
    /// Rules of databases.
    Rules,
    /// What a node does after an attempt.
    Policies,
    /// What it does about a boundary that it missed.
    Misfires,
    /// What becomes of a local time that does not exist.
    Gaps,
    /// What becomes of a local time that comes twice.
    Folds,
}

/// One key.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Where it stands: `lease.ttl`.
    pub path: &'static str,
    /// What may stand there.
    pub kind: Kind,
    /// What it means, with bounds where the kind has none.
    pub about: &'static str,
    /// A good value, as TOML.
    pub example: &'static str,
}

const fn key(path: &'static str, kind: Kind, example: &'static str, about: &'static str) -> Key {
    Key { path, kind, about, example }
}

const fn number(least: u64, most: u64) -> Kind {
    Kind::Number { least, most }
}

/// All keys, in the order of the example.
pub const KEYS: [Key; 63] = [
    key(
        "guard",
        Kind::Name(Names::Guards),
        "\"lease-watchdog\"",
        "what keeps two nodes from doing the job twice; `onceproof list` shows all",
    ),
    key("profile", Kind::Name(Names::Profiles), "\"redisson\"", "instead of a guard: the model of a scheduler's documented mechanism"),
    key("nodes", number(1, 32), "3", "servers that run the scheduler"),
    key("players", number(1, 10_000), "100", "accounts that a run of the job works on"),
    key("earnings", number(0, 1_000), "12", "what comes in between two runs of the job, a third of it within a minute of the boundary"),
    key("settle_within", Kind::Length, "\"2h\"", "a run that is not done so long after it was due, or after the last fault, is lost"),
    key(
        "schedule.cron",
        Kind::Text,
        "\"0 0 10,25 * *\"",
        "when the job is due: minute, hour, day of month, month, day of week; at most once a day",
    ),
    key("schedule.zone", Kind::Text, "\"UTC\"", "in which time zone, an IANA name"),
    key("schedule.from", Kind::Text, "\"2026-01-09T00:00:00\"", "local time at which the watched time begins"),
    key(
        "schedule.gap",
        Kind::Name(Names::Gaps),
        "\"end\"",
        "what becomes of a local time that summer time skips: it comes at the end of the gap, as much later as that is long, or not at all",
    ),
    key(
        "schedule.fold",
        Kind::Name(Names::Folds),
        "\"first\"",
        "what becomes of a local time that comes twice: the job is due the first time, the second, or nodes wake both times",
    ),
    key("schedule.every", Kind::Length, "\"1h\"", "instead of cron and zone: the job is due so often"),
    key("schedule.periods", number(1, 1_000), "3", "how many times it is due in one simulated run"),
    key(
        "policy",
        Kind::Name(Names::Policies),
        "\"retry-checked\"",
        "what a node does after an attempt: nothing until the next boundary, again every poll, or that after a look whether it is done; as the guard has it if it is not said",
    ),
    key("job", Kind::Length, "\"2m\"", "how long the job takes; or a table of lengths, as monitoring shows them"),
    key("job.p50", Kind::Length, "\"2m\"", "half of all runs of the job take at most so long, up to 24h"),
    key("job.p95", Kind::Length, "\"10m\"", "all but 5 of 100 are shorter; as p50 if it is not said"),
    key("job.p99", Kind::Length, "\"30m\"", "all but 1 of 100 are shorter; as p95 if it is not said"),
    key("job.max", Kind::Length, "\"45m\"", "none is longer, up to 24h; as p99 if it is not said"),
    key("lease.ttl", Kind::Length, "\"30s\"", "the guard's lease expires after this, if nobody renews it"),
    key("lease.renew_every", Kind::Length, "\"10s\"", "it is renewed so often, for guards that renew; less than the ttl"),
    key("lease.at_least", Kind::Length, "\"10m\"", "given back earlier, it is kept for the rest of this, for lease rows; at most the ttl"),
    key(
        "lease.key_prefix",
        Kind::Text,
        "\"production:\"",
        "stands before every key in the lease store, as the name of an environment should",
    ),
    key("claim.heartbeat", Kind::Length, "\"30s\"", "a node at work says so often that it is alive, for guards that know of heartbeats"),
    key(
        "claim.stale_after",
        Kind::Length,
        "\"5m\"",
        "whoever was not heard of for so long counts as dead, and the work is somebody else's; more than the heartbeat",
    ),
    key("retry.poll", Kind::Length, "\"1m\"", "time between two attempts, 1ms to 1h"),
    key("retry.jitter", Kind::Length, "\"5s\"", "nodes wake up to this long after the boundary, 0s to 10m"),
    key("retry.attention", Kind::Length, "\"3h\"", "how long after a boundary, or its start, a node keeps asking; at least the poll"),
    key("retry.backoff", Kind::Length, "\"30s\"", "first wait after the job failed; doubles"),
    key("retry.backoff_max", Kind::Length, "\"10m\"", "longest wait after the job failed; at least the first"),
    key("retry.dead_letter_after", number(1, 4_294_967_295), "20", "failures of the job after which nobody tries again"),
    key(
        "retry.operator",
        Kind::Length,
        "\"30m\"",
        "somebody looks so often for what was given up, and gives it back, at least 1m; nobody if it is not said",
    ),
    key(
        "misfire.policy",
        Kind::Name(Names::Misfires),
        "\"fire-once\"",
        "what a node does about boundaries that it missed: make up for all of them, for the newest, or for none",
    ),
    key(
        "misfire.grace",
        Kind::Length,
        "\"2m\"",
        "a boundary that a node first sees so long after it, on its own clock, is not missed; more than the jitter",
    ),
    key(
        "clocks.error",
        Kind::Length,
        "\"5m\"",
        "clocks may be wrong by so much, either way; two nodes differ by up to twice that; 0s to 24h",
    ),
    key("clocks.drift_ppm", number(0, 100_000), "20000", "clocks may run fast or slow by so many parts per million"),
    key("network.latency_min", Kind::Length, "\"1ms\"", "smallest one-way latency, 1ms to 1m"),
    key("network.latency_max", Kind::Length, "\"50ms\"", "largest one-way latency, up to 1m"),
    key("client.timeout", Kind::Length, "\"5s\"", "how long a client waits for a connection or an answer, up to 1h"),
    key("database.rules", Kind::Name(Names::Rules), "\"postgresql\"", "whose isolation, at which level"),
    key("database.lock_timeout", Kind::Length, "\"4s\"", "how long a statement waits for another transaction"),
    key("database.idle_in_transaction_timeout", Kind::Length, "\"1m\"", "a session that is idle in a transaction for so long is ended"),
    key(
        "database.replica_lag",
        Kind::Length,
        "\"5s\"",
        "what is read outside of transactions comes from a replica that is so far behind; from the primary if it is not said",
    ),
    key("database.pool.sessions", number(1, 1_000), "10", "a pooler in transaction mode stands before the database, with so many sessions"),
    key("database.pool.round_robin", Kind::Flag, "true", "it hands them out in turn; else the one that was used last goes first"),
    key("try.faults", Kind::Names(Names::Classes), "[\"crash\", \"pause\"]", "only these fault classes, and calm; all if it is not said"),
    key("try.seeds", number(1, 1_000_000_000), "120", "simulated runs for each fault class"),
    key("try.seed", Kind::Seed, "1", "the seed from which all others come"),
    key(
        "knobs",
        Kind::Knobs,
        "{ node = { step_jitter = \"2ms\" } }",
        "other knobs of a scenario, as `onceproof list` names them; they have the last word",
    ),
    key("override.node", number(0, 31), "1", "which node is configured otherwise, from 0"),
    key(
        "override.zone",
        Kind::Text,
        "\"UTC\"",
        "it takes the times of the schedule for those of this zone, a name or an offset such as +09:00",
    ),
    key("override.cron", Kind::Text, "\"0 1 10,25 * *\"", "it goes by this cron text"),
    key("override.unscheduled", Kind::Flag, "true", "it does not know the schedule: it never wakes"),
    key("override.elsewhere", Kind::Flag, "true", "it belongs to another environment: a database of its own, the same lease store"),
    key("override.policy", Kind::Name(Names::Policies), "\"skip\"", "what it does after an attempt"),
    key("override.job", Kind::Length, "\"4m\"", "how long the job takes there, 0s to 24h"),
    key("override.lease.ttl", Kind::Length, "\"20s\"", "its own expiry of leases"),
    key("override.lease.renew_every", Kind::Length, "\"15s\"", "how often it renews"),
    key("override.lease.key_prefix", Kind::Text, "\"staging:\"", "stands before its keys in the lease store"),
    key("override.claim.heartbeat", Kind::Length, "\"4m\"", "how often it says that it is alive"),
    key("override.claim.stale_after", Kind::Length, "\"1m\"", "when it takes others for dead"),
    key("override.retry.poll", Kind::Length, "\"30s\"", "time between two of its attempts, 1ms to 1h"),
    key("override.retry.jitter", Kind::Length, "\"0s\"", "it wakes up to this long after the boundary, 0s to 10m"),
];

/// The one table of which there may be several, each about one node; its keys are those of the file, for that node.
pub const LIST: &str = "override";

/// The key that stands there.
pub fn find(path: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.path == path)
}

/// Whether keys stand below it.
pub fn is_table(path: &str) -> bool {
    KEYS.iter().any(|key| key.path.strip_prefix(path).is_some_and(|rest| rest.starts_with('.')))
}

/// The names that may stand directly in a table (`""`: in the file), each once, in order.
pub fn within(table: &str) -> Vec<&'static str> {
    let mut names = Vec::new();
    for key in &KEYS {
        let rest = if table.is_empty() { Some(key.path) } else { key.path.strip_prefix(table).and_then(|rest| rest.strip_prefix('.')) };
        if let Some(name) = rest.and_then(|rest| rest.split('.').next())
            && !names.contains(&name)
        {
            names.push(name);
        }
    }
    names
}

impl Names {
    /// All of them.
    pub fn all(self) -> Vec<&'static str> {
        match self {
            Names::Guards => crate::strategy::catalogue().iter().map(|guard| guard.name()).collect(),
            Names::Profiles => crate::profile::all().iter().map(|profile| profile.name.as_str()).collect(),
            Names::Classes => crate::class::FaultClass::ALL.map(crate::class::FaultClass::name).to_vec(),
            Names::Rules => {
                let mut all = vec!["postgresql", "innodb", "mysql", "mariadb"];
                all.extend(crate::scenario::Rules::ALL.map(crate::scenario::Rules::name));
                all
            }
            Names::Policies => vec!["skip", "retry", "retry-checked"],
            Names::Misfires => vec!["fire-all", "fire-once", "skip"],
            Names::Gaps => vec!["end", "shift", "skip"],
            Names::Folds => vec!["first", "second", "both"],
        }
    }

    /// What one of them is.
    pub fn noun(self) -> &'static str {
        match self {
            Names::Guards => "guard",
            Names::Profiles => "profile",
            Names::Classes => "fault class",
            Names::Rules => "rules",
            Names::Policies => "policy",
            Names::Misfires => "misfire policy",
            Names::Gaps => "gap",
            Names::Folds => "fold",
        }
    }
}
