//! One call from a test of your own: does this strategy keep what it promises?
//!
//! A [`Check`] sweeps seeds over every class of faults, as `onceproof verify` does for the
//! catalogue, makes a sample of the runs a second time, and weighs what it saw against what the
//! strategy declares. What comes out is a value, [`Checked`]: cells to match on, and a witness for
//! each cell in which something broke, which [`replay`] plays again.
//!
//! This lock is held while the job runs, and deleted when it has run: it keeps two nodes from
//! working at the same time, and lets them work one after the other.
//!
//! ```
//! use onceproof::strategy::body::{self, JOB_STEPS};
//! use onceproof::{Belief, Check, Context, Error, FaultClass, Letter, Period, Step, Strategy, async_trait, check, redis, steps};
//!
//! struct Lock;
//!
//! #[async_trait(?Send)]
//! impl Strategy for Lock {
//!     fn name(&self) -> &'static str {
//!         "my-lock"
//!     }
//!     fn steps(&self) -> &'static [Step] {
//!         steps![Step::lease("lock"), Step::lease("unlock"); JOB_STEPS]
//!     }
//!     async fn attempt(&self, context: &mut Context, period: Period) -> Result<Belief, Error> {
//!         let lock = redis::cmd("SET").arg(&["job", "1", "NX", "PX", "1800000"]).to_owned();
//!         let taken: bool = context.redis("lock", async |mut redis| lock.query_async(&mut redis).await).await?;
//!         if !taken {
//!             return Ok(Belief::Busy);
//!         }
//!         let done = body::job(context, period).await;
//!         context.redis("unlock", async |mut redis| redis::cmd("DEL").arg("job").query_async::<()>(&mut redis).await).await?;
//!         done
//!     }
//! }
//!
//! let checked = Check { classes: vec![FaultClass::Calm], seeds: 20, ..Check::of(&Lock) }.run()?;
//! assert!(checked.breaks(FaultClass::Calm, Letter::D), "the next node settles again");
//!
//! // The run that showed it, kept for good: the same to the byte, or an error.
//! let witness = checked.witness(FaultClass::Calm).expect("what broke has a witness");
//! assert!(!check::replay(&Lock, witness)?.findings.is_empty());
//! # Ok::<(), onceproof::check::CheckError>(())
//! ```
//!
//! A strategy that should hold says nothing about expectations, and its test ends with
//! [`Checked::assert_as_expected`].
//!
//! A sample of the runs is made twice, which finds randomness that changes many runs; draw from
//! [`crate::Context::random`]. The host's own clock (`std::time`) goes unnoticed; ask
//! [`crate::Context::wall`]. Simulations are CPU-bound: unless dependencies are optimised
//! (`[profile.dev.package."*"]`, `opt-level = 2`), all classes together take minutes.

use crate::class::FaultClass;
use crate::explore::certify::{Distrust, certify};
use crate::explore::exhaust;
use crate::explore::observe::NoResult;
use crate::explore::sweep::{Quota, Stopped, Sweep, Watch};
use crate::explore::{Cell, Mark, Observed, Row, Shard, Subject, Survey, Witness, observe};
use crate::id::Letter;
use crate::report::words::{self, count, wrap};
use crate::report::{self, NotRepeated, table};
use crate::scenario::{Misconfigured, Scenario};
use crate::seed::Seed;
use crate::strategy::Strategy;
use crate::trace::Digest;
use crate::world::{Deployment, EngineKind};
use std::fmt;
use std::sync::atomic::AtomicBool;
use std::thread;

/// Seeds for each class unless told otherwise: what holds in all of them breaks in fewer than 1.5 % of runs.
const SEEDS: u64 = 200;

/// Columns of a check's text.
const WIDTH: usize = 120;

/// What is checked, and how thoroughly.
pub struct Check {
    /// The guard. It is shared by all nodes of all runs, and must keep nothing from one to the next.
    pub strategy: &'static dyn Strategy,
    /// What is deployed. Its `strategy` does not matter: it becomes the name of the guard. The class swarm
    /// draws knobs around these in three of four runs; the witness of such a run holds what was drawn.
    pub scenario: Scenario,
    /// The classes of faults. Calm is always looked at: what breaks there is not the doing of any fault.
    pub classes: Vec<FaultClass>,
    /// The seed from which all others come.
    pub base: Seed,
    /// Runs for each class, at least 1; with fewer than 120 a cell needs fewer felt runs than the thirty of `onceproof verify`.
    pub seeds: u64,
    /// How many threads, at least 1. What is seen does not depend on it.
    pub threads: usize,
    /// Which network carries the runs.
    pub engine: EngineKind,
}

