//! One run of a cell, as data.

use crate::class::FaultClass;
use crate::explore::Subject;
use crate::explore::subject::Staged;
use crate::plan::FaultPlan;
use crate::seed::Seed;
use serde::{Deserialize, Serialize};

/// Which run of a cell. Pinned plans come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunKey {
    /// The plan of the cell's how-manieth must-claim, from 0.
    Pinned(usize),
    /// The how-manieth seed of the sweep, from 0.
    Sampled(u64),
    /// The how-manieth run towards places that the sample had left out, from 0.
    Steered(u64),
    /// The how-manieth plan of an enumeration, from 0.
    Enumerated(u64),
}

/// Everything that, with its cell, makes a run again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// Which run of the cell it is.
    pub key: RunKey,
    /// Its seed.
    pub seed: Seed,
    /// What goes wrong in it.
    pub plan: FaultPlan,
}

impl Case {
    /// What it is run on. Pinned plans, and those that were enumerated on a subject, are made for the subject as it is; what is
    /// drawn may bring knobs of its own, and the table's enumeration looks at one period.
    pub fn staged<'a>(&self, subject: &'a dyn Subject, class: FaultClass) -> Staged<'a> {
        match self.key {
            RunKey::Enumerated(_) if class == FaultClass::Single => Staged::of(subject, class, self.seed),
            RunKey::Pinned(_) | RunKey::Enumerated(_) => Staged::Given(subject),
            RunKey::Sampled(_) | RunKey::Steered(_) => Staged::of(subject, class, self.seed),
        }
    }
}
