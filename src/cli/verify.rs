//! `onceproof verify`: sweep, certify, weigh, keep witnesses, write, print.

use crate::class::FaultClass;
use crate::cli::exit::Failure;
use crate::cli::progress::{Bar, Units};
use crate::cli::stopwatch::Stopwatch;
use crate::cli::{CANCELLED, Exit, VerifyArgs, listen_for_interrupts, names, out, threads};
use crate::explore::certify::certify;
use crate::explore::exhaust::{self, Column, Done};
use crate::explore::sweep::{Quota, Sweep, Swept, Watch};
use crate::explore::{Cell, Row, Subject, Survey};
use crate::plan::duration;
use crate::report::files::{self, Folder};
use crate::report::table::Setting;
use crate::report::words::{self, count};
use crate::report::{self, json, table};
use crate::scenario::{Rules, Scenario};
use crate::seed::Seed;
use crate::strategy::Strategy;
use crate::world::{Deployment, EngineKind};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Seeds for each cell unless told otherwise: with about a millisecond a run, the whole table
/// takes about a minute on two cores, and "it holds" means fewer than 4 % of runs.
const SEEDS: u64 = 120;

/// The same on turmoil, where a run takes about 0.3 s: enough to see that the two engines agree.
const SEEDS_ON_TURMOIL: u64 = 2;

