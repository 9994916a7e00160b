//! Shutdown: a node is told to stop in the middle of something, as by a deployment, and stops in some order.

use crate::class::{Class, Draw, Mixes};
use crate::plan::{Fault, Harm, StopOrder};
use crate::time::Span;
use crate::trace::Phase;
use rand::RngExt;

/// One node is told to stop; half the time the job takes much longer, so that its guard is gone before it.
pub(super) struct Shutdown;

impl Class for Shutdown {
    fn name(&self) -> &'static str {
        "shutdown"
    }

    fn about(&self) -> &'static str {
        "a node is told to stop and exits after 1 s to 30 min; it ends its job first, or its renewals, or gives its lease back"
    }

    fn draw(&self, draw: &mut Draw<'_>) -> Vec<Fault> {
        let mut faults = draw.on_a_node(|draw, host| {
            let order = [StopOrder::JobFirst, StopOrder::RenewalsFirst, StopOrder::LeaseFirst][draw.rng.random_range(0..3)];
            // Who stops in the right order is interrupted only by a grace time that is too short.
            let grace = match order {
                StopOrder::JobFirst => draw.between(1.seconds()..=1.minutes()),
                StopOrder::RenewalsFirst | StopOrder::LeaseFirst => draw.between(2.minutes()..=30.minutes()),
            };
            Harm::Shutdown { host, order, grace, back_after: draw.between(5.seconds()..=5.minutes()) }
        });
        if draw.rng.random()
            && let Some(step) = draw.step(|step| step.is_work())
        {
            let slow = Harm::SlowStep { extra: draw.between(6.minutes()..=25.minutes()) };
            faults.push(slow.when(draw.in_phase(step, Phase::Before)));
        }
        faults
    }

    /// Two of them at once would leave nobody who works.
    fn mixes(&self) -> Mixes {
        Mixes::Never
    }
}
