//! Instants that matter.

use crate::explore::{Finding, Mark};
use crate::id::{FaultId, HostId, Letter, PeriodId};
use crate::plan::{Fault, Harm, Target};
use crate::report::gist::pick::is_effect;
use crate::report::twin::{Kind, Tick};
use crate::report::twins::view::{Lane, View};
use crate::report::twins::{most, wrong};
use crate::report::words;
use crate::trace::Event;
use std::collections::BTreeSet;

/// All of them, in their order.
pub fn ticks(view: &View<'_>) -> Vec<Tick> {
    let clock = Clockwork { view, wrong: wrong::wrong(view) };
    let mut ticks: Vec<Tick> = (0..view.records.len()).filter_map(|n| clock.tick(n)).collect();
    ticks.extend(view.seen.findings.iter().map(|finding| broke(view, finding)));
    ticks.sort_by_key(|tick| tick.at_ms);
    most::of(ticks, most::TICKS, view, |tick| tick.at_ms)
}

struct Clockwork<'a> {
    view: &'a View<'a>,
    wrong: BTreeSet<usize>,
}

impl Clockwork<'_> {
    fn tick(&self, n: usize) -> Option<Tick> {
        let view = self.view;
        let payer = || view.trail.payer(n).map(|attempt| HostId::Node(attempt.node));
        match view.records[n].event {
            Event::AttemptBegan { attempt, period, .. } if view.eventful(attempt) => {
                let what = format!("#{} begins, for {period}", attempt.number);
                Some(self.at(n, HostId::Node(attempt.node), None, Kind::Began, what))
            }
            Event::AttemptEnded { attempt, belief, .. } if view.eventful(attempt) => {
                let what = format!("#{} ends and believes that {belief}", attempt.number);
                Some(self.at(n, HostId::Node(attempt.node), None, Kind::Ended, what))
            }
            Event::Committed { by, .. } => self.commit(n, by),
            Event::Paid { period, rank, player, amount, .. } => {
                let what = format!("pays {player} {amount} for {period}, rank {rank}");
                Some(self.at(n, HostId::Payout, payer(), Kind::Paid, what))
            }
            Event::PaymentRepeated { period, rank, player } => {
                let what = format!("{player} was paid before for {period}, rank {rank}");
                Some(self.at(n, HostId::Payout, payer(), Kind::Repeated, what))
            }
            Event::Fired { fault } => Some(self.fired(n, fault)),
            _ => None,
        }
    }

    fn at(&self, n: usize, host: HostId, by: Option<HostId>, kind: Kind, what: String) -> Tick {
        let at_ms = self.view.records[n].at.0;
        Tick { at_ms, host: host.to_string(), by: by.map(|by| by.to_string()), kind, what, wrong: self.wrong.contains(&n) }
    }

    /// A transaction that settles, or calls a human.
    fn commit(&self, n: usize, by: HostId) -> Option<Tick> {
        let view = self.view;
        let tx = view.trail.tx(n)?;
        let settled: BTreeSet<PeriodId> = view.trail.rows(tx).filter_map(settles).collect();
        if !settled.is_empty() {
            return Some(self.at(n, HostId::Database, Some(by), Kind::Settled, format!("settles {}", listed(&settled))));
        }
        let alerted: BTreeSet<PeriodId> = view.trail.rows(tx).filter_map(alerts).collect();
        (!alerted.is_empty())
            .then(|| self.at(n, HostId::Database, Some(by), Kind::Alerted, format!("a human is called for {}", listed(&alerted))))
    }

    fn fired(&self, n: usize, id: FaultId) -> Tick {
        let fault = self.view.plan.faults.get(usize::from(id.0));
        let what = fault.map_or_else(|| id.to_string(), |fault| words::harm(&fault.harm));
        self.at(n, self.struck(n, fault), None, Kind::Fault, what)
    }

    /// Whom a fault struck: what shows it at once, or whom the plan names, or who was at the step that set it off.
    fn struck(&self, n: usize, fault: Option<&Fault>) -> HostId {
        let (view, at) = (self.view, self.view.records[n].at);
        let named = fault.map(|fault| target(&fault.harm));
        if let Some(Target::Host(host)) = named
            && view.shows(host)
        {
            return host;
        }
        let now = view.records[n + 1..].iter().take_while(|record| record.at == at);
        let shown = now.take_while(|record| !matches!(record.event, Event::Fired { .. })).find(|record| is_effect(&record.event));
        let step = view.records[..n].iter().rev().find_map(|record| match record.event {
            Event::Step { attempt, .. } => Some(HostId::Node(attempt.node)),
            _ => None,
        });
        let own = step.filter(|_| matches!(named, Some(Target::Self_)));
        let effect = shown.and_then(|record| host_of(&record.event)).filter(|host| view.shows(*host));
        own.or(effect).or(step).unwrap_or(HostId::node(0))
    }
}

