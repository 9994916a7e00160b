//! The same deployment in a smaller world, for engines that pay for every simulated second:
//! two minutes become one second, and one period is watched.
//!
//! What a guard does depends on how its constants compare with each other and with the faults,
//! not on how long they are. These relations hold before and after scaling:
//!
//! * one round trip ≪ one transaction; two transactions < lock timeout < client timeout < idle limit of a session
//! * two renewals and an unanswered one < dual-guard's lease < age of a dead heartbeat ≤ time until a crashed process is back
//! * one renewal and its answer < a watchdog's lease < poll: who is refused by a holder that cannot renew is granted the next time
//! * jitter and a round trip < lease of SETNX and EXPIRE < work
//! * work < lease with a machine's id < pause; time until a crashed process is back < that lease
//! * work < smallest gap of the class skew; longest skew < time before the first boundary
//! * lease < pause < slow job; lease + longest backoff + one attempt < liveness bound
//! * two renewals ≤ a leader's lease; two of them ≤ how long before a boundary its election begins
//! * a check-in and its answer < age at which a node seems dead; three transactions < age of a misfire
//! * two round trips < heartbeat of the log < election < rest, and the longest election < lease in the log < pause
//! * work and a transaction < the dispatch centre's timeout < pause
//! * outage ≤ attention, so that a run lasts a liveness bound longer than any fault at a time
//!
//! Everything is divided by the same factor, and so are the faults, so what is compared with
//! minutes keeps its relations by itself. A round trip cannot shrink, for a tick-driven engine
//! pays for each tick: what is compared with round trips has a floor.

use crate::plan::scale::divided;
use crate::plan::{FaultPlan, Harm, Moved};
use crate::scenario::{
    CentreKnobs, DatabaseKnobs, GuardKnobs, JobLengths, LogKnobs, MisfireKnobs, NetworkKnobs, NodeKnobs, Override, Scenario,
};
use crate::settlement::{Calendar, Schedule, scaled_zone};
use crate::time::{SimTime, Span, zone};
use jiff::tz::TimeZone;
use std::time::Duration;

/// Two minutes become one second.
const FACTOR: u32 = 120;

/// More than one period would make a tick-driven run longer than a test should be.
const PERIODS_THAT_FIT: u32 = 1;

/// Half of the smallest latency is a tick, and ticks are what a run costs.
const LATENCY_MIN: Duration = Duration::from_millis(12);

/// A spread of several milliseconds lets latency, not the tick, decide races.
const LATENCY_MAX: Duration = Duration::from_millis(18);

/// Two settlement transactions of nine round trips of 36 ms and what their ticks add: the last
/// of three nodes waits for two others.
const LOCK_TIMEOUT: Duration = Duration::from_millis(800);

/// Longer than a lock timeout and the way of its answer.
const TIMEOUT: Duration = Duration::from_secs(1);

/// Watched before the first boundary, real time: an outage begins five minutes before it, and a fast clock reaches it up to seven and a half early.
const LEAD: Duration = Duration::from_mins(10);

/// Attention that is enough after a boundary or a start, real time: the longest outage. Where leases are very long, [`SLOWEST_JOB`] and a lease.
const ATTENTION: Duration = Duration::from_hours(2);

/// The longest job of a drawn plan and some, real time.
const SLOWEST_JOB: Duration = Duration::from_mins(90);

/// What is left of the liveness bound after a lease has run out, real time: the longest backoff and several attempts.
const AFTER_A_LEASE: Duration = Duration::from_mins(30);

