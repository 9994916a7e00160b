//! A history with its transactions found, and what its events say about one another.

use crate::id::{AttemptId, HostId, PeriodId, PlayerId};
use crate::time::SimTime;
use crate::trace::{Belief, Event, Phase, Record, TaskStatus, Trace};
use std::ops::Range;
use std::time::Duration;

/// A committed transaction.
#[derive(Clone, Debug)]
pub struct Tx {
    /// Its `Committed`.
    pub n: usize,
    /// Whose it is.
    pub by: HostId,
    /// Its rows.
    pub rows: Range<usize>,
}

/// A history, with its transactions found.
pub struct Trail<'a> {
    /// Everything that happened.
    pub records: &'a [Record],
    /// Its transactions, in order.
    pub txs: Vec<Tx>,
}

impl<'a> Trail<'a> {
    /// Reads a history.
    pub fn of(trace: &'a Trace) -> Trail<'a> {
        let records = trace.records();
        let mut txs = Vec::new();
        for (n, record) in records.iter().enumerate() {
            let Event::Committed { tx, by, .. } = record.event else { continue };
            let rows = records[n + 1..].iter().take_while(|r| r.event.transaction() == Some(tx)).count();
            txs.push(Tx { n, by, rows: n + 1..n + 1 + rows });
        }
        Trail { records, txs }
    }

    /// The transaction whose `Committed` stands at `n`.
    pub fn tx(&self, n: usize) -> Option<&Tx> {
        self.txs.binary_search_by_key(&n, |tx| tx.n).ok().map(|found| &self.txs[found])
    }

    /// The rows of a transaction.
    pub fn rows(&self, tx: &Tx) -> impl Iterator<Item = &Event> + use<'_> {
        self.records[tx.rows.clone()].iter().map(|r| &r.event)
    }

    /// The transactions that settled a period, or any if none is given: those that wrote its settlement row or its ranking.
    pub fn settlements(&self, period: Option<PeriodId>) -> Vec<&Tx> {
        let of = |p: PeriodId| period.is_none_or(|period| period == p);
        let settles = |e: &Event| matches!(*e, Event::Settled { period, .. } | Event::Ranked { period, .. } if of(period));
        self.txs.iter().filter(|tx| self.rows(tx).any(settles)).collect()
    }

    /// Whether a transaction settles a period.
    pub fn settles(&self, tx: &Tx) -> bool {
        self.rows(tx).any(|e| matches!(e, Event::Settled { .. } | Event::Ranked { .. }))
    }

    /// Whether a transaction claims a period: sets its task to executing.
    pub fn claims(&self, tx: &Tx) -> bool {
        self.rows(tx).any(|e| matches!(e, Event::TaskSet { status: TaskStatus::Executing, .. }))
    }

    /// Whether a host was granted the lease among these records, or refused it because it had it.
    pub fn holds(&self, among: Range<usize>, by: HostId) -> bool {
        self.records[among].iter().any(|r| match r.event {
            Event::LeaseGranted { to, .. } => to == by,
            Event::LeaseRefused { to, holder } => to == by && holder == by,
            _ => false,
        })
    }

    /// The last record before `before` by which somebody for whom `is` holds was granted the right to work: a lease, a grant
    /// or a decision of the log, what the centre gives out, or the transaction that took a lease row.
    pub fn granted(&self, before: usize, is: impl Fn(HostId) -> bool) -> Option<usize> {
        let told = self.last(before, |e| match *e {
            Event::LeaseGranted { to, .. } | Event::LogGranted { to, .. } | Event::LogDecided { to, .. } | Event::Dispatched { to, .. } => {
                is(to)
            }
            _ => false,
        });
        let takes = |e: &Event| matches!(*e, Event::LeaseRowSet { owner, granted: true, .. } if is(HostId::Node(owner)));
        let row = self.txs.iter().filter(|tx| tx.n < before).rfind(|tx| self.rows(tx).any(takes)).map(|tx| tx.n);
        told.max(row)
    }

    /// The last event before `before` for which `is` holds.
    pub fn last(&self, before: usize, is: impl Fn(&Event) -> bool) -> Option<usize> {
        self.records[..before].iter().rposition(|r| is(&r.event))
    }

