//! Leases, as nodes believe to hold them: from the answer that granted one, until the node asks to
//! give it back, ends its attempt, or dies. A node that hears that its lease is lost ends its attempt.

use crate::id::{AttemptId, HostId, PeriodId};
use crate::report::twin::Belief;
use crate::report::twins::leases::Held;
use crate::report::twins::most;
use crate::report::twins::view::{Lane, View};
use crate::time::SimTime;
use crate::trace::{Event, Phase, StepName, TaskStatus};
use std::collections::{BTreeMap, BTreeSet};

/// All beliefs, in the order of their beginnings.
pub fn beliefs(view: &View<'_>, leases: &[Held]) -> Vec<Belief> {
    let mut mind =
        Mind { view, periods: BTreeMap::new(), asked: BTreeMap::new(), granted: BTreeSet::new(), open: BTreeMap::new(), all: Vec::new() };
    for (n, record) in view.records.iter().enumerate() {
        mind.see(n, record.at, record.event);
    }
    let Mind { mut open, mut all, .. } = mind;
    all.extend(std::mem::take(&mut open).into_values().map(|believed| Believed { to: view.ends, ..believed }));
    all.sort_by_key(|believed| (believed.from, believed.attempt));
    let told = all.iter().map(|one| Belief {
        node: one.attempt.node.to_string(),
        attempt: one.attempt.to_string(),
        from_ms: one.from.0,
        to_ms: one.to.0,
        overlaps: all.iter().any(|other| one.clashes(other)) || leases.iter().any(|lease| one.clashes_with(lease, view)),
    });
    most::of(told.collect(), most::LEASES, view, |belief| belief.from_ms)
}

/// A time in which a node believes to hold a lease.
#[derive(Clone, Debug)]
struct Believed {
    attempt: AttemptId,
    period: Option<PeriodId>,
    from: SimTime,
    to: SimTime,
}

impl Believed {
    fn host(&self) -> HostId {
        HostId::Node(self.attempt.node)
    }

    fn clashes(&self, other: &Believed) -> bool {
        self.attempt.node != other.attempt.node && self.period == other.period && self.from < other.to && other.from < self.to
    }

    /// Whether somebody else held a lease meanwhile. One of several stores says nothing: most of them do.
    fn clashes_with(&self, lease: &Held, view: &View<'_>) -> bool {
        let decides = !view.votes() || !matches!(lease.store, Lane::Host(HostId::Lease | HostId::FurtherLease(_)));
        let same = lease.period.is_none() || lease.period == self.period;
        decides && same && lease.holder != self.host() && self.from < lease.to && lease.from < self.to
    }
}

struct Mind<'a> {
    view: &'a View<'a>,
    periods: BTreeMap<AttemptId, PeriodId>,
    /// Steps whose answers are waited for, since when.
    asked: BTreeMap<(AttemptId, StepName), SimTime>,
    /// Those of them that were granted something.
    granted: BTreeSet<(AttemptId, StepName)>,
    open: BTreeMap<AttemptId, Believed>,
    all: Vec<Believed>,
}

impl Mind<'_> {
    fn see(&mut self, n: usize, at: SimTime, event: Event) {
        match event {
            Event::AttemptBegan { attempt, period, .. } => {
                self.periods.insert(attempt, period);
            }
            Event::AttemptEnded { attempt, .. } => self.ends(attempt, at),
            Event::Crashed { host } | Event::PoweredOff { host } | Event::Panicked { host } => self.dies(host, at),
            Event::Step { attempt, step, phase: Phase::Before } => {
                self.asked.insert((attempt, step), at);
                // Whether or not it is still there.
                if step.rsplit('.').next() == Some("release") {
                    self.over(attempt, at);
                }
            }
            Event::Step { attempt, step, phase: Phase::After } => self.answered(attempt, step, at),
            Event::LeaseGranted { to, .. } => self.grants(to, |peer| matches!(peer, HostId::Lease | HostId::FurtherLease(_))),
            Event::LogGranted { to, .. } => self.grants(to, |peer| matches!(peer, HostId::Log(_))),
            Event::LeaseReleased { by, holder } if by == holder => {
                self.gives_back(by, at, |peer| matches!(peer, HostId::Lease | HostId::FurtherLease(_)));
            }
            Event::LogReleased { by, .. } => self.gives_back(by, at, |peer| matches!(peer, HostId::Log(_))),
            Event::Committed { by, .. } => self.commits(n, by, at),
            _ => {}
        }
    }

    /// The steps of a host whose answers are waited for, and since when.
    fn waiting(&self, host: HostId, asks: impl Fn(HostId) -> bool) -> Vec<((AttemptId, StepName), SimTime)> {
        let is = |(attempt, step): &(AttemptId, StepName)| HostId::Node(attempt.node) == host && self.view.peer(step).is_some_and(&asks);
        self.asked.iter().filter(|(key, _)| is(key)).map(|(key, since)| (*key, *since)).collect()
    }

    fn grants(&mut self, to: HostId, asks: impl Fn(HostId) -> bool) {
        let waiting = self.waiting(to, asks);
        self.granted.extend(waiting.into_iter().map(|(key, _)| key));
    }

    fn gives_back(&mut self, by: HostId, at: SimTime, asks: impl Fn(HostId) -> bool) {
        let waiting = self.waiting(by, asks);
        for ((attempt, _), since) in waiting {
            if self.open.get(&attempt).is_some_and(|believed| believed.from <= since && since <= at) {
                self.over(attempt, since);
            }
        }
    }

    /// A transaction that claims a period, or a lease row, or gives that back.
    fn commits(&mut self, n: usize, by: HostId, at: SimTime) {
        let Some(tx) = self.view.trail.tx(n) else { return };
        let rows: Vec<Event> = self.view.trail.rows(tx).copied().collect();
        let is_database = |peer| peer == HostId::Database;
        let claims =
            |row: &Event| matches!(row, Event::TaskSet { status: TaskStatus::Executing, .. } | Event::LeaseRowSet { granted: true, .. });
        if rows.iter().any(claims) {
            self.grants(by, is_database);
        }
        let now = self.view.calendar.origin.wall(at);
        if rows.iter().any(|row| matches!(row, Event::LeaseRowSet { granted: false, until, .. } if *until <= now)) {
            self.gives_back(by, at, is_database);
        }
    }

    fn answered(&mut self, attempt: AttemptId, step: StepName, at: SimTime) {
        self.asked.remove(&(attempt, step));
        if self.granted.remove(&(attempt, step)) {
            let period = self.periods.get(&attempt).copied();
            self.open.entry(attempt).or_insert(Believed { attempt, period, from: at, to: at });
        }
    }

    fn over(&mut self, attempt: AttemptId, at: SimTime) {
        if let Some(believed) = self.open.remove(&attempt) {
            self.all.push(Believed { to: at, ..believed });
        }
    }

    fn ends(&mut self, attempt: AttemptId, at: SimTime) {
        self.over(attempt, at);
        self.asked.retain(|(of, _), _| *of != attempt);
        self.granted.retain(|(of, _)| *of != attempt);
    }

    fn dies(&mut self, host: HostId, at: SimTime) {
        let of_it = |attempt: &AttemptId| HostId::Node(attempt.node) == host;
        let attempts: BTreeSet<AttemptId> =
            self.open.keys().chain(self.asked.keys().map(|(attempt, _)| attempt)).filter(|attempt| of_it(attempt)).copied().collect();
        for attempt in attempts {
            self.ends(attempt, at);
        }
    }
}
