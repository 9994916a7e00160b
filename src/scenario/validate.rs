//! Whether a deployment can be run at all. Every refusal names the knob, its value, its bound,
//! and what to write instead; all of them are reported at once.

use crate::id::NodeId;
use crate::plan::{Misplanned, duration};
use crate::scenario::{Misfire, Scenario};
use crate::settlement::{Schedule, ScheduleError};
use crate::time::{Span, millis};
use std::ops::RangeInclusive;
use std::time::Duration;

/// How many scheduler nodes there may be.
pub const NODES: RangeInclusive<u8> = 1..=32;

/// A knob that cannot be run with.
#[derive(Debug, thiserror::Error)]
pub enum Misconfigured {
    /// A knob outside of its bounds.
    #[error("`{knob}` is {value}, but must be {bound}; {}", instead(knob, example))]
    Knob {
        /// Its place in the file: `guard.lease`.
        knob: &'static str,
        /// What it is.
        value: String,
        /// What it may be.
        bound: String,
        /// A good value beside the others, as TOML; empty if it can only be taken away.
        example: String,
    },
    /// The schedule cannot be worked out.
    #[error("{0} in the schedule")]
    Schedule(#[from] ScheduleError),
    /// What is said about one node alone cannot be run with.
    #[error("in the override of {node}: {what}")]
    Override {
        /// Which node.
        node: NodeId,
        /// What is wrong.
        what: Box<Misconfigured>,
    },
    /// No strategy has this name.
    #[error("unknown strategy `{name}`; `onceproof list` shows them all")]
    Strategy {
        /// What was asked for.
        name: String,
    },
    /// A strategy contradicts itself, or cannot be told from another.
    #[error("strategy `{name}` {what}")]
    Unclear {
        /// Its name.
        name: String,
        /// What is wrong with it, and what to write.
        what: String,
    },
    /// A fault of a plan cannot strike this deployment.
    #[error(transparent)]
    Plan(#[from] Misplanned),
    /// It would take an engine that advances in ticks too long.
    #[error(
        "on turmoil this run would need {ticks} ticks, and at most {most} are worth waiting for: it lasts {length} in ticks of {tick}, half of `network.latency_min`; write a shorter `schedule.every`, `node.attention` or `liveness_bound`, a larger `network.latency_min`, or use the event engine"
    )]
    TooLong {
        /// How many ticks it would take.
        ticks: u64,
        /// How many it may take.
        most: u64,
        /// How long the run lasts.
        length: String,
        /// How long a tick is.
        tick: String,
    },
}

/// What to write.
fn instead(knob: &str, example: &str) -> String {
    if example.is_empty() { "take it away".to_owned() } else { format!("write for example `{knob} = {example}`") }
}

/// Longer than anything here has to last, and short enough for sums to stay far from overflow.
pub const YEAR: Duration = Duration::from_hours(366 * 24);

impl Scenario {
    /// Checks every knob against its bounds. Whether the strategy exists is for the catalogue to say.
    ///
    /// # Errors
    /// All knobs that are out of bounds, in the order of the file.
    pub fn validate(&self) -> Result<(), Vec<Misconfigured>> {
        let mut found = Found::default();
        found.number("nodes", self.nodes.into(), (*NODES.start()).into(), (*NODES.end()).into(), "3");
        found.number("players", self.players, 1, 10_000, "100");
        found.number("earnings", self.earnings, 0, 1_000, "12");
        found.length("liveness_bound", self.liveness_bound, 1.ms(), YEAR, "\"2h\"");
        found.number("time_scale", self.time_scale, 1, 3_600, "1");
        self.validate_schedule(&mut found);
        self.validate_node(&mut found);
        self.validate_guard(&mut found);
        self.validate_servers(&mut found);
        self.validate_queue(&mut found);
        self.lease_row.validate(&mut found);
        self.slot_key.validate(&mut found);
        self.leader.validate(&mut found);
        self.validate_clocks_and_job(&mut found);
        if found.0.is_empty() {
            self.validate_overrides(&mut found);
        }
        self.row_lock.validate(&mut found);
        self.payout.validate(&mut found);
        if found.0.is_empty() { Ok(()) } else { Err(found.0) }
    }

