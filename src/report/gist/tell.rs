//! An event in words.

use crate::explore::Finding;
use crate::id::{HostId, NodeId, PeriodId, PlayerId};
use crate::plan::{FaultPlan, Harm, Target, Trigger, duration};
use crate::report::gist::sentence::{Told, second};
use crate::report::gist::trail::{Trail, Tx};
use crate::report::words;
use crate::settlement::Calendar;
use crate::time::{SimTime, WallTime};
use crate::trace::{Belief, Event, Phase, TaskStatus};
use std::time::Duration;

/// Tells events of one run.
pub struct Teller<'a> {
    pub trail: &'a Trail<'a>,
    pub plan: &'a FaultPlan,
    pub calendar: &'a Calendar,
    pub finding: &'a Finding,
    /// Everything that is told, in order.
    pub picked: &'a [usize],
}

impl Teller<'_> {
    /// One event.
    pub fn tell(&self, n: usize) -> Told {
        let record = self.trail.records[n];
        let (who, did) = self.words(n);
        let at = match record.event {
            Event::LeaseExpired { holder } => self.trail.ran_out(n, holder).unwrap_or(record.at),
            _ => record.at,
        };
        Told { at, who, did }
    }

    fn words(&self, n: usize) -> (String, String) {
        let by = |who: &dyn ToString, did: String| (who.to_string(), did);
        match self.trail.records[n].event {
            Event::Committed { by: host, began, .. } => {
                let did = self.trail.tx(n).map_or_else(String::new, |tx| self.commit(tx));
                let sent = if self.trail.tx(n).is_some_and(|tx| self.trail.settles(tx)) { "commit" } else { "request" };
                self.on_time(n, host, began, sent, did)
            }
            Event::LeaseGranted { to, ttl_ms } => {
                let did = match self.expiry(n, to, ttl_ms) {
                    0 => "got the lease without an expiry".to_owned(),
                    ms => format!("got the lease for {}", duration::text(Duration::from_millis(ms))),
                };
                self.on_time(n, to, self.trail.records[n].at, "request", did)
            }
            Event::LogGranted { to, token, ttl_ms: 0, .. } => by(&to, format!("got grant {token} of the log")),
            Event::LogGranted { to, token, ttl_ms, .. } => {
                by(&to, format!("got grant {token} of the log for {}", duration::text(Duration::from_millis(ttl_ms))))
            }
            Event::LogReleased { by: host, token } => by(&host, format!("gave grant {token} back")),
            Event::Dispatched { to, period } => by(&to, format!("was given {period} by the centre")),
            Event::LogDecided { to, period, .. } => ("the log".to_owned(), format!("decided that {to} settles {period}")),
            Event::LeaseRefused { to, holder } => by(&to, format!("was refused {}", self.lease(n, holder))),
            Event::LeaseExpired { holder } => {
                let did = if self.trail.ran_out(n, holder).is_some() { "expired" } else { "was found expired" };
                (self.lease(n, holder), did.to_owned())
            }
            Event::LeaseLost { holder } => ("the lease store".to_owned(), format!("lost {}", self.lease(n, holder))),
            Event::LeaseReturned { holder } => ("the lease store".to_owned(), format!("had the lease of {holder} again")),
            Event::Pushed { by: host, message } => by(&host, format!("put message {message} into the queue")),
            Event::Popped { by: host, message } => (format!("message {message}"), format!("left the queue for {host}")),
            Event::Redelivered { to, message, .. } => (format!("message {message}"), format!("was handed out once more, to {to}")),
            Event::MessageLost { message } => ("the lease store".to_owned(), format!("lost message {message}")),
            Event::MessageReturned { message } => ("the lease store".to_owned(), format!("had message {message} again")),
            Event::LeaseReleased { by: host, holder } if host == holder => by(&host, "gave the lease back".to_owned()),
            Event::LeaseReleased { by: host, holder } => by(&host, format!("deleted {}", self.lease(n, holder))),
            Event::LeaseExtended { by: host, holder, .. } => by(&host, format!("extended the lease of {holder}")),
            Event::Paused { host } => by(&self.struck(n, host), format!("stopped{}{}", self.lasting(n), self.place(n))),
            Event::ToldToStop { host } => by(&self.struck(n, host), format!("was told to stop{}", self.place(n))),
            Event::Crashed { host } => by(&self.struck(n, host), format!("crashed{}", self.place(n))),
            Event::PoweredOff { host } => by(&self.struck(n, host), format!("lost power{}", self.place(n))),
            Event::Resumed { host } => by(&name(host), "woke".to_owned()),
            Event::Booted { host, .. } => by(&name(host), "started again".to_owned()),
            Event::Blocked { host } => by(&name(host), format!("was busy{}", self.lasting(n))),
            Event::ClockSet { host, by: ms } => (format!("the clock of {host}"), format!("was wrong by {}", words::signed(ms))),
            Event::ClockDrifts { host, ppm } => (format!("the clock of {host}"), format!("ran {ppm:+} ppm")),
            Event::Cut { .. } => self.cut(n),
            Event::ReplyLost { from, to } => (format!("the reply of {} to {}", name(from), name(to)), "was lost".to_owned()),
            Event::CommitRefused { by: host } => ("the database".to_owned(), format!("refused a commit of {host}")),
            Event::SessionEnded { by: host } => ("the database".to_owned(), format!("ended a session of {host}")),
            Event::ClientGone { by: host } => ("the database".to_owned(), format!("found a client of {host} gone")),
            Event::Fired { .. } => self.fault(n),
            Event::Panicked { host } => by(&host, "panicked".to_owned()),
            Event::AttemptBegan { attempt, period, wall } => {
                let off = wall.0 - self.calendar.origin.wall(self.trail.records[n].at).0;
                let clock = if off == 0 { String::new() } else { format!(" by its clock ({} wrong)", words::signed(off)) };
                by(&attempt.node, format!("set about {period}{clock}"))
            }
            Event::AttemptEnded { attempt, period, belief } => by(&attempt.node, self.ended(n, belief, period)),
            Event::Looked { node, .. } => by(&node, "looked for what is due".to_owned()),
            Event::Step { attempt, step, phase } => by(&attempt.node, format!("was in `{step}` ({phase})")),
            Event::Paid { period, rank, player, amount, .. } => {
                let again = self.trail.records[..n]
                    .iter()
                    .any(|r| matches!(r.event, Event::Paid { period: p, player: who, .. } if p == period && who == player));
                let again = if again { " again" } else { "" };
                let asked = self.asked(n, period);
                ("the payout service".to_owned(), format!("paid {player} {amount} for rank {rank} of {period}{again}{asked}"))
            }
            other => ("the run".to_owned(), format!("recorded that {other}")),
        }
    }

    /// What a host did, or what it had sent before it was down, stopped or no longer at it.
    fn on_time(&self, n: usize, host: HostId, began: SimTime, sent: &str, did: String) -> (String, String) {
        if self.trail.arrived_late(n, host, began) {
            (format!("the {sent} that {host} had sent"), format!("arrived and {did}"))
        } else {
            (host.to_string(), did)
        }
    }

    /// A host's lease, and when it was renewed last.
    fn lease(&self, n: usize, holder: HostId) -> String {
        match self.trail.extended(n, holder) {
            Some((at, _, true)) => format!("the lease of {holder} (last renewed at {})", self.second(at)),
            _ => format!("the lease of {holder}"),
        }
    }

    fn second(&self, at: SimTime) -> String {
        second(self.calendar, at).1
    }

    /// Who asked for a payment, and what he took himself for.
    fn asked(&self, n: usize, period: PeriodId) -> String {
        let Some(payer) = self.trail.payer(n) else { return String::new() };
        let own = self.trail.settlements(Some(period)).iter().any(|tx| tx.n < n && tx.by == HostId::Node(payer.node));
        let but = match self.trail.belief(payer) {
            _ if own => String::new(),
            Some(Belief::Settled) => format!(", which believed that it had settled {period}"),
            _ => format!(", which had not settled {period}"),
        };
        format!(" at the request of {}{but}", payer.node)
    }

    fn ended(&self, n: usize, belief: Belief, period: PeriodId) -> String {
        let Event::AttemptEnded { attempt, .. } = self.trail.records[n].event else { return String::new() };
        let by = HostId::Node(attempt.node);
        let began = self.trail.last(n, |e| matches!(*e, Event::AttemptBegan { attempt: a, .. } if a == attempt)).unwrap_or(0);
        let settled = self.trail.settlements(Some(period)).iter().any(|tx| (began..n).contains(&tx.n) && tx.by == by);
        match belief {
            Belief::Settled => format!("believed that it had settled {period}"),
            Belief::AlreadySettled => format!("believed that {period} was settled already"),
            Belief::Busy if self.trail.holds(began..n, by) => format!("left {period} undone (it had the lease itself)"),
            Belief::Busy => format!("found {period} taken"),
            Belief::Failed if settled => format!("believed that it had failed to settle {period}"),
            Belief::Failed => format!("failed to settle {period}"),
        }
    }

    /// ` with the same version 7`, if a claim of the same period that is told before had it too, or
    /// ` in the same second`, if that is all there is to tell one from the other.
    fn version(&self, tx: &Tx, period: PeriodId, version: i64) -> String {
        let same = |e: &Event| matches!(*e, Event::TaskSet { period: p, status: TaskStatus::Executing, version: v, .. } if (p, v) == (period, version));
        let claims = self.picked.iter().filter_map(|n| self.trail.tx(*n));
        let Some(other) = claims.filter(|other| other.n < tx.n).rfind(|other| self.trail.rows(other).any(same)) else {
            return String::new();
        };
        let [before, now] = [other.n, tx.n].map(|n| self.calendar.origin.wall(self.trail.records[n].at).0.div_euclid(1000));
        match version {
            _ if before == now => " in the same second".to_owned(),
            0 => String::new(),
            version => format!(" with the same version {version}"),
        }
    }

    /// `(earning 3, after 2026-01-10 had ended; 39 in all)`.
    fn earning(&self, n: usize, earning: i64, player: PlayerId, dated: WallTime) -> String {
        let period = self.finding.period.and_then(|period| self.calendar.period(period)).filter(|period| dated >= period.due);
        let after = period.map_or_else(String::new, |period| format!(", after {} had ended", period.id));
        // What is wrong is a sum, unless it is one earning.
        let one = self.finding.what.contains("earning ");
        let sum = if one { String::new() } else { format!("; {} in all", self.trail.earned(n, player)) };
        format!("(earning {earning}{after}{sum})")
    }

    /// What a transaction did.
    fn commit(&self, tx: &Tx) -> String {
        let mut said = Vec::new();
        let mut settled: Option<PeriodId> = None;
        for row in self.trail.rows(tx) {
            match *row {
                Event::Settled { period, .. } | Event::Ranked { period, .. } if settled != Some(period) => {
                    let earlier = self.trail.settlements(Some(period)).iter().any(|other| other.n < tx.n);
                    said.push(format!("settled {period}{}", if earlier { " again" } else { "" }));
                    settled = Some(period);
                }
                Event::FenceSet { token, .. } => said.push(format!("took fence token {token}")),
                Event::LeaseRowSet { granted: true, owner, .. } => said.push(format!("took the lease row{}", self.row_before(tx, owner))),
                Event::LeaseRowSet { granted: false, until, .. } => {
                    said.push(format!("set the end of the lease row to {}", self.second(self.calendar.origin.sim(until))));
                }
                Event::Earned { earning, player, amount, at, .. } => {
                    let points = words::count(usize::try_from(amount).unwrap_or_default(), "point");
                    said.push(format!("let {player} earn {points} {}", self.earning(tx.n, earning, player, at)));
                }
                Event::TaskSet { period, status, version, .. } if settled.is_none() => said.push(match status {
                    TaskStatus::Pending => format!("gave {period} back"),
                    TaskStatus::Executing => format!("claimed {period}{}", self.version(tx, period, version)),
                    TaskStatus::Completed => format!("set {period} to completed"),
                    TaskStatus::Failed => format!("set {period} to failed"),
                    TaskStatus::Dead => format!("gave {period} up as a dead letter"),
                }),
                _ => {}
            }
        }
        if said.is_empty() { "committed".to_owned() } else { said.join(" and ") }
    }

    /// ` (n0's until 00:10:05)`, if somebody else had the lease row last.
    fn row_before(&self, tx: &Tx, owner: NodeId) -> String {
        let row = |e: &Event| if let Event::LeaseRowSet { owner, until, .. } = *e { Some((owner, until)) } else { None };
        let before = self.trail.txs.iter().filter(|other| other.n < tx.n).rev().find_map(|other| self.trail.rows(other).find_map(row));
        before
            .filter(|(other, _)| *other != owner)
            .map_or_else(String::new, |(other, until)| format!(" ({other}'s until {})", self.second(self.calendar.origin.sim(until))))
    }

    /// For how long a lease was granted: with the grant, or by a second command of the same client that followed it.
    fn expiry(&self, granted: usize, to: HostId, ttl_ms: u64) -> u64 {
        let later = self.trail.records[granted + 1..].iter().find_map(|r| match r.event {
            Event::LeaseExtended { by, holder, ttl_ms } if by == to && holder == to => Some(ttl_ms),
            Event::LeaseGranted { .. } | Event::LeaseReleased { .. } | Event::LeaseLost { .. } | Event::LeaseExpired { .. } => Some(0),
            _ => None,
        });
        if ttl_ms > 0 { ttl_ms } else { later.unwrap_or(0) }
    }

    /// The fault whose effect a record is.
    fn fault_of(&self, n: usize) -> Option<usize> {
        self.trail.records[..=n].iter().rev().find_map(|r| match r.event {
            Event::Fired { fault } => Some(usize::from(fault.0)),
            _ => None,
        })
    }

    fn harm_of(&self, n: usize) -> Option<&Harm> {
        self.plan.faults.get(self.fault_of(n)?).map(|fault| &fault.harm)
    }

    /// Whom the fault struck: the host, or every node.
    fn struck(&self, n: usize, host: HostId) -> String {
        match self.harm_of(n) {
            Some(
                Harm::Crash { host: Target::AllNodes, .. }
                | Harm::Power { host: Target::AllNodes, .. }
                | Harm::Pause { host: Target::AllNodes, .. },
            ) => "every node".to_owned(),
            _ => name(host),
        }
    }

    /// ` for 40m`, if the fault has a length.
    fn lasting(&self, n: usize) -> String {
        let lasts = self.harm_of(n).and_then(Harm::heals_after).filter(|d| !d.is_zero());
        lasts.map_or_else(String::new, |d| format!(" for {}", duration::text(d)))
    }

    /// In which phase of which step the fault struck, if it was one.
    fn place(&self, n: usize) -> String {
        match self.fault_of(n).and_then(|fault| self.plan.faults.get(fault)).map(|fault| &fault.when) {
            Some(Trigger::Step { step, phase, .. }) => match phase {
                Phase::Before => format!(" before `{step}`"),
                Phase::Sent => format!(" in the middle of `{step}`"),
                Phase::After => format!(" after `{step}`"),
            },
            Some(Trigger::At { .. }) | None => String::new(),
        }
    }

    fn cut(&self, n: usize) -> (String, String) {
        let Event::Cut { from, to } = self.trail.records[n].event else { return Default::default() };
        let at = self.trail.records[n].at;
        let all: Vec<(HostId, HostId)> = self.trail.records[n..]
            .iter()
            .take_while(|r| r.at == at)
            .filter_map(|r| if let Event::Cut { from, to } = r.event { Some((from, to)) } else { None })
            .collect();
        let others = all.iter().filter(|(a, b)| (*a == from || *b == from) && (*a != to && *b != to)).count();
        let whom = if others > 0 { "everyone".to_owned() } else { name(to) };
        let way = if all.contains(&(to, from)) { "was cut from" } else { "could no longer reach" };
        (name(from), format!("{way} {whom}{}{}", self.lasting(n), self.place(n)))
    }

    /// A fault that shows itself in nothing else.
    fn fault(&self, n: usize) -> (String, String) {
        let Event::Fired { fault } = self.trail.records[n].event else { return Default::default() };
        let step = self.trail.records[..n].iter().rev().find_map(|r| match r.event {
            Event::Step { attempt, .. } => Some(attempt.node.to_string()),
            _ => None,
        });
        let who = step.unwrap_or_else(|| "a node".to_owned());
        let Some(planned) = self.plan.faults.get(usize::from(fault.0)) else { return ("a fault".to_owned(), "struck".to_owned()) };
        match &planned.harm {
            Harm::SlowStep { extra } => (who, format!("took {} longer{}", duration::text(*extra), self.place(n))),
            Harm::Zone { host, zone } => (target(*host, &who), format!("took boundaries for those of the zone {zone}")),
            Harm::JobError { times: 1 } => (format!("the job of {who}"), format!("failed{}", self.place(n))),
            Harm::JobError { times } => (format!("the job of {who}"), format!("failed {times} times in a row{}", self.place(n))),
            Harm::Late { host, from, extra, lasts } => {
                let did = format!("took {} longer for {}{}", duration::text(*extra), duration::text(*lasts), self.place(n));
                (format!("everything between {} and {}", target(*host, &who), target(*from, &who)), did)
            }
            harm => (format!("at {who} a fault struck:"), format!("{}{}", words::harm(harm).replace("the node", &who), self.place(n))),
        }
    }
}

/// A host as the subject of a sentence.
fn name(host: HostId) -> String {
    match host {
        HostId::Lease => "the lease store".to_owned(),
        HostId::Database => "the database".to_owned(),
        HostId::Payout => "the payout service".to_owned(),
        HostId::FurtherLease(n) => format!("lease store {n}"),
        HostId::Log(n) => format!("log member {n}"),
        HostId::Centre => "the dispatch centre".to_owned(),
        HostId::DatabaseElsewhere => "the database of the other environment".to_owned(),
        HostId::Traffic | HostId::Node(_) => host.to_string(),
    }
}

/// Whom a fault strikes, `who` being the node that set it off.
fn target(target: Target, who: &str) -> String {
    match target {
        Target::Host(host) => name(host),
        Target::Self_ => who.to_owned(),
        Target::AllNodes => "every node".to_owned(),
        Target::Everyone => "everyone else".to_owned(),
        Target::Peer => "the server that it talked to".to_owned(),
    }
}