impl Scenario {
    /// The deployment with every duration divided by 120 and one period, which ends five seconds
    /// after the beginning. Attention and liveness bound are shortened to what the relations
    /// of this module need, if they are longer. The network takes 12 to 18 ms, a client waits
    /// at least 1 s, a lock 800 ms. A deployment that is scaled already stays as it is.
    #[must_use]
    pub fn scaled_for_turmoil(&self) -> Scenario {
        if self.time_scale > 1 {
            return self.clone();
        }
        let d = |d: Duration| divided(d, FACTOR);
        let (Schedule::Cron { periods, .. } | Schedule::Interval { periods, .. }) = self.schedule;
        let attention = d(self.node.attention.min(ATTENTION.max(self.guard.lease.saturating_add(SLOWEST_JOB))));
        let liveness_bound = d(self.liveness_bound.min(self.guard.lease.saturating_add(AFTER_A_LEASE)));
        // A period must be over, with all that may follow it, before the next one ends.
        let every = if periods.min(PERIODS_THAT_FIT) == 1 { d(LEAD) } else { d(LEAD) + attention + liveness_bound };
        let timeout = d(self.node.timeout).max(TIMEOUT);
        let overrides = self.overrides.iter().map(|other| self.scaled_override(other, every)).collect();
        Scenario {
            strategy: self.strategy.clone(),
            nodes: self.nodes,
            players: self.players,
            earnings: self.earnings,
            schedule: Schedule::Interval { every, periods: periods.min(PERIODS_THAT_FIT) },
            node: NodeKnobs { attention, ..self.node.scaled() },
            guard: self.guard.scaled(timeout),
            network: NetworkKnobs { latency_min: LATENCY_MIN, latency_max: LATENCY_MAX },
            database: DatabaseKnobs {
                rules: self.database.rules,
                lock_timeout: d(self.database.lock_timeout).max(LOCK_TIMEOUT),
                idle_in_transaction_timeout: d(self.database.idle_in_transaction_timeout).max(timeout * 2),
                replica_lag: d(self.database.replica_lag),
                pool: self.database.pool,
            },
            liveness_bound,
            time_scale: FACTOR,
            // Scaled when they are used.
            queue: self.queue.clone(),
            log: self.log.scaled(timeout),
            centre: CentreKnobs { timeout: d(self.centre.timeout) },
            lease_row: self.lease_row.scaled(FACTOR),
            slot_key: self.slot_key.scaled(FACTOR),
            leader: self.leader.scaled(FACTOR, LATENCY_MAX * 4),
            clocks: self.clocks.clone(),
            job_lengths: self.job_lengths.as_ref().map(|job| JobLengths {
                p50: d(job.p50),
                p95: d(job.p95),
                p99: d(job.p99),
                max: d(job.max),
            }),
            overrides,
            row_lock: self.row_lock.scaled(FACTOR, LATENCY_MAX * 4),
            payout: self.payout.scaled(FACTOR),
        }
    }

    /// What is said about one node alone, where the first boundary comes `every` after the beginning.
    fn scaled_override(&self, other: &Override, every: Duration) -> Override {
        let known = self.known_to(other.node);
        let node = known.node.scaled();
        other.scaled(&node, &known.guard.scaled(node.timeout), |name| self.scaled_zone(name, every))
    }

    /// The zone that stands in for another one where the first boundary comes `every` after the beginning. What is no
    /// zone stays as it is, to be refused.
    fn scaled_zone(&self, name: &str, every: Duration) -> String {
        let (Ok(other), Ok(truth)) = (zone(name), self.schedule.calendar()) else { return name.to_owned() };
        let at = truth.next_after(truth.origin.0).due;
        scaled_zone(&other, &truth.zone, at, &TimeZone::UTC, SimTime::ZERO + every, FACTOR)
    }

    /// A plan made for an unscaled deployment with the boundaries of `from`, for this scaled one with the boundaries of `to`.
    /// A fault at a true time keeps its distance, scaled, to its nearest boundary; if that did
    /// not fit, to the last one that did. One at the very beginning stays there.
    #[must_use]
    pub fn scaled_plan(&self, plan: &FaultPlan, from: &Calendar, to: &Calendar) -> FaultPlan {
        let factor = self.time_scale.max(1);
        let mut plan = plan.clone();
        for fault in &mut plan.faults {
            if let Harm::Zone { zone: name, .. } = &mut fault.harm
                && let (Ok(other), Some(first)) = (zone(name), to.periods.first())
            {
                let at = from.next_after(from.origin.0).due;
                *name = scaled_zone(&other, &from.zone, at, &to.zone, to.due(*first), factor);
            }
        }
        plan.scaled_onto(factor, |at| {
            if at == SimTime::ZERO {
                return Some(Moved::to(at));
            }
            let dues = from.periods.iter().map(|&p| from.due(p));
            let (place, due) = dues.enumerate().min_by_key(|(_, due)| due.0.abs_diff(at.0))?;
            let counterpart = to.due(*to.periods.get(place).or(to.periods.last())?);
            let apart = divided(at.since(due).max(due.since(at)), factor);
            if at >= due {
                return Some(Moved::to(counterpart + apart));
            }
            Some(Moved { at: counterpart - apart, missed: apart.saturating_sub(counterpart.since(SimTime::ZERO)) })
        })
    }
}

