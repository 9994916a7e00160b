//! The append-only history of a run, in true time, told by the servers and the world.
//!
//! What a node *believes* ([`Event::AttemptEnded`], [`Event::Step`]) is recorded for the story,
//! and no invariant trusts it. The [`Digest`] covers every record in order, so two runs with
//! equal digests told the same history.

mod told;
mod vote;

pub use vote::Vote;

use crate::id::{AttemptId, FaultId, HostId, NodeId, PeriodId, PlayerId, TxId};
use crate::time::{SimTime, WallTime};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::hash::{Hash, Hasher};

/// The name of a step of a strategy, such as `lease.acquire`: one client operation, or one slice of work.
pub type StepName = &'static str;

/// Where in a step a fault can strike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Nothing has been sent.
    Before,
    /// The request has left and will be applied; its reply has not been seen.
    Sent,
    /// The reply has been seen.
    After,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Phase::Before => "before",
            Phase::Sent => "sent",
            Phase::After => "after",
        })
    }
}

/// What a node believes at the end of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Belief {
    /// This attempt settled the period.
    Settled,
    /// Somebody has settled the period; nothing is left to do.
    AlreadySettled,
    /// Somebody else is at it, or has to be waited for.
    Busy,
    /// The attempt failed; whether anything was applied is not known.
    Failed,
}

/// The state of a task row, as its `status` column stores it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TaskStatus {
    /// 0: nobody has claimed the period.
    Pending,
    /// 1: claimed; the job is running, or its runner is dead.
    Executing,
    /// 2: settled.
    Completed,
    /// 3: the job failed.
    Failed,
    /// 4: given up after too many job errors; waits for a human.
    Dead,
}

impl TaskStatus {
    /// The stored number.
    pub fn code(self) -> i64 {
        self as i64
    }

    /// The status with this stored number.
    pub fn from_code(code: i64) -> Option<TaskStatus> {
        use TaskStatus::{Completed, Dead, Executing, Failed, Pending};
        [Pending, Executing, Completed, Failed, Dead].into_iter().find(|s| s.code() == code)
    }
}

/// What shows that a fault was noticed.
#[expect(missing_docs, reason = "the fields are named after what they are, and each variant says what it tells")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Proof {
    /// A process was stopped, or died, in the middle of this attempt, or one that the attempt needs did.
    Interrupted { attempt: AttemptId },
    /// A process was stopped, or dead, when this period ended.
    Absent { host: HostId, period: PeriodId },
    /// A segment from one host to another was held back.
    Held { from: HostId, to: HostId },
    /// A segment from one host to another came late.
    Delayed { from: HostId, to: HostId },
    /// A segment from one host to another was lost.
    Lost { from: HostId, to: HostId },
    /// A host acted while its clock was wrong by this many milliseconds.
    WrongClock { host: HostId, by_ms: i64 },
    /// A step of this attempt took longer.
    Slowed { attempt: AttemptId, step: StepName },
    /// The job of this attempt failed at a step.
    Failed { attempt: AttemptId, step: StepName },
    // What is added stands at the end: a digest counts variants.
    /// The lease store lost a lease that this host held.
    LeaseLost { holder: HostId },
    /// The lease store forgot that this host's lease was over, and keeps others out again.
    LeaseReturned { holder: HostId },
    /// A request of this host waited for the lease store.
    Waited { by: HostId },
    /// A commit of this host was refused.
    Refused { by: HostId },
    /// A session of this host was ended in the middle of its transaction.
    Ended { by: HostId },
    /// The lease store lost a message.
    MessageLost { message: u64 },
    /// A message that had been taken out of the lease store is in it again.
    MessageReturned { message: u64 },
    /// A host acted by a boundary of another time zone, which comes this many milliseconds later (negative: earlier) than the period ends.
    OtherZone { host: HostId, period: PeriodId, by_ms: i64 },
    /// The job of this attempt went on when its process had stopped to guard it: a renewal or heartbeat that was due was not made, or the lease was given back.
    Unguarded { attempt: AttemptId },
    /// A client on this host got a message that had been handed out before.
    Redelivered { to: HostId, message: u64 },
}

