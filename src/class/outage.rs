//! Outage: no node alive around a boundary.

use crate::class::{Class, Draw, Mixes};
use crate::plan::{Fault, Harm, Target, Trigger};
use rand::RngExt;
use std::time::Duration;

/// An outage begins this long before a boundary, real time.
const BEGINS: Duration = Duration::from_mins(5);

/// It ends this long after the boundary, real time. No fault that strikes at a time is healed later.
pub(super) const ENDS: Duration = Duration::from_hours(2);

/// No node is alive from shortly before a boundary until long after it.
pub(super) struct Outage;

impl Class for Outage {
    fn name(&self) -> &'static str {
        "outage"
    }

    fn about(&self) -> &'static str {
        "no node is alive from 5 min before a boundary to 2 h after it"
    }

    fn draw(&self, draw: &mut Draw<'_>) -> Vec<Fault> {
        draw.unstretched();
        let (begins, ends) = (draw.length(BEGINS), draw.length(ENDS));
        let when = Trigger::At { at_ms: draw.boundary() - begins };
        let (host, back_after) = (Target::AllNodes, begins + ends);
        let harm = if draw.rng.random() { Harm::Power { host, back_after } } else { Harm::Crash { host, back_after } };
        vec![harm.when(when)]
    }

    fn mixes(&self) -> Mixes {
        Mixes::Once
    }
}
