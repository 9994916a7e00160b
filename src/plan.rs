//! What goes wrong: a list of faults, each with a trigger. Plain data, complete in itself:
//! a plan means the same after a refactor that shifts every random draw.

pub(crate) mod scale;
mod text;
mod validate;

pub use scale::Moved;
pub use validate::Misplanned;

use crate::id::HostId;
use crate::time::SimTime;
use crate::trace::Phase;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// Everything that goes wrong in one run. Every fault heals by itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultPlan {
    /// The faults, in no particular order.
    #[serde(default, rename = "fault", skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<Fault>,
}

impl FaultPlan {
    /// Nothing goes wrong.
    pub fn none() -> FaultPlan {
        FaultPlan::default()
    }

    /// These faults.
    pub fn of(faults: impl IntoIterator<Item = Fault>) -> FaultPlan {
        FaultPlan { faults: faults.into_iter().collect() }
    }
}

/// One thing that goes wrong, and when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// What goes wrong.
    pub harm: Harm,
    /// When it does.
    pub when: Trigger,
}

/// Whom a fault strikes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// This host.
    Host(HostId),
    /// The node whose step set the fault off. Only with [`Trigger::Step`].
    Self_,
    /// Every scheduler node.
    AllNodes,
    /// Every host but the victim: the other side of a partition.
    Everyone,
    /// The server that the step talks to which set the fault off: the other side. Only with [`Trigger::Step`].
    Peer,
}

/// `self`, `all-nodes`, `everyone`, `peer`, or a host's name.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Host(h) => h.fmt(f),
            Target::Self_ => f.write_str("self"),
            Target::AllNodes => f.write_str("all-nodes"),
            Target::Everyone => f.write_str("everyone"),
            Target::Peer => f.write_str("peer"),
        }
    }
}

impl FromStr for Target {
    type Err = String;
    fn from_str(s: &str) -> Result<Self, String> {
        match s {
            "self" => Ok(Target::Self_),
            "all-nodes" => Ok(Target::AllNodes),
            "everyone" => Ok(Target::Everyone),
            "peer" => Ok(Target::Peer),
            host => host.parse().map(Target::Host).map_err(|e| format!("{e}, or `self`, `all-nodes`, `everyone` or `peer`")),
        }
    }
}

impl Serialize for Target {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Target {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        String::deserialize(d)?.parse().map_err(serde::de::Error::custom)
    }
}

/// Which way segments are stopped between the victim and the other side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Both ways.
    #[default]
    Both,
    /// Only what the victim sends.
    Outbound,
    /// Only what is sent to the victim.
    Inbound,
}

/// Of several lease stores the first, which stands in no file.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_first(store: &HostId) -> bool {
    *store == HostId::Lease
}

