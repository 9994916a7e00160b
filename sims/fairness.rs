//! Three nodes wake at the same instant and race for one lease. Neither their numbers nor the
//! order in which anything was registered may decide who gets it.
//!
//! On the event engine only: it breaks ties by the seed. In turmoil a fixed latency makes the
//! order of registration decide, which is why hosts are registered in a seeded order there; its
//! own tests show that, without the cost of a thousand runs of several thousand ticks.

use onceproof::id::HostId;
use onceproof::plan::FaultPlan;
use onceproof::scenario::{NetworkKnobs, Scenario};
use onceproof::seed::Seed;
use onceproof::settlement::Schedule;
use onceproof::time::Span;
use onceproof::trace::Event;
use onceproof::world::{Deployment, EngineKind};

const SEEDS: u64 = 1_000;

/// A third of the seeds, and about three and a half standard deviations on both sides.
const ABOUT_A_THIRD: std::ops::RangeInclusive<u32> = 280..=390;

/// How often each node was the first to get the lease, without any jitter of its own.
fn wins(network: NetworkKnobs) -> [u32; 3] {
    let schedule = Schedule::Interval { every: 1.minutes(), periods: 1 };
    let mut scenario = Scenario { schedule, network, earnings: 0, liveness_bound: 1.minutes(), ..Scenario::calm("lease-set-px") };
    scenario.node.jitter = 0.ms();
    scenario.node.step_jitter = 0.ms();
    scenario.node.attention = 5.minutes();
    let race = Deployment::new(&scenario, EngineKind::Event).expect("a race is deployed well");
    let mut wins = [0; 3];
    for n in 0..SEEDS {
        let run = race.run(Seed(7).nth(n), &FaultPlan::none()).expect("a race can be simulated");
        let winner = run.trace.events().find_map(|e| match e {
            Event::LeaseGranted { to: HostId::Node(node), .. } => Some(node.0),
            _ => None,
        });
        wins[usize::from(winner.expect("somebody gets the lease"))] += 1;
    }
    wins
}

/// All three requests arrive in the same millisecond, every time.
#[test]
fn a_dead_heat_is_decided_by_the_seed() {
    let wins = wins(NetworkKnobs { latency_min: 1.ms(), latency_max: 1.ms() });
    assert!(wins.iter().all(|n| ABOUT_A_THIRD.contains(n)), "{wins:?} of {SEEDS}");
}

/// As in the default deployment: connecting and asking take two round trips of 2 to 100 ms.
#[test]
fn a_race_over_a_network_is_decided_by_its_latency() {
    let wins = wins(NetworkKnobs { latency_min: 1.ms(), latency_max: 50.ms() });
    assert!(wins.iter().all(|n| ABOUT_A_THIRD.contains(n)), "{wins:?} of {SEEDS}");
}
