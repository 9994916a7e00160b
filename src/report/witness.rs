//! A cell's run as a witness. The sweep keeps no history, so the run is made again.

use crate::class::FaultClass;
use crate::explore::cell::Broken;
use crate::explore::{Case, Observed, RunKey, Staged, Subject, Witness, observe};
use crate::plan::FaultPlan;
use crate::report::twin::Twin;
use crate::report::twins::{self, Told};
use crate::report::{knobs, story, words};
use crate::scenario::{Rules, Scenario};
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

/// A run as it is kept, and as its page shows it.
#[derive(Clone, Debug)]
pub struct Kept {
    /// The witness.
    pub witness: Witness,
    /// What its page is made of.
    pub twin: Twin,
}

/// Makes a run that broke something again and keeps it, with its story.
///
/// # Errors
/// It does not repeat.
pub fn witness(subject: &dyn Subject, engine: EngineKind, class: FaultClass, broken: &Broken) -> Result<Witness, NotRepeated> {
    let (staged, seen) = again(subject, class, broken)?;
    Ok(kept(&*staged, subject.scenario(), engine, class, &broken.case.plan, &seen))
}

/// The same with its twin.
///
/// # Errors
/// It does not repeat.
pub fn with_twin(subject: &dyn Subject, engine: EngineKind, class: FaultClass, broken: &Broken) -> Result<Kept, NotRepeated> {
    let (staged, seen) = again(subject, class, broken)?;
    let (usual, plan) = (subject.scenario(), &broken.case.plan);
    let witness = kept(&*staged, usual, engine, class, plan, &seen);
    let replay = by_names(subject, engine, class, broken).unwrap_or_default();
    let told = Told { subject: &*staged, usual, plan, seen: &seen, witness: &witness, rule: Some(broken.finding.rule), replay };
    let twin = twins::twin(&told);
    Ok(Kept { witness, twin })
}

/// The run once more.
fn again<'a>(subject: &'a dyn Subject, class: FaultClass, broken: &Broken) -> Result<(Staged<'a>, Observed), NotRepeated> {
    let Case { seed, plan, .. } = &broken.case;
    let staged = broken.case.staged(subject, class);
    let not_repeated = |why| NotRepeated { strategy: subject.strategy().name(), class, seed: *seed, why };
    let seen = observe(&*staged, class, *seed, plan).map_err(|e| not_repeated(e.to_string()))?;
    if !seen.findings.contains(&broken.finding) {
        return Err(not_repeated(format!("the second time {} did not break in the same way", broken.finding.rule)));
    }
    Ok((staged, seen))
}

/// The command that makes the run again without a file, if there is one.
fn by_names(subject: &dyn Subject, engine: EngineKind, class: FaultClass, broken: &Broken) -> Option<String> {
    let pinned = match broken.case.key {
        RunKey::Pinned(0) => true,
        RunKey::Sampled(_) => false,
        RunKey::Pinned(_) | RunKey::Steered(_) | RunKey::Enumerated(_) => return None,
    };
    Some(command(subject, engine, class, broken.case.seed, pinned))
}

/// The command that replays what a class draws for a seed, or the plan that is pinned to it.
pub fn command(subject: &dyn Subject, engine: EngineKind, class: FaultClass, seed: Seed, pinned: bool) -> String {
    let (strategy, rules) = (subject.strategy().name(), subject.scenario().database.rules);
    let rules = if rules == Rules::default() { String::new() } else { format!(" --rules {}", rules.short()) };
    let engine = if engine == EngineKind::Event { String::new() } else { format!(" --engine {}", engine.name()) };
    let pinned = if pinned { " --pinned" } else { "" };
    format!("onceproof replay --strategy {strategy}{rules} --faults {class} --seed {seed}{pinned}{engine}")
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
    let milder: Vec<String> = words::milder(class, plan).into_iter().flat_map(|milder| words::wrap(&milder, STORY_WIDTH)).collect();
    let plain: Vec<String> = milder.iter().chain(&drawn).chain(&lines).map(|line| anstream::adapter::strip_str(line).to_string()).collect();
    Witness::of(subject.scenario(), class, engine, plan, seen, &plain)
}
