//! The leases of the catalogue whose frontier can be written down: how long each lasts, whether
//! it is renewed, and where its holder is stopped.

use crate::plan::Trigger;
use crate::scenario::GuardKnobs;
use crate::strategy::{Strategy, WORK};
use crate::trace::{Phase, StepName};
use std::fmt;
use std::time::Duration;

/// Where a holder is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// In which step.
    pub step: StepName,
    /// In which phase of it.
    pub phase: Phase,
}

/// Inside the job: two of its five slices are done. Between two slices no timer runs that would go on while the process is stopped.
pub const IN_THE_JOB: Place = Place { step: WORK[1].name, phase: Phase::After };

/// After the job, before the transaction.
pub const AFTER_THE_JOB: Place = Place { step: "tx.begin", phase: Phase::Before };

/// What it is in a plan, the first time that anybody comes there.
impl From<Place> for Trigger {
    fn from(place: Place) -> Trigger {
        Trigger::first(place.step, place.phase)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} `{}`", self.phase, self.step)
    }
}

/// A lease, as its frontier depends on it.
#[derive(Clone, Copy)]
pub struct Lease {
    strategy: &'static str,
    /// How long it lasts.
    pub ttl: fn(&GuardKnobs) -> Duration,
    /// What keeps it.
    pub kept: Kept,
}

/// What keeps a lease while its holder works.
#[derive(Clone, Copy)]
pub enum Kept {
    /// Nothing: it is granted once, and the whole job has to fit in.
    ByNobody,
    /// A renewal beside the job, as often as this, which is stopped with its holder; when it goes on it tells nobody what it finds.
    Silently(fn(&GuardKnobs) -> Duration),
    /// A renewal that stops the job when the lease is lost.
    Telling(fn(&GuardKnobs) -> Duration),
}

const LEASES: [Lease; 7] = [
    Lease { strategy: "lease-setnx-expire", ttl: |g| g.setnx_lease, kept: Kept::ByNobody },
    Lease { strategy: "lease-set-px", ttl: |g| g.lease, kept: Kept::ByNobody },
    Lease { strategy: "lease-set-px-retry", ttl: |g| g.lease, kept: Kept::ByNobody },
    Lease { strategy: "lease-set-px-checked", ttl: |g| g.lease, kept: Kept::ByNobody },
    Lease { strategy: "lease-machine-id", ttl: |g| g.machine_lease, kept: Kept::ByNobody },
    Lease { strategy: "lease-watchdog", ttl: |g| g.watchdog_lease, kept: Kept::Telling(|g| g.renew_every) },
    Lease { strategy: "lease-watchdog-silent", ttl: |g| g.watchdog_lease, kept: Kept::Silently(|g| g.renew_every) },
];

impl Lease {
    /// The lease of a strategy, if its frontier can be written down.
    pub fn of(strategy: &dyn Strategy) -> Option<Lease> {
        LEASES.into_iter().find(|lease| lease.strategy == strategy.name())
    }

    /// Whether something renews it.
    pub fn is_renewed(self) -> bool {
        match self.kept {
            Kept::ByNobody => false,
            Kept::Silently(_) | Kept::Telling(_) => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy;

    /// A misspelt name would make a strategy lose its line without a word; a step that is never made would stop nobody.
    #[test]
    fn every_lease_is_one_of_the_catalogue_with_both_places() {
        for lease in LEASES {
            let strategy = strategy::find(lease.strategy).unwrap_or_else(|| panic!("no strategy `{}`", lease.strategy));
            for place in [IN_THE_JOB, AFTER_THE_JOB] {
                assert!(strategy.steps().iter().any(|step| step.name == place.step), "{} never makes {}", lease.strategy, place.step);
            }
        }
        assert!(Lease::of(strategy::find("dual-guard").unwrap()).is_none());
    }
}
