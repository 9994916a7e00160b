//! Which events a violation depends on, found by going back from it.

use crate::explore::{Finding, Mark, Observed};
use crate::id::{HostId, Letter, PeriodId, PlayerId};
use crate::report::gist::LINES;
use crate::report::gist::trail::{Trail, Tx};
use crate::settlement::Calendar;
use crate::trace::{Event, TaskStatus};
use std::collections::BTreeMap;
use std::ops::Range;

/// What weighs most stays when there is not room for all.
mod weight {
    pub const VIOLATION: u32 = 100;
    pub const FAULT: u32 = 95;
    pub const RIGHT_LOST: u32 = 92;
    pub const RIGHT: u32 = 90;
    pub const OTHER: u32 = 88;
    pub const NEXT_RIGHT: u32 = 86;
    pub const WAKE: u32 = 84;
    pub const RESTART: u32 = 82;
    pub const REFUSED: u32 = 80;
    pub const CLAIM: u32 = 78;
    pub const GIVEN_BACK: u32 = 75;
    pub const BEGAN: u32 = 50;
}

/// The records to tell, in order, at most [`LINES`].
pub fn pick(trail: &Trail<'_>, seen: &Observed, finding: &Finding, calendar: &Calendar) -> Vec<usize> {
    let mut picker = Picker { trail, seen, finding, calendar, until: trail.until(finding.at), weights: BTreeMap::new() };
    picker.violation();
    picker.faults();
    picker.chosen()
}

struct Picker<'a> {
    trail: &'a Trail<'a>,
    seen: &'a Observed,
    finding: &'a Finding,
    calendar: &'a Calendar,
    /// The first record after the violation.
    until: usize,
    weights: BTreeMap<usize, u32>,
}

