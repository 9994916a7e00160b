//! Whether a plan can strike a deployment at all: its nodes exist, its steps are steps of the
//! strategy, and what needs a step has one.

use crate::id::{FaultId, HostId};
use crate::plan::{Fault, FaultPlan, Harm, Target, Trigger, duration};
use crate::step::{Step, hosts};
use crate::time::zone;
use std::time::Duration;

/// A fault that can never strike as it is written.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{fault} of the plan {what}")]
pub struct Misplanned {
    /// Which one, counted from 0.
    pub fault: FaultId,
    /// What is wrong with it, and what to write.
    pub what: String,
}

impl FaultPlan {
    /// Checks the plan against a deployment of `nodes` nodes whose strategy has these `steps`.
    ///
    /// # Errors
    /// The first mistake of each fault that has one.
    pub fn validate(&self, nodes: u8, steps: &[Step]) -> Result<(), Vec<Misplanned>> {
        let wrong = |(n, fault): (u16, &Fault)| {
            let what = fault.trigger_mistake(nodes, steps).or_else(|| fault.harm_mistake(nodes, steps)).or_else(|| fault.too_much())?;
            Some(Misplanned { fault: FaultId(n), what })
        };
        let found: Vec<Misplanned> = (0..).zip(&self.faults).filter_map(wrong).collect();
        if found.is_empty() { Ok(()) } else { Err(found) }
    }
}

/// Longer than any run has to last, and short enough for sums to stay far from overflow.
const YEAR: Duration = Duration::from_hours(366 * 24);

impl Fault {
    /// What to say if a length or an offset is beyond a year.
    fn too_much(&self) -> Option<String> {
        let long = |key: &str, d: Duration| (d > YEAR).then(|| format!("has `{key}` = {}; write at most \"8784h\"", duration::text(d)));
        match self.harm {
            Harm::Crash { back_after, .. } | Harm::Power { back_after, .. } | Harm::LeaseWipe { back_after, .. } => {
                long("back_after", back_after)
            }
            Harm::Pause { lasts, .. } | Harm::Partition { lasts, .. } | Harm::LeaseStall { lasts, .. } => long("lasts", lasts),
            Harm::Shutdown { grace, back_after, .. } => long("grace", grace).or_else(|| long("back_after", back_after)),
            Harm::LeaseFailover { lag, back_after, .. } => long("lag", lag).or_else(|| long("back_after", back_after)),
            Harm::Late { extra, lasts, .. } => long("extra", extra).or_else(|| long("lasts", lasts)),
            Harm::SlowStep { extra } => long("extra", extra),
            Harm::ClockOffset { by_ms, .. } => {
                let most = YEAR.as_millis() as u64;
                (by_ms.unsigned_abs() > most).then(|| format!("moves a clock by {by_ms} ms; write -{most} to {most}"))
            }
            Harm::ClockDrift { lasts, .. } => lasts.and_then(|lasts| long("lasts", lasts)),
            Harm::ReplyLost { .. }
            | Harm::JobError { .. }
            | Harm::LeaseEvict { .. }
            | Harm::CommitFails { .. }
            | Harm::SessionEnds { .. }
            | Harm::Zone { .. }
            | Harm::Redeliver => None,
        }
    }

    fn trigger_mistake(&self, nodes: u8, steps: &[Step]) -> Option<String> {
        match &self.when {
            Trigger::Step { step, .. } if !steps.iter().any(|s| s.name == step) => {
                let known: Vec<&str> = steps.iter().map(|s| s.name).collect();
                Some(format!("waits for the unknown step `{step}`; write one of the strategy's: {}", known.join(", ")))
            }
            Trigger::Step { nth: 0, .. } => Some("waits for occurrence 0 of a step; write `nth = 1` for the first".to_owned()),
            Trigger::Step { node: Some(host), .. } => missing(*host, nodes, steps).or_else(|| {
                let idle = host.as_node().is_none();
                idle.then(|| format!("waits for a step of `{host}`, but only nodes have steps; write `n0`"))
            }),
            Trigger::At { .. } | Trigger::Step { node: None, .. } => None,
        }
    }

