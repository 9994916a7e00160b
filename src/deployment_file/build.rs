//! From entries to a scenario: what each stands for, and what is wrong between them.

use crate::class::{self, FaultClass};
use crate::deployment_file::mistake::Mistake;
use crate::deployment_file::read::Entries;
use crate::deployment_file::terms::{Terms, terms};
use crate::deployment_file::{DeploymentFile, SEEDS};
use crate::profile::{self, Profile};
use crate::scenario::{JobLengths, Misconfigured, Rules, Scenario};
use crate::seed::Seed;
use crate::settlement::{Schedule, ScheduleError};
use crate::strategy::{self, Strategy};
use crate::time::Span;
use serde::Deserialize;
use std::ops::Range;
use std::time::Duration;

/// Keys that stand for one knob each, whatever the guard. A knob of another name is told by its key.
const SAME: [(&str, &str); 24] = [
    ("nodes", "nodes"),
    ("players", "players"),
    ("earnings", "earnings"),
    ("liveness_bound", "settle_within"),
    ("schedule.every", "schedule.every"),
    ("schedule.from", "schedule.from"),
    ("node.poll", "retry.poll"),
    ("node.jitter", "retry.jitter"),
    ("node.attention", "retry.attention"),
    ("guard.heartbeat", "claim.heartbeat"),
    ("guard.stale_after", "claim.stale_after"),
    ("guard.backoff_max", "retry.backoff_max"),
    ("guard.backoff", "retry.backoff"),
    ("guard.dead_letter_after", "retry.dead_letter_after"),
    ("clocks.error", "clocks.error"),
    ("network.latency_min", "network.latency_min"),
    ("network.latency_max", "network.latency_max"),
    ("node.timeout", "client.timeout"),
    ("database.lock_timeout", "database.lock_timeout"),
    ("database.idle_in_transaction_timeout", "database.idle_in_transaction_timeout"),
    ("job_lengths.p50", "job.p50"),
    ("job_lengths.p95", "job.p95"),
    ("job_lengths.p99", "job.p99"),
    ("job_lengths.max", "job.max"),
];

/// Makes it.
pub fn build(file: &str, text: &str, entries: Entries, mistakes: Vec<Mistake>) -> Result<DeploymentFile, Vec<Mistake>> {
    let mut builder = Builder { entries: &entries, mistakes };
    let guard = builder.guard();
    let scenario = builder.scenario(guard);
    let classes = builder.classes(guard, &scenario);
    if !builder.mistakes.is_empty() {
        return Err(builder.mistakes);
    }
    let Some(guard) = guard else { return Err(vec![Mistake::missing("nothing says which guard it is", "write `guard = \"table-key\"`")]) };
    let seeds = entries.number("try.seeds").unwrap_or(SEEDS);
    let seed = Seed(entries.number("try.seed").unwrap_or(1));
    Ok(DeploymentFile { file: file.to_owned(), guard, scenario, classes, seeds, seed, text: text.to_owned(), entries })
}

struct Builder<'a> {
    entries: &'a Entries,
    mistakes: Vec<Mistake>,
}

