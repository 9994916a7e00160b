//! Pause: a process stops, for longer than any lease or for just long enough.

use crate::class::{Class, Draw};
use crate::plan::{Fault, Harm};
use crate::time::Span;
use rand::RngExt;
use rand::seq::IndexedRandom;
use std::time::Duration;

/// A whole process stops. Two in three times it sleeps through everything that its successor
/// does. In the third it wakes while the successor is likely to be at work, so that what keeps
/// the two apart is the fence and not a period that is settled already.
pub(super) struct Pause;

impl Class for Pause {
    fn name(&self) -> &'static str {
        "pause"
    }

    fn about(&self) -> &'static str {
        "a whole process stops at a step or a time, for 40 min or until its lease or heartbeat has just been outlived"
    }

    fn draw(&self, draw: &mut Draw<'_>) -> Vec<Fault> {
        draw.on_a_node(|draw, host| {
            let lasts = if draw.rng.random_range(0..3) > 0 { draw.length(40.minutes()) } else { just_outlived(draw) };
            Harm::Pause { host, lasts }
        })
    }
}

/// One of the guard's timeouts, and up to a poll and a job more.
fn just_outlived(draw: &mut Draw<'_>) -> Duration {
    let (guard, node) = (&draw.scenario.guard, &draw.scenario.node);
    let timeouts = [guard.watchdog_lease, guard.dual_lease, guard.stale_after, guard.stale_after];
    let timeout = *timeouts.choose(&mut draw.rng).expect("four");
    timeout + draw.up_to(node.poll + node.work)
}
