//! From the history of a run to the things worth a line.

use crate::id::{AttemptId, FaultId, HostId, NodeId, PlayerId};
use crate::plan::{FaultPlan, duration};
use crate::report::story::attempts::Attempts;
use crate::report::story::commit::{Came, Ledger};
use crate::report::story::quiet::{Kind, Quiet};
use crate::report::words;
use crate::time::SimTime;
use crate::trace::{Belief, Event, Phase, Record, Vote};
use crate::world::Run;
use std::collections::BTreeSet;
use std::time::Duration;

/// One thing worth a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beat {
    /// When.
    pub at: SimTime,
    /// Who tells it.
    pub voice: Voice,
    /// What.
    pub text: String,
}

/// Who tells a beat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Voice {
    /// A node does it, or it happens to the node; afterwards the node is in this state.
    Node(NodeId, State),
    /// Another host, or the network.
    World(&'static str),
    /// The fault plan.
    Fault,
    /// Nobody in particular: what was gathered.
    Quiet,
    /// Whoever knows how it ends.
    Note,
}

/// Whether a node's process is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It runs.
    Running,
    /// It is not scheduled.
    Paused,
    /// It is dead.
    Down,
}

/// The beats of a run, in order.
pub fn beats(run: &Run, plan: &FaultPlan, nodes: u8) -> Vec<Beat> {
    let records = run.trace.records();
    let attempts = Attempts::of(records);
    let teller = Teller {
        run,
        plan,
        nodes,
        attempts,
        ledger: Ledger::default(),
        working: BTreeSet::new(),
        quiet: Quiet::default(),
        told: Vec::new(),
    };
    teller.tell(records)
}

struct Teller<'a> {
    run: &'a Run,
    plan: &'a FaultPlan,
    nodes: u8,
    attempts: Attempts,
    ledger: Ledger,
    working: BTreeSet<AttemptId>,
    quiet: Quiet,
    told: Vec<Beat>,
}

