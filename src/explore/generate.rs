//! TEMPORARY STAND-IN: draws fault plans.

use crate::id::HostId;
use crate::plan::{FaultClass, FaultPlan, Harm, Target, Trigger};
use crate::scenario::Scenario;
use crate::seed::Seed;
use crate::settlement::Calendar;
use crate::strategy::Strategy;
use crate::time::Span;
use crate::trace::Phase;

/// The plan of a class for a seed.
pub fn plan(class: FaultClass, _: Seed, _: &Scenario, _: &Calendar, _: &dyn Strategy) -> FaultPlan {
    match class {
        FaultClass::Calm => FaultPlan::none(),
        _ => FaultPlan::of([
            Harm::Pause { host: Target::Self_, lasts: 40.minutes() }.when(Trigger::first("job.work", Phase::Before)),
            Harm::ClockOffset { host: Target::Host(HostId::node(1)), by_ms: -200_000 }.when(Trigger::start()),
        ]),
    }
}
