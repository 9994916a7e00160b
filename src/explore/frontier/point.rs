//! A point of the frontier: one strategy under one set of conditions, all but one fixed, the
//! faults that make them, and the value of the free one at which they should become dangerous.

use crate::class::FaultClass;
use crate::explore::frontier::guard::{AFTER_THE_JOB, IN_THE_JOB, Kept, Lease, Place};
use crate::id::{HostId, Letter};
use crate::plan::{Fault, FaultPlan, Harm, Target, Trigger};
use crate::scenario::Scenario;
use crate::settlement::Schedule;
use crate::strategy::body::JOB_STEPS;
use crate::strategy::{Expectation, Policy, Strategy};
use crate::time::{Span, millis};
use crate::trace::Phase;
use std::time::Duration;

/// Parts per million by which a clock runs wrong, where one does: 2 %, as the class *drift* draws at most.
const DRIFT: i32 = 20_000;

/// Whose clock is slow when a constant skew is looked at, and by how much: less than five minutes, as the class *skew*.
const SKEW: Duration = Duration::from_secs(270);

/// The node whose clock is slow.
const LATE: HostId = HostId::Node(crate::id::NodeId(0));

/// The condition that is free: searched, not given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Along {
    /// For how long the holder is stopped, once.
    Stall,
    /// How much later than the others one node comes, because its clock is slow.
    Lateness,
}

/// What a run is made under.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Conditions {
    /// How long the job takes on its node's clock.
    pub job: Duration,
    /// How long the holder is stopped.
    pub stall: Duration,
    /// How much the clock of node 0 is slow.
    pub lateness: Duration,
    /// By how many parts per million the lease store's clock is fast while the lease is held.
    pub store_ppm: i32,
    /// By how many parts per million the holder's clock is fast while it works.
    pub holder_ppm: i32,
    /// By how many milliseconds the lease store's clock is set forward (negative: back) when the job begins.
    pub store_set_ms: i64,
}

/// What the analytic line says about where something begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    /// At this value of the free condition, in milliseconds.
    From(u64),
    /// Nowhere.
    Never,
    /// Nothing.
    Unknown,
}

/// One strategy, under one set of conditions.
#[derive(Clone)]
pub struct Point {
    /// The guard.
    pub strategy: &'static dyn Strategy,
    /// How long its lease lasts, if its frontier can be written down.
    pub ttl: Option<Duration>,
    /// What is searched.
    pub along: Along,
    /// Where the holder stops.
    pub stops: Place,
    /// What is given; the free condition is zero.
    pub given: Conditions,
    /// Where two nodes should begin to be at work together.
    pub overlap: Line,
    /// Where a period should begin to be settled twice.
    pub twice: Line,
}

