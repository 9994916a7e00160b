//! What is deployed: schedule, nodes, strategy, stores, network. Plain data, TOML, named presets.

mod centre;
mod clocks;
mod job;
mod leader;
mod lease_row;
mod log;
mod misfire;
mod overrides;
mod payout;
mod policy;
mod pool;
mod queue;
mod row_lock;
mod rules;
mod scale;
mod slot_key;
mod validate;

pub use centre::CentreKnobs;
pub use clocks::ClockKnobs;
pub use job::JobLengths;
pub use leader::{HeldIn, LeaderKnobs, OnError, Remembers, Renews};
pub use lease_row::{LeaseRowKnobs, Over, RowClock, RowKey};
pub use log::LogKnobs;
pub use misfire::{Misfire, MisfireKnobs};
pub use overrides::{Override, Part};
pub use payout::PayoutKnobs;
pub use policy::Policy;
pub use pool::PoolKnobs;
pub use queue::QueueKnobs;
pub use row_lock::{Acquires, OnMisfire, Reads, Recovers, RowLockKnobs};
pub use rules::Rules;
pub use slot_key::{SlotKeyKnobs, SlotTime};
pub use validate::{Misconfigured, NODES, YEAR as LONGEST};

use crate::plan::duration;
use crate::settlement::Schedule;
use crate::time::Span;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// One deployment, and how long it is watched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Scenario {
    /// Which guard the nodes run, by its name in the catalogue.
    pub strategy: String,
    /// Scheduler nodes, 1 to 32.
    pub nodes: u8,
    /// How many players there are, 1 to 10,000.
    pub players: u32,
    /// How many earnings a period has, 0 to 1,000; a third of them within a minute of the boundary, on both sides.
    pub earnings: u32,
    /// When periods end.
    pub schedule: Schedule,
    /// How nodes behave.
    pub node: NodeKnobs,
    /// The guards' constants.
    pub guard: GuardKnobs,
    /// The network.
    pub network: NetworkKnobs,
    /// The database server.
    pub database: DatabaseKnobs,
    /// How long after the last boundary, or the last healing, everything must be settled.
    #[serde(with = "duration")]
    pub liveness_bound: Duration,
    /// By how much the deployment's constants are smaller than real ones: 1 = real, 60 = minutes became seconds.
    /// The magnitudes of drawn faults are divided by it. 1 to 3,600.
    #[serde(skip_serializing_if = "is_real")]
    pub time_scale: u32,
    /// The constants of queues.
    #[serde(skip_serializing_if = "QueueKnobs::are_usual")]
    pub queue: QueueKnobs,
    /// The replicated log, where a strategy asks one.
    #[serde(skip_serializing_if = "LogKnobs::is_default")]
    pub log: LogKnobs,
    /// The dispatch centre, where a strategy asks one.
    #[serde(skip_serializing_if = "CentreKnobs::is_default")]
    pub centre: CentreKnobs,
    /// The lease row of lease-row.
    #[serde(skip_serializing_if = "LeaseRowKnobs::is_default")]
    pub lease_row: LeaseRowKnobs,
    /// The key of slot-key.
    #[serde(skip_serializing_if = "SlotKeyKnobs::is_default")]
    pub slot_key: SlotKeyKnobs,
    /// The election of leader.
    #[serde(skip_serializing_if = "LeaderKnobs::is_default")]
    pub leader: LeaderKnobs,
    /// How wrong drawn clocks are.
    #[serde(skip_serializing_if = "ClockKnobs::are_usual")]
    pub clocks: ClockKnobs,
    /// How long the job takes, drawn anew for each run of a sweep; a run that was drawn has its length in `node.work`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job_lengths: Option<JobLengths>,
    /// Nodes that are configured otherwise.
    #[serde(rename = "override", skip_serializing_if = "Vec::is_empty")]
    pub overrides: Vec<Override>,
    /// The schedule row of row-lock.
    #[serde(skip_serializing_if = "RowLockKnobs::is_default")]
    pub row_lock: RowLockKnobs,
    /// The payout service.
    #[serde(skip_serializing_if = "PayoutKnobs::is_default")]
    pub payout: PayoutKnobs,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_real(time_scale: &u32) -> bool {
    *time_scale == 1
}

