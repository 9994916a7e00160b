//! A run as its page shows it, and as `witnesses/*.json` holds it: pages are made of this alone.
//!
//! Times are milliseconds of true time since the run began, unless a name says otherwise. Hosts
//! are named as everywhere (`n0`, `lease`, `db`).

use serde::{Deserialize, Serialize};

/// Version of the schema; changes when a reader of the last one would be misled.
pub const FORMAT: u32 = 1;

/// One run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Twin {
    /// Version of this schema, [`FORMAT`].
    pub format: u32,
    /// Version of the program.
    pub onceproof: String,
    /// What people call the row: the strategy, and its database's rules if they are not the usual ones.
    pub label: String,
    /// The strategy in one line.
    pub about: String,
    /// The fault class from which the run was drawn.
    pub faults: String,
    /// The run's seed, in decimal.
    pub seed: String,
    /// The engine that carried it.
    pub engine: String,
    /// By how much its durations were divided.
    pub time_scale: u32,
    /// Digest of its history.
    pub digest: String,
    /// The scenario's time zone, an IANA name or an offset such as `+08:00`.
    pub zone: String,
    /// True time 0, in milliseconds since 1970 (UTC).
    pub origin_unix_ms: i64,
    /// When the run ended.
    pub ends_ms: u64,
    /// Events in its history.
    pub events: usize,
    /// What it comes down to, in one sentence; empty if nobody shrank it.
    pub sentence: String,
    /// The events of which the sentence is made, with their times.
    pub because: Vec<String>,
    /// What broke.
    pub violations: Vec<Violation>,
    /// The knobs in which its deployment differs from the usual one.
    pub knobs: Vec<Knob>,
    /// The fault plan, and what became of it.
    pub plan: Vec<Planned>,
    /// The command that replays it.
    pub replay: String,
    /// The run as a Rust test.
    pub test: String,
    /// Lanes, from the top: nodes first, then servers that took part.
    pub hosts: Vec<Host>,
    /// Ends of periods.
    pub boundaries: Vec<Boundary>,
    /// Times in which something was wrong with a host.
    pub bands: Vec<Band>,
    /// Times in which segments from one host to another did not get through.
    pub cuts: Vec<Cut>,
    /// Leases, as their store (or database, or log) knows them.
    pub leases: Vec<Lease>,
    /// Leases, as nodes believe to hold them.
    pub beliefs: Vec<Belief>,
    /// Requests of nodes and their replies.
    pub messages: Vec<Message>,
    /// Instants that matter: attempts, settlements, payments, damage.
    pub ticks: Vec<Tick>,
    /// How wrong each clock was.
    pub clocks: Vec<Clock>,
    /// The story, a line each.
    pub beats: Vec<Beat>,
    /// What shrinking did, if this run came of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shrunk: Option<Shrunk>,
    /// The run before it was shrunk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Box<Twin>>,
}

/// Something that broke.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Violation {
    /// Its letter in the table.
    pub letter: String,
    /// The invariant.
    pub rule: String,
    /// When.
    pub at_ms: u64,
    /// The period concerned, if it is about one.
    pub period: Option<String>,
    /// One sentence.
    pub what: String,
    /// Whether the run is kept for this one.
    pub kept_for: bool,
}

/// A knob.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Knob {
    /// Its name, such as `guard.ttl`.
    pub name: String,
    /// What it is in this run, and what it usually is: `20m (usually 30m)`.
    pub value: String,
}

/// One fault of the plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Planned {
    /// In words.
    pub what: String,
    /// When it struck first.
    pub fired_ms: Option<u64>,
    /// When it was first noticed.
    pub felt_ms: Option<u64>,
    /// What shows that.
    pub proof: Option<String>,
}

/// What a host is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// A scheduler node.
    #[default]
    Node,
    /// A lease store, or a queue.
    Store,
    /// A database.
    Database,
    /// The payout service.
    Payout,
    /// A member of a replicated log.
    Log,
    /// A dispatch centre.
    Centre,
}

/// A lane.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Host {
    /// Its name.
    pub name: String,
    /// What it is.
    pub role: Role,
}

/// The end of a period.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Boundary {
    /// The period that ends.
    pub period: String,
    /// When.
    pub at_ms: u64,
}

/// What was wrong with a host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wrong {
    /// Its process was not scheduled.
    #[default]
    Paused,
    /// Its process was dead: it crashed, or lost power.
    Down,
    /// It was busy with one slow command.
    Busy,
    /// A step of it was made slow.
    Slow,
    /// Everything from or to it took longer.
    Lagging,
}