impl Check {
    /// The default deployment under every class, with two hundred seeds each, on all processors.
    pub fn of(strategy: &'static dyn Strategy) -> Check {
        Check {
            strategy,
            scenario: Scenario::calm(strategy.name()),
            classes: FaultClass::ALL.to_vec(),
            base: Seed(1),
            seeds: SEEDS,
            threads: thread::available_parallelism().map_or(1, usize::from),
            engine: EngineKind::Event,
        }
    }

    /// Sweeps, makes a sample of the runs again, weighs, and keeps witnesses.
    ///
    /// # Errors
    /// There is no verdict: the deployment cannot be, the strategy does what cannot be simulated,
    /// its runs do not repeat, or no run noticed its faults.
    pub fn run(&self) -> Result<Checked, CheckError> {
        if self.seeds == 0 || self.threads == 0 {
            return Err(CheckError::Misconfigured("a check needs at least 1 seed and 1 thread".to_owned()));
        }
        let deployment = Deployment::with_strategy(&self.scenario, self.strategy, self.engine)?;
        let subjects: [&dyn Subject; 1] = [&deployment];
        let looked_at = |class: &FaultClass| *class == FaultClass::Calm || self.classes.contains(class);
        let mut classes: Vec<FaultClass> =
            FaultClass::ALL.into_iter().filter(|class| *class != FaultClass::Single && looked_at(class)).collect();
        let quota = Quota::Seeds(self.seeds);
        let sweep = Sweep { subjects: &subjects, classes: &classes, base: self.base, quota, shard: Shard::WHOLE, threads: self.threads };
        let never = AtomicBool::new(false);
        let mut swept = sweep.run(&Watch { cancelled: &never, out_of_time: &|| false, progress: &|_| () })?;
        let certified = certify(&subjects, &swept.samples, self.threads, &never).map_err(CheckError::Differs)?;
        let mut row = Row::weigh(&deployment, &classes, swept.tallies.remove(0));
        // On turmoil, where a run takes a third of a second, they are left out.
        if self.classes.contains(&FaultClass::Single) && self.engine == EngineKind::Event {
            row.cells.push(exhaust::column(&deployment, self.base, self.threads, &never)?);
            classes.push(FaultClass::Single);
        }
        if let Some(cell) = row.cells.iter().find(|cell| cell.blind()) {
            return Err(CheckError::Blind { class: cell.class, runs: cell.tally.runs });
        }
        let broken = row.cells.iter().filter_map(|cell| Some((cell.class, cell.witness()?)));
        let witnesses = broken.map(|(class, broken)| report::witness(&deployment, self.engine, class, broken)).collect::<Result<_, _>>()?;
        let survey = Survey { base: self.base, engine: self.engine, quota, classes, rows: vec![row], certified };
        Ok(Checked { survey, time_scale: deployment.scenario().time_scale, witnesses })
    }
}

/// Why there is no verdict. Its `Debug` is its text too, for that is what a failed test prints.
#[expect(missing_docs, reason = "the fields are named after what they are")]
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
pub enum CheckError {
    /// What was asked for cannot be deployed, or a plan cannot strike it.
    #[error("{0}")]
    Misconfigured(String),
    /// The strategy did what cannot be simulated, or the harness itself is wrong.
    #[error("{0}")]
    Stopped(#[from] Stopped),
    /// A run, made a second time, told another history.
    #[error("{0}; {CURE}")]
    Differs(Box<Distrust>),
    /// The same, noticed when a witness was to be kept.
    #[error("{0}; {CURE}")]
    NotRepeated(#[from] NotRepeated),
    /// Not one run noticed its faults: nothing is known.
    #[error("nothing was felt: not one of {} under {class} noticed its faults", count(*runs as usize, "run"))]
    Blind { class: FaultClass, runs: u64 },
    /// A witness of another strategy.
    #[error("the witness is one of `{witness}`, not of `{strategy}`")]
    Foreign { witness: String, strategy: &'static str },
    /// A replay did not have the digest of its witness.
    #[error(
        "the history is not the recorded one: the witness has digest {recorded}, this run {replayed}; the strategy or onceproof has changed since, or {CURE}"
    )]
    Changed { recorded: Digest, replayed: Digest },
}

const CURE: &str = "a strategy draws from `Context::random`, reads `Context::wall`, and keeps nothing from one run to the next";

impl From<Misconfigured> for CheckError {
    fn from(why: Misconfigured) -> CheckError {
        CheckError::Misconfigured(why.to_string())
    }
}

impl fmt::Debug for CheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// What a check has seen.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The table, whose one row is the strategy's.
    pub survey: Survey,
    /// One run for each cell that broke of its own, in the order of the columns.
    pub witnesses: Vec<Witness>,
    time_scale: u32,
}