    /// The calendar is worked out only from what cannot overflow it.
    fn validate_schedule(&self, found: &mut Found) {
        let before = found.0.len();
        match &self.schedule {
            Schedule::Cron { from, .. } if !(1970..=2999).contains(&from.year()) => {
                found.refuse("schedule.from", from.to_string(), "in the years 1970 to 2999".to_owned(), "\"2026-01-09T00:00:00\"");
            }
            Schedule::Cron { .. } => {}
            Schedule::Interval { every, .. } => found.length("schedule.every", *every, 1.ms(), YEAR, "\"6m\""),
        }
        if found.0.len() == before {
            found.0.extend(self.schedule.calendar().err().map(Misconfigured::from));
        }
    }

    fn validate_node(&self, found: &mut Found) {
        let node = &self.node;
        found.length("node.jitter", node.jitter, Duration::ZERO, 10.minutes(), "\"5s\"");
        found.length("node.poll", node.poll, 1.ms(), 1.hours(), "\"1m\"");
        found.length("node.attention", node.attention, if_good(node.poll, 1.hours()), YEAR, "\"3h\"");
        found.length("node.work", node.work, Duration::ZERO, 24.hours(), "\"2m\"");
        found.length("node.timeout", node.timeout, 1.ms(), 1.hours(), "\"5s\"");
        let (least, most) = (if_good(self.network.latency_min, 1.minutes()), if_good(self.network.latency_max, 1.minutes()));
        let (knob, longest) =
            if node.timeout <= most * 2 { ("network.latency_max", most) } else { ("network.latency_min", least.max(most)) };
        if node.timeout > Duration::ZERO && node.timeout <= longest * 2 {
            let bound = format!("more than a round trip, twice `{knob}` = {}", duration::text(longest * 2));
            let round_trip = least.max(most) * 2;
            found.refuse(
                "node.timeout",
                duration::text(node.timeout),
                bound,
                example("\"5s\"", |usual| usual > round_trip, round_trip * 2),
            );
        }
        found.length("node.step_jitter", node.step_jitter, Duration::ZERO, 1.minutes(), "\"2ms\"");
        self.validate_misfire(found);
    }

    /// Where nothing that was missed is left alone, it does not matter when it counts as missed.
    fn validate_misfire(&self, found: &mut Found) {
        let misfire = &self.node.misfire;
        let in_time = self.node.jitter.saturating_add(self.guard.wake_after);
        if misfire.policy != Misfire::FireAll && misfire.grace <= in_time {
            let bound = format!("more than `node.jitter` and `guard.wake_after` together = {}", duration::text(in_time));
            let sound = if_good(self.node.jitter, 10.minutes()) + if_good(self.guard.wake_after, 24.hours());
            found.refuse("node.misfire.grace", duration::text(misfire.grace), bound, example("\"2m\"", |usual| usual > sound, sound * 2));
        }
        found.length("node.misfire.grace", misfire.grace, Duration::ZERO, YEAR, "\"2m\"");
    }

