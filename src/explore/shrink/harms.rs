//! Milder kinds of harm: what does less, to fewer.

use crate::explore::shrink::Candidate;
use crate::id::HostId;
use crate::plan::{Direction, Harm, Target, Trigger};
use crate::step::Step;

/// One fault at a time made milder, the mildest first.
pub fn milder(case: &Candidate, _: &[Step]) -> Vec<Candidate> {
    let mut cases = Vec::new();
    for (n, fault) in case.plan.faults.iter().enumerate() {
        let at_a_step = matches!(fault.when, Trigger::Step { .. });
        for harm in kinds(&fault.harm, at_a_step).into_iter().chain(narrower(&fault.harm, at_a_step, case.scenario.nodes)) {
            let mut next = case.clone();
            next.plan.faults[n].harm = harm;
            cases.push(next);
        }
    }
    cases
}

/// Power → crash → pause → slow. A failover or a restart of the lease store that loses leases → one evicted lease, or a restart that loses none.
fn kinds(harm: &Harm, at_a_step: bool) -> Vec<Harm> {
    let crashed = |store, back_after| Harm::Crash { host: Target::Host(store), back_after };
    match *harm {
        Harm::Power { host, back_after: d } => {
            let mut kinds = kinds(&Harm::Crash { host, back_after: d }, at_a_step);
            kinds.push(Harm::Crash { host, back_after: d });
            kinds
        }
        Harm::Crash { host, back_after: lasts } => {
            let mut kinds = kinds(&Harm::Pause { host, lasts }, at_a_step);
            kinds.push(Harm::Pause { host, lasts });
            kinds
        }
        Harm::Shutdown { host, back_after, .. } => vec![Harm::Crash { host, back_after }],
        Harm::Pause { host: Target::Self_, lasts: extra } if at_a_step => vec![Harm::SlowStep { extra }],
        Harm::Partition { host, from: from @ (Target::Host(_) | Target::Peer), .. } => vec![Harm::ReplyLost { host, from }],
        Harm::LeaseFailover { store, back_after, .. } => {
            vec![Harm::LeaseEvict { store }, crashed(store, back_after), Harm::LeaseWipe { store, back_after }]
        }
        Harm::LeaseWipe { store, back_after } => vec![Harm::LeaseEvict { store }, crashed(store, back_after)],
        Harm::Pause { .. }
        | Harm::Partition { .. }
        | Harm::ReplyLost { .. }
        | Harm::Late { .. }
        | Harm::SlowStep { .. }
        | Harm::JobError { .. }
        | Harm::ClockOffset { .. }
        | Harm::ClockDrift { .. }
        | Harm::LeaseEvict { .. }
        | Harm::LeaseStall { .. }
        | Harm::CommitFails { .. }
        | Harm::SessionEnds { .. }
        | Harm::Zone { .. }
        | Harm::Redeliver => Vec::new(),
    }
}

/// The same kind, for one node instead of all, against one server instead of everyone, in one direction instead of both.
fn narrower(harm: &Harm, at_a_step: bool, nodes: u8) -> Vec<Harm> {
    let with = |side: usize, one: Target| {
        let mut harm = harm.clone();
        *targets(&mut harm)[side] = one;
        harm
    };
    let mut known = harm.clone();
    let mut found = Vec::new();
    for (side, target) in targets(&mut known).into_iter().enumerate() {
        match (side, *target) {
            (0, Target::AllNodes) => {
                let own = at_a_step.then_some(Target::Self_);
                found.extend(own.into_iter().chain((0..nodes).map(|n| Target::Host(HostId::node(n)))).map(|one| with(side, one)));
            }
            (1.., Target::AllNodes | Target::Everyone) => {
                found.extend([HostId::Lease, HostId::Database, HostId::Payout].map(|server| with(side, Target::Host(server))));
            }
            _ => {}
        }
    }
    if let Harm::Partition { host, from, direction: Direction::Both, lasts } = *harm {
        found.extend([Direction::Outbound, Direction::Inbound].map(|direction| Harm::Partition { host, from, direction, lasts }));
    }
    found
}

/// Whom a harm strikes, then who is on the other side, to be changed.
pub fn targets(harm: &mut Harm) -> Vec<&mut Target> {
    match harm {
        Harm::Crash { host, .. }
        | Harm::Power { host, .. }
        | Harm::Pause { host, .. }
        | Harm::ClockOffset { host, .. }
        | Harm::ClockDrift { host, .. }
        | Harm::CommitFails { host }
        | Harm::SessionEnds { host }
        | Harm::Zone { host, .. }
        | Harm::Shutdown { host, .. } => vec![host],
        Harm::Partition { host, from, .. } | Harm::ReplyLost { host, from } | Harm::Late { host, from, .. } => vec![host, from],
        Harm::SlowStep { .. }
        | Harm::JobError { .. }
        | Harm::LeaseWipe { .. }
        | Harm::LeaseEvict { .. }
        | Harm::LeaseFailover { .. }
        | Harm::LeaseStall { .. }
        | Harm::Redeliver => Vec::new(),
    }
}