impl Proof {
    /// One word for lists and files.
    pub fn kind(&self) -> &'static str {
        match self {
            Proof::Interrupted { .. } => "interrupted",
            Proof::Absent { .. } => "absent",
            Proof::Held { .. } => "held",
            Proof::Delayed { .. } => "delayed",
            Proof::Lost { .. } => "lost",
            Proof::WrongClock { .. } => "wrong-clock",
            Proof::Slowed { .. } => "slowed",
            Proof::Failed { .. } => "failed",
            Proof::LeaseLost { .. } => "lease-lost",
            Proof::LeaseReturned { .. } => "lease-returned",
            Proof::Waited { .. } => "waited",
            Proof::Refused { .. } => "refused",
            Proof::Ended { .. } => "ended",
            Proof::MessageLost { .. } => "message-lost",
            Proof::MessageReturned { .. } => "message-returned",
            Proof::OtherZone { .. } => "other-zone",
            Proof::Unguarded { .. } => "unguarded",
            Proof::Redelivered { .. } => "redelivered",
        }
    }
}

/// A sentence about what was noticed.
impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Proof::Interrupted { attempt } => write!(f, "attempt {attempt} was interrupted"),
            Proof::Absent { host, period } => write!(f, "{host} missed the end of {period}"),
            Proof::Held { from, to } => write!(f, "a segment from {from} to {to} was held back"),
            Proof::Delayed { from, to } => write!(f, "a segment from {from} to {to} came late"),
            Proof::Lost { from, to } => write!(f, "a segment from {from} to {to} was lost"),
            Proof::WrongClock { host, by_ms } => write!(f, "{host} acted by a clock that was wrong by {by_ms} ms"),
            Proof::Slowed { attempt, step } => write!(f, "`{step}` of attempt {attempt} took longer"),
            Proof::Failed { attempt, step } => write!(f, "`{step}` of attempt {attempt} failed"),
            Proof::LeaseLost { holder } => write!(f, "the lease of {holder} was lost"),
            Proof::LeaseReturned { holder } => write!(f, "a lease of {holder} that was over was there again"),
            Proof::Waited { by } => write!(f, "a request of {by} waited for the lease store"),
            Proof::Refused { by } => write!(f, "a commit of {by} was refused"),
            Proof::Ended { by } => write!(f, "a transaction of {by} was ended with its session"),
            Proof::MessageLost { message } => write!(f, "message {message} was lost"),
            Proof::Redelivered { to, message } => write!(f, "{to} got message {message}, which had been handed out before"),
            Proof::MessageReturned { message } => write!(f, "message {message}, which had been taken, was there again"),
            Proof::Unguarded { attempt } => write!(f, "the job of attempt {attempt} went on without its guard"),
            Proof::OtherZone { host, period, by_ms } => {
                write!(f, "{host} acted by an end of {period} in another time zone, {by_ms} ms after the true one")
            }
        }
    }
}