impl Teller<'_> {
    fn tell(mut self, records: &[Record]) -> Vec<Beat> {
        let mut n = 0;
        while n < records.len() {
            n += match records[n].event {
                Event::Committed { .. } => self.commit(&records[n..]),
                Event::Cut { .. } | Event::Healed { .. } => self.links(&records[n..]),
                event => {
                    self.one(n, records[n].at, event);
                    1
                }
            };
        }
        self.flush();
        self.told
    }

    fn say(&mut self, at: SimTime, voice: Voice, text: String) {
        self.flush();
        self.told.push(Beat { at, voice, text });
    }

    fn flush(&mut self) {
        if let Some((at, text)) = self.quiet.flush() {
            self.told.push(Beat { at, voice: Voice::Quiet, text });
        }
    }

    /// A transaction and its rows; tells how many records that were.
    fn commit(&mut self, records: &[Record]) -> usize {
        let Record { at, event: Event::Committed { tx, by, .. } } = records[0] else { unreachable!("called at a commit") };
        let rows: Vec<Event> = records[1..].iter().map(|r| r.event).take_while(|e| e.transaction() == Some(tx)).collect();
        match self.ledger.read(by, &rows) {
            Came::ToNothing => {}
            Came::ToAnEarning => self.quiet.add(at, Kind::Earning),
            Came::ToAHeartbeat => self.quiet.add(at, Kind::Heartbeat),
            Came::To(what) => self.say(at, Voice::World("db"), format!("{by} commits: {what}")),
        }
        1 + rows.len()
    }

    /// Links that break or heal at the same time; tells how many records that were.
    fn links(&mut self, records: &[Record]) -> usize {
        let cut = matches!(records[0].event, Event::Cut { .. });
        let pair = |r: &Record| match r.event {
            Event::Cut { from, to } if cut => Some((from, to)),
            Event::Healed { from, to } if !cut => Some((from, to)),
            _ => None,
        };
        let pairs: BTreeSet<(HostId, HostId)> = records.iter().take_while(|r| r.at == records[0].at).map_while(pair).collect();
        let verb = if cut { "cut" } else { "healed" };
        self.say(records[0].at, Voice::World("network"), format!("{verb}: {}", arrows(&pairs)));
        records.iter().take_while(|r| r.at == records[0].at).map_while(pair).count()
    }

    fn one(&mut self, n: usize, at: SimTime, event: Event) {
        match event {
            Event::Booted { host, incarnation: 1.. } => self.happens(at, host, State::Running, "boots again"),
            Event::ToldToStop { host } => self.happens(at, host, State::Running, "is told to stop"),
            Event::Crashed { host } => self.happens(at, host, State::Down, "crashes"),
            Event::PoweredOff { host } => self.happens(at, host, State::Down, "loses power"),
            Event::Paused { host } => self.happens(at, host, State::Paused, "stops"),
            Event::Resumed { host } => self.happens(at, host, State::Running, "goes on"),
            Event::Panicked { host } => self.happens(at, host, State::Down, "panics"),
            Event::ClockSet { host, by } => self.happens(at, host, State::Running, &format!("clock {}", words::signed(by))),
            Event::ClockDrifts { host, ppm: 0 } => self.happens(at, host, State::Running, "clock runs right again"),
            Event::ClockDrifts { host, ppm } => self.happens(at, host, State::Running, &format!("clock runs {ppm:+} ppm")),
            Event::Fired { fault } => self.fired(at, fault),
            Event::AttemptBegan { attempt, period, .. } => self.began(at, attempt, &format!("#{} for {period}", attempt.number)),
            Event::AttemptEnded { attempt, belief, .. } => self.ended(at, attempt, belief),
            Event::Step { attempt, step, phase } => self.step(at, attempt, step, phase),
            Event::LeaseGranted { to, ttl_ms } if !self.attempts.uneventful(to, n) => {
                self.say(at, Voice::World("lease"), format!("granted to {to} {}", expiry(ttl_ms)));
            }
            Event::LeaseRefused { to, holder } if !self.attempts.uneventful(to, n) => {
                self.say(at, Voice::World("lease"), format!("refused to {to}, {holder} holds it"));
            }
            Event::LeaseReleased { by, holder } if by != holder => {
                self.say(at, Voice::World("lease"), format!("deleted by {by} although {holder} holds it"));
            }
            Event::LeaseReleased { by, .. } if !self.attempts.uneventful(by, n) => {
                self.say(at, Voice::World("lease"), format!("released by {by}"));
            }
            Event::LeaseExtended { by, holder, .. } if by == holder => self.quiet.add(at, Kind::Renewal),
            Event::LeaseExtended { by, holder, ttl_ms } => {
                self.say(at, Voice::World("lease"), format!("of {holder} extended by {by} {}", expiry(ttl_ms)));
            }
            Event::LeaseLost { holder } => self.say(at, Voice::World("lease"), format!("loses the lease of {holder}")),
            Event::LeaseReturned { holder } => self.say(at, Voice::World("lease"), format!("has a lease of {holder} again that was over")),
            Event::Pushed { .. }
            | Event::Moved { .. }
            | Event::Popped { .. }
            | Event::MessageLost { .. }
            | Event::MessageReturned { .. }
            | Event::Redelivered { .. } => self.message(at, event),
            Event::Prepared { .. } | Event::PreparedEnded { .. } | Event::PaymentsPrepared { .. } | Event::PaymentsEnded { .. } => {
                self.in_doubt(at, event);
            }
            Event::LogLeads { host, term } => self.say(at, Voice::World("log"), format!("is led by {host} in term {term}")),
            Event::LogGranted { to, token, .. } if !self.attempts.uneventful(to, n) => {
                self.say(at, Voice::World("log"), format!("grants to {to}, token {token}"));
            }
            Event::Dispatched { to, period } => self.say(at, Voice::World("centre"), format!("gives {period} to {to}")),
            Event::LogDecided { period, to, token } => {
                self.say(at, Voice::World("log"), format!("decides that {to} settles {period}, token {token}"));
            }
            Event::Voted { store, vote: vote @ (Vote::Expired { .. } | Vote::Lost { .. } | Vote::Returned { .. }) } => {
                self.say(at, Voice::World("lease"), format!("{store}: {vote}"));
            }
            Event::Blocked { host } => self.happens(at, host, State::Running, "is busy with a slow command"),
            Event::Unblocked { host } => self.happens(at, host, State::Running, "serves again"),
            Event::LeaseExpired { holder } => self.say(at, Voice::World("lease"), format!("of {holder} has expired")),
            Event::ReplyLost { from, to } => self.say(at, Voice::World("network"), format!("the reply of {from} to {to} is lost")),
            Event::IdleInTransaction { by } => {
                self.say(at, Voice::World("db"), format!("ends the transaction of {by}, which was idle too long"));
            }
            Event::CommitRefused { by } => self.say(at, Voice::World("db"), format!("refuses a commit of {by}, and rolls it back")),
            Event::SessionEnded { by } => {
                self.say(at, Voice::World("db"), format!("ends a session of {by}, and rolls its transaction back"));
            }
            Event::ClientGone { by } => {
                self.say(at, Voice::World("db"), format!("finds a client of {by} gone, and ends its session"));
            }
            Event::Paid { rank, player, amount, keyed, period } => self.paid(at, &format!("{period}, rank {rank}"), player, amount, keyed),
            Event::PaymentRepeated { period, rank, player } => {
                self.say(at, Voice::World("payout"), format!("knows the key for {period}, rank {rank}: does not pay {player} again"));
            }
            Event::Cut { .. } | Event::Healed { .. } => unreachable!("told with all links that change at the same time"),
            Event::Booted { incarnation: 0, .. }
            | Event::Felt { .. }
            | Event::Waited { .. }
            | Event::Voted { vote: Vote::Granted { .. } | Vote::Refused { .. } | Vote::Extended { .. } | Vote::Released { .. }, .. }
            | Event::GoesOn { .. }
            | Event::Lags { .. }
            | Event::Prompt { .. }
            | Event::Looked { .. }
            | Event::LogGranted { .. }
            | Event::LogReleased { .. }
            | Event::LeaseGranted { .. }
            | Event::LeaseRefused { .. }
            | Event::LeaseReleased { .. }
            | Event::Committed { .. }
            | Event::Earned { .. }
            | Event::Marked { .. }
            | Event::Taken { .. }
            | Event::Ranked { .. }
            | Event::Settled { .. }
            | Event::TaskSet { .. }
            | Event::FenceSet { .. }
            | Event::LeaseRowSet { .. }
            | Event::Queued { .. }
            | Event::Alerted { .. }
            | Event::AlertHandled { .. }
            | Event::Delivered { .. } => {}
        }
    }

    /// What becomes of messages in the lease store's lists.
    fn message(&mut self, at: SimTime, event: Event) {
        match event {
            Event::Pushed { by, message } => self.say(at, Voice::World("lease"), format!("takes message {message} of {by}")),
            Event::Moved { by, message } => self.say(at, Voice::World("lease"), format!("moves message {message} for {by}")),
            Event::Popped { by, message } => self.say(at, Voice::World("lease"), format!("hands message {message} out to {by}")),
            Event::MessageLost { message } => self.say(at, Voice::World("lease"), format!("loses message {message}")),
            Event::MessageReturned { message } => {
                self.say(at, Voice::World("lease"), format!("has message {message} again, which had been taken"));
            }
            Event::Redelivered { to, message, .. } => {
                self.say(at, Voice::World("lease"), format!("hands message {message} out once more, to {to}"));
            }
            other => unreachable!("{other:?} is about no message"),
        }
    }

    /// What is prepared, and how it ends.
    fn in_doubt(&mut self, at: SimTime, event: Event) {
        match event {
            Event::Prepared { tx, by } => self.say(at, Voice::World("db"), format!("has prepared {tx} of {by}: it is in doubt")),
            Event::PreparedEnded { tx, by, committed } => {
                let how = if committed { "commits" } else { "rolls back" };
                self.say(at, Voice::World("db"), format!("{how} the prepared {tx}, because {by} says so"));
            }
            Event::PaymentsPrepared { number, period, by } => {
                self.say(at, Voice::World("payout"), format!("has prepared payments {number} of {by} for {period}: they are in doubt"));
            }
            Event::PaymentsEnded { number, by, committed } => {
                let how = if committed { "makes" } else { "gives up" };
                self.say(at, Voice::World("payout"), format!("{how} the prepared payments {number}, because {by} says so"));
            }
            other => unreachable!("{other:?} prepares nothing"),
        }
    }

    fn paid(&mut self, at: SimTime, what: &str, player: PlayerId, amount: i64, keyed: bool) {
        let key = if keyed { "" } else { ", without a key" };
        self.say(at, Voice::World("payout"), format!("pays {player} {amount} for {what}{key}"));
    }

    fn happens(&mut self, at: SimTime, host: HostId, state: State, what: &str) {
        match host {
            HostId::Node(node) => self.say(at, Voice::Node(node, state), what.to_owned()),
            HostId::Lease => self.say(at, Voice::World("lease"), what.to_owned()),
            HostId::Database => self.say(at, Voice::World("db"), what.to_owned()),
            HostId::Payout => self.say(at, Voice::World("payout"), what.to_owned()),
            HostId::Traffic => self.say(at, Voice::World("traffic"), what.to_owned()),
            HostId::DatabaseElsewhere => self.say(at, Voice::World("db-elsewhere"), what.to_owned()),
            HostId::Centre => self.say(at, Voice::World("centre"), what.to_owned()),
            HostId::FurtherLease(_) => self.say(at, Voice::World("lease"), format!("{host}: {what}")),
            HostId::Log(_) => self.say(at, Voice::World("log"), format!("{host}: {what}")),
        }
    }

    fn fired(&mut self, at: SimTime, id: FaultId) {
        let n = usize::from(id.0);
        let what = self.plan.faults.get(n).map_or_else(|| "of no plan".to_owned(), words::fault);
        let felt = match self.run.receipts.get(n).and_then(|receipt| receipt.felt) {
            Some(felt) if felt.at == at => format!("felt at once: {}", felt.proof),
            Some(felt) => format!("felt {} later: {}", duration::text(felt.at.since(at)), felt.proof),
            None => "not felt".to_owned(),
        };
        self.say(at, Voice::Fault, format!("{id}: {what} ({felt})"));
    }

    fn began(&mut self, at: SimTime, attempt: AttemptId, text: &str) {
        if self.attempts.get(attempt).is_none_or(|known| known.eventful) {
            self.say(at, Voice::Node(attempt.node, State::Running), text.to_owned());
        }
    }

    /// A poll counts when it has come to nothing: what made it so stands before it.
    fn ended(&mut self, at: SimTime, attempt: AttemptId, belief: Belief) {
        match self.attempts.get(attempt) {
            Some(known) if known.eventful => {
                let believed = match belief {
                    Belief::Settled => "believes: settled",
                    Belief::AlreadySettled => "believes: settled before",
                    Belief::Busy => "believes: busy",
                    Belief::Failed => "believes: failed",
                };
                self.say(at, Voice::Node(attempt.node, State::Running), format!("#{} {believed}", attempt.number));
            }
            Some(known) => self.quiet.add(at, Kind::Poll(known.reason())),
            None => {}
        }
    }

    /// Of the steps only the beginning of the work is told; what the others do, the servers say.
    fn step(&mut self, at: SimTime, attempt: AttemptId, step: &str, phase: Phase) {
        let worth_it = step.starts_with("job.") && phase == Phase::Before && self.attempts.get(attempt).is_some_and(|a| a.eventful);
        if worth_it && self.nodes > attempt.node.0 && self.working.insert(attempt) {
            self.say(at, Voice::Node(attempt.node, State::Running), format!("#{} works", attempt.number));
        }
    }
}