/// What the arguments mean.
struct Order {
    /// Each strategy, and the rules of its database.
    rows: Vec<(&'static dyn Strategy, Rules)>,
    /// The classes whose faults are drawn.
    classes: Vec<FaultClass>,
    /// Whether single faults are enumerated.
    single: bool,
    base: Seed,
    quota: Quota,
    budget: Option<Duration>,
    threads: usize,
    engine: EngineKind,
}

/// Verifies.
pub fn run(args: &VerifyArgs) -> Result<Exit, Failure> {
    let order = Order::of(args)?;
    let deploy = |(strategy, rules): &(&'static dyn Strategy, Rules)| {
        let mut scenario = Scenario::calm(strategy.name());
        scenario.database.rules = *rules;
        Deployment::new(&scenario, order.engine)
    };
    let deployments = order.rows.iter().map(deploy).collect::<Result<Vec<_>, _>>().map_err(Failure::usage)?;
    let subjects: Vec<&dyn Subject> = deployments.iter().map(|d| d as &dyn Subject).collect();
    let folder = Folder::open(&args.reports).map_err(Failure::usage)?;
    listen_for_interrupts();
    let time_scale = subjects.iter().map(|subject| subject.scenario().time_scale).max().unwrap_or(1);
    if !args.json {
        out::print(&order.announced(time_scale))?;
    }

    let watch = Stopwatch::start();
    let swept = order.sweep(&subjects, watch)?;
    let singles = order.singles(&subjects)?;
    let certified = certify(&subjects, &swept.samples, order.threads, &CANCELLED).map_err(|e| Failure::Distrust(e.to_string()))?;
    let took = watch.elapsed();
    let survey = order.weigh(&subjects, swept, singles, certified);
    let files = order.files(&subjects, &survey)?;
    if CANCELLED.load(Ordering::SeqCst) {
        return Err(Failure::Interrupted);
    }
    folder.replace(&files, &gone(&survey)).map_err(Failure::usage)?;

    let reports = args.reports.display().to_string();
    let setting = Setting { width: out::width(), took, threads: order.threads, time_scale, reports };
    out::print(&if args.json { json::render(&survey) } else { table::render(&survey, &setting) })?;
    verdict(&survey)
}

/// A blind harness cannot be trusted, whatever else it says.
fn verdict(survey: &Survey) -> Result<Exit, Failure> {
    if let Some((row, cell)) = survey.cells().find(|(_, cell)| cell.blind()) {
        let told = format!(
            "nothing was felt: not one of {} of {} under {} noticed its faults",
            count(cell.tally.runs as usize, "run"),
            row.label(),
            cell.class
        );
        return Err(Failure::Distrust(told));
    }
    Ok(if survey.as_expected() { Exit::AsExpected } else { Exit::Unexpected })
}

impl Order {
    fn of(args: &VerifyArgs) -> Result<Order, Failure> {
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
            quota: if budget.is_some() { Quota::Time } else { Quota::Seeds(seeds) },
            budget,
            threads: threads(args.threads),
            engine,
        })
    }

    /// The seed comes first: whatever happens afterwards, it can be repeated.
    fn announced(&self, time_scale: u32) -> String {
        let much = match (self.quota, self.budget) {
            (Quota::Time, Some(budget)) => format!("as many seeds as fit in {}", duration::text(budget)),
            (Quota::Seeds(n), _) => format!("{} a cell", count(n as usize, "seed")),
            (Quota::Time, None) => unreachable!("a time quota has a budget"),
        };
        let (strategies, classes) = (count(self.rows.len(), "row"), count(self.classes.len() + usize::from(self.single), "fault class"));
        let engine = words::engine(self.engine, time_scale);
        let head = format!("base seed {}: {strategies} × {classes}, {much}, {engine}", self.base);
        words::wrap(&head, out::width()).into_iter().map(|line| line + "\n").collect::<String>() + "\n"
    }

    fn sweep(&self, subjects: &[&dyn Subject], watch: Stopwatch) -> Result<Swept, Failure> {
        let sweep = Sweep { subjects, classes: &self.classes, base: self.base, quota: self.quota, threads: self.threads };
        let bar = Bar::new(sweep.cells(), self.quota, self.budget, watch);
        let out_of_time = || self.budget.is_some_and(|budget| watch.elapsed() >= budget);
        let swept = sweep.run(&Watch { cancelled: &CANCELLED, out_of_time: &out_of_time, progress: &|p| bar.show(p) });
        bar.end();
        swept.map_err(Failure::from)
    }

    /// The column of enumerated faults, a cell for each row; none if it was not asked for.
    fn singles(&self, subjects: &[&dyn Subject]) -> Result<Vec<Cell>, Failure> {
        if !self.single {
            return Ok(Vec::new());
        }
        let bar = Units::new(subjects.len() as u64);
        let cell = |(n, subject): (usize, &&dyn Subject)| {
            bar.show(n as u64, "rows  every single fault".to_owned());
            let column = Column::of(*subject, self.base);
            let enumeration = column.enumeration()?;
            let done =
                enumeration.run(Done::default(), |_| true, self.threads, &exhaust::Watch { cancelled: &CANCELLED, progress: &|_| () })?;
            if (done.units.len() as u64) < enumeration.units() { Err(Failure::Interrupted) } else { Ok(enumeration.weigh(done).column()) }
        };
        let cells = subjects.iter().enumerate().map(cell).collect();
        bar.end();
        cells
    }

    fn weigh(&self, subjects: &[&dyn Subject], swept: Swept, singles: Vec<Cell>, certified: usize) -> Survey {
        let mut rows: Vec<Row> =
            subjects.iter().zip(swept.tallies).map(|(subject, tallies)| Row::weigh(*subject, &self.classes, tallies)).collect();
        for (row, cell) in rows.iter_mut().zip(singles) {
            row.cells.push(cell);
        }
        let classes = self.classes.iter().copied().chain(self.single.then_some(FaultClass::Single)).collect();
        Survey { base: self.base, engine: self.engine, quota: self.quota, classes, rows, certified }
    }

    /// The verdicts, and a witness for each cell that broke of its own.
    fn files(&self, subjects: &[&dyn Subject], survey: &Survey) -> Result<Vec<(String, String)>, Failure> {
        let mut files = vec![(files::VERDICTS.to_owned(), json::render(survey))];
        for (subject, row) in subjects.iter().zip(&survey.rows) {
            for cell in &row.cells {
                if let Some(broken) = cell.witness() {
                    let witness =
                        report::witness(*subject, self.engine, cell.class, broken).map_err(|e| Failure::Distrust(e.to_string()))?;
                    files.push((files::witness_name(&row.label(), cell.class), witness.to_toml()));
                }
            }
        }
        Ok(files)
    }
}

/// Witnesses of earlier sweeps for cells that have none now.
fn gone(survey: &Survey) -> Vec<String> {
    survey.cells().filter(|(_, cell)| cell.witness().is_none()).map(|(row, cell)| files::witness_name(&row.label(), cell.class)).collect()
}
