//! One run, and everything that can be said about it: what broke, what was excused, whether
//! its faults were felt.

use crate::class::FaultClass;
use crate::explore::{Mark, Subject};
use crate::id::{HostId, PeriodId};
use crate::invariant::{InvariantId, Verdict};
use crate::plan::{Fault, FaultPlan, Harm};
use crate::seed::Seed;
use crate::time::SimTime;
use crate::trace::Event;
use crate::world::contain;
use crate::world::{Ended, Receipt, Refused, Run};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

/// The name of an invariant, or `no-panic`, or `ends`.
pub type Rule = &'static str;

/// Something that went wrong in a run because of the strategy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Its character in the table.
    pub mark: Mark,
    /// The invariant's name, or `no-panic`, or `ends`.
    #[serde(deserialize_with = "known")]
    pub rule: Rule,
    /// When it broke.
    pub at: SimTime,
    /// The period concerned, if it is about one.
    pub period: Option<PeriodId>,
    /// One sentence in the language of the trace.
    pub what: String,
}

/// A rule by its name.
fn known<'de, D: Deserializer<'de>>(d: D) -> Result<Rule, D::Error> {
    let name = String::deserialize(d)?;
    let mut rules = InvariantId::ALL.iter().map(|id| id.name()).chain(["no-panic", "ends"]);
    rules.find(|rule| *rule == name).ok_or_else(|| D::Error::custom(format!("there is no rule `{name}`")))
}

/// A run, judged.
#[derive(Clone, Debug)]
pub struct Observed {
    /// The run itself.
    pub run: Run,
    /// What broke, in the order of the marks.
    pub findings: Vec<Finding>,
    /// What did not come right although nobody could have done better, and why.
    pub excuses: Vec<(InvariantId, String)>,
    /// Whether the run is evidence: its faults struck and were noticed.
    pub felt: bool,
}

/// Why a run has no result. Neither is ever a finding.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoResult {
    /// The strategy did what cannot be simulated.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The harness itself is wrong.
    #[error("{0}")]
    Bug(String),
}

/// Runs and judges once.
///
/// # Errors
/// The run was refused, or the harness itself failed: a panic outside the strategy's code, or in a simulated server.
pub fn observe(subject: &dyn Subject, class: FaultClass, seed: Seed, plan: &FaultPlan) -> Result<Observed, NoResult> {
    let run = contain(|| subject.run(seed, plan)).map_err(NoResult::Bug)??;
    judged(subject, class, plan, run)
}

/// Judges a run of a subject under a plan.
///
/// # Errors
/// The harness itself failed: in a simulated server while it ran, or in a judge.
pub fn judged(subject: &dyn Subject, class: FaultClass, plan: &FaultPlan, run: Run) -> Result<Observed, NoResult> {
    if let Some((host, message)) = run.panics.iter().find(|(host, _)| host.as_node().is_none()) {
        return Err(NoResult::Bug(format!("the simulated {host} panicked: {message}")));
    }
    let verdicts = contain(|| subject.judge(&run)).map_err(NoResult::Bug)?;
    let mut findings = went_wrong(&run);
    let mut excuses = Vec::new();
    for (id, verdict) in verdicts {
        match verdict {
            Verdict::Holds => {}
            Verdict::Excused(why) => excuses.push((id, why)),
            Verdict::Broken(v) => {
                let mark = Mark::Letter(id.letter());
                findings.push(Finding { mark, rule: id.name(), at: v.at, period: v.period, what: v.what });
            }
        }
    }
    findings.sort_by_key(|f| f.mark);
    let felt = felt(class, plan, &run.receipts);
    Ok(Observed { run, findings, excuses, felt })
}

/// What the run itself says, before any judge is asked.
fn went_wrong(run: &Run) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some((host, message)) = run.panics.first() {
        let at = panicked_at(run, *host).unwrap_or(run.ended_at);
        let what = format!("the code of {host} panicked: {message}");
        findings.push(Finding { mark: Mark::Panicked, rule: "no-panic", at, period: None, what });
    }
    match run.ended {
        Ended::Horizon => {}
        Ended::StepBudget => {
            let what = "the run was cut at its step budget: a task spins without letting time pass".to_owned();
            findings.push(Finding { mark: Mark::NeverEnded, rule: "ends", at: run.ended_at, period: None, what });
        }
    }
    findings
}

fn panicked_at(run: &Run, host: HostId) -> Option<SimTime> {
    run.trace.records().iter().find(|r| r.event == Event::Panicked { host }).map(|r| r.at)
}

