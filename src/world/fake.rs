//! TEMPORARY STAND-IN for the deployment, to drive the command line before the world exists.
//! To be replaced; nothing outside `world.rs` names this file.

use crate::id::{AttemptId, HostId, InvariantId, NodeId, PlayerId, TxId};
use crate::invariant::{Verdict, Violation};
use crate::plan::{FaultPlan, Trigger};
use crate::scenario::Scenario;
use crate::seed::Seed;
use crate::settlement::{Calendar, FinalState};
use crate::strategy::{self, Strategy};
use crate::time::{SimTime, Span};
use crate::trace::{Belief, Event, Trace};
use crate::world::{Ended, EngineKind, Receipt, Refused, Run};
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Misconfigured(pub String);

pub struct Deployment {
    scenario: Scenario,
    calendar: Calendar,
    strategy: &'static dyn Strategy,
}

impl Deployment {
    pub fn new(scenario: &Scenario, _: EngineKind) -> Result<Deployment, Misconfigured> {
        let calendar = scenario.schedule.calendar().map_err(|e| Misconfigured(format!("{e} in the schedule")))?;
        let strategy =
            strategy::find(&scenario.strategy).ok_or_else(|| Misconfigured(format!("unknown strategy `{}`", scenario.strategy)))?;
        if !(1..=32).contains(&scenario.nodes) {
            return Err(Misconfigured(format!("`nodes` must be 1 to 32, not {}", scenario.nodes)));
        }
        if scenario.guard.lease.is_zero() {
            return Err(Misconfigured("`guard.lease` must be at least 1ms, not 0s".to_owned()));
        }
        Ok(Deployment { scenario: scenario.clone(), calendar, strategy })
    }

    pub fn run(&self, seed: Seed, plan: &FaultPlan) -> Result<Run, Refused> {
        let mut trace = Trace::default();
        let felt: Vec<Receipt> =
            plan.faults.iter().map(|_| Receipt { fired: Some(SimTime(86_400_000)), felt: Some(SimTime(86_400_500)) }).collect();
        let twice = self.strategy.name() == "no-guard" || (!plan.faults.is_empty() && self.strategy.name().starts_with("lease"));
        let mut tx = 0;
        let mut number = 0;
        for host in HostId::all(self.scenario.nodes) {
            trace.push(SimTime::ZERO, Event::Booted { host, incarnation: 0 });
        }
        for (n, period) in self.calendar.periods.iter().enumerate() {
            let mut at = self.calendar.due(*period) + (seed.0 % 900).ms();
            number += 1;
            if n == 0 {
                for f in 0..plan.faults.len() {
                    trace.push(at, Event::Fired { fault: crate::id::FaultId(f as u16) });
                    trace.push(at, Event::Felt { fault: crate::id::FaultId(f as u16) });
                }
            }
            let winner = (seed.0 % u64::from(self.scenario.nodes)) as u8;
            for node in (0..self.scenario.nodes).map(|n| NodeId((n + winner) % self.scenario.nodes)) {
                let first = node.0 == winner;
                let attempt = AttemptId { node, number };
                at = at + 700.ms();
                trace.push(at, Event::AttemptBegan { attempt, period: period.id, wall: self.calendar.origin.wall(at) });
                if first || twice {
                    tx += 1;
                    at = at + 2.minutes();
                    trace.push(at, Event::Committed { tx: TxId(tx), by: HostId::Node(node), began: at });
                    trace.push(at, Event::Settled { tx: TxId(tx), period: period.id, node, attempt: 1 });
                    for rank in 1..=3 {
                        let player = PlayerId(rank);
                        trace.push(at + 50.ms(), Event::Paid { period: period.id, rank, player, amount: 100, keyed: false });
                    }
                    at = at + 60.ms();
                    trace.push(at, Event::AttemptEnded { attempt, period: period.id, belief: Belief::Settled });
                } else {
                    trace.push(at, Event::LeaseRefused { to: HostId::Node(node), holder: HostId::node(winner) });
                    trace.push(at, Event::AttemptEnded { attempt, period: period.id, belief: Belief::Busy });
                }
            }
        }
        let ended_at = self.calendar.due(self.calendar.periods[self.calendar.periods.len() - 1]) + 3.hours();
        Ok(Run { seed, trace, end: FinalState::default(), ended: Ended::Horizon, ended_at, receipts: felt, panics: Vec::new() })
    }

    pub fn judge(&self, run: &Run) -> Vec<(InvariantId, Verdict)> {
        let mut settled = BTreeMap::new();
        let mut twice = Verdict::Holds;
        for record in run.trace.records() {
            if let Event::Settled { period, node, .. } = record.event
                && let Some(first) = settled.insert(period, node)
                && twice == Verdict::Holds
            {
                let what = format!("{period} settled by {first}, then again by {node}");
                twice = Verdict::Broken(Violation { at: record.at, period: Some(period), what });
            }
        }
        InvariantId::ALL.map(|id| (id, if id == InvariantId::SettledOnce { twice.clone() } else { Verdict::Holds })).to_vec()
    }

    pub fn check_plan(&self, plan: &FaultPlan) -> Result<(), Misconfigured> {
        for fault in &plan.faults {
            if let Trigger::Step { step, .. } = &fault.when
                && !self.strategy.steps().contains(&step.as_str())
            {
                return Err(Misconfigured(format!("unknown step `{step}`; {} has `job.work`", self.strategy.name())));
            }
        }
        Ok(())
    }

    pub fn calendar(&self) -> &Calendar {
        &self.calendar
    }
    pub fn strategy(&self) -> &'static dyn Strategy {
        self.strategy
    }
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }
}