    fn validate_guard(&self, found: &mut Found) {
        let guard = &self.guard;
        found.length("guard.lease", guard.lease, 1.ms(), YEAR, "\"30m\"");
        found.length("guard.setnx_lease", guard.setnx_lease, 1.ms(), YEAR, "\"10s\"");
        found.length("guard.machine_lease", guard.machine_lease, 1.ms(), YEAR, "\"10m\"");
        found.length("guard.watchdog_lease", guard.watchdog_lease, 1.ms(), YEAR, "\"30s\"");
        found.length("guard.renew_every", guard.renew_every, 1.ms(), YEAR, "\"10s\"");
        found.less_than(("guard.renew_every", guard.renew_every, "\"10s\""), ("guard.watchdog_lease", guard.watchdog_lease, "\"30s\""));
        found.length("guard.dual_lease", guard.dual_lease, 1.ms(), YEAR, "\"90s\"");
        found.length("guard.dual_renew_every", guard.dual_renew_every, 1.ms(), YEAR, "\"30s\"");
        found.less_than(("guard.dual_renew_every", guard.dual_renew_every, "\"30s\""), ("guard.dual_lease", guard.dual_lease, "\"90s\""));
        found.length("guard.heartbeat", guard.heartbeat, 1.ms(), YEAR, "\"30s\"");
        found.length("guard.stale_after", guard.stale_after, 1.ms(), YEAR, "\"5m\"");
        found.more_than(("guard.stale_after", guard.stale_after, "\"5m\""), ("guard.heartbeat", guard.heartbeat, "\"30s\""));
        found.length("guard.backoff", guard.backoff, 1.ms(), YEAR, "\"30s\"");
        found.length("guard.backoff_max", guard.backoff_max, if_good(guard.backoff, YEAR), YEAR, "\"10m\"");
        found.number("guard.dead_letter_after", guard.dead_letter_after, 1, u32::MAX, "20");
        found.length("guard.operator", guard.operator, Duration::ZERO, YEAR, "\"30m\"");
        if !guard.operator.is_zero() && guard.operator < 1.minutes() / self.time_scale.max(1) {
            let bound = "0s for nobody, or at least 1m: nobody looks more often, and a run would be about little else".to_owned();
            found.refuse("guard.operator", duration::text(guard.operator), bound, "\"30m\"");
        }
        found.length("guard.wake_after", guard.wake_after, Duration::ZERO, 24.hours(), "\"1m\"");
    }

    /// What a node knows must be as good as what is deployed. Asked only if that is good: it stands in for what is left out.
    fn validate_overrides(&self, found: &mut Found) {
        let Ok(truth) = self.schedule.calendar() else { return };
        for (n, other) in self.overrides.iter().enumerate() {
            let mut own = Found::default();
            let free =
                || (0..self.nodes).rev().find(|node| self.override_of(*node).is_none()).map(|node| node.to_string()).unwrap_or_default();
            if other.node >= self.nodes {
                own.refuse("override.node", other.node.to_string(), format!("0 to {}", self.nodes.saturating_sub(1)), free());
            }
            let twice = self.overrides[..n].iter().any(|earlier| earlier.node == other.node);
            if twice {
                own.refuse("override.node", other.node.to_string(), "in one override only".to_owned(), free());
            }
            match (&other.cron, &self.schedule) {
                (Some(cron), Schedule::Interval { .. }) => {
                    let bound = "left out where `schedule.kind` is `interval`, as it is on turmoil".to_owned();
                    own.refuse("override.cron", format!("`{cron}`"), bound, "");
                }
                (None, _) | (_, Schedule::Cron { .. }) => {
                    own.0.extend(other.calendar(&self.schedule, &truth).err().map(Misconfigured::from));
                }
            }
            if other.elsewhere && (0..self.nodes).all(|node| self.is_elsewhere(node)) {
                own.refuse("override.elsewhere", "true for every node".to_owned(), "left out for at least one".to_owned(), "false");
            }
            if !twice {
                let known = self.known_to(other.node);
                known.validate_node(&mut own);
                known.validate_guard(&mut own);
            }
            found.0.extend(own.0.into_iter().map(|what| Misconfigured::Override { node: NodeId(other.node), what: Box::new(what) }));
        }
    }

    fn validate_servers(&self, found: &mut Found) {
        let network = &self.network;
        found.length("network.latency_min", network.latency_min, 1.ms(), 1.minutes(), "\"1ms\"");
        found.length(
            "network.latency_max",
            network.latency_max,
            if_good(network.latency_min, 1.minutes()).max(1.ms()),
            1.minutes(),
            "\"50ms\"",
        );
        self.validate_log(found);
        found.length("centre.timeout", self.centre.timeout, 1.ms(), YEAR, "\"10m\"");
        let database = &self.database;
        found.length("database.lock_timeout", database.lock_timeout, 1.ms(), YEAR, "\"4s\"");
        found.length("database.idle_in_transaction_timeout", database.idle_in_transaction_timeout, 1.ms(), YEAR, "\"1m\"");
        if let Some(pool) = database.pool {
            found.number("database.pool.sessions", pool.sessions, 1, 1_000, "3");
        }
        found.length("database.replica_lag", database.replica_lag, Duration::ZERO, YEAR, "\"5s\"");
    }
}

