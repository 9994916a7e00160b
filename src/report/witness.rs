//! A cell's run as a witness. The sweep keeps no history, so the run is made again.

use crate::class::FaultClass;
use crate::explore::cell::Broken;
use crate::explore::{Case, Observed, Subject, Witness, observe};
use crate::plan::FaultPlan;
use crate::report::{knobs, story};
use crate::scenario::Scenario;
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
    let staged = broken.case.staged(subject, class);
    let varied = &*staged;
    let not_repeated = |why| NotRepeated { strategy: subject.strategy().name(), class, seed: *seed, why };
    let seen = observe(varied, class, *seed, plan).map_err(|e| not_repeated(e.to_string()))?;
    if !seen.findings.contains(&broken.finding) {
        return Err(not_repeated(format!("the second time {} did not break in the same way", broken.finding.rule)));
    }
    Ok(kept(varied, subject.scenario(), engine, class, plan, &seen))
}

/// A run, kept with its story, which begins with what is different from the `given` deployment.
pub(super) fn kept(
    subject: &dyn Subject,
    given: &Scenario,
    engine: EngineKind,
    class: FaultClass,
    plan: &FaultPlan,
    seen: &Observed,
) -> Witness {
    let drawn = knobs::told(&knobs::drawn(subject.scenario(), given), STORY_WIDTH);
    let lines = story::story(seen, plan, subject.calendar(), subject.scenario().nodes, STORY_WIDTH);
    let plain: Vec<String> = drawn.iter().chain(&lines).map(|line| anstream::adapter::strip_str(line).to_string()).collect();
    Witness::of(subject.scenario(), class, engine, plan, seen, &plain)
}
