//! What would have to be different, and whether that helps: each advice is a change to a deployment,
//! tied to what broke, and is tried on the runs that broke it before it is given.

pub mod literal;
mod rules;

pub use rules::advise;

use crate::class::FaultClass;
use crate::deployment_file::DeploymentFile;
use crate::deployment_file::terms::{Constant, make_room, terms};
use crate::explore::shrink::{Answer, Candidate, Target};
use crate::explore::sweep::Stopped;
use crate::explore::{Mark, Staged, Subject, Witness, crew, exhaust, observe};
use crate::plan::duration;
use crate::scenario::{Misfire, Policy, Scenario};
use crate::seed::Seed;
use crate::strategy::{self, Strategy};
use crate::world::{Deployment, EngineKind};
use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Runs of a class in which a change is tried, the first of those in which the deployment was.
pub const TRIED: u64 = 30;

/// A change to a deployment.
#[derive(Clone)]
pub enum Change {
    /// The lease expires after this; nodes ask, and may take, as much longer.
    Ttl(Duration),
    /// It is renewed so often.
    RenewEvery(Duration),
    /// Given back earlier, it is kept for the rest of this; it lasts at least as long.
    AtLeast {
        /// How long.
        least: Duration,
        /// The expiry that this needs.
        ttl: Duration,
    },
    /// Nobody counts as dead before this; nodes ask, and may take, as much longer.
    StaleAfter(Duration),
    /// Whatever is read is read from the primary.
    Primary,
    /// All that was missed is made up for.
    MakeUp,
    /// After an attempt nodes do what the guard says.
    Policy(Policy),
    /// All nodes are configured alike.
    Alike,
    /// Another guard, whose constants are its own.
    Guard(&'static dyn Strategy),
}

impl Change {
    /// To the guard with this name.
    pub fn guard(name: &str) -> Option<Change> {
        strategy::find(name).map(Change::Guard)
    }

    /// What to write in the file.
    pub fn line(&self) -> String {
        match self {
            Change::Ttl(ttl) => format!("lease.ttl = \"{}\"", duration::text(*ttl)),
            Change::RenewEvery(every) => format!("lease.renew_every = \"{}\"", duration::text(*every)),
            Change::AtLeast { least, ttl } => {
                format!("lease = {{ at_least = \"{}\", ttl = \"{}\" }}", duration::text(*least), duration::text(*ttl))
            }
            Change::StaleAfter(stale) => format!("claim.stale_after = \"{}\"", duration::text(*stale)),
            Change::Primary => "database.replica_lag = \"0s\"".to_owned(),
            Change::MakeUp => "misfire.policy = \"fire-all\"".to_owned(),
            Change::Policy(policy) => format!("policy = \"{}\"", policy.name()),
            Change::Alike => "no [[override]]".to_owned(),
            Change::Guard(guard) => format!("guard = \"{}\"", guard.name()),
        }
    }

