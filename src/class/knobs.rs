//! Deployments drawn around a given one: the knobs of a run whose class draws more than faults.
//!
//! Every knob is drawn as a share of what it is, so that a deployment with constants of its own
//! keeps its world; where one has to be larger than what others come to, it is raised to that. The
//! relations are those of scenario validation and of `scenario/scale.rs`: a guard with a constant
//! that nobody would deploy proves nothing. Whatever makes a settlement take longer makes the
//! liveness bound and the nodes' attention longer by as much.
//!
//! What is not drawn: what a node does after an attempt, for the policy is a part of the strategy
//! and its claims are made for one; the rules of the database, which are a row of their own; the
//! schedule. Wrong clocks are faults, and drawn as such.

use crate::scenario::{DatabaseKnobs, GuardKnobs, NetworkKnobs, NodeKnobs, Scenario};
use crate::seed::{Rng, Seed};
use crate::time::{Span, millis};
use rand::RngExt;
use std::ops::RangeInclusive;
use std::time::Duration;

/// One run of so many is made on the deployment as it is.
const LEFT_ALONE: u32 = 4;

/// Round trips of a settlement transaction; two of them have to fit into a lock timeout.
const TRANSACTION: u32 = 9;

/// With fewer nodes than this, all their clocks may be set back at once, and nobody comes in time.
const ENOUGH: u8 = 3;

/// By how much a drawn fault sets a clock back at most, real time: an hour and a half.
const SET_BACK: Duration = Duration::from_mins(90);

/// How many errors of the job in a row the liveness bound allows for: two sets of five, less the two that the given bound has room for.
const ERRORS: u32 = 8;

/// The deployment of the run with this seed; `None` if it is the given one.
#[must_use]
pub fn drawn(seed: Seed, given: &Scenario) -> Option<Scenario> {
    let mut hand = Hand { rng: seed.fork("knobs").rng() };
    if hand.rng.random_range(0..LEFT_ALONE) == 0 {
        return None;
    }
    let sizes = Scenario {
        nodes: hand.rng.random_range(2..=5),
        players: hand.number(given.players, 1),
        earnings: hand.number(given.earnings, 0),
        ..given.clone()
    };
    // A round trip cannot shrink with the rest, so the constants of a scaled deployment have no room.
    let drawn = if given.time_scale > 1 { sizes } else { hand.constants(&sizes) };
    let drawn = patient(drawn, given);
    (drawn != *given && drawn.validate().is_ok()).then_some(drawn)
}

/// One draw.
struct Hand {
    rng: Rng,
}

impl Hand {
    /// Half of the knobs of a drawn deployment are left as they are, others in each.
    fn leaves(&mut self) -> bool {
        self.rng.random()
    }

    /// Up to twice as many as there are.
    fn number(&mut self, given: u32, least: u32) -> u32 {
        if self.leaves() { given } else { self.rng.random_range(least..=given.saturating_mul(2).clamp(least, 1_000)) }
    }

    /// A share of what it is, in percent.
    fn length(&mut self, given: Duration, percent: RangeInclusive<u32>, most: Duration) -> Duration {
        let percent = self.rng.random_range(percent);
        if self.leaves() { given } else { share(given, percent).min(most.max(given)) }
    }

    /// The same, for what has to be more than `floor`.
    fn above(&mut self, floor: Duration, given: Duration, percent: RangeInclusive<u32>) -> Duration {
        self.length(given, percent, Duration::MAX).max(floor + 1.ms())
    }

    fn constants(&mut self, given: &Scenario) -> Scenario {
        let network = self.network(&given.network);
        let round_trip = network.latency_max * 2;
        let lock_timeout = self.above(round_trip * TRANSACTION * 2, given.database.lock_timeout, 100..=300);
        let timeout = self.above(lock_timeout + round_trip, given.node.timeout, 100..=300);
        let idle = self.above(timeout * 2, given.database.idle_in_transaction_timeout, 50..=300);
        let node = NodeKnobs { timeout, ..self.node(&given.node) };
        Scenario {
            guard: self.guard(&given.guard, timeout + round_trip, node.poll),
            node,
            network,
            database: DatabaseKnobs { lock_timeout, idle_in_transaction_timeout: idle, ..given.database },
            ..given.clone()
        }
    }

    fn network(&mut self, given: &NetworkKnobs) -> NetworkKnobs {
        let latency_min = self.length(given.latency_min, 100..=3_000, 1.minutes());
        let spread = self.length(given.latency_max.saturating_sub(given.latency_min), 0..=400, 1.minutes());
        NetworkKnobs { latency_min, latency_max: (latency_min + spread).min(1.minutes()) }
    }

    fn node(&mut self, given: &NodeKnobs) -> NodeKnobs {
        NodeKnobs {
            jitter: self.length(given.jitter, 0..=600, 10.minutes()),
            poll: self.length(given.poll, 50..=300, 1.hours()),
            work: self.length(given.work, 10..=500, 24.hours()),
            step_jitter: self.length(given.step_jitter, 0..=5_000, 1.minutes()),
            ..given.clone()
        }
    }