impl Scenario {
    fn validate_queue(&self, found: &mut Found) {
        let queue = &self.queue;
        found.length("queue.block", queue.block, 1.ms(), 1.hours(), "\"5s\"");
        found.length("queue.listen", queue.listen, queue.block, YEAR, "\"10m\"");
        found.length("queue.answer", queue.answer, Duration::ZERO, 24.hours(), "\"5s\"");
        found.length("queue.ask_every", queue.ask_every, 1.ms(), YEAR, "\"1s\"");
        found.length("queue.visibility", queue.visibility, 1.ms(), YEAR, "\"5m\"");
    }

    fn validate_log(&self, found: &mut Found) {
        let log = &self.log;
        found.length("log.heartbeat", log.heartbeat, 2.ms(), YEAR, "\"3s\"");
        found.length("log.election", log.election, 1.ms(), YEAR, "\"8s\"");
        found.length("log.rest_after", log.rest_after, 1.ms(), YEAR, "\"40s\"");
        found.length("log.lease", log.lease, 1.ms(), YEAR, "\"90s\"");
        found.length("log.renew_every", log.renew_every, 1.ms(), YEAR, "\"30s\"");
        if log.election <= log.heartbeat.saturating_mul(2) {
            let bound = format!("more than two heartbeats, twice `log.heartbeat` = {}", duration::text(log.heartbeat));
            let beats = log.heartbeat.saturating_mul(2);
            found.refuse(
                "log.election",
                duration::text(log.election),
                bound,
                example("\"8s\"", |usual| usual > beats, (beats * 2).min(YEAR)),
            );
        }
        if log.rest_after <= log.election.saturating_mul(4) {
            let bound = format!("more than the longest election, four times `log.election` = {}", duration::text(log.election));
            let elections = log.election.saturating_mul(4);
            let rest = example("\"40s\"", |usual| usual > elections, (elections * 2).min(YEAR));
            found.refuse("log.rest_after", duration::text(log.rest_after), bound, rest);
        }
        found.less_than(("log.renew_every", log.renew_every, "\"30s\""), ("log.lease", log.lease, "\"90s\""));
    }

    fn validate_clocks_and_job(&self, found: &mut Found) {
        found.length("clocks.error", self.clocks.error, Duration::ZERO, 24.hours(), "\"5m\"");
        found.number("clocks.drift_ppm", self.clocks.drift_ppm, 0, 100_000, "20000");
        if let Some(job) = &self.job_lengths {
            found.length("job_lengths.p50", job.p50, Duration::ZERO, 24.hours(), "\"2m\"");
            let mut least = if_good(job.p50, 24.hours());
            for (knob, length, usual) in
                [("job_lengths.p95", job.p95, "\"10m\""), ("job_lengths.p99", job.p99, "\"30m\""), ("job_lengths.max", job.max, "\"45m\"")]
            {
                found.length(knob, length, least, 24.hours(), usual);
                least = least.max(if_good(length, 24.hours()));
            }
        }
    }
}

/// What was found wrong so far.
#[derive(Default)]
pub(super) struct Found(Vec<Misconfigured>);

impl Found {
    pub(super) fn refuse(&mut self, knob: &'static str, value: String, bound: String, example: impl Into<String>) {
        self.0.push(Misconfigured::Knob { knob, value, bound, example: example.into() });
    }

    /// A length that has to be less than another, which is blamed only if nothing is less. Both have a usual value.
    pub(super) fn less_than(&mut self, less: (&'static str, Duration, &str), more: (&'static str, Duration, &str)) {
        if less.1 < more.1 {
            return;
        }
        if more.1 <= 1.ms() {
            let floor = less.1.max(1.ms());
            let example = example(more.2, |usual| usual > floor, floor * 2);
            self.refuse(more.0, duration::text(more.1), format!("more than `{}` and 1ms", less.0), example);
            return;
        }
        let bound = format!("less than `{}` = {}", more.0, duration::text(more.1));
        self.refuse(less.0, duration::text(less.1), bound, example(less.2, |usual| usual < more.1, part(more.1, 3)));
    }

