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
    log_fault: LogFault;
    civil: Civil;
    shutdown: Shutdown;
    redelivery: Redelivery;
    swarm: Swarm;
    single: Single;
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
    use crate::plan::Trigger;

    /// Whoever says how wrong his clocks are is shown none that is worse, in a mix of faults as well.
    #[test]
    fn clocks_are_as_wrong_as_they_are_said_to_be() {
        use crate::plan::Harm;
        use crate::scenario::ClockKnobs;
        let scenario = Scenario { clocks: ClockKnobs { error: 500.ms(), drift_ppm: 200 }, ..Scenario::default() };
        let calendar = scenario.schedule.calendar().unwrap();
        let mut seen = (0, 0);
        for seed in (0..200).map(|n| Seed(8).nth(n)) {
            let plan = FaultClass::Skew.plan(seed, &scenario, &calendar, &[]);
            let errors: Vec<i64> =
                plan.faults.iter().filter_map(|f| if let Harm::ClockOffset { by_ms, .. } = f.harm { Some(by_ms) } else { None }).collect();
            let (least, most) = (*errors.iter().min().unwrap(), *errors.iter().max().unwrap());
            assert!(-500 <= least && most <= 500 && most - least >= 400, "{errors:?}");
            for class in [FaultClass::Drift, FaultClass::Swarm] {
                for fault in class.plan(seed, &scenario, &calendar, &[]).faults {
                    match (fault.harm, fault.when) {
                        (Harm::ClockDrift { ppm, .. }, _) => {
                            assert!(ppm.abs() <= 200, "{ppm}");
                            seen.0 += 1;
                        }
                        (Harm::ClockOffset { by_ms, .. }, Trigger::At { at_ms }) if at_ms == SimTime::ZERO => {
                            assert!(by_ms.abs() <= 500, "{by_ms}");
                            seen.1 += 1;
                        }
                        _ => {}
                    }
                }
            }
        }
        assert!(seen.0 > 100 && seen.1 > 10, "{seen:?}");
    }

    /// Every class is tried on jobs of every length.
    #[test]
    fn a_job_of_many_lengths_is_drawn_under_every_class() {
        use crate::scenario::JobLengths;
        let lengths = JobLengths { p50: 2.minutes(), p95: 6.minutes(), p99: 15.minutes(), max: 25.minutes() };
        let given = Scenario { job_lengths: Some(lengths), ..Scenario::default() };
        assert_eq!(FaultClass::Pause.knobs(Seed(1), &Scenario::default()), None);
        for class in FaultClass::ALL {
            let drawn: Vec<Scenario> = (0..20).map(|n| class.knobs(Seed(4).nth(n), &given).expect("a job is drawn")).collect();
            assert!(drawn.iter().all(|scenario| scenario.job_lengths.is_none() && scenario.validate().is_ok()), "{class}");
            let first = drawn[0].node.work;
            assert!(drawn.iter().any(|scenario| scenario.node.work != first), "{class}");
        }
    }

    /// What serde derives from the variants is what people type.
    #[test]
    fn names_in_files_are_names_in_commands() {
        for class in FaultClass::ALL {
            assert_eq!(serde_json::to_value(class).unwrap(), class.name());
        }
    }
}
