//! From entries to a scenario: what each stands for, and what is wrong between them.

use crate::class::{self, FaultClass};
use crate::deployment_file::mistake::Mistake;
use crate::deployment_file::read::Entries;
use crate::deployment_file::terms::{Terms, make_room, terms};
use crate::deployment_file::told::told;
use crate::deployment_file::{DeploymentFile, SEEDS};
use crate::id::HostId;
use crate::plan::duration;
use crate::profile::{self, Profile};
use crate::scenario::{JobLengths, LONGEST, Misfire, Override, Part, Policy, PoolKnobs, Rules, Scenario};
use crate::seed::Seed;
use crate::settlement::{Fold, Gap, Schedule};
use crate::strategy::{self, Strategy};
use crate::time::Span;
use serde::Deserialize;
use std::time::Duration;

/// Keys that belong to a cron text, and not to an interval.
const CIVIL: [&str; 5] = ["schedule.cron", "schedule.zone", "schedule.from", "schedule.gap", "schedule.fold"];

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
    let profile = entries.text("profile").and_then(profile::find);
    Ok(DeploymentFile { file: file.to_owned(), guard, profile, scenario, classes, seeds, seed, text: text.to_owned(), entries })
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
        if let Some(guard) = guard {
            self.behaviour(self.entries, guard, &mut scenario);
            scenario.node.policy = scenario.node.policy.filter(|policy| *policy != guard.policy());
        }
        self.job(&mut scenario);
        self.servers(guard, &mut scenario);
        make_room(&mut scenario);
        self.patience(terms, &mut scenario);
        let mut scenario = self.knobs(scenario);
        if let Some(guard) = guard.filter(|_| !self.entries.overrides().is_empty()) {
            scenario.overrides = self.entries.overrides().iter().map(|own| self.of_one_node(own, guard, &scenario)).collect();
            self.somebody(&scenario);
        }
        // What has no type yet cannot be compared.
        if self.mistakes.is_empty()
            && let Err(found) = scenario.validate()
        {
            self.mistakes.extend(found.iter().map(|wrong| told(wrong, self.entries, terms)).collect::<Vec<_>>());
        }
        scenario
    }

    /// What may be said about all nodes, and about one alone.
    fn behaviour(&mut self, entries: &Entries, guard: &dyn Strategy, scenario: &mut Scenario) {
        durations(entries, scenario);
        self.terms(entries, guard.name(), scenario);
        if let Some(policy) = entries.text("policy").and_then(named::<Policy>) {
            scenario.node.policy = Some(policy);
        }
        if let Some(prefix) = entries.text("lease.key_prefix") {
            prefix.clone_into(&mut scenario.guard.key_prefix);
        }
        if let (Some(span), true) =
            (entries.span("lease.key_prefix"), guard.steps_in(scenario).iter().all(|step| step.peer != Some(HostId::Lease)))
        {
            let what = format!("{} keeps nothing in the lease store, so it has no `lease.key_prefix`", guard.name());
            self.mistakes.push(Mistake::at(span, what, "take the line away"));
        }
    }

    /// What one node has that the others have not.
    fn of_one_node(&mut self, own: &Entries, guard: &dyn Strategy, scenario: &Scenario) -> Override {
        let mut known = scenario.clone();
        self.behaviour(own, guard, &mut known);
        if let Some(length) = own.length("job") {
            known.node.work = length;
        }
        if known.node.policy == Some(scenario.node.policy.unwrap_or(guard.policy())) {
            known.node.policy = scenario.node.policy;
        }
        for (key, constant) in terms(guard.name()).constants() {
            if let (Some(span), false) = (own.span(key), constant.knob.starts_with("guard.")) {
                let what = format!("`{key}` of {} is the same on all nodes", guard.name());
                self.mistakes.push(Mistake::at(span, what, "take the line away here, and write it for the whole deployment"));
            }
        }
        Override {
            node: own.number("node").and_then(|node| u8::try_from(node).ok()).unwrap_or(u8::MAX),
            zone: own.text("zone").map(ToOwned::to_owned),
            cron: own.text("cron").map(ToOwned::to_owned),
            unscheduled: own.flag("unscheduled").unwrap_or_default(),
            elsewhere: own.flag("elsewhere").unwrap_or_default(),
            guard: Part::differing(&known.guard, &scenario.guard),
            behaviour: Part::differing(&known.node, &scenario.node),
        }
    }

    /// Whoever does the job here knows the schedule and belongs here.
    fn somebody(&mut self, scenario: &Scenario) {
        let idle = |node| scenario.override_of(node).is_some_and(|other| other.unscheduled || other.elsewhere);
        let unscheduled = self.entries.overrides().iter().rev().find_map(|own| own.span("unscheduled"));
        if let (true, Some(span)) = ((0..scenario.nodes).all(idle), unscheduled) {
            let what = "no node knows the schedule and belongs to this environment, so nobody ever does the job";
            self.mistakes.push(Mistake::at(span, what, "take `unscheduled` away from at least one node"));
        }
    }

    fn sizes(&self, scenario: &mut Scenario) {
        let number = |key, usual: u32| self.entries.number(key).map_or(usual, |n| u32::try_from(n).unwrap_or(u32::MAX));
        scenario.nodes = u8::try_from(number("nodes", scenario.nodes.into())).unwrap_or(u8::MAX);
        scenario.players = number("players", scenario.players);
        scenario.earnings = number("earnings", scenario.earnings);
        scenario.guard.dead_letter_after = number("retry.dead_letter_after", scenario.guard.dead_letter_after);
        scenario.clocks.drift_ppm = number("clocks.drift_ppm", scenario.clocks.drift_ppm);
    }

    fn servers(&mut self, guard: Option<&'static dyn Strategy>, scenario: &mut Scenario) {
        if let Some(rules) = self.entries.text("database.rules").and_then(Rules::find) {
            scenario.database.rules = rules;
        }
        let rules = scenario.database.rules;
        if let Some(guard) = guard.filter(|guard| !guard.runs_under(rules)) {
            let span = self.entries.span("database.rules").or_else(|| self.entries.span("guard"));
            let what = format!("{} uses what only PostgreSQL has, and does not run under {}", guard.name(), rules.name());
            self.mistakes.push(Mistake { span, what, cure: "write `rules = \"postgresql\"`, or another guard".to_owned() });
        }
        let round_robin = self.entries.flag("database.pool.round_robin");
        match (self.entries.number("database.pool.sessions"), &mut scenario.database.pool) {
            (Some(n), pool) => {
                *pool = Some(PoolKnobs { sessions: u32::try_from(n).unwrap_or(u32::MAX), round_robin: round_robin.unwrap_or_default() });
            }
            (None, Some(pool)) => pool.round_robin = round_robin.unwrap_or(pool.round_robin),
            (None, None) => {
                if let Some(span) = self.entries.span("database.pool.round_robin") {
                    self.mistakes.push(Mistake::at(span, "`[database.pool]` has no `sessions`", "write for example `sessions = 10`"));
                }
            }
        }
        if let Some(policy) = self.entries.text("misfire.policy").and_then(named::<Misfire>) {
            scenario.node.misfire.policy = policy;
        }
    }

    fn schedule(&mut self, scenario: &mut Scenario) {
        let (Schedule::Cron { periods, .. } | Schedule::Interval { periods, .. }) = scenario.schedule;
        let periods = self.entries.number("schedule.periods").map_or(periods, |n| u32::try_from(n).unwrap_or(u32::MAX));
        if let Some(every) = self.entries.length("schedule.every") {
            for key in CIVIL {
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
        let civil = CIVIL.iter().any(|key| self.entries.has(key));
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
            gap: self.entries.text("schedule.gap").and_then(named::<Gap>).unwrap_or(gap),
            fold: self.entries.text("schedule.fold").and_then(named::<Fold>).unwrap_or(fold),
        };
    }

    /// `lease` and `claim` in the guard's own terms; a term that it has not is a mistake, for its owner thinks that it protects him.
    fn terms(&mut self, entries: &Entries, guard: &str, scenario: &mut Scenario) {
        let terms = terms(guard);
        let leased = |without: &'static str| if terms.ttl.is_some() { without } else { "has no lease" };
        let for_leases = "take the line away, or choose a guard that has one, such as lease-watchdog";
        let for_claims = "take the line away, or choose a guard that claims a row and takes over stale claims, such as version-reclaim";
        for (key, constant, without, cure) in [
            ("lease.ttl", terms.ttl, leased("has no lease"), for_leases),
            ("lease.renew_every", terms.renew_every, leased("never renews its lease"), for_leases),
            (
                "lease.at_least",
                terms.at_least,
                leased("gives its lease back as soon as the job is over, or never"),
                "take the line away, or choose lease-row, which has one",
            ),
            ("claim.heartbeat", terms.heartbeat, "has no heartbeat", for_claims),
            ("claim.stale_after", terms.stale_after, "takes nobody for dead", for_claims),
        ] {
            let (Some(length), Some(span)) = (entries.length(key), entries.span(key)) else { continue };
            match constant {
                Some(constant) => *(constant.of)(scenario) = length,
                None => self.mistakes.push(Mistake::at(span, format!("{guard} {without}, so it has no `{key}`"), cure)),
            }
        }
    }

    fn job(&mut self, scenario: &mut Scenario) {
        if let Some(length) = self.entries.length("job") {
            scenario.node.work = length;
            if length > 24.hours()
                && let Some(span) = self.entries.span("job")
            {
                self.mistakes.push(Mistake::at(span, "`job` is longer than a day", "write for example `job = \"24h\"`"));
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
        let p99 = self.entries.length("job.p99").unwrap_or(p95.max(p50).min(24.hours()));
        let max = self.entries.length("job.max").unwrap_or(p99.max(p95).max(p50).min(24.hours()));
        if let Some(span) = self.entries.span("job.p50").filter(|_| p50 > 24.hours()) {
            let fits = [p95, p99, max].into_iter().fold(2.minutes(), Duration::min);
            let cure = format!("write for example `p50 = \"{}\"`", duration::text(fits));
            self.mistakes.push(Mistake::at(span, format!("`job.p50` is {}, but must be 0s to 24h", duration::text(p50)), cure));
        }
        scenario.node.work = p50;
        scenario.job_lengths = Some(JobLengths { p50, p95, p99, max });
    }

    /// What a run may wait for longer than in the usual deployment, bound and attention are longer, unless the file says how long they are.
    fn patience(&self, terms: Terms, scenario: &mut Scenario) {
        let (longest, usual) = (longest_job(scenario).min(24.hours()), Scenario::default());
        let mut slow = scenario.clone();
        slow.node.work = longest;
        let mut patient = class::patient(slow, &usual);
        let elsewhere = [terms.ttl, terms.stale_after].into_iter().flatten().filter(|constant| !constant.knob.starts_with("guard."));
        let longer = elsewhere.map(|constant| (constant.get)(scenario).saturating_sub((constant.get)(&usual))).max().unwrap_or_default();
        patient.node.attention = patient.node.attention.saturating_add(longer);
        patient.liveness_bound = patient.liveness_bound.saturating_add(longer);
        // What nobody wrote cannot be too long.
        scenario.node.attention = self.entries.length("retry.attention").unwrap_or(patient.node.attention.min(LONGEST));
        scenario.liveness_bound = self.entries.length("settle_within").unwrap_or(patient.liveness_bound.min(LONGEST));
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
            if let (Some(guard), Some(why)) = (guard, guard.and_then(|guard| class.misses(&guard.steps_in(scenario)))) {
                let what = format!("{name} cannot strike {}: {why}", guard.name());
                self.mistakes.push(Mistake::at(span.clone(), what, format!("take \"{name}\" away")));
            }
            wanted.push(class);
        }
        FaultClass::ALL.into_iter().filter(|class| wanted.contains(class)).collect()
    }
}

/// Durations that mean the same whatever the guard is.
fn durations(entries: &Entries, scenario: &mut Scenario) {
    let Scenario { node, guard, network, database, clocks, .. } = scenario;
    for (key, knob) in [
        ("retry.poll", &mut node.poll),
        ("retry.jitter", &mut node.jitter),
        ("client.timeout", &mut node.timeout),
        ("misfire.grace", &mut node.misfire.grace),
        ("retry.backoff", &mut guard.backoff),
        ("retry.backoff_max", &mut guard.backoff_max),
        ("retry.operator", &mut guard.operator),
        ("clocks.error", &mut clocks.error),
        ("network.latency_min", &mut network.latency_min),
        ("network.latency_max", &mut network.latency_max),
        ("database.lock_timeout", &mut database.lock_timeout),
        ("database.idle_in_transaction_timeout", &mut database.idle_in_transaction_timeout),
        ("database.replica_lag", &mut database.replica_lag),
    ] {
        if let Some(length) = entries.length(key) {
            *knob = length;
        }
    }
}

/// What a name stands for, as it does in a scenario. The reader has looked whether there is such a name.
fn named<T: for<'de> Deserialize<'de>>(name: &str) -> Option<T> {
    T::deserialize(toml::Value::String(name.to_owned())).ok()
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

/// The longest a job takes in a scenario.
pub fn longest_job(scenario: &Scenario) -> Duration {
    scenario.job_lengths.as_ref().map_or(scenario.node.work, |job| job.max)
}