    /// The deployment with the change made.
    pub fn made(&self, of: &Scenario) -> Scenario {
        let mut changed = of.clone();
        let now = terms(&of.strategy);
        let set = |changed: &mut Scenario, constant: Option<Constant>, length: Duration| {
            if let Some(constant) = constant {
                *(constant.of)(changed) = length;
            }
        };
        match self {
            Change::Ttl(ttl) => {
                set(&mut changed, now.ttl, *ttl);
                wait_longer(&mut changed, now.ttl, of);
            }
            Change::RenewEvery(every) => set(&mut changed, now.renew_every, *every),
            Change::AtLeast { least, ttl } => {
                set(&mut changed, now.ttl, *ttl);
                set(&mut changed, now.at_least, *least);
            }
            Change::StaleAfter(stale) => {
                set(&mut changed, now.stale_after, *stale);
                wait_longer(&mut changed, now.stale_after, of);
            }
            Change::Primary => changed.database.replica_lag = Duration::ZERO,
            Change::MakeUp => changed.node.misfire.policy = Misfire::FireAll,
            Change::Policy(_) => changed.node.policy = None,
            Change::Alike => changed.overrides.clear(),
            Change::Guard(guard) => guard.name().clone_into(&mut changed.strategy),
        }
        make_room(&mut changed);
        changed
    }
}

/// Whoever waits for what lasts longer than before waits as much longer.
fn wait_longer(changed: &mut Scenario, constant: Option<Constant>, than: &Scenario) {
    let longer = constant.map_or(Duration::ZERO, |constant| (constant.get)(changed).saturating_sub((constant.get)(than)));
    changed.node.attention += longer;
    changed.liveness_bound += longer;
}

/// One advice.
#[derive(Clone)]
pub struct Advice {
    /// What it is called.
    pub name: &'static str,
    /// What to do, in a sentence.
    pub say: String,
    /// The same as a change to the deployment.
    pub change: Change,
    /// What it should cure: a class, and what broke under it. Once it was tried, what it did cure.
    pub cures: Vec<(FaultClass, Mark)>,
}

impl Advice {
    /// What to write in this file, and what to take away for it.
    pub fn line(&self, file: &DeploymentFile) -> String {
        literal::told(file, &self.change).unwrap_or_else(|| self.change.line())
    }

    /// This advice as far as its trials confirm it, with those that are about it; `None` if it helped nowhere, or if
    /// something breaks without any fault that did not before.
    pub fn confirmed(mut self, mut trials: Vec<Trial>) -> Option<(Advice, Vec<Trial>)> {
        if trials.iter().any(|trial| trial.class == FaultClass::Calm && !trial.new.is_empty()) {
            return None;
        }
        trials.retain(|trial| self.cures.iter().any(|(class, _)| *class == trial.class));
        self.cures.retain(|(class, mark)| trials.iter().any(|trial| trial.class == *class && trial.cures(*mark)));
        (!self.cures.is_empty()).then_some((self, trials))
    }
}

/// An advice on one class, tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trial {
    /// The class.
    pub class: FaultClass,
    /// The run of the witness with the change made.
    pub witness: Replayed,
    /// Runs of the class with the change made.
    pub runs: u64,
    /// Those that noticed their faults.
    pub felt: u64,
    /// Those in which one of the marks broke that the advice should cure.
    pub broke: u64,
    /// What broke in them, all of it.
    pub marks: BTreeSet<Mark>,
    /// What should be cured and was seen again, in them or in the witness.
    pub still: BTreeSet<Mark>,
    /// What broke in them and did not break before.
    pub new: BTreeSet<Mark>,
    /// Why the class cannot strike the changed deployment at all, if that is so.
    pub misses: Option<&'static str>,
}

/// What became of a witness when something was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Replayed {
    /// It breaks no more.
    Held,
    /// It still breaks.
    Broke,
    /// It cannot be played on the changed deployment: why.
    Unfit(String),
    /// There is none.
    None,
}

impl Trial {
    /// Whether nothing that should be cured was seen again.
    pub fn helped(&self) -> bool {
        self.still.is_empty()
    }

    /// Whether it says anything: some run noticed its faults, or there can be none.
    pub fn counts(&self) -> bool {
        self.felt > 0 || self.misses.is_some()
    }

    /// Whether this was cured.
    pub fn cures(&self, mark: Mark) -> bool {
        self.counts() && !self.still.contains(&mark)
    }
}