    fn harm_mistake(&self, nodes: u8, steps: &[Step]) -> Option<String> {
        let at_a_step = matches!(self.when, Trigger::Step { .. });
        let victim = |target: Target| match target {
            Target::Self_ if !at_a_step => Some("strikes `self` at a time; write whom it strikes, or a step instead of `at_ms`".to_owned()),
            Target::Everyone => Some("strikes `everyone`, which is only the other side of a cut; write `all-nodes` or a host".to_owned()),
            Target::Host(host) => missing(host, nodes, steps),
            Target::Peer => Some("strikes `peer`, which is only the other side; write `self`, `all-nodes` or a host".to_owned()),
            Target::Self_ | Target::AllNodes => None,
        };
        let other = |target: Target| match target {
            Target::Host(host) => missing(host, nodes, steps),
            Target::Everyone | Target::AllNodes => None,
            Target::Peer => {
                (!at_a_step).then(|| "has `peer` on the other side at a time; write a host, or a step instead of `at_ms`".to_owned())
            }
            Target::Self_ => Some("has `self` on the other side; write `everyone` or a host".to_owned()),
        };
        match self.harm {
            Harm::Zone { .. } if self.when != Trigger::start() => {
                Some("gives a node another time zone in the middle of the run; write `when = { at_ms = 0 }`".to_owned())
            }
            Harm::Zone { zone: ref name, .. } if zone(name).is_err() => zone(name).err().map(|why| format!("gives a node a wrong time zone: {why}")),
            Harm::Zone { host: Target::Host(host), .. } if host.as_node().is_none() => {
                Some(format!("gives `{host}` another time zone, but only nodes wait for boundaries; write `n0` or `all-nodes`"))
            }
            Harm::Shutdown { host: Target::Host(host), .. } if host.as_node().is_none() => {
                Some(format!("tells `{host}` to stop, but only nodes have a job to finish; write `self`, `all-nodes`, a node, or `kind = \"crash\"`"))
            }
            Harm::ClockDrift { ppm, .. } if !(-500_000..=500_000).contains(&ppm) => {
                Some(format!("makes a clock run wrong by {ppm} parts per million; write -500000 to 500000"))
            }
            Harm::CommitFails { host: Target::Host(host) } | Harm::SessionEnds { host: Target::Host(host) }
                if !matches!(host, HostId::Node(_) | HostId::Traffic) =>
            {
                Some(format!("strikes `{host}`, which is no client of the database; write `self`, `all-nodes`, `traffic` or a node"))
            }
            Harm::Crash { host, .. }
            | Harm::Power { host, .. }
            | Harm::Pause { host, .. }
            | Harm::ClockOffset { host, .. }
            | Harm::ClockDrift { host, .. }
            | Harm::CommitFails { host }
            | Harm::SessionEnds { host }
            | Harm::Zone { host, .. }
            | Harm::Shutdown { host, .. } => victim(host),
            Harm::LeaseStall { lasts, .. } if lasts.is_zero() => Some("keeps the lease store busy for no time; write `lasts = \"10s\"`".to_owned()),
            Harm::Partition { host, from, .. } | Harm::Late { host, from, .. } => victim(host).or_else(|| other(from)),
            Harm::ReplyLost { host, from: from @ (Target::Host(_) | Target::Peer) } => victim(host).or_else(|| other(from)),
            Harm::ReplyLost { .. } => {
                Some("loses the reply of more than one host; write `from = \"db\"`, `\"lease\"`, `\"payout\"` or `\"peer\"`".to_owned())
            }
            Harm::LeaseFailover { lag, .. } if lag.is_zero() => {
                Some("fails over to a replica that has seen everything, as a restart does; write `lag = \"1s\"`, or `kind = \"crash\", host = \"lease\"`".to_owned())
            }
            Harm::LeaseWipe { store, .. } | Harm::LeaseEvict { store } | Harm::LeaseFailover { store, .. } | Harm::LeaseStall { store, .. } => {
                match store {
                    HostId::Lease | HostId::FurtherLease(_) => missing(store, nodes, steps),
                    other => Some(format!("has `store` = \"{other}\", which is no lease store; write `store = \"lease1\"`, or leave it out for the first")),
                }
            }
            Harm::Redeliver => None,
            Harm::JobError { times: 0 } => Some("makes the job fail 0 times; write `times = 1`".to_owned()),
            Harm::SlowStep { .. } | Harm::JobError { .. } => {
                (!at_a_step).then(|| "strikes a step at a time; write `step` and `phase` instead of `at_ms`".to_owned())
            }
        }
    }
}

