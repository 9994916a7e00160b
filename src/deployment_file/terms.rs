//! A guard's own terms: which constants `lease.ttl` and the like stand for, and what kind of lease it is.

use crate::scenario::GuardKnobs;
use std::time::Duration;

/// One of a guard's constants.
#[derive(Clone, Copy)]
pub struct Constant {
    /// Its name in a scenario: `guard.lease`.
    pub knob: &'static str,
    /// Where it is.
    pub of: fn(&mut GuardKnobs) -> &mut Duration,
}

impl Constant {
    /// What it is.
    pub fn get(&self, guard: &GuardKnobs) -> Duration {
        *(self.of)(&mut guard.clone())
    }
}

/// What a guard has.
#[derive(Clone, Copy, Default)]
pub struct Terms {
    /// The expiry of its lease.
    pub ttl: Option<Constant>,
    /// How often it renews it.
    pub renew_every: Option<Constant>,
    /// Whether it claims a row and says that it is alive.
    pub claims: bool,
    /// Whether what decides is in the settlement transaction: then a lease only saves work.
    pub decided_in_transaction: bool,
}

macro_rules! constant {
    ($name:ident) => {
        Some(Constant { knob: concat!("guard.", stringify!($name)), of: |guard| &mut guard.$name })
    };
}

/// The terms of the guard with this name. One that is not listed has none; its constants are set below `[knobs]`.
pub fn terms(guard: &str) -> Terms {
    let none = Terms::default();
    match guard {
        "lease-setnx-expire" => Terms { ttl: constant!(setnx_lease), ..none },
        "lease-machine-id" => Terms { ttl: constant!(machine_lease), ..none },
        "lease-set-px" | "lease-set-px-retry" | "lease-set-px-checked" => Terms { ttl: constant!(lease), ..none },
        "lease-watchdog" | "lease-watchdog-silent" | "lease-watchdog-orphan" | "lease-watchdog-unowned" => {
            Terms { ttl: constant!(watchdog_lease), renew_every: constant!(renew_every), ..none }
        }
        "lease-fenced" => {
            Terms { ttl: constant!(watchdog_lease), renew_every: constant!(renew_every), decided_in_transaction: true, ..none }
        }
        "dual-published" => Terms { ttl: constant!(lease), ..none },
        "dual-guard" => {
            Terms { ttl: constant!(dual_lease), renew_every: constant!(dual_renew_every), claims: true, decided_in_transaction: true }
        }
        "version-reclaim-unfenced" => Terms { claims: true, ..none },
        "version-reclaim" => Terms { claims: true, decided_in_transaction: true, ..none },
        "table-key" => Terms { decided_in_transaction: true, ..none },
        _ => none,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy;
    use toml::Table;

    /// Every name that has terms is a guard, and every constant is called as in a scenario.
    #[test]
    fn constants_are_called_as_in_a_scenario() {
        let with_terms: Vec<_> = strategy::catalogue().iter().map(|guard| terms(guard.name())).collect();
        assert_eq!(with_terms.iter().filter(|terms| terms.ttl.is_some()).count(), 12);
        let mut told = 0;
        for constant in with_terms.iter().flat_map(|terms| [terms.ttl, terms.renew_every]).flatten() {
            let mut guard = GuardKnobs::default();
            *(constant.of)(&mut guard) = Duration::from_secs(777);
            let table = Table::try_from(&guard).unwrap();
            assert_eq!(table[constant.knob.strip_prefix("guard.").unwrap()].as_str(), Some("12m 57s"));
            assert_eq!(constant.get(&guard), Duration::from_secs(777));
            told += 1;
        }
        assert_eq!(told, 18);
    }
}
