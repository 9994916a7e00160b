//! Deployments, drawn. Knobs are drawn one by one; where one has to be larger than what others
//! come to, only its slack is drawn. The relations are those of scenario validation and of
//! `scenario/scale.rs`, with the drawn magnitudes of faults in place of the catalogue's.

use super::plan::WRONG_BY;
use onceproof::plan::{FaultPlan, Harm};
use onceproof::scenario::{DatabaseKnobs, GuardKnobs, NetworkKnobs, NodeKnobs, Rules, Scenario};
use onceproof::settlement::{Fold, Gap, Schedule};
use onceproof::time::{Span, millis};
use proptest::prelude::*;
use proptest::sample::select;
use std::time::Duration;

/// Round trips of a settlement transaction.
const TRANSACTION: u32 = 9;

/// Time between the beginning and the first boundary, and between two boundaries, is at least
/// this: a clock that is wrong by as much as drawn plans make it does not reach a boundary before the run begins.
const LEAD: Duration = Duration::from_mins(10);

/// How much more than the least a knob is; `None` = its default, if that is enough.
type Slack = Option<Duration>;

/// A deployment, its strategy left open.
pub fn scenario() -> impl Strategy<Value = Scenario> {
    (sizes(), schedule(), node(), network(), guard(), slacks(), select(&Rules::ALL)).prop_map(
        |(sizes, schedule, node, network, guard, slacks, rules)| {
            let (nodes, players, earnings) = sizes;
            let [lock, client, idle, lease, claim, bound] = slacks;
            let round_trip = network.latency_max * 2;
            let lock_timeout = above(round_trip * TRANSACTION * 2, 4.seconds(), lock);
            let timeout = above(lock_timeout + round_trip, 5.seconds(), client);
            let unanswered = timeout + round_trip;
            let watchdog_lease = above(guard.renew_every * 2 + unanswered, 90.seconds(), lease);
            let dead = watchdog_lease.max(guard.heartbeat * 2 + unanswered).max(node.poll + unanswered);
            let stale_after = above(dead, 5.minutes(), claim);
            let attempt = node.jitter + node.poll * 3 + node.work * 2;
            let longest_wait = guard.lease.max(stale_after) + guard.backoff_max + attempt;
            Scenario {
                nodes,
                players,
                earnings,
                schedule,
                node: NodeKnobs { timeout, ..node },
                guard: GuardKnobs { watchdog_lease, stale_after, ..guard },
                network,
                database: DatabaseKnobs {
                    rules,
                    lock_timeout,
                    idle_in_transaction_timeout: above(timeout * 2, 60.seconds(), idle),
                    ..DatabaseKnobs::default()
                },
                liveness_bound: above(longest_wait, 2.hours(), bound),
                ..Scenario::default()
            }
        },
    )
}

/// The same deployment, watched for long enough, and patient enough, for what a plan does to it.
///
/// * The liveness bound begins when a fault has struck, unless the fault is over when its victim is
///   up and connected again. What is late, slow or failing is not, so its length comes on top; nor
///   is a clock that is behind: whoever has it waits for the boundary once more.
/// * Nodes pay attention for as long as all of that and all other faults last, one after the other:
///   otherwise a plan that stops everybody again and again ends after they have given up. A clock
///   that is set forward shortens it.
/// * A period is given up after more errors than the plan has.
pub fn patient(scenario: Scenario, plan: &FaultPlan) -> Scenario {
    let attempt = scenario.node.poll * 3 + scenario.node.work * 2;
    let (mut unseen, mut others, mut errors) = (Duration::ZERO, Duration::ZERO, 0);
    for fault in &plan.faults {
        match fault.harm {
            Harm::Late { lasts, .. } => unseen += lasts,
            Harm::SlowStep { extra } => unseen += extra,
            Harm::CommitFails { .. } | Harm::SessionEnds { .. } => unseen += attempt,
            Harm::JobError { times } => {
                unseen += (scenario.guard.backoff_max + attempt) * times;
                errors += times;
            }
            Harm::ClockOffset { by_ms, .. } => *(if by_ms < 0 { &mut unseen } else { &mut others }) += by_ms.unsigned_abs().ms(),
            Harm::ClockDrift { ppm, lasts, .. } => {
                let wrong = lasts.map_or(WRONG_BY, |lasts| lasts * ppm.unsigned_abs() / 1_000_000);
                *(if ppm < 0 { &mut unseen } else { &mut others }) += wrong;
            }
            Harm::Crash { .. }
            | Harm::Power { .. }
            | Harm::Pause { .. }
            | Harm::Partition { .. }
            | Harm::ReplyLost { .. }
            | Harm::LeaseWipe { .. }
            | Harm::LeaseEvict { .. }
            | Harm::Redeliver
            | Harm::Zone { .. }
            | Harm::Shutdown { .. }
            | Harm::LeaseFailover { .. }
            | Harm::LeaseStall { .. } => {
                others += fault.harm.heals_after().unwrap_or_default();
            }
        }
    }
    let guard = GuardKnobs { dead_letter_after: scenario.guard.dead_letter_after.max(errors + 1), ..scenario.guard };
    let attention = scenario.node.attention.max(2.hours() + guard.lease + unseen + others);
    let node = NodeKnobs { attention, ..scenario.node };
    Scenario { liveness_bound: scenario.liveness_bound + unseen, guard, node, ..scenario }
}