/// What goes wrong. Durations are true time. Where there are several lease stores, `store` says which.
#[expect(missing_docs, reason = "each variant says what its fields do to whom")]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", try_from = "text::HarmTable")]
pub enum Harm {
    /// A process dies, its kernel closes its sockets; a new process starts after `back_after`.
    Crash {
        host: Target,
        #[serde(with = "duration")]
        back_after: Duration,
    },
    /// A host falls silent, sockets and all; it boots again after `back_after`.
    Power {
        host: Target,
        #[serde(with = "duration")]
        back_after: Duration,
    },
    /// A process is not scheduled for `lasts`: worker, renewal and client drivers stop, timers become overdue, data queues.
    Pause {
        host: Target,
        #[serde(with = "duration")]
        lasts: Duration,
    },
    /// Nothing gets through between `host` and `from`, in one direction or both, for `lasts`.
    Partition {
        host: Target,
        from: Target,
        direction: Direction,
        #[serde(with = "duration")]
        lasts: Duration,
    },
    /// The next reply of `from` to `host` vanishes after its request was applied; that connection stays silent.
    ReplyLost { host: Target, from: Target },
    /// Everything between `host` and `from` takes `extra` longer, both ways, for `lasts`.
    Late {
        host: Target,
        from: Target,
        #[serde(with = "duration")]
        extra: Duration,
        #[serde(with = "duration")]
        lasts: Duration,
    },
    /// The step takes `extra` longer; the rest of the process goes on. Only with [`Trigger::Step`].
    SlowStep {
        #[serde(with = "duration")]
        extra: Duration,
    },
    /// The job reports an error at the step, `times` times in a row. Only with [`Trigger::Step`], on a step of the work.
    JobError { times: u32 },
    /// The host's clock shows this many milliseconds more (negative: less) than it should.
    ClockOffset { host: Target, by_ms: i64 },
    /// The host's clock runs fast by this many parts per million (negative: slow); its timers
    /// follow. After `lasts` a time service sets it right again; without it, it stays wrong.
    ClockDrift {
        host: Target,
        ppm: i32,
        #[serde(with = "optional_duration", skip_serializing_if = "Option::is_none")]
        lasts: Option<Duration>,
    },
    /// The lease store's process dies and comes back empty after `back_after`, as Redis does without persistence.
    /// With its data it comes back from a [`Harm::Crash`].
    LeaseWipe {
        #[serde(skip_serializing_if = "is_first")]
        store: HostId,
        #[serde(with = "duration")]
        back_after: Duration,
    },
    /// The lease store runs out of memory and evicts the lease that was granted last, as Redis may under `allkeys-*`.
    LeaseEvict {
        #[serde(skip_serializing_if = "is_first")]
        store: HostId,
    },
    /// The lease store dies, and a replica is promoted that has not seen the writes of the last `lag`. It is there after `back_after`.
    LeaseFailover {
        #[serde(skip_serializing_if = "is_first")]
        store: HostId,
        #[serde(with = "duration")]
        lag: Duration,
        #[serde(with = "duration")]
        back_after: Duration,
    },
    /// One slow command keeps the single-threaded lease store busy for `lasts`: requests wait, and are carried out
    /// when it is over. What they find is what is there then.
    LeaseStall {
        #[serde(skip_serializing_if = "is_first")]
        store: HostId,
        #[serde(with = "duration")]
        lasts: Duration,
    },
    /// The next transaction of `host` that changes something is refused when it commits, and rolled back, as by a full disk.
    CommitFails { host: Target },
    /// The database ends all sessions of `host`, as an administrator or a connection pooler may: what they did not commit is undone.
    SessionEnds { host: Target },
    /// The host takes boundaries for those of this time zone: a name, or an offset such as `+09:00`. Its clock is right.
    /// Only from the beginning.
    Zone { host: Target, zone: String },
    /// A node is told to stop (SIGTERM): it begins nothing new, and stops what it does in this order. After `grace` it exits,
    /// whatever is left (SIGKILL), and a new process starts `back_after` later.
    Shutdown {
        host: Target,
        order: StopOrder,
        #[serde(with = "duration")]
        grace: Duration,
        #[serde(with = "duration")]
        back_after: Duration,
    },
    /// The lease store hands out once more what was popped or moved last, to whoever asks next: as a broker
    /// does that has not heard its consumer's acknowledgement, or whose visibility timeout is too short.
    Redeliver,
}

/// In which order a process that was told to stop stops its job and what guards it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopOrder {
    /// The job comes to its end first; renewals and heartbeats go on until then.
    JobFirst,
    /// Renewals and heartbeats end at once, the job goes on.
    RenewalsFirst,
    /// The lease, or the claim, is given back at once, the job goes on. Who has nothing to give back ends its heartbeats.
    LeaseFirst,
}

impl fmt::Display for StopOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            StopOrder::JobFirst => "job-first",
            StopOrder::RenewalsFirst => "renewals-first",
            StopOrder::LeaseFirst => "lease-first",
        })
    }
}

/// When a fault strikes.
#[expect(missing_docs, reason = "each variant says what its fields mean")]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, try_from = "text::TriggerTable")]
pub enum Trigger {
    /// At a true time, in milliseconds since the run began.
    At { at_ms: SimTime },
    /// When a node is in this phase of the step with this name for the `nth` time (from 1),
    /// counted over one node if `node` is given, else over all nodes.
    Step {
        step: String,
        phase: Phase,
        nth: u32,
        #[serde(skip_serializing_if = "Option::is_none")]
        node: Option<HostId>,
    },
}

impl Trigger {
    /// The first time that any node is in this phase of this step.
    pub fn first(step: &str, phase: Phase) -> Trigger {
        Trigger::nth(step, phase, 1)
    }

    /// The `nth` time, from 1, that any node is in this phase of this step.
    pub fn nth(step: &str, phase: Phase, nth: u32) -> Trigger {
        Trigger::Step { step: step.to_owned(), phase, nth, node: None }
    }

    /// Before anything else happens.
    pub fn start() -> Trigger {
        Trigger::At { at_ms: SimTime::ZERO }
    }
}