    /// The same, and the other one is blamed, unless nothing is more.
    pub(super) fn more_than(&mut self, more: (&'static str, Duration, &str), less: (&'static str, Duration, &str)) {
        if less.1 < more.1 {
            return;
        }
        if less.1 >= YEAR {
            let example = example(less.2, |usual| usual < more.1, part(more.1, 3));
            self.refuse(less.0, duration::text(less.1), format!("less than `{}`", more.0), example);
            return;
        }
        let bound = format!("more than `{}` = {}", less.0, duration::text(less.1));
        self.refuse(more.0, duration::text(more.1), bound, example(more.2, |usual| usual > less.1, (less.1 * 2).min(YEAR)));
    }

    pub(super) fn number(&mut self, knob: &'static str, value: u32, least: u32, most: u32, example: &'static str) {
        if !(least..=most).contains(&value) {
            let bound = if most == u32::MAX { format!("at least {least}") } else { format!("{least} to {most}") };
            self.refuse(knob, value.to_string(), bound, example);
        }
    }

    pub(super) fn length(&mut self, knob: &'static str, value: Duration, least: Duration, most: Duration, usual: &str) {
        if !(least..=most).contains(&value) {
            let bound = match (duration::text(least), most) {
                (least, YEAR) if value < YEAR => format!("at least {least}"),
                (only, _) if least == most => only,
                (least, most) => format!("{least} to {}", duration::text(most)),
            };
            self.refuse(knob, duration::text(value), bound, example(usual, |usual| (least..=most).contains(&usual), least));
        }
    }
}

/// The usual value, as TOML, if it fits, or else this one.
pub(super) fn example(usual: &str, fits: impl Fn(Duration) -> bool, otherwise: Duration) -> String {
    let fits = duration::parse(usual.trim_matches('"')).is_ok_and(fits);
    if fits { usual.to_owned() } else { format!("\"{}\"", duration::text(otherwise)) }
}

/// So many parts of a length, in whole milliseconds, and at least one.
pub(super) fn part(of: Duration, parts: u64) -> Duration {
    Duration::from_millis((millis(of) / parts).max(1))
}