/// Nodes, players, earnings.
fn sizes() -> impl Strategy<Value = (u8, u32, u32)> {
    (1..=5_u8, 1..=40_u32, 0..=15_u32)
}

/// Days of the month at a local time, or an interval that is longer than the longest wrong clock is wrong.
fn schedule() -> impl Strategy<Value = Schedule> {
    let cron = prop::sample::select(&["0 0 10,25 * *", "0 0 * * *", "30 2 * * *", "0 9 1 * *"][..]);
    let zone = prop::sample::select(&["Asia/Shanghai", "UTC", "Europe/Berlin", "Australia/Lord_Howe"][..]);
    // Two days before clocks jump in Berlin.
    let from = jiff::civil::date(2026, 3, 27).at(0, 0, 0, 0);
    let by_day = (cron, zone, 1..=3_u32).prop_map(move |(cron, zone, periods)| Schedule::Cron {
        cron: cron.to_owned(),
        zone: zone.to_owned(),
        from,
        periods,
        gap: Gap::default(),
        fold: Fold::default(),
    });
    let by_interval = (within(LEAD, 6.hours()), 1..=3_u32).prop_map(|(every, periods)| Schedule::Interval { every, periods });
    prop_oneof![by_interval, by_day]
}

fn node() -> impl Strategy<Value = NodeKnobs> {
    (
        knob(5.seconds(), 0.ms(), 2.minutes()),
        knob(60.seconds(), 5.seconds(), 5.minutes()),
        knob(2.minutes(), 0.ms(), 10.minutes()),
        knob(2.ms(), 0.ms(), 200.ms()),
    )
        .prop_map(|(jitter, poll, work, step_jitter)| NodeKnobs { jitter, poll, work, step_jitter, ..NodeKnobs::default() })
}

fn network() -> impl Strategy<Value = NetworkKnobs> {
    let any = (1..=200_u64, 0..=200_u64);
    let any = any.prop_map(|(least, more)| NetworkKnobs { latency_min: least.ms(), latency_max: (least + more).ms() });
    prop_oneof![Just(NetworkKnobs::default()), any]
}

fn guard() -> impl Strategy<Value = GuardKnobs> {
    (
        knob(30.minutes(), 1.minutes(), 40.minutes()),
        knob(30.seconds(), 1.seconds(), 60.seconds()),
        knob(30.seconds(), 1.seconds(), 60.seconds()),
        knob(30.seconds(), 1.seconds(), 2.minutes()),
        knob(10.minutes(), 2.minutes(), 10.minutes()),
    )
        .prop_map(|(lease, renew_every, heartbeat, backoff, backoff_max)| GuardKnobs {
            lease,
            renew_every,
            heartbeat,
            backoff,
            backoff_max,
            ..GuardKnobs::default()
        })
}

fn slacks() -> impl Strategy<Value = [Slack; 6]> {
    prop::array::uniform6(prop::option::of(prop_oneof![within(0.ms(), 100.ms()), within(0.ms(), 3.minutes())]))
}

/// The default, or anything in a range.
fn knob(default: Duration, least: Duration, most: Duration) -> impl Strategy<Value = Duration> {
    prop_oneof![Just(default), within(least, most)]
}

fn within(least: Duration, most: Duration) -> impl Strategy<Value = Duration> {
    (millis(least)..=millis(most)).prop_map(Span::ms)
}

/// More than `least`.
fn above(least: Duration, default: Duration, slack: Slack) -> Duration {
    let least = least + 1.ms();
    slack.map_or(default.max(least), |slack| least + slack)
}