/// One thing that happened.
#[expect(missing_docs, reason = "the fields are named after what they are, and each variant says what it tells")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    // The world.
    /// A process started, for the first time (incarnation 0) or again.
    Booted { host: HostId, incarnation: u32 },
    /// A process died; its sockets were closed by its kernel.
    Crashed { host: HostId },
    /// A host lost power: it fell silent, its sockets included.
    PoweredOff { host: HostId },
    /// A process stopped being scheduled.
    Paused { host: HostId },
    /// A paused process runs again; its timers are overdue.
    Resumed { host: HostId },
    /// Segments from one host to another stopped getting through.
    Cut { from: HostId, to: HostId },
    /// Segments from one host to another get through again.
    Healed { from: HostId, to: HostId },
    /// A reply vanished after its request had been applied.
    ReplyLost { from: HostId, to: HostId },
    /// A clock jumped (`by` milliseconds, negative = back).
    ClockSet { host: HostId, by: i64 },
    /// From now on a clock runs fast by this many parts per million (negative: slow; 0: as it should).
    ClockDrifts { host: HostId, ppm: i32 },
    /// A node's code panicked; the message is in the run's notes.
    Panicked { host: HostId },
    /// A fault of the plan struck.
    Fired { fault: FaultId },
    /// The deployment noticed a fault, for the first time, as `proof` shows.
    Felt { fault: FaultId, proof: Proof },

    // Nodes: shown in the story, never trusted.
    /// A node looked for what is due, its own clock showing `wall`.
    Looked { node: NodeId, wall: WallTime },
    /// A node began an attempt to settle a period, its own clock showing `wall`.
    AttemptBegan { attempt: AttemptId, period: PeriodId, wall: WallTime },
    /// An attempt ended, in this belief.
    AttemptEnded { attempt: AttemptId, period: PeriodId, belief: Belief },
    /// An attempt is in this phase of this step.
    Step { attempt: AttemptId, step: StepName, phase: Phase },

    // The lease store.
    /// A lease was granted to a client on this host. `ttl_ms` 0 = it never expires.
    LeaseGranted { to: HostId, ttl_ms: u64 },
    /// A lease was asked for while somebody held it.
    LeaseRefused { to: HostId, holder: HostId },
    /// A lease's expiry was set anew by a client on this host.
    LeaseExtended { by: HostId, holder: HostId, ttl_ms: u64 },
    /// A lease was deleted by a client on host `by`; it had been granted to `holder`.
    LeaseReleased { by: HostId, holder: HostId },
    /// A lease had run out when the store next looked at it.
    LeaseExpired { holder: HostId },

    // The database. Every row event belongs to the transaction whose `Committed` stands directly before it.
    /// A transaction committed; its session's client is on host `by`, its first statement ran at `began`.
    Committed { tx: TxId, by: HostId, began: SimTime },
    /// A player earned points; `at` is the calendar time that the row carries.
    Earned { tx: TxId, earning: i64, player: PlayerId, amount: i64, at: WallTime },
    /// An earning was marked as belonging to a settled period.
    Marked { tx: TxId, earning: i64, period: PeriodId },
    /// A transaction that inserted a settlement row took points from a player's account.
    Taken { tx: TxId, player: PlayerId, points: i64 },
    /// A ranking row was inserted.
    Ranked { tx: TxId, period: PeriodId, rank: i64, player: PlayerId, points: i64 },
    /// A settlement row was inserted: the period is settled, by this node's attempt, as the row says.
    Settled { tx: TxId, period: PeriodId, node: NodeId, attempt: i64 },
    /// A task row was written.
    TaskSet { tx: TxId, period: PeriodId, status: TaskStatus, version: i64, attempt: i64 },
    /// A fence row was written: attempts with a smaller token are stale from now on.
    FenceSet { tx: TxId, token: i64 },
    /// An outbox row was inserted.
    Queued { tx: TxId, row: i64 },
    /// An outbox row was marked as delivered.
    Delivered { tx: TxId, row: i64 },
    /// The server ended a session's transaction by itself: idle for too long.
    IdleInTransaction { by: HostId },

    // The payout service.
    /// A winner was paid. `keyed` = the request carried an idempotency key.
    Paid { period: PeriodId, rank: i64, player: PlayerId, amount: i64, keyed: bool },
    /// A request repeated an idempotency key and was answered without paying again.
    PaymentRepeated { period: PeriodId, rank: i64, player: PlayerId },

    // What is added stands at the end: a digest counts variants.
    /// The lease store lost a lease that had not run out: restarted empty, evicted it, or failed over to a replica without it.
    LeaseLost { holder: HostId },
    /// The lease store failed over to a replica that had not heard that a lease was over: it is there again.
    LeaseReturned { holder: HostId },
    /// A server is busy with one slow command: requests wait.
    Blocked { host: HostId },
    /// The slow command is over.
    Unblocked { host: HostId },
    /// A request of this host waits, because the lease store is busy.
    Waited { by: HostId },
    /// The database refused a commit of this host, and rolled it back.
    CommitRefused { by: HostId },
    /// The database ended a session of this host, and rolled its transaction back.
    SessionEnded { by: HostId },
    /// A step that a fault had made slow goes on.
    GoesOn { attempt: AttemptId, step: StepName },
    /// From now on everything from one host to another takes longer.
    Lags { from: HostId, to: HostId },
    /// It takes no longer than usual again.
    Prompt { from: HostId, to: HostId },
    /// A human is called: this period was given up.
    Alerted { tx: TxId, period: PeriodId },
    /// The human has seen to it.
    AlertHandled { tx: TxId, period: PeriodId },
    /// A client on this host put a message into a list of the lease store: the so-manieth of all.
    Pushed { by: HostId, message: u64 },
    /// A message was moved to another list, or to another place.
    Moved { by: HostId, message: u64 },
    /// A message was taken out: it is in no list any more, whether or not its receiver hears of it.
    Popped { by: HostId, message: u64 },
    /// The lease store lost a message: restarted empty, evicted its list, or failed over to a replica without it.
    MessageLost { message: u64 },
    /// The lease store failed over to a replica that had not heard that a message was taken: it is there again.
    MessageReturned { message: u64 },
    /// A member of the log leads, and has written its first entry.
    LogLeads { host: HostId, term: u64 },
    /// The log, led by `through`, granted a period, or the whole job, to a client on this host.
    LogGranted { through: HostId, to: HostId, period: Option<PeriodId>, token: i64, ttl_ms: u64 },
    /// A client on this host gave a grant of the log back.
    LogReleased { by: HostId, token: i64 },
    /// The log decided for good that the grant of this host settles a period.
    LogDecided { period: PeriodId, to: HostId, token: i64 },
    /// The dispatch centre gave the run of a period to this host.
    Dispatched { to: HostId, period: PeriodId },
    /// The database prepared a transaction whose session's client is on host `by`: it is in doubt.
    Prepared { tx: TxId, by: HostId },
    /// A prepared transaction was ended by a client on host `by`.
    PreparedEnded { tx: TxId, by: HostId, committed: bool },
    /// The payout service prepared payments for a client on host `by`, under a number of its own: they are in doubt.
    PaymentsPrepared { number: u32, period: PeriodId, by: HostId },
    /// Prepared payments were made, or given up, because a client on host `by` said so.
    PaymentsEnded { number: u32, by: HostId, committed: bool },
    /// A lease row was written: it is `owner`'s until his clock, or the database's, shows `until`. `granted` = it was taken, not extended or given back.
    LeaseRowSet { tx: TxId, owner: NodeId, until: WallTime, granted: bool },
    /// A process was told to stop: from now on it begins nothing new.
    ToldToStop { host: HostId },
    /// Of several independent lease stores one tells this. What it comes to for the lease that most of them
    /// grant stands directly behind it, as the event of a single store.
    Voted { store: HostId, vote: Vote },
    /// A client on this host gets a message that had been handed out before, because this fault repeats it.
    Redelivered { to: HostId, message: u64, fault: FaultId },
    /// The database's kernel asked whether a client on this host is still there, and it was not: its session ended.
    ClientGone { by: HostId },
}