/// A group of knobs that is not written to a file.
fn is_default<T: Default + PartialEq>(group: &T) -> bool {
    *group == T::default()
}

/// How nodes behave. All durations are on the node's own clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NodeKnobs {
    /// A node wakes up to this long after a boundary, drawn anew each time. 0 s to 10 min.
    #[serde(with = "duration")]
    pub jitter: Duration,
    /// Time between two attempts at the same period. 1 ms to 1 h.
    #[serde(with = "duration")]
    pub poll: Duration,
    /// How long after a boundary, or after its own start, a node keeps polling; then it sleeps until the next boundary.
    #[serde(with = "duration")]
    pub attention: Duration,
    /// How long the job takes, in five equal slices. 0 s to 1 day.
    #[serde(with = "duration")]
    pub work: Duration,
    /// How long a client waits for a connection or an answer.
    #[serde(with = "duration")]
    pub timeout: Duration,
    /// Largest seeded pause before a client operation, so that two tasks of one node interleave in more than one way.
    #[serde(with = "duration")]
    pub step_jitter: Duration,
    /// What a node does after an attempt, if that is not what its strategy says. The strategy claims nothing then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<Policy>,
    /// What it does about boundaries that it missed.
    #[serde(skip_serializing_if = "is_default")]
    pub misfire: MisfireKnobs,
}

/// The constants of the guards, on the clock of whoever enforces them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GuardKnobs {
    /// Expiry of the leases without renewal. At least 1 ms.
    #[serde(with = "duration")]
    pub lease: Duration,
    /// Expiry that lease-setnx-expire sets with its second command. At least 1 ms.
    #[serde(with = "duration")]
    pub setnx_lease: Duration,
    /// Expiry of lease-machine-id. At least 1 ms.
    #[serde(with = "duration")]
    pub machine_lease: Duration,
    /// Expiry of the leases that a watchdog renews: lease-watchdog, its variants, lease-fenced. At least 1 ms.
    #[serde(with = "duration")]
    pub watchdog_lease: Duration,
    /// Time between two renewals by a watchdog; less than `watchdog_lease`.
    #[serde(with = "duration")]
    pub renew_every: Duration,
    /// Expiry of dual-guard's lease. At least 1 ms.
    #[serde(with = "duration")]
    pub dual_lease: Duration,
    /// Time between two renewals of dual-guard's lease; less than `dual_lease`.
    #[serde(with = "duration")]
    pub dual_renew_every: Duration,
    /// Time between two heartbeats in the task row.
    #[serde(with = "duration")]
    pub heartbeat: Duration,
    /// Age of a heartbeat after which a claim counts as dead; more than `heartbeat`.
    #[serde(with = "duration")]
    pub stale_after: Duration,
    /// First wait after a job error; doubles up to `backoff_max`.
    #[serde(with = "duration")]
    pub backoff: Duration,
    /// Longest wait after a job error.
    #[serde(with = "duration")]
    pub backoff_max: Duration,
    /// Job errors after which a period is a dead letter. At least 1.
    pub dead_letter_after: u32,
    /// A human looks for alerts so often, for as long as nodes pay attention after a boundary, mends the cause, and gives
    /// the period back. 0 s: nobody looks, which is the default.
    #[serde(with = "duration")]
    pub operator: Duration,
    /// table-key-published wakes this long after the boundary.
    #[serde(with = "duration")]
    pub wake_after: Duration,
    /// Stands before every key in the lease store, as the name of an environment should.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub key_prefix: String,
}

/// The network between all hosts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NetworkKnobs {
    /// Smallest one-way latency; at least 1 ms.
    #[serde(with = "duration")]
    pub latency_min: Duration,
    /// Largest one-way latency.
    #[serde(with = "duration")]
    pub latency_max: Duration,
}

