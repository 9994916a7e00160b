//! What is said about nodes: what they do about boundaries that they missed, and how they differ.

use super::{Found, Severity, terms, text};
use crate::id::{HostId, NodeId};
use crate::scenario::{Misfire, Override};
use crate::strategy::Policy;
use std::time::Duration;

impl Found<'_> {
    pub(super) fn misfires(&mut self) {
        let node = &self.scenario.node;
        let (poll, grace) = (text(node.poll), text(node.misfire.grace));
        let retries = self.policy() != Policy::Skip;
        let (severity, becomes) = match node.misfire.policy {
            Misfire::FireAll if self.file.says("misfire.grace") => {
                let what = format!("all that was missed is made up for, so it makes no difference that {grace} are no delay");
                self.note(
                    "grace-unused",
                    Severity::Note,
                    "misfire.grace",
                    what,
                    "take it away, or write `policy = \"fire-once\"` or `\"skip\"` beside it".to_owned(),
                );
                return;
            }
            Misfire::FireAll => return,
            Misfire::FireOnce => (Severity::Note, "only the newest of those is made up for"),
            Misfire::Skip => (Severity::Warning, "is left alone"),
        };
        if retries && node.misfire.grace <= node.poll + node.jitter {
            let what = format!(
                "a node whose first look at a boundary fails looks again {poll} later, and after {grace} it counts as missed and {becomes}"
            );
            let cure = format!("write a `grace` above {}, the poll and the jitter", text(node.poll + node.jitter + node.timeout));
            self.note("misfire-grace", severity, "misfire.grace", what, cure);
        }
        if node.misfire.policy == Misfire::Skip {
            self.note(
                "missed-for-good",
                Severity::Note,
                "misfire.policy",
                format!("a boundary that no node sees within {grace}, for example in an outage, is never made up for"),
                "write `policy = \"fire-once\"` below `[misfire]`, if a late run is better than none".to_owned(),
            );
        }
    }

    /// One attempt where there could be more, and nodes that are not alike.
    pub(super) fn nodes(&mut self) {
        let guard = self.file.guard;
        if self.file.policy() == Policy::Skip && guard.policy() != Policy::Skip {
            self.note(
                "one-attempt",
                Severity::Warning,
                "policy",
                "each node makes one attempt: if whoever got the guard fails or dies, nobody comes after".to_owned(),
                "take the line away: then nodes ask again".to_owned(),
            );
        }
        for other in &self.file.scenario.overrides {
            self.other_times(other);
            self.other_environment(other);
        }
    }

    /// Another zone, another cron text, or none.
    fn other_times(&mut self, other: &Override) {
        let (scenario, id) = (&self.file.scenario, NodeId(other.node));
        if other.unscheduled {
            let what = format!("{id} does not know the schedule: it never begins, and cannot take over");
            self.note_of(
                other.node,
                "unscheduled-node",
                Severity::Note,
                "override.unscheduled",
                what,
                "give all nodes the same release".to_owned(),
            );
            return;
        }
        let Ok(truth) = scenario.schedule.calendar() else { return };
        let Ok(seen) = other.calendar(&scenario.schedule, &truth) else { return };
        let apart = |period: &crate::settlement::Period| {
            let there = seen.periods.iter().find(|other| other.id == period.id)?;
            let (early, late) = (period.due.since(there.due), there.due.since(period.due));
            (early != late).then_some((early, late))
        };
        let found: Vec<(Duration, Duration)> = truth.periods.iter().filter_map(apart).collect();
        let missing = truth.periods.iter().filter(|period| seen.periods.iter().all(|other| other.id != period.id)).count();
        if found.is_empty() && missing == 0 {
            return;
        }
        let decided = terms(self.file.guard.name()).decided_in_transaction;
        let key = if other.zone.is_some() { "override.zone" } else { "override.cron" };
        let early = found.iter().map(|(early, _)| *early).max().unwrap_or_default();
        let late = found.iter().map(|(_, late)| *late).max().unwrap_or_default();
        let when = match (early.is_zero(), late.is_zero()) {
            (false, _) => format!("comes {} before a period is over", text(early)),
            (true, false) => format!("comes {} after the others", text(late)),
            (true, true) => "knows other dates than the others".to_owned(),
        };
        let (severity, but) = if decided {
            (Severity::Note, "; the transaction asks the database's clock, which refuses it")
        } else {
            (Severity::Danger, "")
        };
        let but = if early.is_zero() { "" } else { but };
        let cure = if decided {
            ""
        } else {
            ", and ask the database's clock inside the transaction whether the run is due: `guard = \"table-key\"`"
        };
        self.note_of(
            other.node,
            "zones-differ",
            severity,
            key,
            format!("{id} {when}{but}"),
            format!("give all nodes one zone and one cron text{cure}"),
        );
    }

    /// A lease store that two environments share.
    fn other_environment(&mut self, other: &Override) {
        let (scenario, id) = (&self.file.scenario, NodeId(other.node));
        let asks = self.file.guard.steps_in(scenario).iter().any(|step| step.peer == Some(HostId::Lease));
        let prefix = |node| scenario.known_to(node).guard.key_prefix;
        let shared = (0..scenario.nodes).any(|node| !scenario.is_elsewhere(node) && prefix(node) == prefix(other.node));
        if other.elsewhere && asks && shared {
            self.note_of(
                other.node,
                "shared-keys",
                Severity::Danger,
                "override.elsewhere",
                format!("{id} belongs to another environment and uses the same keys in the same lease store: while it holds a lease, nobody works here"),
                "give each environment a prefix: `lease.key_prefix = \"staging:\"`, or a lease store of its own".to_owned(),
            );
        }
    }
}
