//! Hand-made histories for the judges' tests, written like scripts: what happened, when, to
//! whom. The deployment is the catalogue's default: three nodes, three periods, a bound of two hours.

use crate::id::{HostId, NodeId, PeriodId, PlayerId, TxId};
use crate::invariant::{History, Invariant, Need, Verdict};
use crate::settlement::{Calendar, Decides, FinalState, Schedule};
use crate::time::{SimTime, Span, WallTime};
use crate::trace::{Event, TaskStatus, Trace};
use std::time::Duration;

pub const N0: HostId = HostId::Node(NodeId(0));
pub const N1: HostId = HostId::Node(NodeId(1));
pub const N2: HostId = HostId::Node(NodeId(2));
pub const P1: PeriodId = PeriodId(20_260_110);
pub const P2: PeriodId = PeriodId(20_260_125);

/// A history under construction.
pub struct Script {
    pub trace: Trace,
    pub end: FinalState,
    pub calendar: Calendar,
    pub decides: Decides,
    pub needs: Vec<Need>,
    pub ended: SimTime,
    now: SimTime,
    transactions: u32,
}

/// What a settlement transaction writes beside its settlement row; `ranks` in rank order.
#[derive(Default)]
pub struct Settles<'a> {
    pub marks: &'a [i64],
    pub takes: &'a [(i64, i64)],
    pub ranks: &'a [(i64, i64)],
}

impl Script {
    /// Nothing has happened yet. Watching ends an hour after the first boundary, before any bound is over.
    pub fn new() -> Script {
        let calendar = Schedule::default().calendar().expect("the default schedule is good");
        let ended = calendar.due(calendar.periods[0]) + 1.hours();
        let (trace, end) = (Trace::default(), FinalState::default());
        Script {
            trace,
            end,
            calendar,
            decides: Decides::Nothing,
            needs: [HostId::Lease, HostId::Database].map(|server| Need::majority(vec![server])).to_vec(),
            ended,
            now: SimTime::ZERO,
            transactions: 0,
        }
    }

    /// The true time at which a period ends.
    pub fn due(&self, period: PeriodId) -> SimTime {
        self.calendar.due(self.calendar.period(period).expect("a watched period"))
    }

    /// What comes next happens this long after the end of a period.
    pub fn after(&mut self, period: PeriodId, d: Duration) -> &mut Script {
        self.now = self.due(period) + d;
        self
    }

    /// What comes next happens this long before the end of a period.
    pub fn before(&mut self, period: PeriodId, d: Duration) -> &mut Script {
        self.now = self.due(period) - d;
        self
    }

    /// Watching ends this long after the end of a period.
    pub fn watched_until(&mut self, period: PeriodId, d: Duration) -> &mut Script {
        self.ended = self.due(period) + d;
        self
    }

    /// Something happens.
    pub fn event(&mut self, event: Event) -> &mut Script {
        self.trace.push(self.now, event);
        self
    }

    /// A transaction commits; its first statement ran a second ago.
    pub fn commit(&mut self, by: HostId, rows: impl IntoIterator<Item = Event>) -> &mut Script {
        self.commit_begun(by, self.now - 1.seconds(), rows)
    }

    /// A transaction commits that ran its first statement at `began`.
    pub fn commit_begun(&mut self, by: HostId, began: SimTime, rows: impl IntoIterator<Item = Event>) -> &mut Script {
        self.transactions += 1;
        self.event(Event::Committed { tx: self.tx(), by, began });
        for row in rows {
            self.event(row);
        }
        self
    }

    /// The newest transaction.
    fn tx(&self) -> TxId {
        TxId(self.transactions)
    }

    /// The transaction that commits next; rows made by hand carry it.
    pub fn next_tx(&self) -> TxId {
        TxId(self.transactions + 1)
    }

    /// A player earns points now.
    pub fn earn(&mut self, earning: i64, player: i64, amount: i64) -> &mut Script {
        let at = self.calendar.origin.wall(self.now);
        self.earn_dated(earning, player, amount, at)
    }

    /// A player's earning commits now and carries the time `at`.
    pub fn earn_dated(&mut self, earning: i64, player: i64, amount: i64, at: WallTime) -> &mut Script {
        let tx = self.next_tx();
        self.commit(HostId::Traffic, [Event::Earned { tx, earning, player: PlayerId(player), amount, at }])
    }

    /// A settlement transaction commits whose first statement ran a second ago.
    pub fn settle(&mut self, by: HostId, period: PeriodId, rows: &Settles<'_>) -> &mut Script {
        self.settle_begun(by, period, self.now - 1.seconds(), rows)
    }

    /// A settlement transaction commits that ran its first statement at `began`.
    pub fn settle_begun(&mut self, by: HostId, period: PeriodId, began: SimTime, rows: &Settles<'_>) -> &mut Script {
        let tx = self.next_tx();
        let node = by.as_node().expect("nodes settle");
        let mut events = vec![Event::Settled { tx, period, node, attempt: 1 }];
        events.extend(rows.marks.iter().map(|&earning| Event::Marked { tx, earning, period }));
        events.extend(rows.takes.iter().map(|&(player, points)| Event::Taken { tx, player: PlayerId(player), points }));
        let ranked = |(rank, &(player, points))| Event::Ranked { tx, period, rank, player: PlayerId(player), points };
        events.extend((1..).zip(rows.ranks).map(ranked));
        self.commit_begun(by, began, events)
    }

    /// A node claims a period in its task row.
    pub fn claim(&mut self, by: HostId, period: PeriodId, attempt: i64) -> &mut Script {
        self.task(by, period, TaskStatus::Executing, attempt)
    }

    /// A task row is written.
    pub fn task(&mut self, by: HostId, period: PeriodId, status: TaskStatus, attempt: i64) -> &mut Script {
        let tx = self.next_tx();
        self.commit(by, [Event::TaskSet { tx, period, status, version: attempt, attempt }])
    }

    /// The payout service pays a winner.
    pub fn pay(&mut self, period: PeriodId, rank: i64, player: i64) -> &mut Script {
        self.event(Event::Paid { period, rank, player: PlayerId(player), amount: 100, keyed: false })
    }

    /// An account in the end.
    pub fn left(&mut self, player: i64, points: i64) -> &mut Script {
        self.end.points.push((PlayerId(player), points));
        self
    }

    /// What a judge says about it. A healthy node needs at most ten minutes to settle and pay.
    pub fn judged_by(&self, judge: &dyn Invariant) -> Verdict {
        judge.judge(&History {
            calendar: &self.calendar,
            decides: self.decides,
            nodes: 3,
            elsewhere: &[],
            needs: &self.needs,
            liveness_bound: 2.hours(),
            effort: 10.minutes(),
            trace: &self.trace,
            ended: self.ended,
            end: &self.end,
        })
    }

    /// The sentence of a judge that must find something.
    pub fn breaks(&self, judge: &dyn Invariant) -> String {
        match self.judged_by(judge) {
            Verdict::Broken(violation) => violation.what,
            other => panic!("{} should be broken, but the verdict is {other:?}", judge.name()),
        }
    }

    /// A judge must have nothing to say.
    pub fn holds(&self, judge: &dyn Invariant) {
        assert_eq!(self.judged_by(judge), Verdict::Holds, "{}", judge.name());
    }
}
