//! Shutdown: a node is told to stop in the middle of something, as by a deployment, and stops in some order.

use crate::class::{Class, Draw, Mixes};
use crate::plan::{Fault, Harm, StopOrder, Trigger};
use crate::step::Step;
use crate::time::Span;
use rand::RngExt;

/// One node is told to stop in its job. Where it has time, the job takes much longer, so that its guard is gone before it.
pub(super) struct Shutdown;

impl Class for Shutdown {
    fn name(&self) -> &'static str {
        "shutdown"
    }

    fn about(&self) -> &'static str {
        "a node is told to stop and exits after 1 s to 30 min; it ends its job first, or its renewals, or gives its lease back"
    }

    fn draw(&self, draw: &mut Draw<'_>) -> Vec<Fault> {
        let short: bool = draw.rng.random();
        let mut faults = draw.on_a_node_in(Step::is_work, |draw, host| {
            let order = [StopOrder::JobFirst, StopOrder::RenewalsFirst, StopOrder::LeaseFirst][draw.rng.random_range(0..3)];
            // Who stops in the right order is interrupted only by a grace time that is too short.
            let grace = match order {
                StopOrder::RenewalsFirst | StopOrder::LeaseFirst if !short => draw.between(2.minutes()..=30.minutes()),
                StopOrder::JobFirst | StopOrder::RenewalsFirst | StopOrder::LeaseFirst => draw.between(1.seconds()..=1.minutes()),
            };
            Harm::Shutdown { host, order, grace, back_after: draw.between(5.seconds()..=5.minutes()) }
        });
        let when = faults[0].when.clone();
        if !short && matches!(when, Trigger::Step { .. }) {
            faults.push(Harm::SlowStep { extra: draw.between(6.minutes()..=25.minutes()) }.when(when));
        }
        faults
    }

    /// Two of them at once would leave nobody who works.
    fn mixes(&self) -> Mixes {
        Mixes::Never
    }
}
