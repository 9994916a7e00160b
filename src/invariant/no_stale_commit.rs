//! S: no settlement commits after a newer claim was recorded where it counts: in the task
//! row, in the fence row, or, for rows that have nothing but a lease, in the lease store.

use crate::id::{HostId, Letter, PeriodId};
use crate::invariant::claims::{Claim, claims};
use crate::invariant::settlements::{Transaction, settlements, transactions};
use crate::invariant::{History, Invariant, Verdict, Violation};
use crate::settlement::Decides;
use crate::time::SimTime;
use crate::trace::{Event, Trace};

/// The judge of *no-stale-commit*.
pub struct NoStaleCommit;

impl Invariant for NoStaleCommit {
    fn name(&self) -> &'static str {
        "no-stale-commit"
    }

    fn letter(&self) -> Letter {
        Letter::S
    }

    fn about(&self) -> &'static str {
        "no settlement commits after a newer claim was recorded where it counts"
    }

    fn judge(&self, history: &History<'_>) -> Verdict {
        let rights = match history.decides {
            Decides::Nothing => return Verdict::Holds,
            Decides::LeaseStore => grants(history),
            Decides::TaskRow => task_claims(history.trace),
            Decides::FenceRow => tokens(history.trace),
            Decides::Log => log_grants(history.trace),
        };
        for settlement in settlements(history.trace) {
            let (period, tx) = (settlement.period, settlement.tx);
            let earlier = rights.iter().rev().filter(|right| right.position <= tx.position);
            let newest = earlier.into_iter().find(|right| right.period.is_none_or(|p| p == period));
            let Some(newest) = newest.filter(|right| !right.covers(&tx, period)) else { continue };
            let (at, since) = (history.calendar.shows(tx.at), history.calendar.shows(newest.at));
            let what = format!("{period} settled by {} at {at} on a stale claim: {} {} at {since}", tx.by, newest.record, newest.owner);
            return Verdict::Broken(Violation { at: tx.at, period: Some(period), what });
        }
        Verdict::Holds
    }
}

const STORE: &str = "the lease store had granted the lease to";
const ROW: &str = "the lease row had been taken by";
const TASK: &str = "the task row had been claimed by";
const FENCE: &str = "the newest fence token belonged to";
const LOG: &str = "the log had granted it to";

/// Somebody was recorded as the one who may settle: one period, or whatever is due.
struct Right {
    period: Option<PeriodId>,
    owner: HostId,
    at: SimTime,
    position: usize,
    /// Where it was recorded, before the owner's name.
    record: &'static str,
    /// The settlement row names the grant by this number, whoever writes it; `None`: only its owner may.
    token: Option<i64>,
}

impl Right {
    /// Whether a settlement of `period` in this transaction is by this right.
    fn covers(&self, tx: &Transaction<'_>, period: PeriodId) -> bool {
        let Some(token) = self.token else { return self.owner == tx.by };
        tx.rows.iter().all(|row| !matches!(row.event, Event::Settled { period: p, attempt, .. } if p == period && attempt != token))
    }
}

/// The grants of the lease store, or of a lease row: one lease for all periods.
fn grants(history: &History<'_>) -> Vec<Right> {
    let here = |to: HostId| to.as_node().is_none_or(|node| !history.elsewhere.contains(&node));
    let granted = |(position, record): (usize, &crate::trace::Record)| match record.event {
        Event::LeaseGranted { to, .. } if here(to) => {
            Some(Right { period: None, owner: to, at: record.at, position, record: STORE, token: None })
        }
        Event::LeaseRowSet { owner, granted: true, .. } => {
            Some(Right { period: None, owner: HostId::Node(owner), at: record.at, position, record: ROW, token: None })
        }
        _ => None,
    };
    history.trace.records().iter().enumerate().filter_map(granted).collect()
}

fn task_claims(trace: &Trace) -> Vec<Right> {
    let right = |c: Claim| Right { period: Some(c.period), owner: c.by, at: c.at, position: c.position, record: TASK, token: None };
    claims(trace).into_iter().map(right).collect()
}

fn tokens(trace: &Trace) -> Vec<Right> {
    transactions(trace)
        .filter(|tx| tx.rows.iter().any(|r| matches!(r.event, Event::FenceSet { .. })))
        .map(|tx| Right { period: None, owner: tx.by, at: tx.at, position: tx.position, record: FENCE, token: None })
        .collect()
}

