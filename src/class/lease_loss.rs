//! Lease loss: the lease store forgets, waits, or is wrong about the time.

use crate::class::draw::is_lease_store;
use crate::class::{Class, Draw, Mixes};
use crate::id::HostId;
use crate::plan::{Fault, Harm, Target, Trigger};
use crate::step::Step;
use crate::time::Span;
use crate::trace::Phase;
use rand::RngExt;
use rand::seq::IndexedRandom;
use std::time::Duration;

/// A replica that is far behind has missed the grant, wherever in the job it is promoted: the
/// default job takes two minutes.
const FAR_BEHIND: Duration = Duration::from_mins(3);

/// The store's clock jumps by at least this, in real milliseconds.
const LEAST_MS: i64 = 60_000;

/// It jumps back by at most this, which keeps the lease of the dead for as much longer.
const MOST_BACK_MS: i64 = 30 * 60_000;

/// And forward by at most this, which ends any lease of the catalogue.
const MOST_FORWARD_MS: i64 = 60 * 60_000;

/// The lease store restarts, with or without its data, evicts a lease, fails over to a replica
/// that missed it, is kept busy by a slow command, or its clock jumps; most often while a lease is held.
pub(super) struct LeaseLoss;

impl Class for LeaseLoss {
    fn name(&self) -> &'static str {
        "lease-loss"
    }

    fn about(&self) -> &'static str {
        "the lease store restarts (empty or not), evicts the lease, fails over to a replica that missed it, is busy for up to 20 s, or its clock jumps"
    }

    fn draw(&self, draw: &mut Draw<'_>) -> Vec<Fault> {
        let host = Target::Host(HostId::Lease);
        let fault = match draw.rng.random_range(0..100) {
            0..25 => Harm::LeaseWipe { store: HostId::Lease, back_after: draw.between(1.seconds()..=15.seconds()) }.when(while_held(draw)),
            25..35 => Harm::Crash { host, back_after: draw.between(1.seconds()..=15.seconds()) }.when(while_held(draw)),
            35..60 => Harm::LeaseEvict { store: HostId::Lease }.when(while_held(draw)),
            60..70 => {
                let (lag, back_after) = (draw.length(FAR_BEHIND), draw.between(1.seconds()..=15.seconds()));
                Harm::LeaseFailover { store: HostId::Lease, lag, back_after }.when(while_held(draw))
            }
            70..85 => {
                let (lag, back_after) = (draw.between(200.ms()..=5.seconds()), draw.between(1.seconds()..=15.seconds()));
                Harm::LeaseFailover { store: HostId::Lease, lag, back_after }.when(just_granted(draw))
            }
            85..93 => Harm::LeaseStall { store: HostId::Lease, lasts: draw.between(1.seconds()..=20.seconds()) }.when(while_asked(draw)),
            _ => {
                let by_ms = match draw.rng.random() {
                    true => draw.rng.random_range(LEAST_MS..=MOST_FORWARD_MS),
                    false => -draw.rng.random_range(LEAST_MS..=MOST_BACK_MS),
                };
                Harm::ClockOffset { host, by_ms: draw.milliseconds(by_ms) }.when(while_held(draw))
            }
        };
        draw.at_stores(&fault)
    }

    fn misses(&self, steps: &[Step]) -> Option<&'static str> {
        (!steps.iter().any(|s| asks(*s))).then_some("it never asks the lease store anything")
    }

    /// A clock that is set back twice would keep the lease of the dead beyond the liveness bound.
    fn mixes(&self) -> Mixes {
        Mixes::Once
    }
}

fn asks(step: Step) -> bool {
    step.peer.is_some_and(is_lease_store)
}

/// Most often at a step between the first slice of the work and the last request to the lease store.
fn while_held(draw: &mut Draw<'_>) -> Trigger {
    let first = draw.steps.iter().position(|s| s.is_work());
    let last = draw.steps.iter().rposition(|s| asks(*s));
    let held: &[Step] = match (first, last) {
        (Some(first), Some(last)) if first <= last => &draw.steps[first..=last],
        (Some(first), _) => &draw.steps[first..],
        (None, _) => draw.steps,
    };
    match held.choose(&mut draw.rng) {
        // Rolling back belongs to no calm attempt, and would hardly ever strike.
        Some(step) if draw.at_a_step() && step.name != "tx.rollback" => draw.in_step(*step),
        _ => draw.near_a_boundary(),
    }
}

/// Right after the store answered a request.
fn just_granted(draw: &mut Draw<'_>) -> Trigger {
    match draw.step(asks) {
        Some(step) => draw.in_phase(step, Phase::After),
        None => draw.near_a_boundary(),
    }
}

/// Right before it is asked for something.
fn while_asked(draw: &mut Draw<'_>) -> Trigger {
    match draw.step(asks) {
        Some(step) if draw.at_a_step() => draw.in_phase(step, Phase::Before),
        _ => draw.near_a_boundary(),
    }
}