impl Picker<'_> {
    fn add(&mut self, n: usize, weight: u32) {
        let known = self.weights.entry(n).or_default();
        *known = weight.max(*known);
    }

    fn maybe(&mut self, n: Option<usize>, weight: u32) {
        if let Some(n) = n {
            self.add(n, weight);
        }
    }

    fn violation(&mut self) {
        match self.finding.mark {
            Mark::Letter(Letter::D) => self.settled_twice(),
            Mark::Letter(Letter::Two) => self.paid_twice(),
            Mark::Letter(Letter::S) => self.stale(),
            Mark::Letter(Letter::E) => self.early(),
            Mark::Letter(Letter::C) => self.miscounted(),
            Mark::Letter(Letter::L) => self.lost(),
            Mark::Letter(Letter::K) => self.stuck(),
            Mark::Panicked | Mark::NeverEnded => self.went_wrong(),
        }
    }

    /// The settlement that the finding is about, and those of the same period before it.
    fn settled(&self) -> Vec<(usize, HostId)> {
        let all = self.trail.settlements(self.finding.period);
        all.into_iter().filter(|tx| tx.n < self.until).map(|tx| (tx.n, tx.by)).collect()
    }

    fn settled_twice(&mut self) {
        let settled = self.settled();
        let (Some(first), Some(again)) = (settled.first().copied(), settled.get(1).or(settled.last()).copied()) else { return };
        self.two(first, again);
    }

    /// Two transactions, what entitled whoever made them, and what took it away from the first who had it.
    fn two(&mut self, first: (usize, HostId), again: (usize, HostId)) {
        self.add(first.0, weight::VIOLATION);
        self.add(again.0, weight::VIOLATION);
        let rights = [first, again].map(|(n, by)| self.right(n, by));
        let (earlier, later) = match rights {
            [Some(a), Some(b)] if a.0 == b.0 => (Some(a), None),
            [Some(a), Some(b)] => (Some(a.min(b)), Some(a.max(b))),
            [one, other] => (one.or(other), None),
        };
        if let Some((n, _)) = earlier {
            self.add(n, weight::RIGHT);
        }
        if let Some((n, _)) = later {
            self.add(n, weight::NEXT_RIGHT);
        }
        if let (Some((from, holder)), Some((to, _))) = (earlier, later) {
            self.right_lost(holder, from..to);
        }
        for (n, by) in [first, again] {
            let began = self.trail.last(n, |e| matches!(*e, Event::AttemptBegan { attempt, .. } if HostId::Node(attempt.node) == by));
            self.maybe(began, weight::BEGAN);
        }
    }

    /// What entitled a host to what it did at `before`: the lease that it was granted, or the period that it claimed.
    fn right(&mut self, before: usize, by: HostId) -> Option<(usize, HostId)> {
        let granted = self.trail.granted(before, |to| to == by);
        let claims = |tx: &&Tx| tx.n < before && tx.by == by && self.trail.claims(tx) && self.of_the_period(tx);
        // Heartbeats write the same row: the first of them is the claim.
        let began =
            self.trail.last(before, |e| matches!(*e, Event::AttemptBegan { attempt, .. } if HostId::Node(attempt.node) == by)).unwrap_or(0);
        let claimed = self.trail.txs.iter().find(|tx| tx.n >= began && claims(tx)).map(|tx| tx.n);
        if granted.is_some() {
            self.maybe(claimed, weight::CLAIM);
        }
        granted.or(claimed).map(|n| (n, by))
    }

    fn of_the_period(&self, tx: &Tx) -> bool {
        let wanted = |p: PeriodId| self.finding.period.is_none_or(|period| period == p);
        self.trail.rows(tx).any(|e| matches!(*e, Event::TaskSet { period, .. } if wanted(period)))
    }

    fn right_lost(&mut self, of: HostId, within: Range<usize>) {
        for n in within {
            match self.trail.records[n].event {
                Event::LeaseExpired { holder } | Event::LeaseLost { holder } if holder == of => self.add(n, weight::RIGHT_LOST),
                Event::LeaseReleased { by, holder } if holder == of && by != of => self.add(n, weight::RIGHT_LOST),
                Event::LeaseReleased { holder, .. } if holder == of => self.add(n, weight::GIVEN_BACK),
                Event::LogReleased { by, .. } if by == of => self.add(n, weight::GIVEN_BACK),
                _ => {}
            }
        }
    }

    fn paid_twice(&mut self) {
        let mut paid: Vec<(usize, PeriodId, i64, PlayerId)> = Vec::new();
        for (n, record) in self.trail.records[..self.until].iter().enumerate() {
            let Event::Paid { period, rank, player, .. } = record.event else { continue };
            if let Some(&(first, ..)) = paid.iter().find(|(_, p, r, who)| *p == period && (*r == rank || *who == player)) {
                self.add(first, weight::VIOLATION);
                self.add(n, weight::VIOLATION);
                let payer = self.trail.payer(n);
                let began = |e: &Event| matches!(*e, Event::AttemptBegan { attempt, .. } if Some(attempt) == payer);
                self.maybe(self.trail.last(n, began), weight::CLAIM);
                break;
            }
            paid.push((n, period, rank, player));
        }
        match self.settled()[..] {
            [] => {}
            [(n, by)] => {
                self.add(n, weight::OTHER);
                self.maybe(self.trail.granted(n, |to| to == by), weight::GIVEN_BACK);
            }
            [first, again, ..] => {
                let of_the_payments = self.weights.clone();
                self.two(first, again);
                for n in [first.0, again.0] {
                    self.weights.insert(n, weight::OTHER);
                }
                self.weights.extend(of_the_payments);
                // "Again" tells of the first payment if there is not room for it.
                let first = self.weights.iter().find(|(n, _)| matches!(self.trail.records[**n].event, Event::Paid { .. })).map(|(n, _)| *n);
                self.weights.extend(first.map(|n| (n, weight::WAKE)));
            }
        }
    }

    /// The stale commit, the right on which it was made, and the newer one.
    fn stale(&mut self) {
        let Some((n, by)) = self.settled().into_iter().rev().find(|(n, _)| self.trail.records[*n].at == self.finding.at) else { return };
        self.add(n, weight::VIOLATION);
        let token = |tx: &&Tx| self.trail.rows(tx).any(|e| matches!(e, Event::FenceSet { .. })) || self.trail.claims(tx);
        let granted = self.trail.granted(n, |to| to != by);
        let claimed = self.trail.txs.iter().filter(|tx| tx.n < n && tx.by != by).rfind(token).map(|tx| tx.n);
        let newer = granted.max(claimed);
        let before = newer.unwrap_or(n);
        let own = self.trail.granted(before, |to| to == by);
        let own = own.or_else(|| self.trail.txs.iter().filter(|tx| tx.n < before && tx.by == by).find(token).map(|tx| tx.n));
        self.maybe(own, weight::RIGHT);
        self.maybe(newer, weight::OTHER);
        if let (Some(own), Some(newer)) = (own, newer) {
            self.right_lost(by, own..newer);
        }
        let others: Vec<usize> =
            self.settled().into_iter().filter(|(other, who)| *other < n && *who != by).map(|(other, _)| other).collect();
        self.maybe(others.last().copied(), weight::NEXT_RIGHT);
    }

    fn early(&mut self) {
        let Some((n, by)) = self.settled().into_iter().find(|(n, _)| self.trail.records[*n].at == self.finding.at) else { return };
        self.add(n, weight::VIOLATION);
        let began = self.trail.last(n, |e| matches!(*e, Event::AttemptBegan { attempt, .. } if HostId::Node(attempt.node) == by));
        self.maybe(began, weight::RIGHT);
        if let Some((right, _)) = self.right(n, by) {
            self.add(right, weight::NEXT_RIGHT);
        }
    }

    /// The settlement that counted wrong, what it should have counted, and the settlements before it.
    fn miscounted(&mut self) {
        let all: Vec<(usize, HostId)> =
            self.trail.settlements(None).into_iter().filter(|tx| tx.n < self.until).map(|tx| (tx.n, tx.by)).collect();
        let at_that_time = all.iter().rev().find(|(n, _)| self.trail.records[*n].at == self.finding.at);
        let Some(&(n, by)) = at_that_time.or(all.last()) else { return };
        self.add(n, weight::VIOLATION);
        let began = self.trail.last(n, |e| matches!(*e, Event::AttemptBegan { attempt, .. } if HostId::Node(attempt.node) == by));
        self.maybe(began, weight::BEGAN);
        self.earnings(n);
        let before: Vec<usize> = all.iter().filter(|(other, _)| *other < n).map(|(other, _)| *other).collect();
        self.maybe(before.last().copied(), weight::OTHER);
    }

    /// The commits before `before` of the earnings that the finding names, or of the player that it
    /// names: first those dated after the period's end, which are the ones in dispute.
    fn earnings(&mut self, before: usize) {
        let (one, who) = (named(&self.finding.what, "earning "), named(&self.finding.what, "player "));
        let due = self.finding.period.and_then(|period| self.calendar.period(period)).map(|period| period.due);
        let (mut disputed, mut others) = (Vec::new(), Vec::new());
        for tx in self.trail.txs.iter().filter(|tx| tx.n < before) {
            for row in self.trail.rows(tx) {
                let Event::Earned { earning, player, at, .. } = *row else { continue };
                match one {
                    Some(id) if id == earning => disputed.push(tx.n),
                    None if who == Some(player.0) && due.is_some_and(|due| at >= due) => disputed.push(tx.n),
                    None if who == Some(player.0) => others.push(tx.n),
                    _ => {}
                }
            }
        }
        for n in disputed.into_iter().take(LINES / 2) {
            self.add(n, weight::RIGHT);
        }
        for n in others.into_iter().rev().take(LINES / 2) {
            self.add(n, weight::CLAIM);
        }
    }

    /// What was done last for the period, and who found it closed to him.
    fn lost(&mut self) {
        match self.settled().first().copied() {
            Some((n, by)) => {
                self.add(n, weight::VIOLATION);
                if let Some((right, _)) = self.right(n, by) {
                    self.add(right, weight::CLAIM);
                }
                let paid = self.trail.last(self.until, |e| matches!(*e, Event::Paid { period, .. } if Some(period) == self.finding.period));
                self.maybe(paid, weight::OTHER);
                let ended = self.trail.records[n..self.until]
                    .iter()
                    .position(|r| matches!(r.event, Event::AttemptEnded { attempt, .. } if HostId::Node(attempt.node) == by));
                self.maybe(ended.map(|after| n + after), weight::NEXT_RIGHT);
            }
            None => self.never_settled(),
        }
    }

    fn never_settled(&mut self) {
        let given_up = |e: &Event| matches!(*e, Event::TaskSet { status: TaskStatus::Dead | TaskStatus::Failed | TaskStatus::Completed, period, .. } if Some(period) == self.finding.period);
        let closed = self.trail.txs.iter().filter(|tx| tx.n < self.until).rfind(|tx| self.trail.rows(tx).any(given_up)).map(|tx| tx.n);
        self.maybe(closed, weight::VIOLATION);
        let claimed = self
            .trail
            .txs
            .iter()
            .filter(|tx| tx.n < self.until)
            .rfind(|tx| self.trail.claims(tx) && self.of_the_period(tx) && self.changes(tx))
            .map(|tx| tx.n);
        self.maybe(claimed, weight::RIGHT);
        let granted = self.trail.granted(self.until, |_| true);
        self.maybe(granted, weight::OTHER);
        if let Some(granted) = granted {
            let refused = self.trail.records[granted..self.until].iter().position(|r| matches!(r.event, Event::LeaseRefused { .. }));
            self.maybe(refused.map(|after| granted + after), weight::REFUSED);
        }
        let ended =
            self.trail.last(self.until, |e| matches!(*e, Event::AttemptEnded { period, .. } if Some(period) == self.finding.period));
        self.maybe(ended, weight::NEXT_RIGHT);
        let began = self.trail.records[..self.until]
            .iter()
            .position(|r| matches!(r.event, Event::AttemptBegan { period, .. } if Some(period) == self.finding.period));
        self.maybe(began, weight::BEGAN);
        if ended.is_none() && began.is_none() {
            // Nobody even tried: the last who looked.
            self.maybe(self.trail.last(self.until, |e| matches!(e, Event::Looked { .. })), weight::NEXT_RIGHT);
        }
    }

    /// Whether a task row is not what it was: a claim, not a heartbeat.
    fn changes(&self, tx: &Tx) -> bool {
        let row = |tx: &Tx| {
            self.trail.rows(tx).find_map(|e| match *e {
                Event::TaskSet { period, status, version, attempt, .. } => Some((period, status, version, attempt)),
                _ => None,
            })
        };
        let own = row(tx);
        let before = self
            .trail
            .txs
            .iter()
            .filter(|other| other.n < tx.n)
            .filter_map(row)
            .rfind(|(period, ..)| own.is_some_and(|own| own.0 == *period));
        own != before
    }

    /// What is left: the lease for ever, the claim, the payment in the outbox; and who met it.
    fn stuck(&mut self) {
        let end = &self.seen.run.end;
        let before = self.weights.len();
        for key in end.leases.iter().filter(|key| !key.expires) {
            let granted = self.trail.last(self.until, |e| matches!(*e, Event::LeaseGranted { to, .. } if to == key.holder));
            self.maybe(granted, weight::VIOLATION);
            if let Some(granted) = granted {
                let refused = self.trail.records[granted..self.until].iter().position(|r| matches!(r.event, Event::LeaseRefused { .. }));
                self.maybe(refused.map(|after| granted + after), weight::REFUSED);
            }
        }
        for task in
            end.tasks.iter().filter(|task| task.status == TaskStatus::Executing && self.finding.period.is_none_or(|p| p == task.period))
        {
            let of = |tx: &&Tx| {
                self.trail
                    .rows(tx)
                    .any(|e| matches!(*e, Event::TaskSet { period, status: TaskStatus::Executing, .. } if period == task.period))
            };
            let claimed = self.trail.txs.iter().filter(of).rfind(|tx| self.changes(tx)).map(|tx| tx.n);
            self.maybe(claimed, weight::VIOLATION);
        }
        for row in end.outbox.iter().filter(|row| !row.sent).take(1) {
            let queues = |tx: &&Tx| self.trail.rows(tx).any(|e| matches!(*e, Event::Queued { row: id, .. } if id == row.id));
            self.maybe(self.trail.txs.iter().find(queues).map(|tx| tx.n), weight::VIOLATION);
        }
        let ended = self.trail.last(self.until, |e| matches!(*e, Event::AttemptEnded { .. }));
        self.maybe(ended, weight::NEXT_RIGHT);
        if self.weights.len() == before {
            self.never_settled();
        }
    }

    fn went_wrong(&mut self) {
        let panicked = self.trail.last(self.until, |e| matches!(e, Event::Panicked { .. }));
        self.maybe(panicked, weight::VIOLATION);
        let began = self.trail.last(panicked.unwrap_or(self.until), |e| matches!(e, Event::AttemptBegan { .. }));
        self.maybe(began, weight::RIGHT);
        let step = self.trail.last(panicked.unwrap_or(self.until), |e| matches!(e, Event::Step { .. }));
        self.maybe(step, weight::OTHER);
    }

    /// Every fault that struck before the violation, as the first thing that shows it, and whoever woke from one and then did something of all this.
    fn faults(&mut self) {
        let mut away: Vec<HostId> = Vec::new();
        for n in 0..self.until {
            let at = self.trail.records[n].at;
            match self.trail.records[n].event {
                Event::Fired { .. } => {
                    let effects = self.trail.records[n + 1..].iter().take_while(|r| r.at == at).position(|r| is_effect(&r.event));
                    self.add(effects.map_or(n, |after| n + 1 + after), weight::FAULT);
                }
                Event::ReplyLost { .. } | Event::CommitRefused { .. } => self.add(n, weight::FAULT),
                Event::Crashed { host } | Event::PoweredOff { host } | Event::Paused { host } => away.push(host),
                Event::Resumed { host } | Event::Booted { host, incarnation: 1.. } if away.contains(&host) => {
                    let acts = self.weights.keys().any(|later| *later > n && actor(self.trail, *later) == Some(host));
                    if acts {
                        let woke = matches!(self.trail.records[n].event, Event::Resumed { .. });
                        self.add(n, if woke { weight::WAKE } else { weight::RESTART });
                    }
                }
                _ => {}
            }
        }
    }

    fn chosen(self) -> Vec<usize> {
        let mut all: Vec<(usize, u32)> = self.weights.into_iter().filter(|(n, _)| *n < self.until).collect();
        // A fault whose effect is told needs no line that says that it struck.
        let told: Vec<usize> = all.iter().map(|(n, _)| *n).collect();
        let lost = told.iter().any(|n| matches!(self.trail.records[*n].event, Event::ReplyLost { .. } | Event::CommitRefused { .. }));
        all.retain(|(n, _)| !lost || !matches!(self.trail.records[*n].event, Event::Fired { .. }));
        all.sort_by_key(|(n, weight)| (std::cmp::Reverse(*weight), *n));
        let mut chosen: Vec<usize> = all.into_iter().take(LINES).map(|(n, _)| n).collect();
        chosen.sort_unstable();
        chosen
    }
}