impl Event {
    /// The transaction that a row event belongs to; `None` for everything that is not a row.
    pub fn transaction(&self) -> Option<TxId> {
        match *self {
            Event::Earned { tx, .. }
            | Event::Marked { tx, .. }
            | Event::Taken { tx, .. }
            | Event::Ranked { tx, .. }
            | Event::Settled { tx, .. }
            | Event::TaskSet { tx, .. }
            | Event::FenceSet { tx, .. }
            | Event::LeaseRowSet { tx, .. }
            | Event::Queued { tx, .. }
            | Event::Delivered { tx, .. }
            | Event::Alerted { tx, .. }
            | Event::AlertHandled { tx, .. } => Some(tx),
            Event::Booted { .. }
            | Event::Crashed { .. }
            | Event::PoweredOff { .. }
            | Event::Paused { .. }
            | Event::Resumed { .. }
            | Event::Cut { .. }
            | Event::Healed { .. }
            | Event::ReplyLost { .. }
            | Event::ClockSet { .. }
            | Event::ClockDrifts { .. }
            | Event::Panicked { .. }
            | Event::Fired { .. }
            | Event::Felt { .. }
            | Event::Looked { .. }
            | Event::AttemptBegan { .. }
            | Event::AttemptEnded { .. }
            | Event::Step { .. }
            | Event::LeaseGranted { .. }
            | Event::LeaseRefused { .. }
            | Event::LeaseExtended { .. }
            | Event::LeaseReleased { .. }
            | Event::LeaseExpired { .. }
            | Event::Committed { .. }
            | Event::CommitRefused { .. }
            | Event::SessionEnded { .. }
            | Event::ClientGone { .. }
            | Event::GoesOn { .. }
            | Event::Lags { .. }
            | Event::Prompt { .. }
            | Event::Pushed { .. }
            | Event::Moved { .. }
            | Event::Popped { .. }
            | Event::MessageLost { .. }
            | Event::MessageReturned { .. }
            | Event::LogLeads { .. }
            | Event::LogGranted { .. }
            | Event::LogReleased { .. }
            | Event::LogDecided { .. }
            | Event::Dispatched { .. }
            | Event::Prepared { .. }
            | Event::PreparedEnded { .. }
            | Event::PaymentsPrepared { .. }
            | Event::PaymentsEnded { .. }
            | Event::ToldToStop { .. }
            | Event::Voted { .. }
            | Event::Redelivered { .. }
            | Event::IdleInTransaction { .. }
            | Event::Paid { .. }
            | Event::PaymentRepeated { .. }
            | Event::LeaseLost { .. }
            | Event::LeaseReturned { .. }
            | Event::Blocked { .. }
            | Event::Unblocked { .. }
            | Event::Waited { .. } => None,
        }
    }
}

