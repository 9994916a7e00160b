//! What every part of a twin is made from.

use crate::explore::{Finding, Observed};
use crate::id::{AttemptId, HostId, NodeId};
use crate::plan::FaultPlan;
use crate::report::gist::trail::Trail;
use crate::report::story::attempts::Attempts;
use crate::report::story::clocks::Clocks;
use crate::report::twin::{Host, Role};
use crate::report::twins::Told;
use crate::settlement::Calendar;
use crate::step::{self, Step};
use crate::time::SimTime;
use crate::trace::{Event, Record};
use std::fmt;

/// A lane: a host, or the lease that most of several stores grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lane {
    /// A host.
    Host(HostId),
    /// Most of the lease stores.
    Majority,
}

impl fmt::Display for Lane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Lane::Host(host) => host.fmt(f),
            Lane::Majority => f.write_str("majority"),
        }
    }
}

impl Lane {
    /// As a twin holds it.
    pub fn told(self) -> Host {
        Host { name: self.to_string(), role: self.role() }
    }

    fn role(self) -> Role {
        match self {
            Lane::Majority | Lane::Host(HostId::Lease | HostId::FurtherLease(_)) => Role::Store,
            Lane::Host(HostId::Node(_) | HostId::Traffic) => Role::Node,
            Lane::Host(HostId::Database | HostId::DatabaseElsewhere) => Role::Database,
            Lane::Host(HostId::Payout) => Role::Payout,
            Lane::Host(HostId::Log(_)) => Role::Log,
            Lane::Host(HostId::Centre) => Role::Centre,
        }
    }
}

/// A run, with what is found in it.
pub struct View<'a> {
    /// Everything that happened.
    pub records: &'a [Record],
    /// The same, with its transactions.
    pub trail: Trail<'a>,
    /// What clocks showed.
    pub clocks: Clocks,
    /// Which attempts are worth telling.
    pub attempts: Attempts,
    /// The lanes, from the top.
    pub hosts: Vec<Lane>,
    /// When the run ended.
    pub ends: SimTime,
    /// The run and what it broke.
    pub seen: &'a Observed,
    /// What it is kept for.
    pub finding: Option<&'a Finding>,
    /// What went wrong.
    pub plan: &'a FaultPlan,
    /// Its boundaries.
    pub calendar: &'a Calendar,
    /// The steps of its strategy.
    pub steps: &'static [Step],
    /// Its nodes.
    pub nodes: u8,
}

impl<'a> View<'a> {
    /// Looks at a run.
    pub fn of(told: &Told<'a>) -> View<'a> {
        let (seen, calendar) = (told.seen, told.subject.calendar());
        let records = seen.run.trace.records();
        let (nodes, steps) = (told.subject.scenario().nodes, told.subject.strategy().steps());
        let about = told.rule.and_then(|rule| seen.findings.iter().find(|finding| finding.rule == rule));
        View {
            records,
            trail: Trail::of(&seen.run.trace),
            clocks: Clocks::of(&seen.run.trace, calendar),
            attempts: Attempts::of(records),
            hosts: lanes(nodes, steps, records),
            ends: seen.run.ended_at,
            seen,
            finding: about.or(seen.findings.first()),
            plan: told.plan,
            calendar,
            steps,
            nodes,
        }
    }

    /// Whether a host has a lane.
    pub fn shows(&self, host: HostId) -> bool {
        self.hosts.contains(&Lane::Host(host))
    }

    /// Whether there are several lease stores, of which most decide.
    pub fn votes(&self) -> bool {
        self.hosts.contains(&Lane::Majority)
    }

    /// The server that a step asks.
    pub fn peer(&self, name: &str) -> Option<HostId> {
        self.steps.iter().find(|step| step.name == name)?.peer
    }

    /// Whether an attempt did anything worth telling.
    pub fn eventful(&self, attempt: AttemptId) -> bool {
        self.attempts.get(attempt).is_none_or(|known| known.eventful)
    }
}

/// Nodes first, then the servers that the strategy asks or that something happened to.
fn lanes(nodes: u8, steps: &[Step], records: &[Record]) -> Vec<Lane> {
    let asked = |host: HostId| steps.iter().any(|step| step.peer == Some(host.asked_as()));
    let struck = |host: HostId| records.iter().any(|record| strikes(&record.event, host));
    let mut hosts: Vec<HostId> = step::hosts(nodes, steps);
    hosts.retain(|host| *host != HostId::Traffic && (host.as_node().is_some() || asked(*host) || struck(*host)));
    hosts.sort_by_key(|host| (place(*host), host.index()));
    let mut lanes: Vec<Lane> = hosts.into_iter().map(Lane::Host).collect();
    if let Some(last) = lanes.iter().rposition(|lane| matches!(lane, Lane::Host(HostId::FurtherLease(_)))) {
        lanes.insert(last + 1, Lane::Majority);
    }
    lanes
}

fn place(host: HostId) -> u8 {
    match host {
        HostId::Node(NodeId(_)) => 0,
        HostId::Lease | HostId::FurtherLease(_) => 1,
        HostId::Log(_) => 2,
        HostId::Centre => 3,
        HostId::Database | HostId::DatabaseElsewhere => 4,
        HostId::Payout => 5,
        HostId::Traffic => 6,
    }
}

fn strikes(event: &Event, on: HostId) -> bool {
    match *event {
        Event::Crashed { host } | Event::PoweredOff { host } | Event::Paused { host } | Event::Blocked { host } => host == on,
        _ => false,
    }
}
