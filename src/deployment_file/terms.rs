//! A guard's own terms: which constants `lease.ttl` and the like stand for, and what kind of lease it is.

use crate::scenario::{LONGEST, Scenario};
use std::time::Duration;

/// One of a guard's constants.
#[derive(Clone, Copy)]
pub struct Constant {
    /// Its name in a scenario: `guard.lease`.
    pub knob: &'static str,
    /// Where it is.
    pub of: fn(&mut Scenario) -> &mut Duration,
    /// What it is.
    pub get: fn(&Scenario) -> Duration,
}

/// What a guard has.
#[derive(Clone, Copy, Default)]
pub struct Terms {
    /// The expiry of its lease.
    pub ttl: Option<Constant>,
    /// How often it renews it; 0 s: never.
    pub renew_every: Option<Constant>,
    /// Given back earlier than this, its lease is kept for the rest of it.
    pub at_least: Option<Constant>,
    /// How often it says that it is alive.
    pub heartbeat: Option<Constant>,
    /// After this, whoever was not heard of counts as dead, and its work is somebody else's.
    pub stale_after: Option<Constant>,
    /// Whether what decides is in the settlement transaction: then a lease only saves work.
    pub decided_in_transaction: bool,
    /// Whether the lease is kept until it runs out, whatever becomes of the job.
    pub never_given_back: bool,
}

macro_rules! constant {
    ($group:ident.$name:ident) => {
        Some(Constant {
            knob: concat!(stringify!($group), ".", stringify!($name)),
            of: |scenario| &mut scenario.$group.$name,
            get: |scenario| scenario.$group.$name,
        })
    };
}

/// The terms of the guard with this name. One that is not listed has none; its constants are set below `[knobs]`.
pub fn terms(guard: &str) -> Terms {
    let none = Terms::default();
    let watched = Terms { ttl: constant!(guard.watchdog_lease), renew_every: constant!(guard.renew_every), ..none };
    let granted = Terms { ttl: constant!(log.lease), renew_every: constant!(log.renew_every), ..none };
    let claimed = Terms { heartbeat: constant!(guard.heartbeat), stale_after: constant!(guard.stale_after), ..none };
    match guard {
        "lease-setnx-expire" => Terms { ttl: constant!(guard.setnx_lease), ..none },
        "lease-machine-id" => Terms { ttl: constant!(guard.machine_lease), ..none },
        "lease-set-px" | "lease-set-px-retry" | "lease-set-px-checked" | "dual-published" => Terms { ttl: constant!(guard.lease), ..none },
        "lease-watchdog" | "lease-watchdog-silent" | "lease-watchdog-orphan" | "lease-watchdog-unowned" | "redlock" => watched,
        "lease-fenced" => Terms { decided_in_transaction: true, ..watched },
        "dual-guard" => Terms {
            ttl: constant!(guard.dual_lease),
            renew_every: constant!(guard.dual_renew_every),
            decided_in_transaction: true,
            ..claimed
        },
        "version-reclaim-unfenced" => claimed,
        "version-reclaim" => Terms { decided_in_transaction: true, ..claimed },
        "consensus-lease" => granted,
        "consensus-log" => Terms { decided_in_transaction: true, ..granted },
        "leader" => Terms { ttl: constant!(leader.lasts), renew_every: constant!(leader.renew_every), ..none },
        "lease-row" => Terms {
            ttl: constant!(lease_row.at_most),
            renew_every: constant!(lease_row.keep_alive),
            at_least: constant!(lease_row.at_least),
            ..none
        },
        "slot-key" => Terms { ttl: constant!(slot_key.kept), never_given_back: true, ..none },
        "row-lock" => Terms { heartbeat: constant!(row_lock.check_in), stale_after: constant!(row_lock.dead_after), ..none },
        "dispatch-center" => Terms { stale_after: constant!(centre.timeout), ..none },
        "queue-reliable" => Terms { stale_after: constant!(queue.visibility), decided_in_transaction: true, ..none },
        "table-key" | "two-phase-commit" => Terms { decided_in_transaction: true, ..none },
        _ => none,
    }
}

impl Terms {
    /// Its constants, each by its key in a deployment file.
    pub fn constants(&self) -> impl Iterator<Item = (&'static str, Constant)> {
        [
            ("lease.ttl", self.ttl),
            ("lease.renew_every", self.renew_every),
            ("lease.at_least", self.at_least),
            ("claim.heartbeat", self.heartbeat),
            ("claim.stale_after", self.stale_after),
        ]
        .into_iter()
        .filter_map(|(key, constant)| Some((key, constant?)))
    }

    /// How often its lease is renewed, if it is.
    pub fn renews_every(&self, scenario: &Scenario) -> Option<Duration> {
        self.renew_every.map(|constant| (constant.get)(scenario)).filter(|every| !every.is_zero())
    }
}

/// Makes room for the longest lease: an election begins before a boundary by more than a lease lasts, which is nobody's to say.
pub fn make_room(scenario: &mut Scenario) {
    let leader = &mut scenario.leader;
    leader.ahead = leader.ahead.max(leader.lasts.saturating_add(leader.renew_every).min(LONGEST));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy;
    use toml::Table;

    /// Every name that has terms is a guard, and every constant is called as in a scenario.
    #[test]
    fn constants_are_called_as_in_a_scenario() {
        let mut told = 0;
        for guard in strategy::catalogue() {
            for (_, constant) in terms(guard.name()).constants() {
                let mut scenario = Scenario::default();
                *(constant.of)(&mut scenario) = Duration::from_secs(777);
                let table = Table::try_from(&scenario).unwrap();
                let (group, name) = constant.knob.split_once('.').unwrap();
                assert_eq!(table[group][name].as_str(), Some("12m 57s"), "{}", constant.knob);
                assert_eq!((constant.get)(&scenario), Duration::from_secs(777));
                told += 1;
            }
        }
        assert_eq!(told, 40);
    }

    /// Guards without a constant of their own are those that are listed here: a new one is thought about.
    #[test]
    fn who_has_no_terms() {
        let none = strategy::catalogue().iter().map(|guard| guard.name()).filter(|name| terms(name).constants().next().is_none());
        assert_eq!(
            none.collect::<Vec<_>>(),
            [
                "no-guard",
                "local-mutex",
                "table-key-published",
                "table-key-ignores-error",
                "table-key-check-only",
                "table-key-marker-first-apart",
                "table-key-marker-last-apart",
                "table-key",
                "version-published",
                "version-timestamp",
                "queue-marker",
                "queue-consumer",
                "two-phase-commit-no-recovery",
                "two-phase-commit",
                "advisory-lock",
            ]
        );
    }
}