impl Point {
    /// The points of one strategy: job lengths, drift and setting of the clocks that count, skew.
    pub fn all_of(strategy: &'static dyn Strategy) -> Vec<Point> {
        let (lease, knobs) = (Lease::of(strategy), Scenario::default());
        let ttl = lease.map_or(knobs.guard.lease, |lease| (lease.ttl)(&knobs.guard));
        // Parts of the lease, in whole seconds.
        let part = |n: u32, of: u32| Duration::from_secs((ttl * n / of).as_secs());
        let usual = Conditions { job: knobs.node.work, ..Conditions::default() };
        let along = match strategy.policy() {
            // Who makes one attempt meets the lease again only if it comes late.
            Policy::Skip => Along::Lateness,
            Policy::Retry | Policy::RetryChecked => Along::Stall,
        };
        let mut given = vec![usual];
        match (lease, along) {
            (None, _) => {}
            (Some(lease), _) if lease.is_renewed() => given.push(Conditions { job: 65.seconds(), ..usual }),
            (Some(_), Along::Stall) => {
                given.extend([part(1, 3), part(2, 3), ttl + 60.seconds()].map(|job| Conditions { job, ..usual }));
                given.extend([-DRIFT, DRIFT].map(|store_ppm| Conditions { store_ppm, ..usual }));
                given.extend([-DRIFT, DRIFT].map(|holder_ppm| Conditions { holder_ppm, job: part(2, 3), ..usual }));
                given.extend([-1, 1].map(|sign| Conditions { store_set_ms: sign * millis(part(1, 6)) as i64, ..usual }));
                given.push(Conditions { lateness: SKEW, ..usual });
            }
            (Some(_), Along::Lateness) => {
                given.extend([part(1, 3), ttl + 60.seconds()].map(|job| Conditions { job, ..usual }));
                let stalled = Conditions { stall: part(4, 3), ..usual };
                given.push(stalled);
                given.extend([-DRIFT, DRIFT].map(|store_ppm| Conditions { store_ppm, ..stalled }));
                given.extend([-1, 1].map(|sign| Conditions { store_set_ms: sign * millis(part(1, 6)) as i64, ..stalled }));
            }
        }
        let places: &[Place] = match lease {
            // Told at work, it can only be surprised after its last look.
            Some(Lease { kept: Kept::Telling(_), .. }) => &[IN_THE_JOB, AFTER_THE_JOB],
            Some(_) | None => &[IN_THE_JOB],
        };
        let of_place = |stops: Place| {
            let point = move |given: Conditions| {
                let (overlap, twice) = line(strategy, lease, along, stops, given);
                Point { strategy, ttl: lease.map(|_| ttl), along, stops, given, overlap, twice }
            };
            given.clone().into_iter().map(point)
        };
        places.iter().copied().flat_map(of_place).collect()
    }

    /// What is deployed: the default scenario with one period and a job of the given length. Where the stall is searched,
    /// nodes wake at any time of two polls after the boundary, so that over the seeds somebody looks soon after the lease has
    /// run out: the holder is the first of them, and within one poll the others would hardly ever be nearly a poll later.
    /// Where lateness is searched, all wake at their boundary, so that it is all that they differ by.
    pub fn scenario(&self) -> Scenario {
        let mut scenario = Scenario::calm(self.strategy.name());
        if let Schedule::Cron { periods, .. } = &mut scenario.schedule {
            *periods = 1;
        }
        scenario.node.work = self.given.job;
        scenario.node.jitter = match self.along {
            Along::Stall => scenario.node.poll * 2,
            Along::Lateness => Duration::ZERO,
        };
        scenario
    }

    /// The largest value of the free condition that is tried, for two nodes at work together and for a second settlement, in milliseconds.
    pub fn range(&self) -> (u64, u64) {
        let knobs = Scenario::default();
        let far = millis(self.ttl.unwrap_or(knobs.guard.lease) * 2 + knobs.node.poll);
        match self.along {
            Along::Stall => (far, far),
            // Who comes when the holder has left meets nobody.
            Along::Lateness => (far.min(self.stay_ms().saturating_sub(self.slack_ms()).max(1)), far),
        }
    }

    /// How long the holder is inside the job, in milliseconds of true time; the free condition left out.
    fn stay_ms(&self) -> u64 {
        stay_ms(self.given)
    }

    /// By how much what the line leaves out may move what is measured, in milliseconds: the requests of one attempt, there and back.
    pub fn slack_ms(&self) -> u64 {
        let knobs = Scenario::default();
        (JOB_STEPS.len() as u64 + 2) * (2 * millis(knobs.network.latency_max) + millis(knobs.node.step_jitter))
    }

    /// How much later than the line something may be seen to begin, in milliseconds, beside [`Point::slack_ms`]: who polls may come that late.
    pub fn patience_ms(&self) -> u64 {
        match self.along {
            Along::Stall => millis(Scenario::default().node.poll),
            Along::Lateness => 0,
        }
    }