impl Builder<'_> {
    fn guard(&mut self) -> Option<&'static dyn Strategy> {
        let profile = self.entries.text("profile").and_then(profile::find);
        if let (Some(_), Some(span)) = (profile, self.entries.span("guard")) {
            let cure = "a profile says which guard it is; take one of the two away";
            self.mistakes.push(Mistake::at(span, "`guard` stands beside `profile`", cure));
        }
        let found = self.entries.text("guard").or(profile.map(Profile::strategy)).and_then(strategy::find);
        // One that is there and wrong has been told.
        if found.is_none() && self.mistakes.is_empty() {
            let cure = "write for example `guard = \"lease-watchdog\"`; `onceproof list` shows all";
            self.mistakes.push(Mistake::missing("nothing says which guard it is", cure));
        }
        found
    }

    fn scenario(&mut self, guard: Option<&'static dyn Strategy>) -> Scenario {
        let terms = guard.map(|guard| terms(guard.name())).unwrap_or_default();
        let profile = self.entries.text("profile").and_then(profile::find);
        let mut scenario = profile.map_or_else(|| Scenario::calm(guard.map_or("table-key", |guard| guard.name())), Profile::scenario);
        self.sizes(&mut scenario);
        self.schedule(&mut scenario);
        self.durations(&mut scenario);
        if let Some(guard) = guard {
            self.terms(guard.name(), terms, &mut scenario);
        }
        self.job(&mut scenario);
        if let Some(rules) = self.entries.text("database.rules").and_then(Rules::find) {
            scenario.database.rules = rules;
        }
        self.patience(&mut scenario);
        let scenario = self.knobs(scenario);
        // What has no type yet cannot be compared.
        if self.mistakes.is_empty()
            && let Err(found) = scenario.validate()
        {
            self.mistakes.extend(found.iter().map(|wrong| told(wrong, self.entries, terms)).collect::<Vec<_>>());
        }
        scenario
    }

    fn sizes(&self, scenario: &mut Scenario) {
        let number = |key, usual: u32| self.entries.number(key).map_or(usual, |n| u32::try_from(n).unwrap_or(u32::MAX));
        scenario.nodes = u8::try_from(number("nodes", scenario.nodes.into())).unwrap_or(u8::MAX);
        scenario.players = number("players", scenario.players);
        scenario.earnings = number("earnings", scenario.earnings);
        scenario.guard.dead_letter_after = number("retry.dead_letter_after", scenario.guard.dead_letter_after);
        scenario.clocks.drift_ppm = number("clocks.drift_ppm", scenario.clocks.drift_ppm);
    }

    fn durations(&self, scenario: &mut Scenario) {
        let Scenario { node, guard, network, database, clocks, .. } = scenario;
        for (key, knob) in [
            ("retry.poll", &mut node.poll),
            ("retry.jitter", &mut node.jitter),
            ("client.timeout", &mut node.timeout),
            ("claim.heartbeat", &mut guard.heartbeat),
            ("claim.stale_after", &mut guard.stale_after),
            ("retry.backoff", &mut guard.backoff),
            ("retry.backoff_max", &mut guard.backoff_max),
            ("clocks.error", &mut clocks.error),
            ("network.latency_min", &mut network.latency_min),
            ("network.latency_max", &mut network.latency_max),
            ("database.lock_timeout", &mut database.lock_timeout),
            ("database.idle_in_transaction_timeout", &mut database.idle_in_transaction_timeout),
        ] {
            if let Some(length) = self.entries.length(key) {
                *knob = length;
            }
        }
    }

    fn schedule(&mut self, scenario: &mut Scenario) {
        let (Schedule::Cron { periods, .. } | Schedule::Interval { periods, .. }) = scenario.schedule;
        let periods = self.entries.number("schedule.periods").map_or(periods, |n| u32::try_from(n).unwrap_or(u32::MAX));
        if let Some(every) = self.entries.length("schedule.every") {
            for key in ["schedule.cron", "schedule.zone", "schedule.from"] {
                if let Some(span) = self.entries.span(key) {
                    let what = format!("`{key}` stands beside `schedule.every`");
                    self.mistakes.push(Mistake::at(
                        span,
                        what,
                        "a job is due at the times of a cron text or every so often; take one of the two away",
                    ));
                }
            }
            scenario.schedule = Schedule::Interval { every, periods };
            return;
        }
        let civil = ["schedule.cron", "schedule.zone", "schedule.from"].iter().any(|key| self.entries.has(key));
        let usual = match &scenario.schedule {
            Schedule::Interval { .. } if civil => Schedule::default(),
            usual => usual.clone(),
        };
        let Schedule::Cron { cron, zone, from, gap, fold, .. } = usual else {
            if let Schedule::Interval { periods: watched, .. } = &mut scenario.schedule {
                *watched = periods;
            }
            return;
        };
        let given = self.entries.text("schedule.from").map(str::parse::<jiff::civil::DateTime>);
        if let (Some(Err(_)), Some(span)) = (&given, self.entries.span("schedule.from")) {
            let cure = "write for example `from = \"2026-01-09T00:00:00\"`";
            self.mistakes.push(Mistake::at(span, "`schedule.from` is not a local date and time", cure));
        }
        let text = |key, usual: String| self.entries.text(key).map_or(usual, ToOwned::to_owned);
        scenario.schedule = Schedule::Cron {
            cron: text("schedule.cron", cron),
            zone: text("schedule.zone", zone),
            from: given.and_then(Result::ok).unwrap_or(from),
            periods,
            gap,
            fold,
        };
    }

    /// `lease` and `claim` in the guard's own terms; a term that it has not is a mistake, for its owner thinks that it protects him.
    fn terms(&mut self, guard: &str, terms: Terms, scenario: &mut Scenario) {
        for (key, constant, without) in [
            ("lease.ttl", terms.ttl, "has no lease"),
            ("lease.renew_every", terms.renew_every, if terms.ttl.is_some() { "never renews its lease" } else { "has no lease" }),
        ] {
            let (Some(length), Some(span)) = (self.entries.length(key), self.entries.span(key)) else { continue };
            match constant {
                Some(constant) => *(constant.of)(&mut scenario.guard) = length,
                None => self.mistakes.push(Mistake::at(
                    span,
                    format!("{guard} {without}, so it has no `{key}`"),
                    "take the line away, or choose a guard that has one, such as lease-watchdog",
                )),
            }
        }
        for key in ["claim.heartbeat", "claim.stale_after"] {
            if let (Some(span), false) = (self.entries.span(key), terms.claims) {
                let cure = "take the line away, or choose a guard that claims a row and takes over stale claims, such as version-reclaim";
                self.mistakes.push(Mistake::at(span, format!("{guard} has no heartbeat, so it has no `{key}`"), cure));
            }
        }
    }

    fn job(&mut self, scenario: &mut Scenario) {
        if let Some(length) = self.entries.length("job") {
            scenario.node.work = length;
            if length > 24.hours()
                && let Some(span) = self.entries.span("job")
            {
                self.mistakes.push(Mistake::at(span, "`job` is longer than a day", "write a length up to `24h`"));
            }
            return;
        }
        let said = ["job.p50", "job.p95", "job.p99", "job.max"];
        if !said.iter().any(|key| self.entries.has(key)) {
            return;
        }
        let Some(p50) = self.entries.length("job.p50") else {
            let cure = "write for example `p50 = \"2m\"`: half of all runs of the job take at most so long";
            self.mistakes.push(Mistake::missing("`[job]` has no `p50`", cure));
            return;
        };
        let p95 = self.entries.length("job.p95").unwrap_or(p50);
        let p99 = self.entries.length("job.p99").unwrap_or(p95);
        let max = self.entries.length("job.max").unwrap_or(p99);
        scenario.node.work = p50;
        scenario.job_lengths = Some(JobLengths { p50, p95, p99, max });
    }

    /// What a run may wait for longer than in the usual deployment, bound and attention are longer, unless the file says how long they are.
    fn patience(&self, scenario: &mut Scenario) {
        let longest = scenario.job_lengths.as_ref().map_or(scenario.node.work, |job| job.max).min(24.hours());
        let mut slow = scenario.clone();
        slow.node.work = longest;
        let patient = class::patient(slow, &Scenario::default());
        scenario.node.attention = self.entries.length("retry.attention").unwrap_or(patient.node.attention);
        scenario.liveness_bound = self.entries.length("settle_within").unwrap_or(patient.liveness_bound);
    }

    /// Knobs by their own names have the last word.
    fn knobs(&mut self, scenario: Scenario) -> Scenario {
        let (Some(knobs), Some(span)) = (self.entries.knobs("knobs"), self.entries.span("knobs")) else { return scenario };
        let mut whole = match toml::Value::try_from(&scenario) {
            Ok(whole) => whole,
            Err(why) => {
                self.mistakes.push(Mistake::at(span, why.to_string(), ""));
                return scenario;
            }
        };
        overlay(&mut whole, knobs);
        match Scenario::deserialize(whole) {
            Ok(scenario) => scenario,
            Err(why) => {
                let what = why.message().lines().collect::<Vec<_>>().join("; ");
                self.mistakes.push(Mistake::at(span, what, "`onceproof list` shows all knobs"));
                scenario
            }
        }
    }

    /// The wanted classes, and calm; none that the deployment rules out.
    fn classes(&mut self, guard: Option<&'static dyn Strategy>, scenario: &Scenario) -> Vec<FaultClass> {
        let clocks = |class: FaultClass| match class {
            FaultClass::Skew => scenario.clocks.error.is_zero().then_some(("clocks.error", "0s")),
            FaultClass::Drift => (scenario.clocks.drift_ppm == 0).then_some(("clocks.drift_ppm", "0")),
            _ => None,
        };
        let Some(named) = self.entries.names("try.faults") else {
            return FaultClass::ALL.into_iter().filter(|class| clocks(*class).is_none()).collect();
        };
        let mut wanted = vec![FaultClass::Calm];
        for (name, span) in named {
            let Some(class) = FaultClass::ALL.into_iter().find(|class| class.name() == name) else { continue };
            if let Some((key, value)) = clocks(class) {
                let cure = format!("take \"{name}\" away, or say how wrong clocks are");
                self.mistakes.push(Mistake::at(
                    span.clone(),
                    format!("there is nothing to try under {name}, for `{key}` is {value}"),
                    cure,
                ));
            }
            if let (Some(guard), Some(why)) = (guard, guard.and_then(|guard| class.misses(guard.steps()))) {
                let what = format!("{name} cannot strike {}: {why}", guard.name());
                self.mistakes.push(Mistake::at(span.clone(), what, format!("take \"{name}\" away")));
            }
            wanted.push(class);
        }
        FaultClass::ALL.into_iter().filter(|class| wanted.contains(class)).collect()
    }
}