/// What to say if the deployment has no such host.
fn missing(host: HostId, nodes: u8, steps: &[Step]) -> Option<String> {
    if hosts(nodes, steps).contains(&host) {
        return None;
    }
    Some(match host.as_node() {
        Some(node) => format!("strikes {node}, but the nodes are n0 to n{}", nodes.saturating_sub(1)),
        None => format!("strikes `{host}`, which this strategy never asks; write a server of its steps, for example `db`"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Span;
    use crate::trace::Phase;

    const STEPS: [Step; 2] = [Step::lease("lease.acquire"), Step::work("work.1")];

    fn crash(host: Target) -> Harm {
        Harm::Crash { host, back_after: 5.minutes() }
    }

    #[test]
    fn a_plan_that_fits_is_good() {
        let plan = FaultPlan::of([
            crash(Target::Host(HostId::node(2))).when(Trigger::start()),
            crash(Target::Self_).when(Trigger::first("work.1", Phase::After)),
            Harm::JobError { times: 2 }.when(Trigger::first("work.1", Phase::Before)),
        ]);
        assert_eq!(plan.validate(3, &STEPS), Ok(()));
    }

    #[test]
    fn each_mistake_says_what_to_write() {
        let start = Trigger::start;
        for (fault, said) in [
            (crash(Target::Host(HostId::node(3))).when(start()), "fault 0 of the plan strikes n3, but the nodes are n0 to n2"),
            (crash(Target::Self_).when(start()), "write whom it strikes"),
            (crash(Target::Everyone).when(start()), "write `all-nodes` or a host"),
            (
                crash(Target::Self_).when(Trigger::first("work.9", Phase::After)),
                "unknown step `work.9`; write one of the strategy's: lease.acquire, work.1",
            ),
            (crash(Target::Self_).when(Trigger::nth("work.1", Phase::After, 0)), "write `nth = 1`"),
            (Harm::SlowStep { extra: 43.minutes() }.when(start()), "write `step` and `phase` instead of `at_ms`"),
            (Harm::ClockOffset { host: Target::AllNodes, by_ms: i64::MIN }.when(start()), "write -31622400000 to 31622400000"),
            (Harm::Pause { host: Target::AllNodes, lasts: 8_785.hours() }.when(start()), "has `lasts` = 8785h; write at most \"8784h\""),
            (Harm::SlowStep { extra: Duration::MAX }.when(Trigger::first("work.1", Phase::Before)), "has `extra` ="),
            (Harm::JobError { times: 0 }.when(Trigger::first("work.1", Phase::Before)), "write `times = 1`"),
            (
                Harm::LeaseFailover { store: HostId::Lease, lag: Duration::ZERO, back_after: 5.seconds() }.when(start()),
                "write `lag = \"1s\"`",
            ),
            (Harm::LeaseStall { store: HostId::Lease, lasts: 8_785.hours() }.when(start()), "has `lasts` = 8785h"),
            (Harm::LeaseEvict { store: HostId::FurtherLease(2) }.when(start()), "strikes `lease2`, which this strategy never asks"),
            (Harm::LeaseEvict { store: HostId::Database }.when(start()), "write `store = \"lease1\"`"),
            (
                Harm::Zone { host: Target::AllNodes, zone: "Mars/Olympus".to_owned() }.when(start()),
                "unknown time zone `Mars/Olympus`; write an IANA name",
            ),
            (
                Harm::Zone { host: Target::AllNodes, zone: "UTC+8".to_owned() }.when(start()),
                "the time zone `UTC+8` is neither an IANA name nor an offset",
            ),
            (
                Harm::Zone { host: Target::Self_, zone: "UTC".to_owned() }.when(Trigger::first("work.1", Phase::After)),
                "write `when = { at_ms = 0 }`",
            ),
            (Harm::Zone { host: Target::Host(HostId::Lease), zone: "UTC".to_owned() }.when(start()), "only nodes wait for boundaries"),
            (Harm::ReplyLost { host: Target::AllNodes, from: Target::Everyone }.when(start()), "write `from = \"db\"`"),
        ] {
            let error = FaultPlan::of([fault]).validate(3, &STEPS).expect_err(said)[0].to_string();
            assert!(error.contains(said), "{error}");
        }
    }
}