    /// How many records there are up to a time, with it.
    pub fn until(&self, at: SimTime) -> usize {
        self.records.partition_point(|r| r.at <= at)
    }

    /// Whether what a host had sent arrived at `n`, when it was down, stopped, or no longer at it. `began`: when its transaction did.
    pub fn arrived_late(&self, n: usize, by: HostId, began: SimTime) -> bool {
        let HostId::Node(node) = by else { return false };
        let mut over: Option<SimTime> = None;
        let mut stopped = false;
        for record in &self.records[..n] {
            match record.event {
                Event::Paused { host } if host == by => stopped = true,
                Event::Resumed { host } if host == by => stopped = false,
                Event::Crashed { host } | Event::PoweredOff { host } if host == by => (over, stopped) = (Some(record.at), false),
                Event::AttemptEnded { attempt, .. } if attempt.node == node => over = Some(record.at),
                // It does something new, unless the transaction is of before.
                Event::Step { attempt, phase: Phase::Before, .. } if attempt.node == node && over.is_some_and(|over| began >= over) => {
                    over = None;
                }
                _ => {}
            }
        }
        stopped || over.is_some()
    }

    /// Who asked for the payment at `n`: the only attempt that waits for one.
    pub fn payer(&self, n: usize) -> Option<AttemptId> {
        let mut waiting: Vec<AttemptId> = Vec::new();
        for record in &self.records[..n] {
            let Event::Step { attempt, step, phase } = record.event else { continue };
            if step.rsplit('.').next() != Some("pay") {
                continue;
            }
            waiting.retain(|other| *other != attempt);
            if phase != Phase::After {
                waiting.push(attempt);
            }
        }
        if let [one] = waiting[..] { Some(one) } else { None }
    }

    /// What an attempt believed at its end.
    pub fn belief(&self, of: AttemptId) -> Option<Belief> {
        self.records.iter().find_map(|r| match r.event {
            Event::AttemptEnded { attempt, belief, .. } if attempt == of => Some(belief),
            _ => None,
        })
    }

    /// The last time before `n` that a host's lease was set to run out, by itself: when, for how long, and whether that was a renewal.
    pub fn extended(&self, n: usize, holder: HostId) -> Option<(SimTime, u64, bool)> {
        let granted = self.last(n, |e| matches!(*e, Event::LeaseGranted { to, .. } if to == holder))?;
        let Event::LeaseGranted { ttl_ms, .. } = self.records[granted].event else { return None };
        let mut last = (self.records[granted].at, ttl_ms, false);
        for record in &self.records[granted..n] {
            match record.event {
                // The second command of a grant without an expiry is no renewal.
                Event::LeaseExtended { holder: of, ttl_ms, .. } if of == holder => last = (record.at, ttl_ms, last.1 > 0),
                Event::LeaseReturned { holder: of } if of == holder => return None,
                _ => {}
            }
        }
        Some(last)
    }

    /// When the lease ran out that the store found expired at `n`, if the store's clock was right all along.
    pub fn ran_out(&self, n: usize, holder: HostId) -> Option<SimTime> {
        let wrong = |e: &Event| matches!(e, Event::ClockSet { host: HostId::Lease, .. } | Event::ClockDrifts { host: HostId::Lease, .. });
        if self.last(n, wrong).is_some() {
            return None;
        }
        let (at, ttl_ms, _) = self.extended(n, holder)?;
        let over = at + Duration::from_millis(ttl_ms);
        (ttl_ms > 0 && over <= self.records[n].at).then_some(over)
    }

