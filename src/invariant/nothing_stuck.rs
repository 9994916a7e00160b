//! K: in the end there is no lease without an expiry, no task row claimed by nobody alive, no
//! payment left in the outbox, and nothing prepared in doubt. What nobody had the time to clear away is excused.

use crate::id::{Letter, PeriodId};
use crate::invariant::ability::{Work, excuse};
use crate::invariant::claims::{Claim, claims};
use crate::invariant::settlements::transactions;
use crate::invariant::{History, Invariant, Verdict, Violation};
use crate::plan::duration;
use crate::settlement::InDoubt;
use crate::time::SimTime;
use crate::trace::{Event, TaskStatus, Trace};

/// The judge of *nothing-stuck*.
pub struct NothingStuck;

impl Invariant for NothingStuck {
    fn name(&self) -> &'static str {
        "nothing-stuck"
    }

    fn letter(&self) -> Letter {
        Letter::K
    }

    fn about(&self) -> &'static str {
        "in the end no lease without expiry, no orphaned claim, no undelivered payment, nothing in doubt is left"
    }

    fn judge(&self, history: &History<'_>) -> Verdict {
        let mut verdict = Verdict::Holds;
        for stuck in leases(history).chain(tasks(history)).chain(outbox(history)).chain(in_doubt(history)) {
            let Stuck { since, period, what, work } = stuck;
            match excuse(history, since, history.ended, work) {
                None => return Verdict::Broken(Violation { at: history.ended, period, what }),
                Some(reason) if verdict == Verdict::Holds => verdict = Verdict::Excused(format!("{what}, but {reason}")),
                Some(_) => {}
            }
        }
        verdict
    }
}

/// Something that should not have been left behind, and since when somebody could have cleared it away.
struct Stuck {
    since: SimTime,
    period: Option<PeriodId>,
    what: String,
    work: Work,
}

fn leases<'a>(history: &'a History<'_>) -> impl Iterator<Item = Stuck> + 'a {
    history.end.leases.iter().filter(|key| !key.expires).map(|key| {
        let since = last(history.trace, |e| matches!(*e, Event::LeaseGranted { to, .. } if to == key.holder));
        let what = format!("the lease granted to {} at {} never expires and is still held", key.holder, history.calendar.shows(since));
        Stuck { since, period: None, what, work: Work::Settle }
    })
}

fn tasks<'a>(history: &'a History<'_>) -> impl Iterator<Item = Stuck> + 'a {
    let executing = history.end.tasks.iter().filter(|task| task.status == TaskStatus::Executing);
    executing.filter_map(|task| {
        let claim = claims(history.trace).into_iter().rev().find(|c| c.period == task.period);
        let (since, what) = match claim {
            None => (SimTime::ZERO, format!("the task of {} is executing, but nobody ever claimed it", task.period)),
            Some(claim) => abandoned(history, &claim)?,
        };
        Some(Stuck { since, period: Some(task.period), what, work: Work::Settle })
    })
}

/// Whether a claim is nobody's any more: its process is dead, or it is older than the bound.
fn abandoned(history: &History<'_>, claim: &Claim) -> Option<(SimTime, String)> {
    let &Claim { period, by, at, position } = claim;
    let since = history.calendar.shows(at);
    let dies = |e: &Event| matches!(*e, Event::Crashed { host } | Event::PoweredOff { host } | Event::Panicked { host } if host == by);
    if let Some(death) = history.trace.records()[position..].iter().find(|r| dies(&r.event)) {
        let what = format!(
            "the task of {period} is still claimed by {by}, claimed at {since} by a process that died at {}",
            history.calendar.shows(death.at)
        );
        return Some((death.at, what));
    }
    let age = history.ended.since(at);
    let old = || format!("the task of {period} is still claimed by {by}, claimed at {since}, {} before the end", duration::text(age));
    (age > history.liveness_bound).then(|| (at, old()))
}

fn outbox<'a>(history: &'a History<'_>) -> impl Iterator<Item = Stuck> + 'a {
    history.end.outbox.iter().filter(|row| !row.sent).map(|row| {
        let queued = |r: &crate::trace::Record| matches!(r.event, Event::Queued { row: queued, .. } if queued == row.id);
        let tx = transactions(history.trace).find(|tx| tx.rows.iter().any(queued));
        let since = tx.map_or(SimTime::ZERO, |tx| tx.at);
        let what = format!("outbox row {} queued at {} was never delivered", row.id, history.calendar.shows(since));
        Stuck { since, period: None, what, work: Work::Pay }
    })
}

fn in_doubt<'a>(history: &'a History<'_>) -> impl Iterator<Item = Stuck> + 'a {
    history.end.in_doubt.iter().map(|doubt| {
        let prepared = |e: &Event| match (*e, *doubt) {
            (Event::Prepared { tx, .. }, InDoubt::Database(of)) => tx == of,
            (Event::PaymentsPrepared { number, .. }, InDoubt::Payout(of)) => number == of,
            _ => false,
        };
        let since = last(history.trace, prepared);
        let what = match *doubt {
            InDoubt::Database(tx) => format!("{tx}, prepared at {}", history.calendar.shows(since)),
            InDoubt::Payout(number) => format!("the payout service's transaction {number}, prepared at {}", history.calendar.shows(since)),
        };
        Stuck { since, period: None, what: format!("{what}, is still in doubt"), work: Work::Pay }
    })
}

