//! The witnesses of a sweep, made small on all threads.

use crate::cli::CANCELLED;
use crate::cli::exit::Failure;
use crate::explore::shrink::{Failed, Limits, Target};
use crate::explore::{Finding, Subject, Witness, crew};
use crate::report::Kept;
use crate::report::shrink::{Smaller, shrink};
use crate::report::twin::Twin;
use crate::scenario::Scenario;

/// Runs that a sweep spends on making one witness small. Most converge with less; `onceproof shrink` takes the rest of the way.
const RUNS: u64 = 2_000;

/// The smallest run found that breaks the same as a witness. `given` is the deployment that it varies, if that is not the catalogue's.
pub fn smaller(subject: &dyn Subject, given: Option<&Scenario>, witness: &Witness, finding: &Finding) -> Result<Witness, Failure> {
    shrunk(subject, given, witness, finding).map(|smaller| smaller.after)
}

/// The same with its twin, which holds that of the run before.
pub fn smaller_twin(subject: &dyn Subject, kept: Kept, finding: &Finding) -> Result<Kept, Failure> {
    let smaller = shrunk(subject, None, &kept.witness, finding)?;
    let twin = Twin { before: Some(Box::new(kept.twin)), ..smaller.twin };
    Ok(Kept { witness: smaller.after, twin })
}

fn shrunk(subject: &dyn Subject, given: Option<&Scenario>, witness: &Witness, finding: &Finding) -> Result<Smaller, Failure> {
    let (engine, class) = (witness.engine, witness.faults);
    let target = Target { strategy: subject.strategy(), engine, class, mark: finding.mark, rule: finding.rule.to_owned() };
    let limits = Limits { runs: RUNS, threads: 1, cancelled: &CANCELLED, out_of_time: &|| false, progress: &|_| () };
    match shrink(witness, given, &target, &limits) {
        Ok(smaller) => Ok(smaller),
        Err(Failed::Cancelled) => Err(Failure::Interrupted),
        Err(failed) => {
            let label = subject.scenario().database.rules.label(subject.strategy().name());
            Err(Failure::Distrust(format!("{label} under {class}, seed {}: {failed}", witness.seed)))
        }
    }
}

/// Does the same with each of these, on several threads; the results are in the order of what they come from.
pub fn on_threads<T: Sync, R: Send>(threads: usize, all: &[T], make: impl Fn(&T) -> Result<R, Failure> + Sync) -> Result<Vec<R>, Failure> {
    crew::try_each(all.len(), threads, &CANCELLED, |n| make(&all[n]))?.ok_or(Failure::Interrupted)
}
