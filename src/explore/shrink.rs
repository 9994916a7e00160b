//! From a run that broke something to the smallest one that still breaks it in the same way.
//!
//! A [`Candidate`] is all that decides a run. Each *pass* proposes smaller cases, the boldest first;
//! the first one that still breaks takes the place of the old one, and the passes go round until
//! a whole round brings nothing ([`Shrunk::converged`]) or the budget is spent.
//!
//! | pass | proposes |
//! |---|---|
//! | `faults` | fewer faults: none, one, two, then delta debugging |
//! | `triggers` | first occurrences, the first period, steps instead of times, round times |
//! | `size` | fewer periods, nodes, players, earnings |
//! | `knobs` | drawn knobs back to their defaults |
//! | `luck` | of more than two faults at most two, and of two or one fewer, with other seeds |
//! | `harms` | milder kinds: power → crash → pause → slow; cuts of one server, in one direction |
//! | `lengths` | shorter, and rounder |
//! | `seeds` | a seed of one digit |
//!
//! Whether a case breaks is asked through a function, so that nothing here knows how a run is
//! made. Whatever is accepted is asked again, the start and the end twice: one that does not say
//! the same every time is not to be trusted, and an error.

mod faults;
mod harms;
mod knobs;
mod lengths;
mod luck;
mod size;
mod target;
mod triggers;

pub use size::periods;
pub use target::Target;

use crate::plan::FaultPlan;
use crate::scenario::Scenario;
use crate::seed::Seed;
use crate::step::Step;
use crate::trace::Digest;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// All that decides a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// What is deployed.
    pub scenario: Scenario,
    /// What decides the rest.
    pub seed: Seed,
    /// What goes wrong.
    pub plan: FaultPlan,
    /// The deployment that it varies, if that is not the catalogue's: drawn knobs go back to this one's. It decides nothing about the run.
    pub usual: Option<Arc<Scenario>>,
}

/// What a case does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It breaks what it should, and this is its history.
    Breaks(Digest),
    /// It does not.
    Holds,
    /// It cannot be run: why.
    Unfit(String),
    /// The harness itself is wrong.
    Bug(String),
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Answer::Breaks(digest) => write!(f, "it broke with digest {digest}"),
            Answer::Holds => f.write_str("it held"),
            Answer::Unfit(why) | Answer::Bug(why) => f.write_str(why),
        }
    }
}

/// How long to go on.
pub struct Limits<'a> {
    /// At most this many runs; those that repeat what was accepted are counted too.
    pub runs: u64,
    /// How many runs at a time. What is found does not depend on it.
    pub threads: usize,
    /// Ends it without a result.
    pub cancelled: &'a AtomicBool,
    /// Ends it with what has been found so far.
    pub out_of_time: &'a (dyn Fn() -> bool + Sync),
    /// Told after each batch of runs.
    pub progress: &'a dyn Fn(Progress),
}

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The pass that is at work.
    pub pass: &'static str,
    /// Runs so far.
    pub runs: u64,
    /// Smaller cases that still broke.
    pub accepted: u64,
    /// Faults that are left.
    pub faults: usize,
}

/// What one pass did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Its name.
    pub pass: &'static str,
    /// Cases that were run.
    pub tried: u64,
    /// Those that still broke.
    pub accepted: u64,
}

/// What is left.
#[derive(Clone, Debug, PartialEq)]
pub struct Shrunk {
    /// The smallest case found.
    pub case: Candidate,
    /// The history of its run.
    pub digest: Digest,
    /// What each pass did.
    pub efforts: Vec<Effort>,
    /// All runs, with those that only repeated.
    pub runs: u64,
    /// A whole round of all passes brought nothing more. Otherwise the budget was spent.
    pub converged: bool,
}

impl Shrunk {
    /// Smaller cases that were run.
    pub fn tried(&self) -> u64 {
        self.efforts.iter().map(|effort| effort.tried).sum()
    }

    /// Those that still broke.
    pub fn accepted(&self) -> u64 {
        self.efforts.iter().map(|effort| effort.accepted).sum()
    }
}

/// Why there is nothing to show.
#[expect(missing_docs, reason = "the fields are named after what they are")]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failed {
    /// There is nothing to shrink.
    #[error("the run does not break what it should: {0}")]
    NotBroken(Answer),
    /// A case that was asked twice gave two answers.
    #[error("a run does not repeat while it is being shrunk ({pass}): first {first}, then {then}")]
    Flaky { pass: &'static str, first: Answer, then: Answer },
    /// The harness itself is wrong.
    #[error("onceproof itself failed: {0}")]
    Bug(String),
    /// Somebody asked for an end.
    #[error("interrupted")]
    Cancelled,
}

