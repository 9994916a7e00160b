//! What is to be verified, worked out from what the user wrote.

use crate::class::FaultClass;
use crate::cli::exit::Failure;
use crate::cli::progress::{Bar, Spinner, Units};
use crate::cli::stopwatch::Stopwatch;
use crate::cli::{CANCELLED, VerifyArgs, names, out, threads};
use crate::explore::bound;
use crate::explore::exhaust;
use crate::explore::steer::{SHARE, Steering};
use crate::explore::sweep::{Progress, Quota, Sweep, Swept, Watch};
use crate::explore::{Cell, Shard, Subject};
use crate::plan::duration;
use crate::report::words::{self, count, percent};
use crate::scenario::{Rules, Scenario};
use crate::seed::Seed;
use crate::strategy::Strategy;
use crate::world::{Deployment, EngineKind};
use std::time::Duration;

/// Seeds for each cell unless told otherwise: with about a millisecond a run, the whole table
/// takes about a minute on two cores, and "it holds" means fewer than one run in ten.
const SEEDS: u64 = 60;

/// The same on turmoil, where a run takes about 0.3 s: enough to see that the two engines agree.
const SEEDS_ON_TURMOIL: u64 = 2;

/// What the arguments mean.
pub struct Order {
    /// Each strategy, and the rules of its database.
    pub rows: Vec<(&'static dyn Strategy, Rules)>,
    /// The columns whose faults are drawn.
    pub classes: Vec<FaultClass>,
    /// Whether there is one more, in which every single fault is tried.
    pub single: bool,
    /// The seed from which all others come.
    pub base: Seed,
    /// How much.
    pub quota: Quota,
    /// How long, if that is how much.
    pub budget: Option<Duration>,
    /// On how many threads.
    pub threads: usize,
    /// On which network.
    pub engine: EngineKind,
    /// Whether witnesses are made small. On turmoil a run takes too long for that.
    pub shrinks: bool,
}

/// By how much the durations of the deployments were divided.
pub fn time_scale(subjects: &[&dyn Subject]) -> u32 {
    subjects.iter().map(|subject| subject.scenario().time_scale).max().unwrap_or(1)
}

impl Order {
    /// Works it out.
    pub fn of(args: &VerifyArgs) -> Result<Order, Failure> {
        let rows = names::rows(&args.strategy, args.rules.as_deref())?;
        let wanted = args.faults.iter().map(|name| names::class(name)).collect::<Result<Vec<_>, _>>()?;
        // Calm is always looked at: what breaks there is not the doing of any fault.
        let looked_at = |class: &FaultClass| wanted.is_empty() || *class == FaultClass::Calm || wanted.contains(class);
        let budget = args.budget.as_deref().map(duration::parse).transpose().map_err(|e| Failure::Usage(format!("--budget: {e}")))?;
        if budget.is_some_and(|b| b.is_zero()) {
            return Err(Failure::usage("--budget: no time is left for a single run; write for example `30s`"));
        }
        let engine = names::engine(&args.engine)?;
        // On turmoil it would take an hour; whoever asks for it gets it.
        let single = if wanted.is_empty() { engine == EngineKind::Event } else { wanted.contains(&FaultClass::Single) };
        let seeds = args.seeds.unwrap_or(match engine {
            EngineKind::Event => SEEDS,
            EngineKind::Turmoil => SEEDS_ON_TURMOIL,
        });
        Ok(Order {
            rows,
            classes: FaultClass::ALL.into_iter().filter(|class| *class != FaultClass::Single && looked_at(class)).collect(),
            single,
            base: Seed(args.seed),
            quota: match (budget, args.until_bound) {
                (Some(_), _) => Quota::Time,
                (None, Some(bound)) => Quota::Felt(bound::runs_for(bound)),
                (None, None) => Quota::Seeds(seeds),
            },
            budget,
            threads: threads(args.threads),
            engine,
            shrinks: !args.no_shrink && engine == EngineKind::Event,
        })
    }