    /// What goes wrong when the free condition has this value, in milliseconds.
    pub fn plan(&self, value: u64) -> FaultPlan {
        let mut under = self.given;
        match self.along {
            Along::Stall => under.stall = value.ms(),
            Along::Lateness => under.lateness = value.ms(),
        }
        let lease = Target::Host(HostId::Lease);
        let begins = || Trigger::first("work.1", Phase::Before);
        let stall = Harm::Pause { host: Target::Self_, lasts: under.stall };
        let late = Harm::ClockOffset { host: Target::Host(LATE), by_ms: -(millis(under.lateness) as i64) };
        let store = Harm::ClockDrift { host: lease, ppm: under.store_ppm, lasts: None };
        let holder = Harm::ClockDrift { host: Target::Self_, ppm: under.holder_ppm, lasts: None };
        let set = Harm::ClockOffset { host: lease, by_ms: under.store_set_ms };
        let faults: [(bool, Fault); 5] = [
            (!under.stall.is_zero(), stall.when(self.stops.into())),
            (!under.lateness.is_zero(), late.when(Trigger::start())),
            (under.store_ppm != 0, store.when(begins())),
            (under.holder_ppm != 0, holder.when(begins())),
            (under.store_set_ms != 0, set.when(begins())),
        ];
        FaultPlan::of(faults.into_iter().filter(|(is, _)| *is).map(|(_, fault)| fault))
    }
}

/// The analytic line: *stall + job > TTL*, each in true time, for two nodes at work together and for a second settlement.
fn line(strategy: &dyn Strategy, lease: Option<Lease>, along: Along, stops: Place, given: Conditions) -> (Line, Line) {
    let Some(lease) = lease else {
        return (Line::Unknown, if never_twice(strategy) { Line::Never } else { Line::Unknown });
    };
    let knobs = Scenario::default().guard;
    // The lease is over when the store's clock has come this far.
    let lasts = true_time((millis((lease.ttl)(&knobs)) as i64 - given.store_set_ms).max(0) as u64, given.store_ppm);
    let stay = stay_ms(given);
    match (along, lease.kept) {
        (Along::Lateness, _) => {
            let overlap = if lasts < stay { Line::From(lasts) } else { Line::Never };
            // It remembers nothing: whether the lease ran out or was given back makes no difference.
            (overlap, Line::From(lasts.min(stay)))
        }
        (Along::Stall, Kept::ByNobody) => {
            let from = Line::From(lasts.saturating_sub(stay));
            let twice = match strategy.policy() {
                // The next settles as soon as the holder lets go.
                Policy::Retry => Line::From(0),
                Policy::Skip | Policy::RetryChecked => from,
            };
            (from, twice)
        }
        // A lease that is still there when its holder goes on is renewed at once: what is left of the job does not count.
        (Along::Stall, Kept::Silently(every)) => {
            let from = Line::From(lasts - age(stay * 2 / 5, millis(every(&knobs))));
            (from, from)
        }
        (Along::Stall, Kept::Telling(every)) if stops == AFTER_THE_JOB => {
            (Line::Never, Line::From(lasts - age(stay, millis(every(&knobs)))))
        }
        // It goes on for as long as the renewal takes to be refused, and is told.
        (Along::Stall, Kept::Telling(every)) => (Line::From(lasts - age(stay * 2 / 5, millis(every(&knobs)))), Line::Never),
    }
}

fn stay_ms(given: Conditions) -> u64 {
    true_time(millis(given.job), given.holder_ppm) + millis(given.stall)
}

/// How long a clock that runs fast by `ppm` takes to count this many milliseconds.
fn true_time(counted: u64, ppm: i32) -> u64 {
    counted * 1_000_000 / (1_000_000 + i64::from(ppm)).unsigned_abs()
}

/// How old the last renewal is when this much has passed since the grant. One that is due at that very moment comes too late: each takes its time.
fn age(passed: u64, every: u64) -> u64 {
    match passed % every {
        0 => every.min(passed),
        age => age,
    }
}

