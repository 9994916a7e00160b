//! The same plan in a smaller world: minutes become seconds.

use crate::plan::{Fault, FaultPlan, Harm, Trigger};
use crate::time::{SimTime, millis};
use std::time::Duration;

impl FaultPlan {
    /// The plan with every duration, clock offset and true time divided by `factor` (at least 1; 60 turns minutes into seconds).
    ///
    /// What has no length stays as it is: steps, the number of job errors, and drift, which is
    /// a rate. If the schedule is not divided by the same factor, the true times point to
    /// nowhere; [`FaultPlan::scaled_onto`] says where they belong instead.
    #[must_use]
    pub fn scaled(&self, factor: u32) -> FaultPlan {
        self.scaled_onto(factor, |at| Some(Moved::to(SimTime(at.0 / u64::from(factor.max(1))))))
    }

    /// As [`FaultPlan::scaled`], with true times moved by `retimed`. A fault whose time has no counterpart (`None`) is left out.
    #[must_use]
    pub fn scaled_onto(&self, factor: u32, retimed: impl Fn(SimTime) -> Option<Moved>) -> FaultPlan {
        FaultPlan::of(self.faults.iter().filter_map(|fault| {
            let mut harm = fault.harm.scaled(factor.max(1));
            let when = match &fault.when {
                Trigger::At { at_ms } => {
                    let moved = retimed(*at_ms)?;
                    harm.shorten(moved.missed);
                    Trigger::At { at_ms: moved.at }
                }
                step @ Trigger::Step { .. } => step.clone(),
            };
            Some(Fault { harm, when })
        }))
    }
}

/// Where a true time belongs in the smaller world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moved {
    /// The instant.
    pub at: SimTime,
    /// How much earlier it would be, if that were not before the beginning: by so much a fault that strikes there is shorter.
    pub missed: Duration,
}

impl Moved {
    /// To an instant of the run.
    pub fn to(at: SimTime) -> Moved {
        Moved { at, missed: Duration::ZERO }
    }
}

impl Harm {
    /// Takes the beginning of it away; what lasts at all still lasts a millisecond.
    fn shorten(&mut self, by: Duration) {
        if let Some(lasts) = self.lasts_mut().filter(|_| !by.is_zero()) {
            *lasts = lasts.saturating_sub(by).max(Duration::from_millis(1));
        }
    }

    fn scaled(&self, factor: u32) -> Harm {
        let mut harm = self.clone();
        if let Some(lasts) = harm.lasts_mut() {
            *lasts = divided(*lasts, factor);
        }
        match &mut harm {
            Harm::Late { extra, .. } => *extra = divided(*extra, factor),
            Harm::Shutdown { grace, .. } => *grace = divided(*grace, factor),
            Harm::LeaseFailover { lag, .. } => *lag = divided(*lag, factor),
            Harm::ClockOffset { by_ms, .. } => *by_ms /= i64::from(factor),
            Harm::Crash { .. }
            | Harm::Power { .. }
            | Harm::Pause { .. }
            | Harm::Partition { .. }
            | Harm::SlowStep { .. }
            | Harm::ReplyLost { .. }
            | Harm::JobError { .. }
            | Harm::ClockDrift { .. }
            | Harm::LeaseWipe { .. }
            | Harm::LeaseEvict { .. }
            | Harm::LeaseStall { .. }
            | Harm::CommitFails { .. }
            | Harm::SessionEnds { .. }
            | Harm::Redeliver
            // What stands in for a zone depends on the boundaries: `scenario/scale.rs` knows them.
            | Harm::Zone { .. } => {}
        }
        harm
    }

    /// How long it lasts, if it has a length: what [`Harm::heals_after`] tells, to be changed.
    fn lasts_mut(&mut self) -> Option<&mut Duration> {
        match self {
            Harm::Crash { back_after: d, .. }
            | Harm::Power { back_after: d, .. }
            | Harm::Pause { lasts: d, .. }
            | Harm::Partition { lasts: d, .. }
            | Harm::Late { lasts: d, .. }
            | Harm::SlowStep { extra: d }
            | Harm::LeaseWipe { back_after: d, .. }
            | Harm::LeaseFailover { back_after: d, .. }
            | Harm::LeaseStall { lasts: d, .. }
            | Harm::Shutdown { back_after: d, .. } => Some(d),
            Harm::ClockDrift { lasts, .. } => lasts.as_mut(),
            Harm::ReplyLost { .. }
            | Harm::JobError { .. }
            | Harm::ClockOffset { .. }
            | Harm::LeaseEvict { .. }
            | Harm::CommitFails { .. }
            | Harm::SessionEnds { .. }
            | Harm::Zone { .. }
            | Harm::Redeliver => None,
        }
    }
}

/// A part of a duration in whole milliseconds, rounded up: what lasted at all still lasts.
pub(crate) fn divided(d: Duration, factor: u32) -> Duration {
    Duration::from_millis(millis(d / factor))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::HostId;
    use crate::plan::Target;
    use crate::time::Span;
    use crate::trace::Phase;

    #[test]
    fn lengths_shrink_steps_counts_and_rates_stay() {
        let n0 = Target::Host(HostId::node(0));
        let step = Trigger::first("work.1", Phase::Before);
        let plan = FaultPlan::of([
            Harm::Pause { host: n0, lasts: 40.minutes() }.when(Trigger::At { at_ms: SimTime(600_000) }),
            Harm::Late { host: n0, from: Target::Everyone, extra: 10.ms(), lasts: 1.minutes() }.when(Trigger::start()),
            Harm::ClockOffset { host: n0, by_ms: -240_000 }.when(Trigger::start()),
            Harm::ClockDrift { host: n0, ppm: 20_000, lasts: Some(3.hours()) }.when(Trigger::start()),
            Harm::JobError { times: 3 }.when(step.clone()),
            Harm::LeaseFailover { store: HostId::Lease, lag: 3.seconds(), back_after: 1.minutes() }.when(step.clone()),
        ]);
        let scaled = FaultPlan::of([
            Harm::Pause { host: n0, lasts: 40.seconds() }.when(Trigger::At { at_ms: SimTime(10_000) }),
            Harm::Late { host: n0, from: Target::Everyone, extra: 1.ms(), lasts: 1.seconds() }.when(Trigger::start()),
            Harm::ClockOffset { host: n0, by_ms: -4_000 }.when(Trigger::start()),
            Harm::ClockDrift { host: n0, ppm: 20_000, lasts: Some(3.minutes()) }.when(Trigger::start()),
            Harm::JobError { times: 3 }.when(step.clone()),
            Harm::LeaseFailover { store: HostId::Lease, lag: 50.ms(), back_after: 1.seconds() }.when(step),
        ]);
        assert_eq!(plan.scaled(60), scaled);
        assert_eq!(plan.scaled_onto(60, |at| (at == SimTime::ZERO).then_some(Moved::to(at))).faults.len(), 5);
    }
}