fn settles(row: &Event) -> Option<PeriodId> {
    match *row {
        Event::Settled { period, .. } | Event::Ranked { period, .. } => Some(period),
        _ => None,
    }
}

fn alerts(row: &Event) -> Option<PeriodId> {
    if let Event::Alerted { period, .. } = *row { Some(period) } else { None }
}

fn listed(periods: &BTreeSet<PeriodId>) -> String {
    periods.iter().map(PeriodId::to_string).collect::<Vec<_>>().join(", ")
}

/// Whom a harm is aimed at.
fn target(harm: &Harm) -> Target {
    match *harm {
        Harm::Crash { host, .. }
        | Harm::Power { host, .. }
        | Harm::Pause { host, .. }
        | Harm::Partition { host, .. }
        | Harm::ReplyLost { host, .. }
        | Harm::Late { host, .. }
        | Harm::ClockOffset { host, .. }
        | Harm::ClockDrift { host, .. }
        | Harm::CommitFails { host }
        | Harm::SessionEnds { host }
        | Harm::Zone { host, .. }
        | Harm::Shutdown { host, .. } => host,
        Harm::LeaseWipe { store, .. } | Harm::LeaseEvict { store } | Harm::LeaseFailover { store, .. } | Harm::LeaseStall { store, .. } => {
            Target::Host(store)
        }
        Harm::Redeliver => Target::Host(HostId::Lease),
        Harm::SlowStep { .. } | Harm::JobError { .. } => Target::Self_,
    }
}

/// Whom the effect of a fault is told of.
fn host_of(event: &Event) -> Option<HostId> {
    match *event {
        Event::Crashed { host }
        | Event::PoweredOff { host }
        | Event::Paused { host }
        | Event::ClockSet { host, .. }
        | Event::ClockDrifts { host, .. }
        | Event::Blocked { host }
        | Event::ToldToStop { host } => Some(host),
        Event::Cut { from, .. } => Some(from),
        Event::LeaseLost { .. } | Event::MessageLost { .. } | Event::Redelivered { .. } => Some(HostId::Lease),
        Event::SessionEnded { .. } => Some(HostId::Database),
        _ => None,
    }
}

/// A rule broke.
fn broke(view: &View<'_>, finding: &Finding) -> Tick {
    let panicked = view.seen.run.panics.first().map(|(host, _)| *host);
    let host = match finding.mark {
        Mark::Letter(Letter::Two) => HostId::Payout,
        Mark::Letter(_) => HostId::Database,
        Mark::Panicked => panicked.unwrap_or(HostId::node(0)),
        Mark::NeverEnded => HostId::node(0),
    };
    let lane = if view.shows(host) { Some(Lane::Host(host)) } else { view.hosts.first().copied() };
    let what = format!("{}: {}", finding.rule, finding.what);
    Tick {
        at_ms: finding.at.0,
        host: lane.map(|lane| lane.to_string()).unwrap_or_default(),
        by: None,
        kind: Kind::Broke,
        what,
        wrong: true,
    }
}