impl NodeKnobs {
    /// Divided; a client waits for as long as ticks need.
    fn scaled(&self) -> NodeKnobs {
        let d = |d: Duration| divided(d, FACTOR);
        NodeKnobs {
            jitter: d(self.jitter),
            poll: d(self.poll),
            attention: d(self.attention),
            work: d(self.work),
            timeout: d(self.timeout).max(TIMEOUT),
            step_jitter: self.step_jitter.min(1.ms()),
            policy: self.policy,
            misfire: MisfireKnobs { grace: d(self.misfire.grace), ..self.misfire },
        }
    }
}

impl GuardKnobs {
    /// Divided, with a floor for what must survive one unanswered request between two answered ones.
    fn scaled(&self, timeout: Duration) -> GuardKnobs {
        let d = |d: Duration| divided(d, FACTOR);
        let outlives = |every: Duration| every * 2 + timeout + LATENCY_MAX * 4;
        let (dual_renew_every, heartbeat) = (d(self.dual_renew_every), d(self.heartbeat));
        GuardKnobs {
            lease: d(self.lease),
            setnx_lease: d(self.setnx_lease),
            machine_lease: d(self.machine_lease),
            // Not the floor of the others: the job would be over before the lease could run out.
            watchdog_lease: d(self.watchdog_lease).max(d(self.renew_every) * 2),
            renew_every: d(self.renew_every),
            dual_lease: d(self.dual_lease).max(outlives(dual_renew_every)),
            dual_renew_every,
            heartbeat,
            stale_after: d(self.stale_after).max(outlives(heartbeat)),
            backoff: d(self.backoff),
            backoff_max: d(self.backoff_max),
            dead_letter_after: self.dead_letter_after,
            operator: d(self.operator),
            wake_after: d(self.wake_after),
            key_prefix: self.key_prefix.clone(),
        }
    }
}