/// The grants of the log: of one period, whose decision any node may carry out, or of the whole job.
fn log_grants(trace: &Trace) -> Vec<Right> {
    let granted = |(position, record): (usize, &crate::trace::Record)| match record.event {
        Event::LogGranted { to, period, token, .. } => {
            Some(Right { period, owner: to, at: record.at, position, record: LOG, token: period.is_some().then_some(token) })
        }
        _ => None,
    };
    trace.records().iter().enumerate().filter_map(granted).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::NodeId;
    use crate::invariant::script::{N0, N1, P1, P2, Script, Settles};
    use crate::time::{Span, WallTime};

    /// A history in which n0 claims, stalls, and n1 claims; `last` is the one who then settles.
    fn taken_over(decides: Decides, last: HostId) -> Script {
        let mut told = Script::new();
        told.decides = decides;
        for (claimer, minute, attempt) in [(N0, 1, 1), (N1, 40, 2)] {
            told.after(P1, minute.minutes());
            match decides {
                Decides::LeaseStore => told.event(Event::LeaseGranted { to: claimer, ttl_ms: 1_800_000 }),
                Decides::FenceRow => {
                    let tx = told.next_tx();
                    told.commit(claimer, [Event::FenceSet { tx, token: attempt }])
                }
                Decides::Log => {
                    let grant = Event::LogGranted { through: HostId::Log(0), to: claimer, period: None, token: attempt, ttl_ms: 90_000 };
                    told.event(grant)
                }
                Decides::TaskRow | Decides::Nothing => told.claim(claimer, P1, attempt),
            };
        }
        told.after(P1, 42.minutes()).settle(last, P1, &Settles::default());
        told
    }

    #[test]
    fn the_newest_claimer_may_settle() {
        for decides in [Decides::LeaseStore, Decides::TaskRow, Decides::FenceRow, Decides::Log] {
            taken_over(decides, N1).holds(&NoStaleCommit);
        }
    }

    /// A lease that is a row of the database is no lease of the lease store.
    #[test]
    fn a_lease_row_is_called_one() {
        let mut told = Script::new();
        told.decides = Decides::LeaseStore;
        for (owner, minute) in [(0, 1), (1, 40)] {
            told.after(P1, minute.minutes());
            let tx = told.next_tx();
            told.commit(HostId::node(owner), [Event::LeaseRowSet { tx, owner: NodeId(owner), until: WallTime(0), granted: true }]);
        }
        told.after(P1, 42.minutes()).settle(N0, P1, &Settles::default());
        let what = told.breaks(&NoStaleCommit);
        assert!(what.contains("on a stale claim: the lease row had been taken by n1 at"), "{what}");
    }

    /// Control: the stalled node wakes and commits what is no longer its to commit.
    #[test]
    fn a_stale_commit_is_caught_in_every_record() {
        for (decides, record) in [
            (Decides::LeaseStore, "the lease store had granted the lease to n1"),
            (Decides::TaskRow, "the task row had been claimed by n1"),
            (Decides::FenceRow, "the newest fence token belonged to n1"),
            (Decides::Log, "the log had granted it to n1"),
        ] {
            let what = taken_over(decides, N0).breaks(&NoStaleCommit);
            assert_eq!(
                what,
                format!("2026-01-10 settled by n0 at 2026-01-10 00:42:00.000 on a stale claim: {record} at 2026-01-10 00:40:00.000")
            );
        }
    }

    /// A decision of the log is carried out by whoever comes first, under the number of its grant; a commit under an older number is stale.
    #[test]
    fn a_grant_of_the_log_goes_by_its_number() {
        let granted = |token, to| Event::LogGranted { through: HostId::Log(0), to, period: Some(P1), token, ttl_ms: 90_000 };
        for (attempt, holds) in [(7, true), (5, false)] {
            let mut told = Script::new();
            told.decides = Decides::Log;
            told.after(P1, 1.minutes()).event(granted(5, N0));
            told.after(P1, 4.minutes()).event(granted(7, N1));
            let tx = told.next_tx();
            told.after(P1, 6.minutes()).commit(N0, [Event::Settled { tx, period: P1, node: NodeId(1), attempt }]);
            if holds {
                told.holds(&NoStaleCommit);
            } else {
                told.breaks(&NoStaleCommit);
            }
        }
    }

    /// Where nothing is claimed, nothing can be stale; and a claim of one period says nothing about another.
    #[test]
    fn no_claim_no_stale_commit() {
        taken_over(Decides::Nothing, N0).holds(&NoStaleCommit);
        let mut told = taken_over(Decides::TaskRow, N1);
        told.after(P2, 1.minutes()).claim(N0, P2, 1).settle(N0, P2, &Settles::default());
        told.holds(&NoStaleCommit);
    }
}