/// Puts one table on top of another.
fn overlay(whole: &mut toml::Value, part: &toml::Value) {
    match (whole, part) {
        (toml::Value::Table(whole), toml::Value::Table(part)) => {
            for (key, value) in part {
                match whole.get_mut(key) {
                    Some(inner) => overlay(inner, value),
                    None => drop(whole.insert(key.clone(), value.clone())),
                }
            }
        }
        (whole, part) => *whole = part.clone(),
    }
}

/// A scenario's refusal in the words of the file, at the key that it is about, or at one that it is compared with.
fn told(wrong: &Misconfigured, entries: &Entries, terms: Terms) -> Mistake {
    let own = [(terms.ttl, "lease.ttl"), (terms.renew_every, "lease.renew_every")];
    let own = own.into_iter().filter_map(|(constant, key)| Some((constant?.knob, key)));
    let all: Vec<(&str, &str)> = own.chain(SAME).collect();
    let key_of = |knob: &str| all.iter().find(|(name, _)| *name == knob).map(|(_, key)| *key);
    let in_keys =
        |text: &str| all.iter().fold(text.to_owned(), |text, (knob, key)| text.replace(&format!("`{knob}`"), &format!("`{key}`")));
    let span = |key: Option<&str>| -> Option<Range<usize>> { key.and_then(|key| entries.span(key)).or_else(|| entries.span("knobs")) };
    match wrong {
        Misconfigured::Knob { knob, value, bound, example } => {
            let key = key_of(knob);
            let bound = in_keys(bound);
            let compared = || entries.paths().find(|path| bound.contains(&format!("`{path}`")));
            let name = key.unwrap_or(knob);
            let what = format!("`{name}` is {value}, but must be {bound}");
            let cure = match key.filter(|key| entries.has(key)) {
                Some(key) => format!("write for example `{} = {example}`", key.rsplit('.').next().unwrap_or(key)),
                None => format!("it is not in the file; write `{name}` too, or change what it is compared with"),
            };
            let at = key.filter(|key| entries.has(key)).or_else(compared);
            Mistake { span: span(at), what, cure }
        }
        Misconfigured::Schedule(error) => {
            let key = match error {
                ScheduleError::Cron { .. } | ScheduleError::NoBoundary { .. } | ScheduleError::SameDay { .. } => "schedule.cron",
                ScheduleError::Zone { .. } => "schedule.zone",
                ScheduleError::Range { what, .. } => match *what {
                    "`from`" => "schedule.from",
                    "`every`" => "schedule.every",
                    _ => "schedule.periods",
                },
            };
            let text = error.to_string();
            let (what, cure) = text.split_once("; ").unwrap_or((text.as_str(), ""));
            Mistake { span: span(Some(key)), what: what.to_owned(), cure: cure.to_owned() }
        }
        Misconfigured::Strategy { .. }
        | Misconfigured::Unclear { .. }
        | Misconfigured::Plan(_)
        | Misconfigured::TooLong { .. }
        | Misconfigured::Override { .. } => {
            Mistake { span: span(Some("guard")), what: wrong.to_string(), cure: String::new() }
        }
    }
}

/// The longest a job takes in a scenario.
pub fn longest_job(scenario: &Scenario) -> Duration {
    scenario.job_lengths.as_ref().map_or(scenario.node.work, |job| job.max)
}
