//! Slow: a job that outlasts its lease, or late requests.

use crate::class::{Class, Draw};
use crate::id::HostId;
use crate::plan::{Fault, Harm, Target};
use crate::step::Step;
use crate::time::Span;
use crate::trace::Phase;
use rand::RngExt;
use rand::seq::IndexedRandom;

/// The job outlasts any lease, or everything that one node asks of one server is late.
pub(super) struct Slow;

impl Class for Slow {
    fn name(&self) -> &'static str {
        "slow"
    }

    fn about(&self) -> &'static str {
        "the job takes 45 min, or requests are delayed by up to 10 s"
    }

    fn draw(&self, draw: &mut Draw<'_>) -> Vec<Fault> {
        match draw.step(Step::is_work) {
            Some(step) if draw.rng.random() => {
                let when = draw.in_phase(step, Phase::Before);
                vec![Harm::SlowStep { extra: draw.length(43.minutes()) }.when(when)]
            }
            _ => {
                let host = draw.node();
                let from =
                    *[Target::Everyone, Target::Host(HostId::Lease), Target::Host(HostId::Database)].choose(&mut draw.rng).expect("three");
                let (extra, lasts) = (draw.between(1.seconds()..=10.seconds()), draw.between(5.minutes()..=15.minutes()));
                let late = Harm::Late { host, from, extra, lasts }.when(draw.near_a_boundary());
                if from == Target::Host(HostId::Lease) { draw.at_stores(&late) } else { vec![late] }
            }
        }
    }
}