impl Harm {
    /// This harm, at that trigger.
    pub fn when(self, when: Trigger) -> Fault {
        Fault { harm: self, when }
    }

    /// What strikes the lease store, or goes on between it and others, striking `store` instead.
    #[must_use]
    pub fn at_store(mut self, store: HostId) -> Harm {
        let (first, other) = (Target::Host(HostId::Lease), Target::Host(store));
        match &mut self {
            Harm::LeaseWipe { store: struck, .. }
            | Harm::LeaseEvict { store: struck }
            | Harm::LeaseFailover { store: struck, .. }
            | Harm::LeaseStall { store: struck, .. } => *struck = store,
            Harm::Crash { host: struck, .. }
            | Harm::Power { host: struck, .. }
            | Harm::Pause { host: struck, .. }
            | Harm::ClockOffset { host: struck, .. }
            | Harm::ClockDrift { host: struck, .. }
            | Harm::Partition { from: struck, .. }
            | Harm::ReplyLost { from: struck, .. }
            | Harm::Late { from: struck, .. } => {
                if *struck == first {
                    *struck = other;
                }
            }
            Harm::SlowStep { .. }
            | Harm::JobError { .. }
            | Harm::CommitFails { .. }
            | Harm::SessionEnds { .. }
            | Harm::Zone { .. }
            | Harm::Redeliver
            | Harm::Shutdown { .. } => {}
        }
        self
    }

    /// How long after it struck the fault is over; `None` for what stays (a clock's error is part of a deployment, not an outage).
    pub fn heals_after(&self) -> Option<Duration> {
        match self {
            Harm::Crash { back_after: d, .. }
            | Harm::Power { back_after: d, .. }
            | Harm::Pause { lasts: d, .. }
            | Harm::Partition { lasts: d, .. }
            | Harm::Late { lasts: d, .. }
            | Harm::SlowStep { extra: d }
            | Harm::LeaseWipe { back_after: d, .. }
            | Harm::LeaseFailover { back_after: d, .. }
            | Harm::LeaseStall { lasts: d, .. } => Some(*d),
            Harm::ReplyLost { .. }
            | Harm::JobError { .. }
            | Harm::LeaseEvict { .. }
            | Harm::CommitFails { .. }
            | Harm::SessionEnds { .. }
            | Harm::Redeliver => Some(Duration::ZERO),
            Harm::Shutdown { grace, back_after, .. } => Some(grace.saturating_add(*back_after)),
            Harm::ClockDrift { lasts, .. } => *lasts,
            Harm::ClockOffset { .. } | Harm::Zone { .. } => None,
        }
    }
}

/// Durations in TOML and JSON: `"40m"`, `"1h 30m"`, `"250ms"`.
pub mod duration {
    use serde::de::{Deserializer, Error, Visitor};
    use serde::ser::Serializer;
    use std::fmt;
    use std::time::Duration;

    /// Writes `40m`.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(d: &Duration, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&text(*d))
    }

    /// Reads `40m`, `40 minutes`, `1h 30m`.
    ///
    /// # Errors
    /// The text is not a duration.
    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Duration, D::Error> {
        d.deserialize_str(Quoted)
    }

    struct Quoted;

    impl Visitor<'_> for Quoted {
        type Value = Duration;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a duration in quotes, for example \"40m\"")
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<Duration, E> {
            parse(text).map_err(E::custom)
        }
    }

    /// The shortest usual form of a duration.
    pub fn text(d: Duration) -> String {
        jiff::fmt::friendly::SpanPrinter::new().unsigned_duration_to_string(&d)
    }

    /// Inverse of [`text`], and more.
    ///
    /// # Errors
    /// The text is not a duration; the message says what to write.
    pub fn parse(text: &str) -> Result<Duration, String> {
        jiff::fmt::friendly::SpanParser::new()
            .parse_unsigned_duration(text)
            .map_err(|_| format!("`{text}` is not a duration; write for example `30s`, `40m` or `1h 30m`"))
    }
}

/// Optional durations in TOML and JSON, as [`duration`].
mod optional_duration {
    use super::duration;
    use serde::ser::Serializer;
    use std::time::Duration;

    #[expect(clippy::ref_option, reason = "serde passes a reference")]
    pub(super) fn serialize<S: Serializer>(d: &Option<Duration>, s: S) -> Result<S::Ok, S::Error> {
        match d {
            Some(d) => duration::serialize(d, s),
            None => s.serialize_none(),
        }
    }
}