/// Whether a strategy declares that nothing ever lets it settle twice when its holder stops.
fn never_twice(strategy: &dyn Strategy) -> bool {
    strategy.expectations(Scenario::default().database.rules).iter().any(|claim| match claim {
        Expectation::Never { scope, letters, .. } => scope.covers(FaultClass::Pause) && letters.contains(&Letter::D),
        Expectation::Must { .. } => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy;

    fn points(strategy: &str) -> Vec<Point> {
        Point::all_of(strategy::find(strategy).unwrap())
    }

    fn at(strategy: &str, is: impl Fn(&Conditions) -> bool) -> Point {
        points(strategy).into_iter().find(|point| is(&point.given)).unwrap()
    }

    /// 30 min of lease: 2 min of job leave 28 for a stall; 2 % of a store that is fast take 35.294 s, 2 % of a holder 23.53 of its 20 min.
    #[test]
    fn the_line_is_the_sum_of_its_parts() {
        let of = |is: &dyn Fn(&Conditions) -> bool| at("lease-set-px-checked", is).twice;
        assert_eq!(of(&|c| c.job == 2.minutes() && c.store_ppm == 0 && c.store_set_ms == 0), Line::From(28 * 60_000));
        assert_eq!(of(&|c| c.job == 31.minutes()), Line::From(0));
        assert_eq!(of(&|c| c.store_ppm == DRIFT), Line::From(1_764_705 - 120_000));
        assert_eq!(of(&|c| c.store_ppm == -DRIFT), Line::From(1_836_734 - 120_000));
        assert_eq!(of(&|c| c.holder_ppm == DRIFT), Line::From(1_800_000 - 1_176_470));
        assert_eq!(of(&|c| c.store_set_ms == 300_000), Line::From(23 * 60_000));
        assert_eq!(of(&|c| c.lateness == SKEW), Line::From(28 * 60_000));
    }

    #[test]
    fn what_polls_blindly_settles_twice_at_once_and_what_does_not_poll_has_to_come_late() {
        assert_eq!(at("lease-set-px-retry", |_| true).twice, Line::From(0));
        let once = at("lease-set-px", |_| true);
        assert_eq!((once.along, once.overlap, once.twice), (Along::Lateness, Line::Never, Line::From(120_000)));
        let stopped = at("lease-set-px", |c| c.stall == 40.minutes());
        assert_eq!((stopped.overlap, stopped.twice), (Line::From(1_800_000), Line::From(1_800_000)));
    }

    /// 48 s of work are done where it stops: the last renewal is 8 s old. After 120 s the next one is due.
    #[test]
    fn what_is_renewed_depends_on_the_last_renewal() {
        assert_eq!(at("lease-watchdog-silent", |_| true).twice, Line::From(22_000));
        let told = points("lease-watchdog");
        let twice: Vec<_> = told.iter().map(|p| (p.stops, p.given.job, p.twice)).collect();
        let (job, after) = (IN_THE_JOB, AFTER_THE_JOB);
        let expected = [
            (job, 120.seconds(), Line::Never),
            (job, 65.seconds(), Line::Never),
            (after, 120.seconds(), Line::From(20_000)),
            (after, 65.seconds(), Line::From(25_000)),
        ];
        assert_eq!(twice, expected);
    }

    #[test]
    fn who_decides_in_the_transaction_never_settles_twice() {
        for strategy in ["dual-guard", "table-key", "lease-fenced"] {
            assert_eq!(at(strategy, |_| true).twice, Line::Never, "{strategy}");
        }
        assert_eq!(at("no-guard", |_| true).twice, Line::Unknown);
    }

    /// A plan holds what is given and what is searched, and nothing else.
    #[test]
    fn a_value_of_nothing_is_no_fault() {
        let calm = at("lease-set-px-checked", |_| true);
        assert!(calm.plan(0).faults.is_empty());
        assert_eq!(calm.plan(5_000).faults.len(), 1);
        let drifting = at("lease-set-px-checked", |c| c.store_ppm != 0);
        assert_eq!((drifting.plan(0).faults.len(), drifting.plan(5_000).faults.len()), (1, 2));
    }
}
