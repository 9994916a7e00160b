//! The same deployment in a smaller world, for engines that pay for every simulated second:
//! minutes become seconds, and the days between two boundaries become a few minutes.

use crate::plan::FaultPlan;
use crate::plan::scale::divided;
use crate::scenario::{DatabaseKnobs, GuardKnobs, NetworkKnobs, NodeKnobs, Scenario};
use crate::settlement::{Calendar, Schedule};
use crate::time::{SimTime, Span};
use std::time::Duration;

/// Minutes become seconds.
const FACTOR: u32 = 60;

/// More periods would make a tick-driven run longer than a test should be.
const PERIODS_THAT_FIT: u32 = 3;

impl Scenario {
    /// The deployment with every duration divided by 60 and an interval schedule of at most
    /// three periods. What cannot shrink with the rest has a floor: a client waits at least
    /// 250 ms, a lock 150 ms; the network takes 2 to 8 ms. A deployment that is scaled already
    /// stays as it is.
    #[must_use]
    pub fn scaled_for_turmoil(&self) -> Scenario {
        if self.time_scale >= FACTOR {
            return self.clone();
        }
        let d = |d: Duration| divided(d, FACTOR);
        let node = NodeKnobs {
            jitter: d(self.node.jitter),
            poll: d(self.node.poll),
            attention: d(self.node.attention),
            work: d(self.node.work),
            timeout: d(self.node.timeout).max(250.ms()),
            step_jitter: self.node.step_jitter.min(1.ms()),
        };
        let guard = GuardKnobs {
            lease: d(self.guard.lease),
            watchdog_lease: d(self.guard.watchdog_lease),
            renew_every: d(self.guard.renew_every),
            heartbeat: d(self.guard.heartbeat),
            stale_after: d(self.guard.stale_after),
            backoff: d(self.guard.backoff),
            backoff_max: d(self.guard.backoff_max),
            dead_letter_after: self.guard.dead_letter_after,
            wake_after: d(self.guard.wake_after),
        };
        let database = DatabaseKnobs {
            lock_timeout: d(self.database.lock_timeout).max(150.ms()),
            idle_in_transaction_timeout: d(self.database.idle_in_transaction_timeout),
        };
        let liveness_bound = d(self.liveness_bound);
        // A period must be over, with all that may follow it, before the next one ends.
        let every = (node.attention * 2).max(node.attention + liveness_bound);
        let (Schedule::Cron { periods, .. } | Schedule::Interval { periods, .. }) = self.schedule;
        Scenario {
            strategy: self.strategy.clone(),
            nodes: self.nodes,
            players: self.players,
            earnings: self.earnings,
            schedule: Schedule::Interval { every, periods: periods.min(PERIODS_THAT_FIT) },
            node,
            guard,
            network: NetworkKnobs { latency_min: 2.ms(), latency_max: 8.ms() },
            database,
            liveness_bound,
            time_scale: FACTOR,
        }
    }

    /// A plan made for an unscaled deployment with the boundaries of `from`, for this scaled one with the boundaries of `to`.
    /// A fault at a true time keeps its distance, scaled, to its nearest boundary; one whose boundary
    /// did not fit is left out, and one at the very beginning stays there.
    #[must_use]
    pub fn scaled_plan(&self, plan: &FaultPlan, from: &Calendar, to: &Calendar) -> FaultPlan {
        let factor = self.time_scale.max(1);
        plan.scaled_onto(factor, |at| {
            if at == SimTime::ZERO {
                return Some(at);
            }
            let dues = from.periods.iter().map(|&p| from.due(p));
            let (place, due) = dues.enumerate().min_by_key(|(_, due)| due.0.abs_diff(at.0))?;
            let counterpart = to.due(*to.periods.get(place)?);
            let apart = divided(at.since(due).max(due.since(at)), factor);
            Some(if at < due { counterpart - apart } else { counterpart + apart })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Harm, Target, Trigger};

    #[test]
    fn minutes_become_seconds_and_the_result_is_good() {
        let scaled = Scenario::calm("dual-guard").scaled_for_turmoil();
        assert_eq!(scaled.guard.lease, 30.seconds());
        assert_eq!((scaled.node.work, scaled.node.poll), (2.seconds(), 1.seconds()));
        assert_eq!((scaled.node.timeout, scaled.database.lock_timeout), (250.ms(), 150.ms()));
        assert_eq!(scaled.schedule, Schedule::Interval { every: 6.minutes(), periods: 3 });
        assert_eq!(scaled.scaled_for_turmoil(), scaled);
        scaled.validate().expect("a scaled scenario can be run");
    }

    /// Five minutes before the second boundary is five seconds before its counterpart.
    #[test]
    fn faults_keep_their_distance_to_their_boundary() {
        let scenario = Scenario::default();
        let scaled = scenario.scaled_for_turmoil();
        let (from, to) = (scenario.schedule.calendar().expect("good"), scaled.schedule.calendar().expect("good"));
        let second = from.due(from.periods[1]);
        let strikes = |at_ms| Harm::Crash { host: Target::AllNodes, back_after: 5.minutes() }.when(Trigger::At { at_ms });
        let plan = FaultPlan::of([strikes(second - 5.minutes()), strikes(second + 90.seconds()), strikes(SimTime::ZERO)]);
        let times: Vec<SimTime> = scaled.scaled_plan(&plan, &from, &to).faults.into_iter().map(|f| at(&f.when)).collect();
        assert_eq!(times, [SimTime::ZERO + 715.seconds(), SimTime::ZERO + 721_500.ms(), SimTime::ZERO]);
    }

    fn at(when: &Trigger) -> SimTime {
        match when {
            Trigger::At { at_ms } => *at_ms,
            Trigger::Step { .. } => panic!("not a time: {when:?}"),
        }
    }
}
