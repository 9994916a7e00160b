//! An event in words, and events as one sentence.

use crate::explore::{Finding, Mark};
use crate::id::{HostId, Letter, PeriodId};
use crate::plan::{FaultPlan, Harm, Target, Trigger, duration};
use crate::report::gist::pick::{Trail, Tx};
use crate::report::words;
use crate::settlement::Calendar;
use crate::time::SimTime;
use crate::trace::{Belief, Event, Phase, TaskStatus};
use std::time::Duration;

/// What is told of one event.
pub struct Told {
    at: SimTime,
    who: String,
    did: String,
}

/// Tells events of one run.
pub struct Teller<'a> {
    pub trail: &'a Trail<'a>,
    pub plan: &'a FaultPlan,
    pub calendar: &'a Calendar,
}

impl Teller<'_> {
    /// `2026-01-10 00:00:03.412  n1 got the lease for 30m`.
    pub fn line(&self, told: &Told) -> String {
        format!("{}  {} {}", self.calendar.shows(told.at), told.who, told.did.trim_end_matches(','))
    }

    /// All of it as one sentence. Whoever did the last thing as well is not named again, and what happened in the same second has its time from it.
    pub fn sentence(&self, told: &[Told], finding: &Finding) -> String {
        let mut text = String::new();
        let shown: Vec<(String, String)> = told.iter().map(|one| self.second(one.at)).collect();
        let one_day = shown.first().map(|(day, _)| day) == shown.last().map(|(day, _)| day);
        for (n, one) in told.iter().enumerate() {
            let same = n > 0 && told[n - 1].who == one.who;
            let closes = n + 1 == told.len() || told[n + 1].who != one.who;
            text += match (n, same, closes) {
                (0, ..) => "",
                (_, true, true) => " and ",
                (_, true, false) | (_, false, _) => ", ",
            };
            if !same {
                text += &one.who;
                text += " ";
            }
            let (day, second) = &shown[n];
            let before = n.checked_sub(1).map(|before| &shown[before]);
            if before == Some(&shown[n]) {
                text += one.did.trim_end_matches(',');
                continue;
            }
            text += &one.did;
            let same_day = before.map_or(one_day, |(before, _)| before == day);
            if !same_day {
                text += " on ";
                text += day;
            }
            text += " at ";
            text += second;
        }
        let end = end(finding);
        let mut whole = [text, end].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ");
        whole.push('.');
        whole
    }

    /// The day and the second of a time.
    fn second(&self, at: SimTime) -> (String, String) {
        let shown = self.calendar.shows(at);
        let (day, time) = shown.split_once(' ').unwrap_or((&shown, ""));
        (day.to_owned(), time.split('.').next().unwrap_or(time).to_owned())
    }

    /// One event.
    pub fn tell(&self, n: usize) -> Told {
        let record = self.trail.records[n];
        let (who, did) = self.words(n);
        Told { at: record.at, who, did }
    }

    fn words(&self, n: usize) -> (String, String) {
        let by = |who: &dyn ToString, did: String| (who.to_string(), did);
        match self.trail.records[n].event {
            Event::Committed { by: host, .. } => by(&host, self.trail.tx(n).map_or_else(String::new, |tx| self.commit(tx))),
            Event::LeaseGranted { to, ttl_ms } => by(
                &to,
                match self.expiry(n, to, ttl_ms) {
                    0 => "got the lease, without an expiry,".to_owned(),
                    ms => format!("got the lease for {}", duration::text(Duration::from_millis(ms))),
                },
            ),
            Event::LeaseRefused { to, holder } => by(&to, format!("was refused the lease, which {holder} holds,")),
            Event::LeaseExpired { holder } => (format!("the lease of {holder}"), "had run out".to_owned()),
            Event::LeaseLost { holder } => ("the lease store".to_owned(), format!("lost the lease of {holder}")),
            Event::LeaseReturned { holder } => ("the lease store".to_owned(), format!("had the lease of {holder} again")),
            Event::LeaseReleased { by: host, holder } if host == holder => by(&host, "gave the lease back".to_owned()),
            Event::LeaseReleased { by: host, holder } => by(&host, format!("deleted the lease of {holder}")),
            Event::LeaseExtended { by: host, holder, .. } => by(&host, format!("extended the lease of {holder}")),
            Event::Paused { host } => by(&self.struck(n, host), format!("stopped{}{}", self.lasting(n), self.place(n))),
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
            Event::Fired { .. } => self.fault(n),
            Event::Panicked { host } => by(&host, "panicked".to_owned()),
            Event::AttemptBegan { attempt, period, wall } => {
                let off = wall.0 - self.calendar.origin.wall(self.trail.records[n].at).0;
                let clock = if off == 0 { String::new() } else { format!(" by its clock, {} wrong,", words::signed(off)) };
                by(&attempt.node, format!("set about {period}{clock}"))
            }
            Event::AttemptEnded { attempt, period, belief } => by(&attempt.node, ended(belief, period)),
            Event::Looked { node, .. } => by(&node, "looked for what is due".to_owned()),
            Event::Step { attempt, step, phase } => by(&attempt.node, format!("was in `{step}` ({phase})")),
            Event::Paid { period, rank, player, amount, .. } => {
                let again = self.trail.records[..n]
                    .iter()
                    .any(|r| matches!(r.event, Event::Paid { period: p, player: who, .. } if p == period && who == player));
                let again = if again { " again" } else { "" };
                ("the payout service".to_owned(), format!("paid {player} {amount} for rank {rank} of {period}{again}"))
            }
            other => ("the run".to_owned(), format!("recorded {other:?}")),
        }
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
                Event::Earned { earning, player, amount, .. } => {
                    said.push(format!("let {player} earn {amount} points (earning {earning})"));
                }
                Event::TaskSet { period, status, .. } if settled.is_none() => said.push(match status {
                    TaskStatus::Pending => format!("gave {period} back"),
                    TaskStatus::Executing => format!("claimed {period}"),
                    TaskStatus::Completed => format!("set {period} to completed"),
                    TaskStatus::Failed => format!("set {period} to failed"),
                    TaskStatus::Dead => format!("gave {period} up as a dead letter"),
                }),
                _ => {}
            }
        }
        if said.is_empty() { "committed".to_owned() } else { said.join(" and ") }
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
            Harm::JobError { times: 1 } => (format!("the job of {who}"), format!("failed{}", self.place(n))),
            Harm::JobError { times } => (format!("the job of {who}"), format!("failed {times} times in a row{}", self.place(n))),
            _ => ("a fault struck:".to_owned(), words::fault(planned)),
        }
    }
}

/// A host as the subject of a sentence.
fn name(host: HostId) -> String {
    match host {
        HostId::Lease => "the lease store".to_owned(),
        HostId::Database => "the database".to_owned(),
        HostId::Payout => "the payout service".to_owned(),
        HostId::Traffic | HostId::Node(_) => host.to_string(),
    }
}

fn ended(belief: Belief, period: PeriodId) -> String {
    match belief {
        Belief::Settled => format!("believed to have settled {period}"),
        Belief::AlreadySettled => format!("believed {period} settled already"),
        Belief::Busy => format!("found {period} taken"),
        Belief::Failed => format!("failed to settle {period}"),
    }
}

/// What no event tells: what did not happen, or what is wrong about the last one.
fn end(finding: &Finding) -> String {
    match finding.mark {
        Mark::Letter(Letter::D | Letter::Two) => String::new(),
        Mark::Letter(Letter::S | Letter::E | Letter::C | Letter::L | Letter::K) | Mark::Panicked | Mark::NeverEnded => finding.what.clone(),
    }
}