    /// What a player has earned by the commit at `n` and no settlement before it has counted.
    pub fn earned(&self, n: usize, by: PlayerId) -> i64 {
        let of = |tx: &Tx| self.records[tx.rows.clone()].iter().map(|r| r.event);
        let before = || self.txs.iter().take_while(|tx| tx.n <= n);
        let marked: Vec<i64> =
            before().flat_map(of).filter_map(|e| if let Event::Marked { earning, .. } = e { Some(earning) } else { None }).collect();
        let points = |e| match e {
            Event::Earned { earning, player, amount, .. } if player == by && !marked.contains(&earning) => Some(amount),
            _ => None,
        };
        before().flat_map(of).filter_map(points).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{NodeId, TxId};
    use crate::time::WallTime;

    const N0: HostId = HostId::Node(NodeId(0));
    const FIRST: AttemptId = AttemptId { node: NodeId(0), number: 1 };
    const OTHER: AttemptId = AttemptId { node: NodeId(1), number: 1 };

    /// One event a second.
    fn told(events: &[Event]) -> Trace {
        let mut trace = Trace::default();
        for (second, event) in (0..).zip(events) {
            trace.push(SimTime(second * 1000), *event);
        }
        trace
    }

    fn step(attempt: AttemptId, step: &'static str, phase: Phase) -> Event {
        Event::Step { attempt, step, phase }
    }

    fn late(events: &[Event]) -> bool {
        let trace = told(events);
        let n = events.len() - 1;
        let Event::Committed { by, began, .. } = events[n] else { panic!("{events:?}") };
        Trail::of(&trace).arrived_late(n, by, began)
    }

    #[test]
    fn what_a_host_sent_before_it_stopped_arrives_late() {
        let sent = step(FIRST, "tx.commit", Phase::Before);
        let commit = |began| Event::Committed { tx: TxId(1), by: N0, began: SimTime(began) };
        let booted = Event::Booted { host: N0, incarnation: 1 };
        let failed = Event::AttemptEnded { attempt: FIRST, period: PeriodId(20_260_110), belief: Belief::Failed };
        assert!(!late(&[sent, commit(0)]), "nothing happened to it");
        assert!(late(&[sent, Event::Crashed { host: N0 }, booted, commit(0)]));
        assert!(late(&[sent, Event::Paused { host: N0 }, commit(0)]));
        assert!(late(&[sent, failed, commit(0)]));
        assert!(late(&[sent, failed, step(FIRST, "task.claim", Phase::Before), commit(0)]), "its transaction is an old one");
        assert!(!late(&[sent, failed, step(FIRST, "task.claim", Phase::Before), commit(2500)]), "it did that anew");
        assert!(!late(&[sent, Event::Paused { host: N0 }, Event::Resumed { host: N0 }, sent, commit(0)]));
        assert!(!late(&[sent, Event::Crashed { host: HostId::node(1) }, commit(0)]), "somebody else died");
    }

    #[test]
    fn a_lease_runs_out_after_its_last_renewal_not_when_it_is_asked_for() {
        let (granted, renewed) = (Event::LeaseGranted { to: N0, ttl_ms: 2000 }, Event::LeaseExtended { by: N0, holder: N0, ttl_ms: 2000 });
        let (looked, expired) = (Event::Looked { node: NodeId(1), wall: WallTime(0) }, Event::LeaseExpired { holder: N0 });
        let ran_out = |events: &[Event]| Trail::of(&told(events)).ran_out(events.len() - 1, N0);
        assert_eq!(ran_out(&[granted, looked, looked, looked, expired]), Some(SimTime(2000)));
        assert_eq!(ran_out(&[granted, renewed, looked, looked, expired]), Some(SimTime(3000)));
        let set = Event::ClockSet { host: HostId::Lease, by: 1000 };
        assert_eq!(ran_out(&[set, granted, looked, looked, expired]), None, "its clock counts, and that was wrong");
    }

    #[test]
    fn a_payment_was_asked_for_by_the_only_one_who_waits() {
        let paid = Event::Paid { period: PeriodId(20_260_110), rank: 1, player: PlayerId(1), amount: 100, keyed: false };
        let asks = |attempt| step(attempt, "pay", Phase::Before);
        let payer = |events: &[Event]| Trail::of(&told(events)).payer(events.len() - 1);
        assert_eq!(payer(&[asks(FIRST), paid]), Some(FIRST));
        assert_eq!(payer(&[asks(FIRST), step(FIRST, "pay", Phase::After), asks(OTHER), paid]), Some(OTHER));
        assert_eq!(payer(&[asks(FIRST), asks(OTHER), paid]), None, "either may have been");
    }
}