impl LogKnobs {
    /// Divided, with floors: a heartbeat waits for a round trip, an election for heartbeats, rest for elections.
    fn scaled(&self, timeout: Duration) -> LogKnobs {
        let d = |d: Duration| divided(d, FACTOR);
        let heartbeat = d(self.heartbeat).max(LATENCY_MAX * 6);
        let election = d(self.election).max(heartbeat * 3);
        let renew_every = d(self.renew_every);
        LogKnobs {
            heartbeat,
            election,
            rest_after: d(self.rest_after).max(election * 5),
            lease: d(self.lease).max(renew_every * 2 + timeout + LATENCY_MAX * 8),
            renew_every,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Target, Trigger};
    use crate::time::millis;

    /// The module's list, on the default deployment and the catalogue's magnitudes, before and after scaling.
    #[test]
    fn relations_between_constants_survive_scaling() {
        let real = Scenario::default();
        for scenario in [real.scaled_for_turmoil(), real] {
            let fault = |real: Duration| real / scenario.time_scale;
            let (node, guard, database) = (&scenario.node, &scenario.guard, &scenario.database);
            let round_trip = scenario.network.latency_max * 2;
            let transaction = round_trip * 9;
            assert!(transaction * 2 < database.lock_timeout && database.lock_timeout < node.timeout);
            assert!(node.timeout * 2 <= database.idle_in_transaction_timeout);
            assert!(node.timeout + round_trip + node.poll < guard.stale_after, "a lost reply is known before its claim is dead");
            assert!(guard.dual_renew_every * 2 + node.timeout + round_trip < guard.dual_lease);
            assert!(guard.renew_every + round_trip < guard.watchdog_lease && guard.watchdog_lease < node.poll);
            assert!(node.jitter + round_trip < guard.setnx_lease && guard.setnx_lease < node.work);
            assert!(node.work + transaction < guard.machine_lease && fault(5.minutes()) < guard.machine_lease);
            assert!(guard.machine_lease < fault(40.minutes()));
            assert!(guard.heartbeat * 2 + node.timeout + round_trip < guard.stale_after);
            assert!(guard.dual_lease < guard.stale_after && guard.stale_after <= fault(5.minutes()));
            assert!(
                guard.wake_after + node.work + transaction + node.jitter < fault(270_000.ms()),
                "a fast node settles before the boundary"
            );
            assert!(node.work + transaction + node.jitter < fault(4.minutes()));
            assert!(guard.stale_after < guard.lease && guard.lease < fault(40.minutes()));
            let log = &scenario.log;
            assert!(round_trip * 2 < log.heartbeat && log.heartbeat * 2 < log.election, "a heartbeat waits for its answer");
            assert!(log.election * 4 < log.rest_after && log.election * 4 < log.lease, "a lease outlives an election");
            assert!(log.renew_every * 2 < log.lease && log.lease < fault(40.minutes()));
            assert!(node.work + transaction < scenario.centre.timeout && scenario.centre.timeout < fault(40.minutes()));
            let attempt = node.poll * 3 + node.work * 2;
            assert!(guard.lease + guard.backoff_max + attempt < scenario.liveness_bound);
            let (leader, row) = (&scenario.leader, &scenario.row_lock);
            assert!(round_trip < leader.renew_every && leader.renew_every * 2 <= leader.lasts && leader.lasts * 2 <= leader.ahead);
            assert!(row.check_in + round_trip < row.dead_after && row.dead_after < fault(5.minutes()));
            assert!(row.misfire_after + row.dead_after < fault(40.minutes()));
            let (lease_row, slot) = (&scenario.lease_row, &scenario.slot_key);
            assert!(node.work + transaction < lease_row.at_least && lease_row.at_least < fault(38.minutes()));
            assert!(lease_row.at_most < fault(40.minutes()) && fault(10.minutes()) < slot.kept);
            assert!(fault(2.hours()) <= node.attention && fault(65.minutes()) + guard.lease <= node.attention);
        }
    }

    #[test]
    fn a_scaled_run_is_short_and_good() {
        let scaled = Scenario::calm("dual-guard").scaled_for_turmoil();
        scaled.validate().expect("a scaled scenario can be run");
        assert_eq!(scaled.schedule, Schedule::Interval { every: 5.seconds(), periods: 1 });
        assert_eq!((scaled.guard.lease, scaled.node.work), (15.seconds(), 1.seconds()));
        let horizon = 5.seconds() + scaled.node.attention + scaled.liveness_bound;
        let tick = millis(scaled.network.latency_min) / 2;
        assert!(millis(horizon) / tick < 20_000, "{horizon:?} in ticks of {tick} ms");
        assert_eq!(scaled.scaled_for_turmoil(), scaled, "only once");
    }

    /// Constants at their lower bounds are still a deployment that can be run.
    #[test]
    fn the_smallest_constants_scale_too() {
        let least = 1.ms();
        let guard = GuardKnobs {
            lease: least,
            setnx_lease: least,
            machine_lease: least,
            watchdog_lease: 2.ms(),
            renew_every: least,
            dual_lease: 2.ms(),
            dual_renew_every: least,
            heartbeat: least,
            stale_after: 2.ms(),
            ..GuardKnobs::default()
        };
        let scenario = Scenario { guard, liveness_bound: least, ..Scenario::default() };
        scenario.scaled_for_turmoil().validate().expect("scaling keeps what is checked");
    }

    /// Two minutes before the first boundary is one second before its counterpart; what belongs
    /// to a boundary that did not fit moves to the last one that did.
    #[test]
    fn faults_keep_their_distance_to_their_boundary() {
        let scenario = Scenario::default();
        let scaled = scenario.scaled_for_turmoil();
        let (from, to) = (scenario.schedule.calendar().expect("good"), scaled.schedule.calendar().expect("good"));
        let [first, second] = [0, 1].map(|n| from.due(from.periods[n]));
        let strikes = |at_ms| Harm::Crash { host: Target::AllNodes, back_after: 5.minutes() }.when(Trigger::At { at_ms });
        let plan = FaultPlan::of([strikes(first - 2.minutes()), strikes(second + 60.seconds()), strikes(SimTime::ZERO)]);
        let times: Vec<SimTime> = scaled.scaled_plan(&plan, &from, &to).faults.into_iter().map(|f| at(&f.when)).collect();
        assert_eq!(times, [SimTime(4_000), SimTime(5_500), SimTime::ZERO]);
    }

    fn at(when: &Trigger) -> SimTime {
        match when {
            Trigger::At { at_ms } => *at_ms,
            Trigger::Step { .. } => panic!("not a time: {when:?}"),
        }
    }
}
