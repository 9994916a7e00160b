//! A cell's run as a witness. The sweep keeps no history, so the run is made again.

use crate::class::FaultClass;
use crate::explore::cell::Broken;
use crate::explore::{Case, Subject, Witness, observe};
use crate::report::story;
use crate::seed::Seed;
use crate::world::EngineKind;

/// Columns of the stories in witnesses, whatever the terminal has.
const STORY_WIDTH: usize = 120;

/// The second time, the run did not do what it did the first time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{strategy} under {class}, seed {seed}, does not repeat: {why}")]
pub struct NotRepeated {
    /// The strategy's name.
    pub strategy: &'static str,
    /// What went wrong.
    pub class: FaultClass,
    /// The run's seed.
    pub seed: Seed,
    /// What is different.
    pub why: String,
}

/// Makes a run that broke something again and keeps it, with its story.
///
/// # Errors
/// It does not repeat.
pub fn witness(subject: &dyn Subject, engine: EngineKind, class: FaultClass, broken: &Broken) -> Result<Witness, NotRepeated> {
    let Case { seed, plan, .. } = &broken.case;
    let not_repeated = |why| NotRepeated { strategy: subject.strategy().name(), class, seed: *seed, why };
    let seen = observe(subject, class, *seed, plan).map_err(|e| not_repeated(e.to_string()))?;
    if !seen.findings.contains(&broken.finding) {
        return Err(not_repeated(format!("the second time {} did not break in the same way", broken.finding.rule)));
    }
    let lines = story::story(&seen, plan, subject.calendar(), subject.scenario().nodes, STORY_WIDTH);
    let plain: Vec<String> = lines.iter().map(|line| anstream::adapter::strip_str(line).to_string()).collect();
    Ok(Witness::of(subject.scenario(), class, engine, plan, &seen, &plain))
}
