//! What a file says about itself before anything is run: constants that leave no margin, and hold
//! together only as long as nothing goes wrong. A check is arithmetic; whether the deployment breaks
//! is for the simulated runs to say.

pub use crate::deployment_file::build::longest_job;

mod database;
mod nodes;

use crate::deployment_file::terms::{Constant, terms};
use crate::deployment_file::{DeploymentFile, Place, keys};
use crate::id::NodeId;
use crate::plan::duration;
use crate::scenario::{Recovers, RowClock, RowKey, Scenario};
use crate::strategy::Policy;
use std::time::Duration;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// It breaks where what was said is met.
    Danger,
    /// It leaves no margin.
    Warning,
    /// It may be meant so.
    Note,
}

impl Severity {
    /// Its name in texts and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Danger => "danger",
            Severity::Warning => "warning",
            Severity::Note => "note",
        }
    }
}

/// Something that a file says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What it is called.
    pub name: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// What is so, with the numbers.
    pub what: String,
    /// What to write instead.
    pub cure: String,
    /// The key that it is about.
    pub key: &'static str,
    /// Where that is; `None` if the file leaves it out.
    pub place: Option<Place>,
}

/// All that can be said, the worst first.
pub fn checks(file: &DeploymentFile) -> Vec<Check> {
    let mut found = Found { file, scenario: &file.scenario, node: None, checks: Vec::new() };
    found.constants();
    found.timeouts();
    found.reads();
    found.nodes();
    found.periods();
    let own = own_views(file);
    for (node, knows) in &own {
        found.of_one_node(*node, knows);
    }
    found.claims_of_others(&own);
    found.checks.sort_by_key(|check| check.severity);
    found.checks
}

/// The shortest time between two boundaries of a run.
pub fn shortest_period(scenario: &Scenario) -> Option<Duration> {
    let calendar = scenario.schedule.calendar().ok()?;
    let dues: Vec<_> = calendar.periods.iter().chain([&calendar.beyond]).map(|period| calendar.due(*period)).collect();
    dues.windows(2).map(|two| two[1].since(two[0])).min()
}

/// The shortest period, where a lease row that is kept as long as one is in the way of the next: it has the job's name.
pub fn kept_for_less_than(scenario: &Scenario) -> Option<Duration> {
    if scenario.lease_row.key == RowKey::Period { None } else { shortest_period(scenario) }
}

fn text(length: Duration) -> String {
    duration::text(length)
}

/// Every node at work here that was told something of its own, with what it knows.
fn own_views(file: &DeploymentFile) -> Vec<(u8, Scenario)> {
    let at_work = file.scenario.overrides.iter().filter(|other| !other.unscheduled && !other.elsewhere);
    let knows = |node: u8| {
        let mut own = file.scenario.known_to(node);
        if file.place_of(node, "job").is_some() {
            own.job_lengths = None;
        }
        (node, own)
    };
    at_work.map(|other| knows(other.node)).collect()
}

struct Found<'a> {
    file: &'a DeploymentFile,
    /// The deployment, as those know it whom the checks are about.
    scenario: &'a Scenario,
    /// Which node that is, if it is one alone.
    node: Option<u8>,
    checks: Vec<Check>,
}