    /// `unanswered` is how long it takes to know that an answer does not come: what is renewed outlives one, and the renewals on both sides of it.
    fn guard(&mut self, given: &GuardKnobs, unanswered: Duration, poll: Duration) -> GuardKnobs {
        let renew_every = self.length(given.renew_every, 10..=300, Duration::MAX);
        let dual_renew_every = self.length(given.dual_renew_every, 10..=200, Duration::MAX);
        let heartbeat = self.length(given.heartbeat, 10..=200, Duration::MAX);
        let backoff = self.length(given.backoff, 10..=400, Duration::MAX);
        let outlives = |every: Duration| every * 2 + unanswered;
        let dual_lease = self.above(outlives(dual_renew_every), given.dual_lease, 50..=200);
        // A claim counts as dead only when its lease is over, its next heartbeat could be missed, and a lost reply is known.
        let dead = outlives(heartbeat).max(poll + unanswered).max(dual_lease);
        GuardKnobs {
            lease: self.length(given.lease, 10..=150, Duration::MAX),
            setnx_lease: self.length(given.setnx_lease, 50..=300, Duration::MAX),
            machine_lease: self.length(given.machine_lease, 50..=300, Duration::MAX),
            watchdog_lease: self.above(outlives(renew_every), given.watchdog_lease, 50..=300),
            renew_every,
            dual_lease,
            dual_renew_every,
            heartbeat,
            stale_after: self.above(dead, given.stale_after, 50..=200),
            backoff,
            backoff_max: self.length(given.backoff_max, 20..=150, Duration::MAX).max(backoff),
            operator: given.operator,
            dead_letter_after: given.dead_letter_after.saturating_mul(self.rng.random_range(1..=2)),
            wake_after: self.length(given.wake_after, 0..=300, 24.hours()),
            key_prefix: given.key_prefix.clone(),
        }
    }
}

fn share(whole: Duration, percent: u32) -> Duration {
    (millis(whole).saturating_mul(percent.into()) / 100).max(u64::from(percent > 0)).ms()
}

/// As patient as the given deployment: what a settlement may wait for longer, bound and attention are longer.
#[must_use]
pub fn patient(drawn: Scenario, given: &Scenario) -> Scenario {
    let alone = if drawn.nodes < ENOUGH && given.nodes >= ENOUGH { SET_BACK / given.time_scale.max(1) } else { Duration::ZERO };
    let more = longest_wait(&drawn).saturating_sub(longest_wait(given)).saturating_add(alone);
    let node = NodeKnobs { attention: drawn.node.attention.saturating_add(more), ..drawn.node };
    Scenario { liveness_bound: drawn.liveness_bound.saturating_add(more), node, ..drawn }
}

/// The dead are noticed, errors have backed off, and the job is done.
fn longest_wait(of: &Scenario) -> Duration {
    let (node, guard) = (&of.node, &of.guard);
    let dead = guard.lease.max(guard.machine_lease).max(guard.watchdog_lease).max(guard.stale_after);
    let backed_off =
        (0..ERRORS).map(|n| guard.backoff.saturating_mul(1 << n).min(guard.backoff_max)).fold(Duration::ZERO, Duration::saturating_add);
    let attempts = node.jitter.saturating_add(node.poll.saturating_add(node.work).saturating_mul(ERRORS + 2));
    dead.saturating_add(backed_off).saturating_add(attempts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn seeds() -> impl Iterator<Item = Seed> {
        (0..2_000).map(|n| Seed(3).nth(n))
    }

    /// None of them is refused, about one in four is the given one, and all sizes are seen.
    #[test]
    fn drawn_deployments_can_be_deployed_and_some_are_as_given() {
        let given = Scenario::default();
        let drawn: Vec<Scenario> = seeds().filter_map(|seed| drawn(seed, &given)).collect();
        assert!((1_400..1_600).contains(&drawn.len()), "{} of 2,000 are drawn", drawn.len());
        assert!(drawn.iter().all(|s| s.validate().is_ok()));
        assert_eq!(drawn.iter().map(|s| s.nodes).collect::<BTreeSet<_>>(), (2..=5).collect());
        assert!(drawn.iter().any(|s| s.node.work > 8.minutes()) && drawn.iter().any(|s| s.node.work < 30.seconds()));
    }

    /// The relations of `scenario/scale.rs` that hardened guards rest on.
    #[test]
    fn drawn_constants_keep_the_relations_that_guards_rest_on() {
        let given = Scenario::default();
        for s in seeds().filter_map(|seed| drawn(seed, &given)) {
            let round_trip = s.network.latency_max * 2;
            let unanswered = s.node.timeout + round_trip;
            assert!(round_trip * TRANSACTION * 2 < s.database.lock_timeout && s.database.lock_timeout + round_trip < s.node.timeout);
            assert!(s.node.timeout * 2 < s.database.idle_in_transaction_timeout);
            assert!(s.guard.renew_every * 2 + unanswered < s.guard.watchdog_lease, "{s:#?}");
            assert!(s.guard.dual_renew_every * 2 + unanswered < s.guard.dual_lease && s.guard.dual_lease < s.guard.stale_after);
            assert!(s.guard.heartbeat * 2 + unanswered < s.guard.stale_after && s.node.poll + unanswered < s.guard.stale_after);
            assert!(s.liveness_bound >= given.liveness_bound && s.node.attention >= given.node.attention);
            assert!(s.liveness_bound + longest_wait(&given) >= given.liveness_bound + longest_wait(&s), "{s:#?}");
        }
    }

    /// A scaled deployment has no room for other constants.
    #[test]
    fn only_the_sizes_of_a_scaled_deployment_are_drawn() {
        let given = Scenario::default().scaled_for_turmoil();
        for s in seeds().filter_map(|seed| drawn(seed, &given)) {
            let Scenario { nodes, players, earnings, liveness_bound, .. } = s;
            let node = NodeKnobs { attention: s.node.attention, ..given.node.clone() };
            assert_eq!(Scenario { nodes, players, earnings, node, liveness_bound, ..given.clone() }, s);
        }
    }

    #[test]
    fn the_same_seed_draws_the_same_deployment() {
        let given = Scenario::default();
        assert!(seeds().all(|seed| drawn(seed, &given) == drawn(seed, &given)));
    }
}
