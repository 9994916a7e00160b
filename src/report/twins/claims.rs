//! Claims that the database holds: task rows that somebody executes, and lease rows.

use crate::id::{HostId, PeriodId};
use crate::report::twin::LeaseEnd;
use crate::report::twins::leases::Held;
use crate::report::twins::view::{Lane, View};
use crate::time::SimTime;
use crate::trace::{Event, TaskStatus};

const STORE: Lane = Lane::Host(HostId::Database);

/// A claim that is not over.
struct Open {
    holder: HostId,
    period: Option<PeriodId>,
    from: SimTime,
    /// When it ends by itself, if it does.
    until: Option<SimTime>,
}

impl Open {
    fn ends(&self, at: SimTime, ended: LeaseEnd) -> Held {
        let (to, ended) = match self.until.filter(|until| *until <= at) {
            Some(until) => (until.max(self.from), LeaseEnd::Expired),
            None => (at, ended),
        };
        Held { store: STORE, holder: self.holder, period: self.period, from: self.from, to, ended }
    }
}

/// The claims that are open, and those that are over.
#[derive(Default)]
struct Book {
    open: Vec<Open>,
    over: Vec<Held>,
}

impl Book {
    fn holder(&self, period: Option<PeriodId>) -> Option<HostId> {
        self.open.iter().find(|open| open.period == period).map(|open| open.holder)
    }

    fn end(&mut self, period: Option<PeriodId>, at: SimTime, ended: LeaseEnd) {
        if let Some(n) = self.open.iter().position(|open| open.period == period) {
            let held = self.open.remove(n).ends(at, ended);
            self.over.push(held);
        }
    }

    fn begin(&mut self, holder: HostId, period: Option<PeriodId>, from: SimTime, until: Option<SimTime>) {
        self.end(period, from, LeaseEnd::Replaced);
        self.open.push(Open { holder, period, from, until });
    }

    /// A task row was written by a client on a host.
    fn task(&mut self, by: HostId, period: PeriodId, status: TaskStatus, at: SimTime) {
        let period = Some(period);
        match (status, self.holder(period)) {
            // A heartbeat, or the same node once more.
            (TaskStatus::Executing, Some(holder)) if holder == by => {}
            (TaskStatus::Executing, _) => self.begin(by, period, at, None),
            (_, Some(holder)) => self.end(period, at, if holder == by { set_to(status) } else { LeaseEnd::TakenAway }),
            (_, None) => {}
        }
    }

    /// A lease row was written: it is its owner's until then.
    fn row(&mut self, owner: HostId, until: SimTime, granted: bool, at: SimTime) {
        if granted {
            return self.begin(owner, None, at, Some(until));
        }
        match self.open.iter_mut().find(|open| open.period.is_none() && open.holder == owner) {
            Some(_) if until <= at => self.end(None, at, LeaseEnd::Released),
            Some(open) => open.until = Some(until),
            None => {}
        }
    }
}

/// How a claim ends whose holder writes a status to its row.
fn set_to(status: TaskStatus) -> LeaseEnd {
    match status {
        TaskStatus::Completed => LeaseEnd::Completed,
        TaskStatus::Failed | TaskStatus::Dead => LeaseEnd::Failed,
        TaskStatus::Pending | TaskStatus::Executing => LeaseEnd::Released,
    }
}

/// All claims, in the order of their ends.
pub fn claims(view: &View<'_>) -> Vec<Held> {
    let mut book = Book::default();
    for tx in &view.trail.txs {
        let at = view.records[tx.n].at;
        for row in view.trail.rows(tx) {
            match *row {
                Event::TaskSet { period, status, .. } if tx.by.as_node().is_some() => book.task(tx.by, period, status, at),
                Event::LeaseRowSet { owner, until, granted, .. } => {
                    book.row(HostId::Node(owner), view.calendar.origin.sim(until), granted, at);
                }
                _ => {}
            }
        }
    }
    let Book { open, mut over } = book;
    over.extend(open.iter().map(|open| open.ends(view.ends, LeaseEnd::Held)));
    over
}