/// Tries an advice on a class, under which, or without any fault, these broke `before`.
///
/// # Errors
/// It was cancelled, or a run had no result.
pub fn tried(
    advice: &Advice,
    file: &DeploymentFile,
    (class, before): (FaultClass, &BTreeSet<Mark>),
    witness: Option<&Witness>,
    threads: usize,
    cancelled: &AtomicBool,
) -> Result<Trial, Stopped> {
    let wanted: BTreeSet<Mark> = advice.cures.iter().filter(|(at, _)| *at == class).map(|(_, mark)| *mark).collect();
    let none = BTreeSet::new;
    let mut trial =
        Trial { class, witness: Replayed::None, runs: 0, felt: 0, broke: 0, marks: none(), still: none(), new: none(), misses: None };
    // What is tried is what is told to write.
    let Some((changed, _)) = literal::edited(file, &advice.change) else { return Ok(trial) };
    if let Some(witness) = witness {
        (trial.witness, trial.still) = replayed(advice, changed.guard, class, witness, &wanted);
    }
    let Ok(deployment) = Deployment::with_strategy(&changed.scenario, changed.guard, EngineKind::Event) else { return Ok(trial) };
    trial.misses = Subject::misses(&deployment, class);
    if trial.misses.is_some() {
        return Ok(trial);
    }
    if class == FaultClass::Single {
        let tally = exhaust::column(&deployment, file.seed, threads, cancelled)?.tally;
        (trial.runs, trial.felt) = (tally.apart.runs, tally.apart.felt);
        trial.broke = wanted.iter().filter_map(|mark| tally.broken.get(mark)).map(|broken| broken.apart).max().unwrap_or(0);
        trial.marks = tally.broken.into_keys().collect();
    } else {
        drawn(&mut trial, &deployment, file.seed, &wanted, threads, cancelled)?;
    }
    trial.still.extend(trial.marks.intersection(&wanted));
    trial.new = trial.marks.difference(before).copied().filter(|mark| !wanted.contains(mark)).collect();
    Ok(trial)
}

/// The first runs of the class.
fn drawn(
    trial: &mut Trial,
    deployment: &Deployment,
    base: Seed,
    wanted: &BTreeSet<Mark>,
    threads: usize,
    cancelled: &AtomicBool,
) -> Result<(), Stopped> {
    let class = trial.class;
    let run = |n: usize| {
        let seed: Seed = base.nth(n as u64);
        let staged = Staged::of(deployment, class, seed);
        let seen = observe(&*staged, class, seed, &staged.plan(class, seed));
        seen.map_err(|why| Stopped::NoResult { strategy: deployment.strategy().name(), class, seed, why })
    };
    for seen in crew::try_each(TRIED as usize, threads, cancelled, run)?.ok_or(Stopped::Cancelled)? {
        let marks: BTreeSet<Mark> = seen.findings.iter().map(|finding| finding.mark).collect();
        trial.runs += 1;
        trial.felt += u64::from(seen.felt);
        trial.broke += u64::from(!marks.is_disjoint(wanted));
        trial.marks.extend(marks);
    }
    Ok(())
}

/// The run of a witness, on the deployment that it was kept with, changed, and what broke again.
fn replayed(
    advice: &Advice,
    guard: &'static dyn Strategy,
    class: FaultClass,
    witness: &Witness,
    wanted: &BTreeSet<Mark>,
) -> (Replayed, BTreeSet<Mark>) {
    let scenario = advice.change.made(&witness.scenario);
    let case = Candidate { scenario, seed: witness.seed, plan: witness.plan.clone(), usual: None };
    let any = Target { strategy: guard, engine: EngineKind::Event, class, mark: Mark::Panicked, rule: String::new() };
    match any.observe(&case) {
        Ok((_, seen)) => {
            let again: BTreeSet<Mark> = seen.findings.iter().map(|finding| finding.mark).filter(|mark| wanted.contains(mark)).collect();
            (if again.is_empty() { Replayed::Held } else { Replayed::Broke }, again)
        }
        Err(Answer::Unfit(why) | Answer::Bug(why)) => (Replayed::Unfit(why), BTreeSet::new()),
        Err(Answer::Breaks(_) | Answer::Holds) => (Replayed::None, BTreeSet::new()),
    }
}

#[cfg(test)]
mod tests;
