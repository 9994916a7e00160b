//! Simpler triggers: the beginning, a first occurrence, a step instead of a time, a round time.

use crate::explore::shrink::Candidate;
use crate::explore::shrink::harms::targets;
use crate::id::HostId;
use crate::plan::{Fault, Harm, Target, Trigger};
use crate::settlement::Calendar;
use crate::step::Step;
use crate::time::SimTime;
use crate::trace::Phase;

/// One trigger at a time.
pub fn simpler(case: &Candidate, steps: &[Step]) -> Vec<Candidate> {
    let Ok(calendar) = case.scenario.schedule.calendar() else { return Vec::new() };
    let mut cases = Vec::new();
    for (n, fault) in case.plan.faults.iter().enumerate() {
        let simpler = match &fault.when {
            Trigger::Step { step, phase, nth, node } => {
                let with = |nth, node| Fault { when: Trigger::Step { step: step.clone(), phase: *phase, nth, node }, ..fault.clone() };
                let earlier = (1..*nth).flat_map(|nth| [with(nth, None), with(nth, *node)]);
                let always = clocks_from_the_beginning(fault, case.scenario.nodes);
                always.into_iter().chain(earlier).chain(node.is_some().then(|| with(*nth, None))).collect()
            }
            Trigger::At { at_ms: SimTime::ZERO } => Vec::new(),
            Trigger::At { at_ms } => instead_of_a_time(fault, *at_ms, &calendar, steps),
        };
        for fault in simpler {
            let mut next = case.clone();
            next.plan.faults[n] = fault;
            cases.push(next);
        }
    }
    cases
}

/// From the beginning; at the same distance from the first boundary; when any node makes a step, for the first time; at a rounder time.
fn instead_of_a_time(fault: &Fault, at: SimTime, calendar: &Calendar, steps: &[Step]) -> Vec<Fault> {
    let at_time = |at_ms: SimTime| Fault { when: Trigger::At { at_ms }, ..fault.clone() };
    let mut found = vec![at_time(SimTime::ZERO)];
    let at_steps = steps.iter().flat_map(|step| [Phase::Before, Phase::After].map(|phase| Trigger::first(step.name, phase)));
    found.extend(at_steps.map(|when| Fault { harm: of_whoever_is_in_it(fault), when }));
    let first = calendar.due(calendar.periods[0]);
    let later = calendar.periods[1..].iter().map(|period| calendar.due(*period)).filter(|due| due.0 <= at.0 + first.0);
    found.extend(later.map(|due| at_time(SimTime((at.0 + first.0).saturating_sub(due.0)))));
    found.extend(
        [3_600_000, 60_000, 1_000].map(|unit| at.0 / unit * unit).into_iter().filter(|round| *round != at.0).map(SimTime).map(at_time),
    );
    found
}

/// A clock that is wrong from the beginning needs no step to make it so.
fn clocks_from_the_beginning(fault: &Fault, nodes: u8) -> Vec<Fault> {
    let whose = |host: Target| match host {
        Target::Self_ => (0..nodes).map(|n| Target::Host(HostId::node(n))).collect(),
        other => vec![other],
    };
    let harms: Vec<Harm> = match fault.harm {
        Harm::ClockOffset { host, by_ms } => whose(host).into_iter().map(|host| Harm::ClockOffset { host, by_ms }).collect(),
        Harm::ClockDrift { host, ppm, lasts } => whose(host).into_iter().map(|host| Harm::ClockDrift { host, ppm, lasts }).collect(),
        _ => Vec::new(),
    };
    harms.into_iter().map(|harm| harm.when(Trigger::start())).collect()
}

/// A fault of one node at a time strikes, at a step, whoever makes it.
fn of_whoever_is_in_it(fault: &Fault) -> Harm {
    let mut harm = fault.harm.clone();
    if let Some(victim) = targets(&mut harm).into_iter().next()
        && matches!(victim, Target::Host(host) if host.as_node().is_some())
    {
        *victim = Target::Self_;
    }
    harm
}