    /// One deployment for each row.
    pub fn deployments(&self) -> Result<Vec<Deployment>, Failure> {
        let deploy =
            |(strategy, rules): &(&'static dyn Strategy, Rules)| Deployment::new(&Scenario::on(strategy.name(), *rules), self.engine);
        self.rows.iter().map(deploy).collect::<Result<_, _>>().map_err(Failure::usage)
    }

    /// The seed comes first: whatever happens afterwards, it can be repeated.
    pub fn announced(&self, time_scale: u32, shard: Option<Shard>) -> String {
        let much = match (self.quota, self.budget) {
            (Quota::Time, Some(budget)) => format!("as many seeds as fit in {}", duration::text(budget)),
            (Quota::Seeds(n), _) => format!("{} a cell", count(n as usize, "seed")),
            (Quota::Felt(wanted), _) => format!(
                "seeds until {} of a cell have felt the fault and held (a bound of {}), or something breaks",
                count(wanted as usize, "run"),
                percent(bound::upper_bound(wanted).unwrap_or(1.0))
            ),
            (Quota::Time, None) => unreachable!("a time quota has a budget"),
        };
        let part = shard.map(|shard| format!(", shard {shard} of it")).unwrap_or_default();
        let (strategies, classes) = (count(self.rows.len(), "row"), count(self.classes.len() + usize::from(self.single), "fault class"));
        let engine = words::engine(self.engine, time_scale);
        let head = format!("base seed {}: {strategies} × {classes}, {much}, {engine}{part}", self.base);
        words::wrap(&head, out::width()).into_iter().map(|line| line + "\n").collect::<String>() + "\n"
    }

    /// Makes the drawn runs and the pinned plans: all, or those of a shard.
    pub fn sweep(&self, subjects: &[&dyn Subject], shard: Option<Shard>, watch: Stopwatch) -> Result<Swept, Failure> {
        let shard = shard.unwrap_or(Shard::WHOLE);
        let sweep = Sweep { subjects, classes: &self.classes, base: self.base, quota: self.quota, shard, threads: self.threads };
        let bar = Bar::new(&sweep, self.budget, watch);
        // What is steered afterwards takes its part of the time.
        let drawing = self
            .budget
            .map(|budget| if self.classes.contains(&FaultClass::Swarm) { budget * (SHARE as u32 - 1) / SHARE as u32 } else { budget });
        let out_of_time = || drawing.is_some_and(|drawing| watch.elapsed() >= drawing);
        let swept = sweep.run(&Watch { cancelled: &CANCELLED, out_of_time: &out_of_time, progress: &|p| bar.show(p) });
        bar.end();
        swept.map_err(Failure::from)
    }

    /// Tries every single fault: a cell for each row; none if that was not asked for.
    pub fn singles(&self, subjects: &[&dyn Subject]) -> Result<Vec<Cell>, Failure> {
        if !self.single {
            return Ok(Vec::new());
        }
        let bar = Units::new(subjects.len() as u64);
        let cell = |(n, subject): (usize, &&dyn Subject)| {
            bar.show(n as u64, "every single fault".to_owned());
            exhaust::column(*subject, self.base, self.threads, &CANCELLED).map_err(Failure::from)
        };
        let cells = subjects.iter().enumerate().map(cell).collect();
        bar.end();
        cells
    }

    /// Makes the runs towards what the drawn ones have left out.
    pub fn steer(&self, subjects: &[&dyn Subject], swept: &mut Swept) -> Result<(), Failure> {
        let steering = Steering { subjects, classes: &self.classes, base: self.base, threads: self.threads };
        let spinner = Spinner::new();
        let told = |p: Progress| spinner.show(&format!("{} towards what was left out", count(p.runs as usize, "run")));
        let steered = steering.run(&mut swept.tallies, &Watch { cancelled: &CANCELLED, out_of_time: &|| false, progress: &told });
        spinner.end();
        swept.samples.extend(steered?);
        Ok(())
    }
}
