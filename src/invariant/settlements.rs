//! The shared reading of a trace: which transactions committed, which of them settled a
//! period, and which rows they wrote. Every row event belongs to the `Committed` directly
//! before it, so a transaction is a slice of the trace and nothing is copied.

use crate::id::{HostId, PeriodId, PlayerId};
use crate::settlement::{Calendar, Period, Standing};
use crate::time::SimTime;
use crate::trace::{Event, Record, Trace};

/// A committed transaction, as the database server recorded it.
#[derive(Clone, Copy, Debug)]
pub struct Transaction<'a> {
    /// The host of the session's client.
    pub by: HostId,
    /// When its first statement ran.
    pub began: SimTime,
    /// When it committed.
    pub at: SimTime,
    /// Where its `Committed` stands in the trace: the order of commits.
    pub position: usize,
    /// The rows it wrote.
    pub rows: &'a [Record],
}

/// All committed transactions, in the order of their commits.
pub fn transactions(trace: &Trace) -> impl Iterator<Item = Transaction<'_>> {
    (0..trace.records().len()).filter_map(|position| transaction(trace, position))
}

/// The transaction whose `Committed` stands at `position`.
fn transaction(trace: &Trace, position: usize) -> Option<Transaction<'_>> {
    let record = &trace.records()[position];
    let Event::Committed { tx, by, began } = record.event else { return None };
    let after = &trace.records()[position + 1..];
    let written = after.iter().take_while(|r| r.event.transaction() == Some(tx)).count();
    Some(Transaction { by, began, at: record.at, position, rows: &after[..written] })
}

/// The settlement of one period in one committed transaction.
#[derive(Clone, Copy, Debug)]
pub struct Settlement<'a> {
    /// The period that its settlement row names.
    pub period: PeriodId,
    /// How many settlement rows of the period the transaction inserted. 0: only its ranking.
    pub times: usize,
    /// The transaction.
    pub tx: Transaction<'a>,
}

/// All settlements, in the order of their commits: one for each transaction and period. What
/// stores a ranking settles, whether or not it also inserts the settlement row.
pub fn settlements(trace: &Trace) -> Vec<Settlement<'_>> {
    let mut found: Vec<Settlement<'_>> = Vec::with_capacity(8);
    for (place, record) in trace.records().iter().enumerate() {
        let (period, rows) = match record.event {
            Event::Settled { period, .. } => (period, 1),
            Event::Ranked { period, .. } => (period, 0),
            _ => continue,
        };
        // Rows follow each other: the last settlement found is nearly always the one.
        let same = |s: &&mut Settlement<'_>| s.period == period && s.tx.position + s.tx.rows.len() >= place && s.tx.position < place;
        if let Some(known) = found.iter_mut().rev().find(same) {
            known.times += rows;
            continue;
        }
        let before = &trace.records()[..place];
        // A settlement row without a commit would be a bug of the server; it settles nothing.
        let Some(position) = before.iter().rposition(|r| matches!(r.event, Event::Committed { .. })) else { continue };
        if let Some(tx) = transaction(trace, position) {
            found.push(Settlement { period, times: rows, tx });
        }
    }
    found
}

impl<'a> Settlement<'a> {
    /// The period as the schedule knows it: a watched one, or the first one beyond.
    pub fn ending(&self, calendar: &Calendar) -> Option<Period> {
        calendar.period(self.period).or_else(|| Some(calendar.beyond).filter(|p| p.id == self.period))
    }

    /// The earnings that it marked as settled in its period.
    pub fn marked(&self) -> impl Iterator<Item = i64> + use<'a> {
        let own = self.period;
        self.tx.rows.iter().filter_map(move |r| match r.event {
            Event::Marked { earning, period, .. } if period == own => Some(earning),
            _ => None,
        })
    }

    /// The ranking that it stored for its period, in the order of the inserts.
    pub fn ranked(&self) -> impl Iterator<Item = Standing> + use<'a> {
        let own = self.period;
        self.tx.rows.iter().filter_map(move |r| match r.event {
            Event::Ranked { period, rank, player, points, .. } if period == own => Some(Standing { rank, player, points }),
            _ => None,
        })
    }

    /// What its transaction took from players' accounts.
    pub fn taken(&self) -> impl Iterator<Item = (PlayerId, i64)> + use<'a> {
        self.tx.rows.iter().filter_map(|r| match r.event {
            Event::Taken { player, points, .. } => Some((player, points)),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariant::script::{N0, N1, P1, P2, Script, Settles};
    use crate::time::Span;

    /// Two nodes settle, traffic commits in between: each row goes to its own transaction.
    #[test]
    fn rows_belong_to_the_commit_before_them() {
        let mut told = Script::new();
        told.after(P1, 1.seconds()).earn(1, 7, 40);
        told.after(P1, 2.minutes()).settle(N0, P1, &Settles { marks: &[1], takes: &[(7, 40)], ranks: &[(7, 40)] });
        told.after(P1, 3.minutes()).earn(2, 8, 5);
        told.after(P2, 1.minutes()).settle(N1, P2, &Settles { marks: &[2], takes: &[(8, 5)], ranks: &[(8, 5)] });
        let found = settlements(&told.trace);
        assert_eq!(transactions(&told.trace).count(), 4);
        assert_eq!(found.iter().map(|s| (s.period, s.tx.by, s.times)).collect::<Vec<_>>(), [(P1, N0, 1), (P2, N1, 1)]);
        assert_eq!(found[0].marked().collect::<Vec<_>>(), [1]);
        assert_eq!(found[1].taken().collect::<Vec<_>>(), [(PlayerId(8), 5)]);
        assert_eq!(found[1].ranked().map(|s| (s.rank, s.player.0, s.points)).collect::<Vec<_>>(), [(1, 8, 5)]);
    }
}