impl Found<'_> {
    fn note(&mut self, name: &'static str, severity: Severity, key: &'static str, what: String, cure: String) {
        let own = self.node.and_then(|node| self.file.place_of(node, key));
        let place = own.or_else(|| self.file.place(key));
        self.checks.push(Check { name, severity, what, cure, key, place });
    }

    /// What they do after an attempt.
    fn policy(&self) -> Policy {
        self.scenario.node.policy.unwrap_or(self.file.guard.policy())
    }

    /// What follows from the constants of whoever it is about.
    fn constants(&mut self) {
        self.lease();
        self.clocks();
        self.claim();
        self.misfires();
        self.waits();
    }

    /// What follows from those of one node, and not already from the deployment's.
    fn of_one_node(&mut self, node: u8, knows: &Scenario) {
        let mut found = Found { file: self.file, scenario: knows, node: Some(node), checks: Vec::new() };
        found.constants();
        let new: Vec<Check> = found.checks.into_iter().filter(|check| !self.says(check)).collect();
        self.checks.extend(new.into_iter().map(|check| Check { what: format!("{}: {}", NodeId(node), check.what), ..check }));
    }

    /// Whether the same is said already.
    fn says(&self, check: &Check) -> bool {
        self.checks.iter().any(|known| (known.name, &known.what) == (check.name, &check.what))
    }

    /// Whom one node takes for dead, by what another does.
    fn claims_of_others(&mut self, own: &[(u8, Scenario)]) {
        let terms = terms(self.file.guard.name());
        let Some((stale, heartbeat)) = terms.stale_after.filter(|_| self.takes_over()).zip(terms.heartbeat) else { return };
        let whole = &self.file.scenario;
        let plain = (0..whole.nodes).any(|node| whole.override_of(node).is_none());
        let views: Vec<(Option<u8>, &Scenario)> =
            plain.then_some((None, whole)).into_iter().chain(own.iter().map(|(node, knows)| (Some(*node), knows))).collect();
        let severity = if terms.decided_in_transaction { Severity::Note } else { Severity::Danger };
        for (of, by) in views.iter().flat_map(|of| views.iter().map(move |by| (of, by))).filter(|(of, by)| of.0 != by.0) {
            let name = |node: Option<u8>| node.map_or_else(|| "the others".to_owned(), |node| NodeId(node).to_string());
            let (every, after) = ((heartbeat.get)(of.1) * 2 + of.1.node.timeout, (stale.get)(by.1));
            // By its own threshold it is late, too: that is said of its constants.
            if every < after || every >= (stale.get)(of.1) {
                continue;
            }
            let what = format!(
                "two heartbeats and a timeout of {} take {}, and for {} whoever was silent for {} is dead",
                name(of.0),
                text(every),
                name(by.0),
                text(after)
            );
            self.node = by.0.or(of.0);
            self.note("claim-thresholds-differ", severity, "claim.stale_after", what, "give all nodes the same constants".to_owned());
            self.node = None;
        }
    }

    /// About one node alone.
    fn note_of(&mut self, node: u8, name: &'static str, severity: Severity, key: &'static str, what: String, cure: String) {
        let own = key.strip_prefix(keys::LIST).and_then(|rest| rest.strip_prefix('.')).unwrap_or(key);
        let place = self.file.place_of(node, own);
        self.checks.push(Check { name, severity, what, cure, key, place });
    }

    fn lease(&mut self) {
        let (scenario, guard) = (self.scenario, self.file.guard);
        let terms = terms(guard.name());
        let Some(ttl) = terms.ttl.map(|constant| (constant.get)(scenario)) else { return };
        let longest = longest_job(scenario);
        let p99 = scenario.job_lengths.as_ref().map_or(longest, |job| job.p99);
        let harmless = terms.decided_in_transaction;
        let severity = if harmless { Severity::Note } else { Severity::Danger };
        if guard.name() == "lease-setnx-expire" {
            self.note(
                "lease-without-expiry",
                Severity::Danger,
                "guard",
                "the lease is taken with one command and gets its expiry with a second: who dies between the two keeps it for ever"
                    .to_owned(),
                "take it with one command, SET NX PX: `guard = \"lease-set-px-checked\"`".to_owned(),
            );
        }
        match terms.renews_every(scenario) {
            None if longest >= ttl => {
                let most = if p99 >= ttl { format!("p99 {}", text(p99)) } else { format!("at most {}", text(longest)) };
                let waste = if harmless { "; what decides is in the transaction, so it only costs work" } else { "" };
                let as_long = if longest > ttl { "longer" } else { "no less" };
                self.note(
                    "job-outlives-lease",
                    severity,
                    "lease.ttl",
                    format!("the job takes {as_long} ({most}) than its lease lasts ({}), and nobody renews it{waste}", text(ttl)),
                    format!("write `ttl` above {}, or a guard that renews", text(longest)),
                );
            }
            Some(renew) if renew * 2 >= ttl => {
                let (patience, third) = (ttl.saturating_sub(renew), ttl / 3);
                self.note(
                    "renewal-margin",
                    if harmless { Severity::Note } else { Severity::Warning },
                    "lease.renew_every",
                    format!(
                        "a lease of {} that is renewed every {} runs out {} after the first renewal that fails",
                        text(ttl),
                        text(renew),
                        text(patience)
                    ),
                    format!("write `renew_every = \"{}\"`, a third of the ttl, so that two renewals may fail", text(third)),
                );
            }
            Some(renew) if renew + scenario.node.timeout >= ttl => {
                let (renew, timeout) = (text(renew), text(scenario.node.timeout));
                self.note(
                    "renewal-timeout",
                    Severity::Warning,
                    "client.timeout",
                    format!(
                        "a renewal that gets no answer is known after {renew} + {timeout}, when the lease of {} has run out",
                        text(ttl)
                    ),
                    "write a `timeout` below the ttl less a renewal".to_owned(),
                );
            }
            _ => {}
        }
        let least = terms.at_least.map(|constant| (constant.get)(scenario));
        if let (Some(least), Some(period)) = (least, kept_for_less_than(scenario))
            && least >= period
        {
            self.note(
                "lease-outlasts-period",
                Severity::Danger,
                "lease.at_least",
                format!(
                    "the lease is kept for {} and the next period comes {} after this one, so nobody is let in for it",
                    text(least),
                    text(period)
                ),
                format!("write an `at_least` well below {}", text(period)),
            );
        }
        if ttl >= scenario.liveness_bound {
            let bound = text(scenario.liveness_bound);
            self.note(
                "lease-outlasts-bound",
                Severity::Danger,
                "lease.ttl",
                format!("the lease of a node that died lasts {}, longer than a run may take to be done, {bound}", text(ttl)),
                format!("write a `ttl` below {bound}, or renew a short one"),
            );
        }
        if ttl >= scenario.node.attention && self.policy() != Policy::Skip {
            let attention = text(scenario.node.attention);
            self.note(
                "nobody-asks-again",
                Severity::Danger,
                "retry.attention",
                format!("nodes ask for {attention} after a boundary, and a lease that its holder left behind lasts {}", text(ttl)),
                "write an `attention` above the ttl".to_owned(),
            );
        }
    }

    fn clocks(&mut self) {
        let (scenario, guard) = (self.scenario, self.file.guard);
        let terms = terms(guard.name());
        let (error, between) = (scenario.clocks.error, scenario.clocks.error * 2);
        if let (Some(constant), Policy::Skip) = (terms.ttl, self.policy()) {
            let ttl = (constant.get)(scenario);
            let hold = match terms.at_least {
                _ if terms.never_given_back => ttl,
                Some(least) => scenario.node.work.max((least.get)(scenario)).min(ttl),
                None => scenario.node.work.min(ttl),
            };
            if between >= hold && !error.is_zero() && !self.kept_by_own_clocks() {
                self.note(
                    "clock-error",
                    Severity::Danger,
                    "clocks.error",
                    format!(
                        "two clocks differ by up to {}, and the lease is held for {}: the slow node comes when it is free again, and nothing else remembers that the job is done",
                        text(between),
                        text(hold)
                    ),
                    "keep a record of what is done in the same transaction: `guard = \"table-key\"`, or read it first: `guard = \"lease-set-px-checked\"`".to_owned(),
                );
            }
        }
        if let Some(ttl) = terms.ttl.map(|constant| (constant.get)(scenario)).filter(|ttl| self.is_row_by_own_clocks() && between > *ttl) {
            self.note(
                "clocks-outrun-lease",
                Severity::Danger,
                "clocks.error",
                format!(
                    "two clocks differ by up to {}, and the row says by its holder's clock that it is taken for {}: a node that is fast finds it free as soon as it is taken",
                    text(between),
                    text(ttl)
                ),
                "keep the row by the database's clock: `lease_row = { clock = \"database\" }` below `[knobs]`, or correct the clocks".to_owned(),
            );
        }
        if guard.wakes_late() && error > scenario.guard.wake_after {
            let after = text(scenario.guard.wake_after);
            self.note(
                "clock-too-fast",
                Severity::Danger,
                "clocks.error",
                format!("a clock that is {} fast shows the boundary before it is there, and nodes wait only {after} after it", text(error)),
                "ask the database's clock inside the transaction whether the run is due: `guard = \"table-key\"`".to_owned(),
            );
        }
    }

    /// Whether what excludes others is a row that each node compares with its own clock.
    fn is_row_by_own_clocks(&self) -> bool {
        self.file.guard.name() == "lease-row" && self.scenario.lease_row.clock == RowClock::Application
    }

    /// A row that each node compares with its own clock: whoever comes for a boundary has waited until that clock shows it, so
    /// it does not matter how far two of them are apart.
    fn kept_by_own_clocks(&self) -> bool {
        let Scenario { lease_row, node, .. } = &self.scenario;
        self.is_row_by_own_clocks() && node.work.max(lease_row.at_least) > node.jitter
    }

    fn claim(&mut self) {
        let (scenario, terms) = (self.scenario, terms(self.file.guard.name()));
        let get = |constant: Constant| (constant.get)(scenario);
        let timeout = scenario.node.timeout;
        match (terms.heartbeat.map(get), terms.stale_after.map(get)) {
            (Some(heartbeat), Some(stale)) if heartbeat * 2 + timeout >= stale && self.takes_over() => self.note(
                "heartbeat-margin",
                Severity::Warning,
                "claim.stale_after",
                format!(
                    "one lost heartbeat (every {}, timeout {}) and the next make a claim {} old, which counts as dead at {}",
                    text(heartbeat),
                    text(timeout),
                    text(heartbeat * 2 + timeout),
                    text(stale)
                ),
                format!("write `stale_after` above {}, four heartbeats and a timeout", text(heartbeat * 4 + timeout)),
            ),
            (None, Some(stale)) if longest_job(scenario) >= stale => {
                let (severity, waste) = if terms.decided_in_transaction {
                    (Severity::Note, "; what decides is in the transaction, so it only costs work")
                } else {
                    (Severity::Danger, "")
                };
                let longest = text(longest_job(scenario));
                let what = format!(
                    "the job takes up to {longest}, and after {} it is given to another node, while the first works on{waste}",
                    text(stale)
                );
                self.note(
                    "job-outlives-timeout",
                    severity,
                    "claim.stale_after",
                    what,
                    format!("write a `stale_after` well above {longest}"),
                );
            }
            _ => {}
        }
    }

    /// Whether a heartbeat that is too old has any consequence.
    fn takes_over(&self) -> bool {
        self.file.guard.name() != "row-lock" || self.file.scenario.row_lock.recovers != Recovers::Nothing
    }

    fn waits(&mut self) {
        let scenario = self.scenario;
        let longest = longest_job(scenario);
        if longest + scenario.node.jitter >= scenario.liveness_bound {
            let bound = text(scenario.liveness_bound);
            self.note(
                "job-outlasts-bound",
                Severity::Danger,
                "settle_within",
                format!("the longest job takes {}, and a run that is not done after {bound} counts as lost", text(longest)),
                format!("write a `settle_within` well above {}", text(longest)),
            );
        }
        if let Some(gap) = shortest_period(scenario).filter(|gap| longest >= *gap) {
            let key = if self.file.says("schedule.every") { "schedule.every" } else { "schedule.cron" };
            self.note(
                "job-outlasts-period",
                Severity::Warning,
                key,
                format!("the longest job takes {}, and the next one is due {} after this one", text(longest), text(gap)),
                "let it be due less often, or say how much shorter the job is".to_owned(),
            );
        }
    }

    fn periods(&mut self) {
        if self.scenario.nodes == 1 {
            self.note(
                "one-node",
                Severity::Note,
                "nodes",
                "with one node there is nobody to exclude, and nobody to take over".to_owned(),
                "write as many nodes as can be alive at the same time, for example while a release is rolled out".to_owned(),
            );
        }
    }
}