impl Checked {
    /// The strategy's row: a cell for each class.
    pub fn row(&self) -> &Row {
        &self.survey.rows[0]
    }

    /// What was seen under a class, or why it misses the strategy; `None` if it was not looked at.
    pub fn cell(&self, class: FaultClass) -> Option<&Cell> {
        self.row().cells.iter().find(|cell| cell.class == class)
    }

    /// Whether this broke under this class, if only because it breaks in calm already.
    pub fn breaks(&self, class: FaultClass, letter: Letter) -> bool {
        self.cell(class).is_some_and(|cell| cell.tally.broken.contains_key(&Mark::Letter(letter)))
    }

    /// The run that shows what broke under a class of its own.
    pub fn witness(&self, class: FaultClass) -> Option<&Witness> {
        self.witnesses.iter().find(|witness| witness.faults == class)
    }

    /// Whether everything is as the strategy declares.
    pub fn as_expected(&self) -> bool {
        self.survey.as_expected()
    }

    /// Fails a test unless everything is as the strategy declares.
    ///
    /// # Panics
    /// Something is not: the message is the whole report, with the story of the first run that should not have been.
    #[track_caller]
    pub fn assert_as_expected(&self) {
        assert!(self.as_expected(), "{self}");
    }

    /// The first witness of something that never may break.
    fn surprise(&self) -> Option<&Witness> {
        let cells = self.row().cells.iter();
        cells.filter(|cell| cell.own().any(|mark| cell.is_surprising(mark))).find_map(|cell| self.witness(cell.class))
    }
}

/// The row, what its signs mean, what is not as expected, and the story of the first surprise.
impl fmt::Display for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Survey { base, engine, certified, .. } = &self.survey;
        let (least, _) = self.survey.spread();
        let head = format!(
            "{}: {} a cell, {} made twice with equal digests; base seed {base}, {}",
            self.row().name,
            count(least as usize, "seed"),
            count(*certified, "run"),
            words::engine(*engine, self.time_scale)
        );
        for line in wrap(&head, WIDTH) {
            writeln!(f, "{line}")?;
        }
        write!(f, "\n{}", anstream::adapter::strip_str(&table::brief(&self.survey, WIDTH)))?;
        match self.surprise() {
            Some(witness) => write!(f, "\n{} under {}, seed {}:\n\n{}", witness.strategy(), witness.faults, witness.seed, witness.story),
            None => Ok(()),
        }
    }
}

/// Plays a witness of a strategy again: the same run, to the byte.
///
/// # Errors
/// It is another strategy's, cannot be deployed, or the history is another one now.
pub fn replay(strategy: &'static dyn Strategy, witness: &Witness) -> Result<Observed, CheckError> {
    if witness.strategy() != strategy.name() {
        return Err(CheckError::Foreign { witness: witness.strategy().to_owned(), strategy: strategy.name() });
    }
    let deployment = Deployment::with_strategy(&witness.scenario, strategy, witness.engine)?;
    deployment.check_plan(&witness.plan)?;
    let (class, seed) = (witness.faults, witness.seed);
    let no_result = |why: NoResult| Stopped::NoResult { strategy: strategy.name(), class, seed, why };
    let seen = observe(&deployment, class, seed, &witness.plan).map_err(no_result)?;
    let replayed = seen.run.trace.digest();
    if replayed == witness.digest { Ok(seen) } else { Err(CheckError::Changed { recorded: witness.digest, replayed }) }
}