/// An event and the true time at which it happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// When.
    pub at: SimTime,
    /// What.
    pub event: Event,
}

/// Rolling hash of everything that happened, in order. Payload bytes and lengths stay out:
/// clients put process-global counters in them.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest(pub u64);

impl Digest {
    /// The digest of a run in which nothing has happened yet.
    pub const EMPTY: Digest = Digest(0x6f6e_6365_7072_6f6f);

    /// That of a text.
    pub fn of_text(text: &str) -> Digest {
        let mut digest = Digest::EMPTY;
        digest.write(text.as_bytes());
        digest.mix(text.len() as u64);
        digest
    }

    /// Mixes one word in.
    pub fn mix(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

/// Hashing by words, identical on every platform and in every process (the standard hasher promises neither).
impl Hasher for Digest {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.mix(u64::from_le_bytes(word));
        }
    }
    fn write_u8(&mut self, i: u8) {
        self.mix(u64::from(i));
    }
    fn write_u16(&mut self, i: u16) {
        self.mix(u64::from(i));
    }
    fn write_u32(&mut self, i: u32) {
        self.mix(u64::from(i));
    }
    fn write_u64(&mut self, i: u64) {
        self.mix(i);
    }
    fn write_i64(&mut self, i: i64) {
        self.mix(i as u64);
    }
    fn write_usize(&mut self, i: usize) {
        self.mix(i as u64);
    }
    fn write_isize(&mut self, i: isize) {
        self.mix(i as u64);
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The history of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    records: Vec<Record>,
    digest: Digest,
}

impl Default for Trace {
    fn default() -> Trace {
        Trace { records: Vec::with_capacity(512), digest: Digest::EMPTY }
    }
}

impl Trace {
    /// Appends what happened now.
    pub fn push(&mut self, at: SimTime, event: Event) {
        debug_assert!(self.records.last().is_none_or(|last| last.at <= at), "history only grows");
        self.digest.mix(at.0);
        event.hash(&mut self.digest);
        self.records.push(Record { at, event });
    }

    /// Mixes something that is not worth a record, such as the delivery of a segment, into the digest.
    pub fn note(&mut self, at: SimTime, word: u64) {
        self.digest.mix(at.0);
        self.digest.mix(word);
    }

    /// Everything that happened, in order.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// The events alone, in order.
    pub fn events(&self) -> impl Iterator<Item = &Event> {
        self.records.iter().map(|r| &r.event)
    }

    /// Hash of the whole history.
    pub fn digest(&self) -> Digest {
        self.digest
    }
}