/// Proposes smaller cases, the boldest first. What it proposes must be simpler by some measure that no pass makes worse.
type Pass = (&'static str, fn(&Candidate, &[Step]) -> Vec<Candidate>);

const PASSES: [Pass; 8] = [
    ("faults", faults::fewer),
    ("triggers", triggers::simpler),
    ("size", size::smaller),
    ("knobs", knobs::default_ones),
    ("luck", luck::luckier),
    ("harms", harms::milder),
    ("lengths", lengths::shorter),
    ("seeds", seeds),
];

/// Seeds that are easily written down.
const SHORT: std::ops::Range<u64> = 1..10;

fn seeds(case: &Candidate, _: &[Step]) -> Vec<Candidate> {
    SHORT.filter(|seed| *seed < case.seed.0).map(|seed| Candidate { seed: Seed(seed), ..case.clone() }).collect()
}

/// Shrinks a case of a strategy with these steps. `ask` says whether a case breaks; it must give the same answer every time.
///
/// # Errors
/// The case does not break, an answer did not repeat, or it was cancelled.
///
/// # Panics
/// The system cannot start a thread, or `ask` panics.
pub fn shrink(
    start: &Candidate,
    steps: &[Step],
    ask: &(dyn Fn(&Candidate) -> Answer + Sync),
    limits: &Limits<'_>,
) -> Result<Shrunk, Failed> {
    let efforts = PASSES.map(|(pass, _)| Effort { pass, tried: 0, accepted: 0 }).to_vec();
    let mut search = Search { steps, ask, limits, asked: BTreeSet::new(), efforts, runs: 0, spent: false };
    search.start(start)
}

struct Search<'a> {
    steps: &'a [Step],
    ask: &'a (dyn Fn(&Candidate) -> Answer + Sync),
    limits: &'a Limits<'a>,
    /// What was asked once is not asked again: it would say the same, and passes cannot go in circles.
    asked: BTreeSet<String>,
    efforts: Vec<Effort>,
    runs: u64,
    spent: bool,
}

impl Search<'_> {
    fn start(&mut self, start: &Candidate) -> Result<Shrunk, Failed> {
        let answer = (self.ask)(start);
        self.runs += 1;
        let Answer::Breaks(mut digest) = answer else {
            return Err(if let Answer::Bug(what) = answer { Failed::Bug(what) } else { Failed::NotBroken(answer) });
        };
        self.again("start", start, digest)?;
        self.asked.insert(written(start));
        let mut case = start.clone();
        while self.round(&mut case, &mut digest)? {}
        for _ in 0..2 {
            self.again("end", &case, digest)?;
        }
        Ok(Shrunk { case, digest, efforts: std::mem::take(&mut self.efforts), runs: self.runs, converged: !self.spent })
    }

    /// Every pass once, each until it brings nothing. Whether anything was accepted, and there is budget left for another round.
    fn round(&mut self, case: &mut Candidate, digest: &mut Digest) -> Result<bool, Failed> {
        let mut smaller = false;
        for (n, (_, propose)) in PASSES.into_iter().enumerate() {
            while let Some(next) = self.first(n, propose(case, self.steps), case.plan.faults.len())? {
                (*case, *digest) = next;
                smaller = true;
            }
        }
        Ok(smaller && !self.spent)
    }

    /// The first of these cases that breaks. Those behind it may have been run with it, and count as if they had not.
    fn first(&mut self, pass: usize, cases: Vec<Candidate>, faults: usize) -> Result<Option<(Candidate, Digest)>, Failed> {
        let fresh: Vec<Candidate> = cases.into_iter().filter(|case| !self.asked.contains(&written(case))).collect();
        for batch in fresh.chunks(self.limits.threads.max(1)) {
            if self.limits.cancelled.load(Ordering::Relaxed) {
                return Err(Failed::Cancelled);
            }
            self.spent |= (self.limits.out_of_time)();
            if self.spent {
                return Ok(None);
            }
            for (case, answer) in batch.iter().zip(self.answers(batch)) {
                if self.runs >= self.limits.runs {
                    self.spent = true;
                    return Ok(None);
                }
                if !self.asked.insert(written(case)) {
                    continue;
                }
                match answer {
                    Answer::Unfit(_) => {}
                    Answer::Bug(what) => return Err(Failed::Bug(what)),
                    Answer::Holds => self.count(pass, false),
                    Answer::Breaks(digest) => {
                        self.count(pass, true);
                        self.again(self.efforts[pass].pass, case, digest)?;
                        return Ok(Some((case.clone(), digest)));
                    }
                }
            }
            let accepted = self.efforts.iter().map(|effort| effort.accepted).sum();
            (self.limits.progress)(Progress { pass: self.efforts[pass].pass, runs: self.runs, accepted, faults });
        }
        Ok(None)
    }

    fn count(&mut self, pass: usize, accepted: bool) {
        self.runs += 1;
        self.efforts[pass].tried += 1;
        self.efforts[pass].accepted += u64::from(accepted);
    }

    fn answers(&self, cases: &[Candidate]) -> Vec<Answer> {
        let ask = self.ask;
        match cases {
            [case] => vec![ask(case)],
            cases => thread::scope(|scope| {
                let asked: Vec<_> = cases.iter().map(|case| scope.spawn(move || ask(case))).collect();
                asked.into_iter().map(|answer| answer.join().expect("panics of runs are contained")).collect()
            }),
        }
    }

    /// Asks once more what has been accepted.
    fn again(&mut self, pass: &'static str, case: &Candidate, digest: Digest) -> Result<(), Failed> {
        self.runs += 1;
        let (first, then) = (Answer::Breaks(digest), (self.ask)(case));
        if first == then { Ok(()) } else { Err(Failed::Flaky { pass, first, then }) }
    }
}

/// A case as text: equal texts, equal cases.
fn written(case: &Candidate) -> String {
    format!("{case:?}")
}

#[cfg(test)]
mod tests;