fn last(trace: &Trace, is: impl Fn(&Event) -> bool) -> SimTime {
    trace.records().iter().rev().find(|r| is(&r.event)).map_or(SimTime::ZERO, |r| r.at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::TxId;
    use crate::invariant::script::{N0, N1, N2, P1, Script};
    use crate::settlement::{LeaseKey, OutboxRow, TaskRow};
    use crate::time::Span;

    /// n0 claims the first period a minute after it ended, in its task row and with a lease.
    fn claimed() -> Script {
        let mut told = Script::new();
        told.watched_until(P1, 3.hours());
        told.after(P1, 1.minutes()).event(Event::LeaseGranted { to: N0, ttl_ms: 0 }).claim(N0, P1, 1);
        told
    }

    fn executing() -> TaskRow {
        TaskRow { period: P1, status: TaskStatus::Executing, version: 1, attempt: 1 }
    }

    /// A lease that runs out by itself, a settled task and a delivered payment may stay.
    #[test]
    fn a_clean_end_holds() {
        let mut told = claimed();
        told.end.leases.push(LeaseKey { holder: N0, expires: true });
        told.end.tasks.push(TaskRow { status: TaskStatus::Completed, ..executing() });
        told.end.outbox.push(OutboxRow { id: 1, sent: true });
        told.holds(&NothingStuck);
    }

    /// Control: death between SETNX and EXPIRE.
    #[test]
    fn a_lease_for_ever_is_caught() {
        let mut told = claimed();
        told.end.leases.push(LeaseKey { holder: N0, expires: false });
        assert_eq!(told.breaks(&NothingStuck), "the lease granted to n0 at 2026-01-10 00:01:00.000 never expires and is still held");
    }

    /// Control: the claimer died. That it was started again does not help: it remembers nothing.
    #[test]
    fn a_claim_of_a_dead_process_is_caught() {
        let mut told = claimed();
        told.after(P1, 2.minutes()).event(Event::Crashed { host: N0 });
        told.after(P1, 7.minutes()).event(Event::Booted { host: N0, incarnation: 1 });
        told.end.tasks.push(executing());
        let expected = "the task of 2026-01-10 is still claimed by n0, claimed at 2026-01-10 00:01:00.000 by a process that died at 2026-01-10 00:02:00.000";
        assert_eq!(told.breaks(&NothingStuck), expected);
    }

    /// Control: the claim was applied, its answer lost, and nobody believes that it is theirs.
    #[test]
    fn a_forgotten_claim_is_caught() {
        let mut told = claimed();
        told.end.tasks.push(executing());
        assert!(told.breaks(&NothingStuck).ends_with("claimed at 2026-01-10 00:01:00.000, 2h 59m before the end"));
    }

    /// A job that is simply still running is not stuck.
    #[test]
    fn a_young_claim_holds() {
        let mut told = claimed();
        told.watched_until(P1, 1.hours());
        told.end.tasks.push(executing());
        told.holds(&NothingStuck);
    }

    /// Control: the committer died and nobody looks into the outbox.
    #[test]
    fn an_undelivered_payment_is_caught() {
        let mut told = claimed();
        let tx = told.next_tx();
        told.after(P1, 3.minutes()).commit(N0, [Event::Queued { tx, row: 5 }]);
        told.end.outbox.push(OutboxRow { id: 5, sent: false });
        assert_eq!(told.breaks(&NothingStuck), "outbox row 5 queued at 2026-01-10 00:03:00.000 was never delivered");
    }

    /// Control: the coordinator died between the two phases, and nobody asks what it had decided.
    #[test]
    fn what_is_in_doubt_is_caught() {
        for (event, doubt, who) in [
            (Event::Prepared { tx: TxId(4), by: N0 }, InDoubt::Database(TxId(4)), "tx4, prepared"),
            (Event::PaymentsPrepared { number: 1, period: P1, by: N0 }, InDoubt::Payout(1), "the payout service's transaction 1, prepared"),
        ] {
            let mut told = claimed();
            told.after(P1, 3.minutes()).event(event);
            told.holds(&NothingStuck);
            told.end.in_doubt.push(doubt);
            assert_eq!(told.breaks(&NothingStuck), format!("{who} at 2026-01-10 00:03:00.000, is still in doubt"));
        }
    }

    /// Nobody was up to deliver it: excused.
    #[test]
    fn what_nobody_could_clear_away_is_excused() {
        let mut told = claimed();
        let tx = told.next_tx();
        told.after(P1, 3.minutes()).commit(N0, [Event::Queued { tx, row: 5 }]);
        for host in [N0, N1, N2] {
            told.event(Event::PoweredOff { host });
        }
        told.end.outbox.push(OutboxRow { id: 5, sent: false });
        assert!(matches!(told.judged_by(&NothingStuck), Verdict::Excused(_)));
    }
}