/// A calm run is evidence as it is. Any other counts only if at least one fault struck, every
/// one that struck was noticed, and, where clocks are wrong, at least one of their owners
/// acted by its clock: a clock by which nobody acts is no disturbance, and no excuse either.
fn felt(class: FaultClass, plan: &FaultPlan, receipts: &[Receipt]) -> bool {
    if class == FaultClass::Calm {
        return true;
    }
    let struck = plan.faults.iter().zip(receipts).filter(|(_, receipt)| receipt.fired.is_some());
    let (clocks, others): (Vec<_>, Vec<_>) = struck.partition(|(fault, _)| is_of_a_clock(&fault.harm));
    let noticed = |(_, receipt): &(&Fault, &Receipt)| receipt.felt.is_some();
    let all_or_none = |of: &[(&Fault, &Receipt)]| of.is_empty() || of.iter().any(noticed);
    (!clocks.is_empty() || !others.is_empty()) && others.iter().all(noticed) && all_or_none(&clocks)
}

/// Clocks go wrong together, and not everybody acts by his own.
fn is_of_a_clock(harm: &Harm) -> bool {
    match harm {
        Harm::ClockOffset { .. } | Harm::ClockDrift { .. } | Harm::Zone { .. } => true,
        Harm::Crash { .. }
        | Harm::Power { .. }
        | Harm::Pause { .. }
        | Harm::Partition { .. }
        | Harm::ReplyLost { .. }
        | Harm::Late { .. }
        | Harm::SlowStep { .. }
        | Harm::JobError { .. }
        | Harm::LeaseWipe { .. }
        | Harm::LeaseEvict { .. }
        | Harm::LeaseFailover { .. }
        | Harm::LeaseStall { .. }
        | Harm::Redeliver
        | Harm::CommitFails { .. }
        | Harm::SessionEnds { .. }
        | Harm::Shutdown { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::made_up::{self, MadeUp};
    use crate::plan::{Target, Trigger};
    use crate::time::Span;
    use crate::trace::Proof;
    use crate::world::Felt;

    fn pause() -> FaultPlan {
        FaultPlan::of([Harm::Pause { host: Target::Host(HostId::node(0)), lasts: 40.minutes() }.when(Trigger::start())])
    }

    /// A fault that struck but that nobody noticed proves nothing; of several wrong clocks one has to be noticed.
    #[test]
    fn only_noticed_faults_make_a_run_evidence() {
        let struck = Receipt { fired: Some(SimTime(5)), felt: None };
        let proof = Proof::WrongClock { host: HostId::node(0), by_ms: 5 };
        let noticed = Receipt { felt: Some(Felt { at: SimTime(9), proof }), ..struck };
        let offset = FaultPlan::of([Harm::ClockOffset { host: Target::AllNodes, by_ms: 5 }.when(Trigger::start())]);
        assert!(felt(FaultClass::Calm, &FaultPlan::none(), &[]));
        assert!(!felt(FaultClass::Pause, &FaultPlan::none(), &[]), "an empty plan is only calm in the calm class");
        assert!(!felt(FaultClass::Pause, &pause(), &[Receipt::default()]), "never struck");
        assert!(!felt(FaultClass::Pause, &pause(), &[struck]), "struck, not noticed");
        assert!(felt(FaultClass::Pause, &pause(), &[noticed]));
        assert!(!felt(FaultClass::Skew, &offset, &[struck]), "nobody acted by it");
        assert!(felt(FaultClass::Skew, &offset, &[noticed]));
        let two = FaultPlan::of([offset.faults[0].clone(), offset.faults[0].clone()]);
        assert!(felt(FaultClass::Skew, &two, &[struck, noticed]), "one of two owners acted");
        let both = FaultPlan::of([offset.faults[0].clone(), pause().faults[0].clone()]);
        assert!(!felt(FaultClass::Swarm, &both, &[noticed, struck]), "the pause went unnoticed");
    }

    #[test]
    fn a_panic_of_a_node_is_a_finding_and_of_a_server_a_bug_of_ours() {
        let node = MadeUp::of(&made_up::SAFE).panicking(HostId::node(1));
        let seen = observe(&node, FaultClass::Calm, Seed(1), &FaultPlan::none()).unwrap();
        assert_eq!(seen.findings.iter().map(|f| f.mark).collect::<Vec<_>>(), [Mark::Panicked]);
        let server = MadeUp::of(&made_up::SAFE).panicking(HostId::Database);
        let bug = observe(&server, FaultClass::Calm, Seed(1), &FaultPlan::none()).unwrap_err();
        assert_eq!(bug, NoResult::Bug("the simulated db panicked: index out of bounds".to_owned()));
    }

    #[test]
    fn a_run_that_never_ends_is_a_finding() {
        let spinning = MadeUp::of(&made_up::SAFE).spinning();
        let seen = observe(&spinning, FaultClass::Calm, Seed(1), &FaultPlan::none()).unwrap();
        assert_eq!(seen.findings[0].mark, Mark::NeverEnded);
    }
}