/// A time in which something was wrong with a host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Band {
    /// Which.
    pub host: String,
    /// What.
    pub kind: Wrong,
    /// From when.
    pub from_ms: u64,
    /// Until when; the run's end if it never ended.
    pub to_ms: u64,
    /// A few words: `stopped`, `crashed`, `lost power`.
    pub what: String,
}

/// A time in which nothing got through, in one direction.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cut {
    /// From this host.
    pub from: String,
    /// To this one.
    pub to: String,
    /// From when.
    pub from_ms: u64,
    /// Until when.
    pub to_ms: u64,
}

/// How a lease ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LeaseEnd {
    /// It ran out.
    #[default]
    Expired,
    /// Its holder gave it back.
    Released,
    /// Somebody else deleted it.
    Deleted,
    /// Its store lost it.
    Lost,
    /// Somebody else got it meanwhile.
    Replaced,
    /// It was held when the run ended.
    Held,
    /// Its holder set the claimed row to failed.
    Failed,
    /// Its holder set the claimed row to completed.
    Completed,
    /// Somebody else set the claimed row to something else.
    TakenAway,
    /// In a way that only a later version knows.
    #[serde(other)]
    Over,
}

/// A lease, as its store knows it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Lease {
    /// The host that knows of it.
    pub store: String,
    /// Who holds it.
    pub holder: String,
    /// From when.
    pub from_ms: u64,
    /// Until when.
    pub to_ms: u64,
    /// How it ended.
    pub ended: LeaseEnd,
}

/// A lease, as a node believes to hold it: from the reply that granted it until the node gives
/// it back, hears that it is lost, ends its attempt, or dies.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Belief {
    /// Which node.
    pub node: String,
    /// Its attempt, such as `n0#1`.
    pub attempt: String,
    /// From when.
    pub from_ms: u64,
    /// Until when.
    pub to_ms: u64,
    /// Whether somebody else held the lease, or believed so, for a part of this time.
    pub overlaps: bool,
}

/// A request of a node, and its reply.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Message {
    /// Who asks.
    pub from: String,
    /// Whom.
    pub to: String,
    /// Which step this is, such as `lease.acquire`.
    pub step: String,
    /// When the request left.
    pub sent_ms: u64,
    /// When the server recorded its effect, or its reply was lost, if either is recorded.
    pub reached_ms: Option<u64>,
    /// When the reply was seen; never, if the reply, or who waited for it, was lost.
    pub seen_ms: Option<u64>,
}

/// What a tick is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// An attempt began.
    #[default]
    Began,
    /// An attempt ended.
    Ended,
    /// A transaction that settles committed.
    Settled,
    /// A winner was paid.
    Paid,
    /// A payment was asked for again, and not made again.
    Repeated,
    /// A human was called.
    Alerted,
    /// A fault struck.
    Fault,
    /// A rule broke.
    Broke,
}

/// An instant that matters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tick {
    /// When.
    pub at_ms: u64,
    /// In whose lane.
    pub host: String,
    /// Which node it is about, if that is another.
    pub by: Option<String>,
    /// What it is.
    pub kind: Kind,
    /// A few words.
    pub what: String,
    /// Whether a rule broke by it.
    pub wrong: bool,
}

/// How wrong a clock was.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Clock {
    /// Whose.
    pub host: String,
    /// From when on by how many milliseconds; between two points it runs evenly.
    pub points: Vec<(u64, i64)>,
}

/// A line of the story.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Beat {
    /// When.
    pub at_ms: u64,
    /// Who tells it: a host, `network`, `fault`, or nobody.
    pub voice: String,
    /// What.
    pub text: String,
    /// What the node's clock shows, in milliseconds since 1970, if a node tells it.
    pub believed_unix_ms: Option<i64>,
}

/// What shrinking did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Shrunk {
    /// How large it was.
    pub from: Size,
    /// How large it is.
    pub to: Size,
    /// Smaller runs that were tried.
    pub tried: u64,
    /// Those that still broke.
    pub accepted: u64,
    /// Nothing smaller was left to try.
    pub converged: bool,
    /// A fault is of another, milder kind than those of the run before: the fault class says less than the plan.
    pub milder: bool,
}

/// How large a run is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Size {
    /// Faults in its plan.
    pub faults: usize,
    /// Scheduler nodes.
    pub nodes: u8,
    /// Periods.
    pub periods: u32,
    /// Players.
    pub players: u32,
    /// Earnings of a period.
    pub earnings: u32,
}
