//! What a file says about itself before anything is run: constants that leave no margin, and hold
//! together only as long as nothing goes wrong. A check is arithmetic; whether the deployment breaks
//! is for the simulated runs to say.

pub use crate::deployment_file::build::longest_job;

use crate::deployment_file::terms::terms;
use crate::deployment_file::{DeploymentFile, Place};
use crate::plan::duration;
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
    let mut found = Found { file, checks: Vec::new() };
    found.lease();
    found.clocks();
    found.claim();
    found.timeouts();
    found.waits();
    found.checks.sort_by_key(|check| check.severity);
    found.checks
}

fn text(length: Duration) -> String {
    duration::text(length)
}

struct Found<'a> {
    file: &'a DeploymentFile,
    checks: Vec<Check>,
}

impl Found<'_> {
    fn note(&mut self, name: &'static str, severity: Severity, key: &'static str, what: String, cure: String) {
        let place = self.file.place(key);
        self.checks.push(Check { name, severity, what, cure, key, place });
    }

    fn lease(&mut self) {
        let (scenario, guard) = (&self.file.scenario, self.file.guard);
        let terms = terms(guard.name());
        let Some(ttl) = terms.ttl.map(|constant| constant.get(&scenario.guard)) else { return };
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
        match terms.renew_every.map(|constant| constant.get(&scenario.guard)) {
            None if longest > ttl => {
                let most = if p99 > ttl { format!("p99 {}", text(p99)) } else { format!("at most {}", text(longest)) };
                let waste = if harmless { "; what decides is in the transaction, so it only costs work" } else { "" };
                self.note(
                    "job-outlives-lease",
                    severity,
                    "lease.ttl",
                    format!("the job takes longer ({most}) than its lease lasts ({}), and nobody renews it{waste}", text(ttl)),
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
        if ttl >= scenario.node.attention && guard.policy() != Policy::Skip {
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
        let (scenario, guard) = (&self.file.scenario, self.file.guard);
        let terms = terms(guard.name());
        let (error, between) = (scenario.clocks.error, scenario.clocks.error * 2);
        if let (Some(constant), Policy::Skip) = (terms.ttl, guard.policy()) {
            let hold = constant.get(&scenario.guard).min(scenario.node.work);
            if between >= hold && !error.is_zero() {
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

    fn claim(&mut self) {
        let scenario = &self.file.scenario;
        if !terms(self.file.guard.name()).claims {
            return;
        }
        let (heartbeat, stale, timeout) = (scenario.guard.heartbeat, scenario.guard.stale_after, scenario.node.timeout);
        if heartbeat * 2 + timeout >= stale {
            self.note(
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
            );
        }
    }

    fn timeouts(&mut self) {
        let scenario = &self.file.scenario;
        let (timeout, lock, idle) = (scenario.node.timeout, scenario.database.lock_timeout, scenario.database.idle_in_transaction_timeout);
        if idle <= timeout {
            self.note(
                "idle-below-statement",
                Severity::Danger,
                "database.idle_in_transaction_timeout",
                format!("the server ends a session that is idle in a transaction after {}, while its client waits for another answer for up to {}", text(idle), text(timeout)),
                format!("write `idle_in_transaction_timeout` above {}, twice the client's timeout", text(timeout * 2)),
            );
        }
        if lock >= timeout {
            self.note(
                "lock-outlasts-client",
                Severity::Warning,
                "database.lock_timeout",
                format!(
                    "a statement may wait for a lock for {}, but its client gives up after {} and does not know what became of it",
                    text(lock),
                    text(timeout)
                ),
                "write a `lock_timeout` below the client's `timeout`".to_owned(),
            );
        }
    }

    fn waits(&mut self) {
        let scenario = &self.file.scenario;
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
        let gap = scenario.schedule.calendar().ok().and_then(|calendar| {
            let dues: Vec<_> = calendar.periods.iter().chain([&calendar.beyond]).map(|period| calendar.due(*period)).collect();
            dues.windows(2).map(|two| two[1].since(two[0])).min()
        });
        if let Some(gap) = gap.filter(|gap| longest >= *gap) {
            let key = if self.file.says("schedule.every") { "schedule.every" } else { "schedule.cron" };
            self.note(
                "job-outlasts-period",
                Severity::Warning,
                key,
                format!("the longest job takes {}, and the next one is due {} after this one", text(longest), text(gap)),
                "let it be due less often, or say how much shorter the job is".to_owned(),
            );
        }
        if scenario.nodes == 1 {
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