/// What a fault does to the world, as soon as it strikes.
pub fn is_effect(event: &Event) -> bool {
    matches!(
        event,
        Event::Crashed { .. }
            | Event::PoweredOff { .. }
            | Event::Paused { .. }
            | Event::Cut { .. }
            | Event::ClockSet { .. }
            | Event::ClockDrifts { .. }
            | Event::Blocked { .. }
            | Event::LeaseLost { .. }
            | Event::MessageLost { .. }
            | Event::Redelivered { .. }
            | Event::SessionEnded { .. }
            | Event::ToldToStop { .. }
    )
}

/// The node that did what a record tells.
fn actor(trail: &Trail<'_>, n: usize) -> Option<HostId> {
    match trail.records[n].event {
        // What arrives late is nothing that he does.
        Event::Committed { by, began, .. } => (!trail.arrived_late(n, by, began)).then_some(by),
        Event::LeaseGranted { to, .. } => (!trail.arrived_late(n, to, trail.records[n].at)).then_some(to),
        Event::LogGranted { to, .. } | Event::Dispatched { to, .. } | Event::LogDecided { to, .. } => Some(to),
        Event::AttemptBegan { attempt, .. } | Event::AttemptEnded { attempt, .. } => Some(HostId::Node(attempt.node)),
        _ => None,
    }
}

/// The number behind a word.
fn named(what: &str, word: &str) -> Option<i64> {
    let digits: String = what.split_once(word)?.1.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}