/// The database server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DatabaseKnobs {
    /// By which rules its transactions see and change rows.
    pub rules: Rules,
    /// How long a statement waits for another transaction before it fails with a lock timeout.
    #[serde(with = "duration")]
    pub lock_timeout: Duration,
    /// A session idle in a transaction for this long is ended by the server, its transaction rolled back.
    #[serde(with = "duration")]
    pub idle_in_transaction_timeout: Duration,
    /// What is read outside of transactions was committed at least this long ago: a replica serves it. 0 s: the primary does.
    #[serde(with = "duration", skip_serializing_if = "Duration::is_zero")]
    pub replica_lag: Duration,
    /// The pooler in front of it, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pool: Option<PoolKnobs>,
}

impl Default for Scenario {
    /// The catalogue's default deployment: three nodes, three calendar periods.
    fn default() -> Scenario {
        Scenario {
            strategy: "dual-guard".to_owned(),
            nodes: 3,
            players: 100,
            earnings: 12,
            schedule: Schedule::default(),
            node: NodeKnobs::default(),
            guard: GuardKnobs::default(),
            network: NetworkKnobs::default(),
            database: DatabaseKnobs::default(),
            liveness_bound: 2.hours(),
            time_scale: 1,
            queue: QueueKnobs::default(),
            log: LogKnobs::default(),
            centre: CentreKnobs::default(),
            lease_row: LeaseRowKnobs::default(),
            slot_key: SlotKeyKnobs::default(),
            leader: LeaderKnobs::default(),
            clocks: ClockKnobs::default(),
            job_lengths: None,
            overrides: Vec::new(),
            row_lock: RowLockKnobs::default(),
            payout: PayoutKnobs::default(),
        }
    }
}

impl Default for NodeKnobs {
    fn default() -> NodeKnobs {
        NodeKnobs {
            jitter: 5.seconds(),
            poll: 60.seconds(),
            attention: 3.hours(),
            work: 2.minutes(),
            timeout: 5.seconds(),
            step_jitter: 2.ms(),
            policy: None,
            misfire: MisfireKnobs::default(),
        }
    }
}

impl Default for GuardKnobs {
    fn default() -> GuardKnobs {
        GuardKnobs {
            lease: 30.minutes(),
            setnx_lease: 10.seconds(),
            machine_lease: 10.minutes(),
            watchdog_lease: 30.seconds(),
            renew_every: 10.seconds(),
            dual_lease: 90.seconds(),
            dual_renew_every: 30.seconds(),
            heartbeat: 30.seconds(),
            stale_after: 5.minutes(),
            backoff: 30.seconds(),
            backoff_max: 10.minutes(),
            dead_letter_after: 20,
            operator: Duration::ZERO,
            wake_after: 60.seconds(),
            key_prefix: String::new(),
        }
    }
}

impl Default for NetworkKnobs {
    fn default() -> NetworkKnobs {
        NetworkKnobs { latency_min: 1.ms(), latency_max: 50.ms() }
    }
}

impl Default for DatabaseKnobs {
    fn default() -> DatabaseKnobs {
        DatabaseKnobs {
            rules: Rules::default(),
            lock_timeout: 4.seconds(),
            idle_in_transaction_timeout: 60.seconds(),
            replica_lag: Duration::ZERO,
            pool: None,
        }
    }
}

impl Scenario {
    /// The default deployment, guarded by `strategy`.
    pub fn calm(strategy: &str) -> Scenario {
        Scenario { strategy: strategy.to_owned(), ..Scenario::default() }
    }

    /// The default deployment, guarded by `strategy`, on a database with these rules.
    pub fn on(strategy: &str, rules: Rules) -> Scenario {
        let mut scenario = Scenario::calm(strategy);
        scenario.database.rules = rules;
        scenario
    }

    /// Whether the nodes are such as strategies make their claims for: alike, with the policy of the strategy, and
    /// nothing is left alone that was missed.
    pub fn is_claimed_for(&self) -> bool {
        self.overrides.is_empty() && self.node.policy.is_none() && self.node.misfire.policy == Misfire::FireAll
    }

    /// The same deployment, watched for its first period only.
    #[must_use]
    pub fn of_one_period(&self) -> Scenario {
        Scenario { schedule: self.schedule.of_one_period(), ..self.clone() }
    }
}