/// A length that another is compared with, or nothing, if it is out of bounds itself.
fn if_good(length: Duration, most: Duration) -> Duration {
    if length <= most { length } else { Duration::ZERO }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{GuardKnobs, MisfireKnobs, NetworkKnobs, NodeKnobs, Override, Part, QueueKnobs};
    use crate::settlement::{Fold, Gap};

    /// What is wrong with a scenario, one line each.
    fn wrong(scenario: &Scenario) -> Vec<String> {
        scenario.validate().err().into_iter().flatten().map(|e| e.to_string()).collect()
    }

    #[test]
    fn the_default_is_good() {
        assert_eq!(wrong(&Scenario::default()), [""; 0]);
    }

    #[test]
    fn each_refusal_says_what_to_write() {
        let guard = GuardKnobs { lease: Duration::ZERO, ..GuardKnobs::default() };
        let scenario = Scenario { nodes: 0, players: 10_001, guard, ..Scenario::default() };
        assert_eq!(
            wrong(&scenario),
            [
                "`nodes` is 0, but must be 1 to 32; write for example `nodes = 3`",
                "`players` is 10001, but must be 1 to 10000; write for example `players = 100`",
                "`guard.lease` is 0s, but must be at least 1ms; write for example `guard.lease = \"30m\"`",
            ]
        );
    }

    #[test]
    fn knobs_are_checked_against_each_other() {
        let guard = GuardKnobs {
            renew_every: 30.seconds(),
            dual_renew_every: 90.seconds(),
            stale_after: 30.seconds(),
            backoff_max: 1.seconds(),
            ..GuardKnobs::default()
        };
        let network = NetworkKnobs { latency_min: 60.ms(), latency_max: 50.ms() };
        let node = NodeKnobs { timeout: 100.ms(), ..NodeKnobs::default() };
        let found = wrong(&Scenario { node, guard, network, ..Scenario::default() });
        let said = |start: &str| found.iter().any(|line| line.starts_with(start));
        assert!(said("`guard.renew_every` is 30s, but must be less than `guard.watchdog_lease` = 30s;"), "{found:?}");
        assert!(said("`guard.dual_renew_every` is 1m 30s, but must be less than `guard.dual_lease` = 1m 30s;"), "{found:?}");
        assert!(said("`guard.stale_after` is 30s, but must be more than `guard.heartbeat` = 30s;"), "{found:?}");
        assert!(said("`guard.backoff_max` is 1s, but must be at least 30s;"), "{found:?}");
        assert!(said("`network.latency_max` is 50ms, but must be 60ms to 1m;"), "{found:?}");
        assert!(said("`node.timeout` is 100ms, but must be more than a round trip, twice `network.latency_max` = 100ms;"), "{found:?}");
        assert_eq!(found.len(), 6, "{found:?}");
    }

    /// With the default jitter and wait of table-key-published every boundary would be missed.
    #[test]
    fn a_grace_time_is_longer_than_what_is_in_time() {
        let misfire = MisfireKnobs { policy: Misfire::Skip, grace: 65.seconds() };
        let node = NodeKnobs { misfire, ..NodeKnobs::default() };
        let found = wrong(&Scenario { node, ..Scenario::default() });
        assert_eq!(
            found,
            [
                "`node.misfire.grace` is 1m 5s, but must be more than `node.jitter` and `guard.wake_after` together = 1m 5s; write for example `node.misfire.grace = \"2m\"`"
            ]
        );
    }

    #[test]
    fn queues_are_checked_too() {
        let queue = QueueKnobs { block: 1.minutes(), listen: 5.seconds(), visibility: Duration::ZERO, ..QueueKnobs::default() };
        assert_eq!(
            wrong(&Scenario { queue, ..Scenario::default() }),
            [
                "`queue.listen` is 5s, but must be at least 1m; write for example `queue.listen = \"10m\"`",
                "`queue.visibility` is 0s, but must be at least 1ms; write for example `queue.visibility = \"5m\"`",
            ]
        );
    }

    #[test]
    fn a_bad_schedule_is_one_of_them() {
        let schedule = Schedule::Interval { every: 1.minutes(), periods: 0 };
        assert_eq!(wrong(&Scenario { schedule, ..Scenario::default() }), ["`periods` must be 1 to 1000, not 0 in the schedule"]);
        let schedule = Schedule::Interval { every: Duration::MAX, periods: 3 };
        assert!(wrong(&Scenario { schedule, ..Scenario::default() })[0].contains("must be 1ms to"));
        let (cron, zone) = ("0 0,12 * * *".to_owned(), "UTC".to_owned());
        let schedule =
            Schedule::Cron { cron, zone, from: jiff::civil::date(2026, 1, 9).at(1, 0, 0, 0), periods: 3, gap: Gap::End, fold: Fold::First };
        assert!(wrong(&Scenario { schedule, ..Scenario::default() })[0].contains("has two boundaries on 2026-01-10"));
    }

    #[test]
    fn what_is_said_about_one_node_is_checked_as_what_is_deployed() {
        let guard = GuardKnobs { heartbeat: 6.minutes(), ..GuardKnobs::default() };
        let other = |node| Override { node, ..Override::default() };
        let overrides = vec![
            Override { guard: Part::differing(&guard, &GuardKnobs::default()), ..other(1) },
            Override { zone: Some("Mars/Olympus".to_owned()), ..other(1) },
            Override { cron: Some("0 0 31 2 *".to_owned()), ..other(3) },
        ];
        let nobody = (0..3).map(|node| Override { elsewhere: true, ..other(node) }).collect();
        assert!(wrong(&Scenario { overrides: nobody, ..Scenario::default() })[0].contains("`override.elsewhere` is true for every node"));
        let found = wrong(&Scenario { overrides: overrides.clone(), ..Scenario::default() });
        let said = |start: &str| found.iter().any(|line| line.starts_with(start));
        assert!(said("in the override of n1: `guard.stale_after` is 5m, but must be more than `guard.heartbeat` = 6m;"), "{found:?}");
        assert!(said("in the override of n1: `override.node` is 1, but must be in one override only;"), "{found:?}");
        assert!(said("in the override of n1: unknown time zone `Mars/Olympus`;"), "{found:?}");
        assert!(said("in the override of n3: `override.node` is 3, but must be 0 to 2;"), "{found:?}");
        assert!(said("in the override of n3: the cron expression `0 0 31 2 *` has no boundary after"), "{found:?}");
        assert_eq!(found.len(), 5, "{found:?}");
        let schedule = Schedule::Interval { every: 6.minutes(), periods: 1 };
        let found = wrong(&Scenario { schedule, overrides: vec![Override { node: 0, ..overrides[2].clone() }], ..Scenario::default() });
        assert!(found[0].contains("must be left out where `schedule.kind` is `interval`"), "{found:?}");
    }

    /// A group that has its defaults is not written, so that older files stay as they are; what contradicts itself is refused.
    #[test]
    fn groups_of_knobs_are_left_out_and_checked() {
        let written = toml::to_string(&Scenario::default()).unwrap();
        for (group, text, said) in [
            ("lease_row", "at_least = \"1h\"", "`lease_row.at_least` is 1h, but must be at most `lease_row.at_most` = 30m"),
            ("lease_row", "keep_alive = \"30m\"", "must be less than `lease_row.at_most` = 30m, or 0s for never"),
            ("slot_key", "kept = \"0s\"", "`slot_key.kept` is 0s"),
            ("leader", "renew_every = \"30s\"", "must be less than `leader.lasts` = 30s"),
            ("leader", "ahead = \"30s\"", "must be more than `leader.lasts` = 30s"),
            ("row_lock", "dead_after = \"15s\"", "must be more than `row_lock.check_in` = 15s"),
            ("payout", "key_retention = \"9000h\"", "`payout.key_retention` is 9000h, but must be 0s to"),
        ] {
            assert!(!written.contains(group), "{written}");
            let scenario: Scenario = toml::from_str(&format!("[{group}]\n{text}")).unwrap();
            let wrong = wrong(&scenario);
            assert!(wrong.len() == 1 && wrong[0].contains(said), "{wrong:?}");
            assert_eq!(toml::from_str::<Scenario>(&toml::to_string(&scenario).unwrap()).unwrap(), scenario);
        }
    }

    /// A file with a misspelt knob or a wrong type is refused with the line and what there is.
    #[test]
    fn a_bad_file_is_refused_with_its_line() {
        for (text, line, said) in [
            ("nodes = 3\nplayres = 7\n", 2, "unknown field `playres`, expected one of"),
            ("nodes = \"three\"\n", 1, "invalid type: string \"three\""),
            ("nodes = 300\n", 1, "invalid value: integer `300`"),
            ("nodes = 3\n[guard]\nlease = 30\n", 3, "expected a duration in quotes, for example \"40m\""),
            ("[guard]\nleese = \"30m\"\n", 2, "unknown field `leese`"),
            ("[schedule]\nkind = \"cron\"\ncron = 5\n", 3, "invalid type: integer `5`"),
            ("nodes = 3\n[schedule]\nkind = \"lunar\"\n", 3, "unknown variant `lunar`, expected `cron` or `interval`"),
            ("[schedule]\nkind = \"interval\"\nevery = \"1m\"\nperiods = 3\nzone = \"UTC\"\n", 1, "kind `interval` has no `zone`"),
            ("[schedule]\nkind = \"interval\"\nevery = \"1m\"\n", 1, "kind `interval` needs `periods`"),
        ] {
            let error = toml::from_str::<Scenario>(text).expect_err(text).to_string();
            assert!(error.contains(&format!("line {line},")) && error.contains(said), "{text}\n{error}");
        }
    }
}
