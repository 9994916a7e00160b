//! The kinds of trouble that the table has columns for, one file each: what happens, with which
//! magnitude, and how plans of it are drawn.
//!
//! A drawn plan is a pure function of class, seed, scenario and the strategy's steps. It is
//! complete in itself; nothing has to be drawn again to replay it. Magnitudes are the
//! catalogue's, in real time, and follow the scenario's `time_scale`.

mod draw;
mod knobs;

pub use draw::Draw;
pub use knobs::patient;
pub use single::{KINDS, Kind};

use crate::plan::{Fault, FaultPlan};
use crate::scenario::Scenario;
use crate::seed::Seed;
use crate::settlement::Calendar;
use crate::step::Step;
use crate::time::{SimTime, Span};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// A column of the table.
pub trait Class: Sync {
    /// The name in commands, tables and files.
    fn name(&self) -> &'static str;

    /// One line for `onceproof list`: what happens, with its magnitude.
    fn about(&self) -> &'static str;

    /// The faults of one plan: one fault, or a set that belongs together. Plans should more often be felt than not.
    fn draw(&self, draw: &mut Draw<'_>) -> Vec<Fault>;

    /// Why it cannot strike a strategy with these steps, if it cannot.
    fn misses(&self, steps: &[Step]) -> Option<&'static str> {
        let _ = steps;
        None
    }

    /// The deployment of the run with this seed, if the class draws its knobs too and they are not those of the given one.
    fn knobs(&self, seed: Seed, given: &Scenario) -> Option<Scenario> {
        let _ = (seed, given);
        None
    }

    /// Whether the class swarm may mix it in, and how often.
    fn mixes(&self) -> Mixes {
        Mixes::Freely
    }
}

/// How often a class may be part of one mixed plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mixes {
    /// Any number of times.
    Freely,
    /// At most once: a second one would undo or outlast the first.
    Once,
    /// Never.
    Never,
}

/// Declares the modules and lists their classes. One line a class, in the order of the table's columns.
macro_rules! classes {
    ($($file:ident: $Class:ident;)*) => {
        $(mod $file;)*

        /// A column of the table, by name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum FaultClass {
            $(#[doc = concat!("Of `class/", stringify!($file), ".rs`.")] $Class,)*
        }

        impl FaultClass {
            /// All classes, in the order of the table's columns.
            pub const ALL: [FaultClass; [$(stringify!($Class)),*].len()] = [$(FaultClass::$Class),*];

            fn class(self) -> &'static dyn Class {
                match self {
                    $(FaultClass::$Class => &$file::$Class,)*
                }
            }
        }
    };
}

classes! {
    calm: Calm;
    skew: Skew;
    drift: Drift;
    step: Step;
    crash: Crash;
    power: Power;
    pause: Pause;
    partition: Partition;
    lease_cut: LeaseCut;
    db_cut: DbCut;
    slow: Slow;
    reply_lost: ReplyLost;
    job_error: JobError;
    lease_loss: LeaseLoss;
    db_error: DbError;
    db_restart: DbRestart;
    outage: Outage;
    swarm: Swarm;
    single: Single;
    log_fault: LogFault;
    civil: Civil;
    shutdown: Shutdown;
    redelivery: Redelivery;
}

impl FaultClass {
    /// The name in commands, tables and files.
    pub fn name(self) -> &'static str {
        self.class().name()
    }

    /// One line for `onceproof list`: what happens, with its magnitude.
    pub fn about(self) -> &'static str {
        self.class().about()
    }

    /// Why it cannot strike a strategy with these steps, if it cannot: there is nothing to look for then.
    pub fn misses(self, steps: &[Step]) -> Option<&'static str> {
        self.class().misses(steps)
    }

    /// The deployment of the run with this seed, if its job's length or, by this class, its knobs are drawn; `None` if it is the given one.
    #[must_use]
    pub fn knobs(self, seed: Seed, given: &Scenario) -> Option<Scenario> {
        let with_job = given.with_job_drawn(seed);
        self.class().knobs(seed, with_job.as_ref().unwrap_or(given)).or(with_job)
    }

    /// Whether the class swarm may mix it in, and how often.
    pub fn mixes(self) -> Mixes {
        self.class().mixes()
    }

    /// A plan of this class, against a strategy with these steps.
    #[must_use]
    pub fn plan(self, seed: Seed, scenario: &Scenario, calendar: &Calendar, steps: &[Step]) -> FaultPlan {
        let mut draw = Draw::new(seed.fork("plan"), self.name(), scenario, calendar, steps);
        FaultPlan::of(self.class().draw(&mut draw))
    }
}

impl fmt::Display for FaultClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// When every drawn fault that strikes at a time has healed. A run should last a liveness
/// bound longer. Faults that strike at a step last at most [`longest_at_a_step`].
///
/// # Panics
/// If the calendar watches no period, which [`crate::settlement::Schedule::calendar`] rules out.
#[must_use]
pub fn healed_by(scenario: &Scenario, calendar: &Calendar) -> SimTime {
    let last = calendar.periods.last().expect("a calendar watches at least one period");
    calendar.due(*last) + outage::ENDS / scenario.time_scale.max(1)
}

/// How long the longest drawn fault that strikes at a step lasts: one and a half times a slow step of 43 minutes.
#[must_use]
pub fn longest_at_a_step(scenario: &Scenario) -> Duration {
    43.minutes() * 3 / 2 / scenario.time_scale.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What serde derives from the variants is what people type.
    #[test]
    fn names_in_files_are_names_in_commands() {
        for class in FaultClass::ALL {
            assert_eq!(serde_json::to_value(class).unwrap(), class.name());
        }
    }
}