fn expiry(ttl_ms: u64) -> String {
    match ttl_ms {
        0 => "without expiry".to_owned(),
        ms => format!("for {}", duration::text(Duration::from_millis(ms))),
    }
}

/// `n0 ↔ lease, db; n1 → db`.
fn arrows(pairs: &BTreeSet<(HostId, HostId)>) -> String {
    let mut groups: Vec<(HostId, &str, Vec<String>)> = Vec::new();
    for &(from, to) in pairs {
        let both = pairs.contains(&(to, from));
        // Whoever is cut from several others stands in front: that is the victim.
        let degree = |host: HostId| pairs.iter().filter(|(a, b)| *a == host || *b == host).count();
        let (victim, other, arrow) = match (both, degree(from) >= degree(to)) {
            (true, true) if degree(from) == degree(to) && from > to => continue,
            (true, true) => (from, to, "↔"),
            (true, false) => continue,
            (false, true) => (from, to, "→"),
            (false, false) => (to, from, "←"),
        };
        match groups.iter_mut().find(|(v, a, _)| *v == victim && *a == arrow) {
            Some((_, _, others)) => others.push(other.to_string()),
            None => groups.push((victim, arrow, vec![other.to_string()])),
        }
    }
    let told = |(victim, arrow, others): (HostId, &str, Vec<String>)| format!("{victim} {arrow} {}", others.join(", "));
    groups.into_iter().map(told).collect::<Vec<_>>().join("; ")
}
