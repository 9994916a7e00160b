//! A smaller deployment: fewer periods, nodes, players, earnings.

use crate::explore::shrink::Candidate;
use crate::explore::shrink::harms::targets;
use crate::id::HostId;
use crate::plan::{Fault, Target, Trigger};
use crate::scenario::Scenario;
use crate::settlement::Schedule;
use crate::step::Step;

/// Numbers to come down to.
const FEW: [u32; 7] = [1, 2, 3, 5, 10, 20, 50];

/// One number at a time, the smallest first.
pub fn smaller(case: &Candidate, _: &[Step]) -> Vec<Candidate> {
    let few = |now: u32| FEW.into_iter().filter(move |few| *few < now);
    let with = |change: &dyn Fn(&mut Candidate)| {
        let mut next = case.clone();
        change(&mut next);
        next
    };
    let mut cases = Vec::new();
    cases.extend(few(periods(&case.scenario.schedule)).map(|n| with(&|next| watch(&mut next.scenario.schedule, n))));
    cases.extend((1..case.scenario.nodes).map(|nodes| on_fewer_nodes(case, nodes)));
    cases.extend(few(case.scenario.players).map(|n| with(&|next| next.scenario.players = n)));
    let none = (case.scenario.earnings > 0).then_some(0);
    cases.extend(none.into_iter().chain(few(case.scenario.earnings)).map(|n| with(&|next| next.scenario.earnings = n)));
    cases
}

/// How many periods a schedule watches.
pub fn periods(schedule: &Schedule) -> u32 {
    let (Schedule::Cron { periods, .. } | Schedule::Interval { periods, .. }) = schedule;
    *periods
}

fn watch(schedule: &mut Schedule, n: u32) {
    let (Schedule::Cron { periods, .. } | Schedule::Interval { periods, .. }) = schedule;
    *periods = n;
}

/// Nodes that the plan names keep their order and take the first numbers; faults of nodes for which there is no number left go.
fn on_fewer_nodes(case: &Candidate, nodes: u8) -> Candidate {
    let mut next = Candidate { scenario: Scenario { nodes, ..case.scenario.clone() }, ..case.clone() };
    let mut named: Vec<u8> = next.plan.faults.iter_mut().flat_map(hosts).filter_map(|host| host.as_node()).map(|n| n.0).collect();
    named.sort_unstable();
    named.dedup();
    named.truncate(usize::from(nodes));
    let place = |host: HostId| named.iter().position(|n| HostId::node(*n) == host).map(|n| HostId::node(n as u8));
    next.plan.faults.retain_mut(|fault| {
        hosts(fault).into_iter().all(|host| match (host.as_node(), place(*host)) {
            (None, _) => true,
            (Some(_), Some(renamed)) => {
                *host = renamed;
                true
            }
            (Some(_), None) => false,
        })
    });
    next
}

/// The hosts that a fault names, to be changed.
fn hosts(fault: &mut Fault) -> Vec<&mut HostId> {
    let mut found = Vec::new();
    if let Trigger::Step { node: Some(host), .. } = &mut fault.when {
        found.push(host);
    }
    found.extend(targets(&mut fault.harm).into_iter().filter_map(|target| if let Target::Host(host) = target { Some(host) } else { None }));
    found
}
