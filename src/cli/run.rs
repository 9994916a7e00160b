//! `onceproof run`: a user's own deployment, read, checked, swept, and advised.

use crate::class::FaultClass;
use crate::cli::exit::Failure;
use crate::cli::pages;
use crate::cli::progress::{Bar, Spinner, Units};
use crate::cli::stopwatch::Stopwatch;
use crate::cli::{CANCELLED, Exit, input, listen_for_interrupts, numbers, out, witnesses};
use crate::deployment_file::DeploymentFile;
use crate::explore::advice::{self, Advice, Trial};
use crate::explore::certify::certify;
use crate::explore::described::Described;
use crate::explore::sweep::{Quota, Sweep, Watch};
use crate::explore::{Cell, Mark, Shard, Subject, Witness, exhaust};
use crate::page::INDEX;
use crate::report::deployment::{self, Outcome};
use crate::report::files::{self, Folder};
use crate::world::{Deployment, EngineKind};
use clap::Args;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// What to run.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
The file says what you run: which guard keeps two nodes from doing the job twice, how many nodes, \
when the job is due, how long it takes, how wrong clocks are. `onceproof init` writes one with \
comments. What it says about itself is told first: constants that leave no margin. Then the \
deployment is simulated under every class of faults, and every single fault is tried at every step \
of one period. What broke it is kept as a file that replays, and what would have to be different is \
tried on those runs before it is advised.

Examples:
  onceproof init                          write deployment.toml, with comments
  onceproof run deployment.toml           what becomes of it, some seconds
  onceproof run deployment.toml --checks  only what the file says about itself
  onceproof run deployment.toml --seeds 1000 --json

Exit codes:
  0  it holds under everything that was tried, each time with its bound; or, with --checks, no danger was found
  1  it breaks, or too little was felt to say; or, with --checks, a danger was found
  2  wrong usage, a mistake in the file, or the output cannot be written
  3  the harness cannot be trusted: a run did not repeat
  130  interrupted; nothing was written")]
pub struct RunArgs {
    /// The deployment, as `onceproof init` writes one; `-` is standard input
    #[arg(value_name = "FILE", default_value = "deployment.toml")]
    file: PathBuf,
    /// Only what the file says about itself, without a single run
    #[arg(long)]
    checks: bool,
    /// Seeds for each fault class, instead of what the file says
    #[arg(long, value_name = "N", value_parser = numbers::seeds, allow_negative_numbers = true)]
    seeds: Option<u64>,
    /// Base seed, instead of what the file says
    #[arg(long, value_name = "S", value_parser = numbers::seed, allow_negative_numbers = true)]
    seed: Option<u64>,
    /// Print the outcome as JSON
    #[arg(long)]
    json: bool,
    /// Keep witnesses as they were found, instead of the smallest run that breaks the same rule
    #[arg(long)]
    no_shrink: bool,
    /// Threads to run on; what is found does not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = numbers::threads, allow_negative_numbers = true)]
    threads: Option<u16>,
    /// Folder for the outcome and the witnesses
    #[arg(long, value_name = "DIR", default_value = "reports")]
    reports: PathBuf,
}

/// Runs it.
pub fn run(args: &RunArgs) -> Result<Exit, Failure> {
    let file = read(args)?;
    let deployment = Deployment::with_strategy(&file.scenario, file.guard, EngineKind::Event).map_err(Failure::usage)?;
    let checks = deployment::checks_of(&file);
    if args.checks {
        return checked(args, &file, checks);
    }
    let folder = Folder::open(&args.reports).map_err(Failure::usage)?;
    listen_for_interrupts();
    if !args.json {
        out::print(&(deployment::announced(&file, out::width()) + &deployment::checked(&file, &checks, out::width())))?;
    }
    let order =
        Order { described: Described(deployment), file: &file, threads: crate::cli::threads(args.threads), shrinks: !args.no_shrink };
    let (cells, certified) = order.cells()?;
    let stem = stem(&args.file);
    let witnesses = order.witnesses(&cells, &stem)?;
    let mut outcome = Outcome { file: &file, checks, cells, witnesses, advice: Vec::new(), certified };
    outcome.advice = order.advice(&outcome)?;
    if CANCELLED.load(Ordering::SeqCst) {
        return Err(Failure::Interrupted);
    }
    let json = deployment::json(&outcome, &stem);
    let kept = outcome.witnesses.iter().map(|(_, name, witness)| (name.clone(), deployment::witness_text(&file, witness)));
    let mut all: Vec<(String, String)> = [(deployment::name(&stem), json.clone())].into_iter().chain(kept).collect();
    // Witnesses of an earlier run of this file, for classes that have none now, and pages of replays of them.
    let mine = FaultClass::ALL.into_iter().flat_map(|class| files::of_witness(&files::witness_name(&stem, class)));
    let gone: Vec<String> = mine.filter(|name| !all.iter().any(|(kept, _)| kept == name)).collect();
    let earlier = std::fs::read_to_string(args.reports.join(deployment::name(&stem))).ok();
    let another = earlier.and_then(|kept| deployment::of_another(&file, &kept));
    // A front page that is there must not lead to what is gone.
    if args.reports.join(INDEX).exists() {
        all.push(pages::index(&args.reports, &all, &gone));
    }
    folder.replace(&all, &gone).map_err(Failure::usage)?;
    if let Some(another) = another {
        let reports = args.reports.display();
        out::explain(&format!(
            "the report in {reports} was of {another}; it and its witnesses were replaced, which --reports DIR avoids\n"
        ));
    }
    out::print(&if args.json { json } else { deployment::concluded(&outcome, &args.reports.display().to_string(), out::width()) })?;
    Ok(if outcome.holds() { Exit::AsExpected } else { Exit::Unexpected })
}

/// The file, with what the command line has to say about it. Mistakes are told one below the other.
fn read(args: &RunArgs) -> Result<DeploymentFile, Failure> {
    let name = args.file.display().to_string();
    if args.file == Path::new("deployment.toml") && !args.file.exists() {
        return Err(Failure::usage("there is no deployment.toml here; write one with `onceproof init`, or name another file"));
    }
    let text = input::deployment(&args.file)?;
    let mut file = DeploymentFile::read(&name, &text).map_err(|mistakes| {
        out::explain(&mistakes.to_string());
        let many = crate::report::words::count(mistakes.all.len(), "mistake");
        Failure::Usage(format!("{name} has {many}; nothing was run"))
    })?;
    file.seeds = args.seeds.unwrap_or(file.seeds);
    file.seed = args.seed.map_or(file.seed, crate::seed::Seed);
    Ok(file)
}

/// Only the checks.
fn checked(args: &RunArgs, file: &DeploymentFile, checks: Vec<crate::deployment_file::checks::Check>) -> Result<Exit, Failure> {
    use crate::deployment_file::checks::Severity;
    let danger = checks.iter().any(|check| check.severity == Severity::Danger);
    let text = match (args.json, checks.is_empty()) {
        (false, true) => format!("{}: nothing to say\n", file.file),
        (false, false) => deployment::checked(file, &checks, out::width()),
        (true, _) => {
            let outcome = Outcome { file, checks, cells: Vec::new(), witnesses: Vec::new(), advice: Vec::new(), certified: 0 };
            deployment::checks_json(&outcome)
        }
    };
    out::print(&text)?;
    Ok(if danger { Exit::Unexpected } else { Exit::AsExpected })
}

/// What reports of this file are called.
fn stem(file: &Path) -> String {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let plain: String = stem.chars().map(|c| if c.is_alphanumeric() || "._-".contains(c) { c } else { '-' }).collect();
    let plain = plain.trim_start_matches('.');
    // Not the name of any row of the table, whose witnesses are beside them.
    format!("{}.run", if plain.is_empty() { "deployment" } else { plain })
}

/// What is to be done.
struct Order<'a> {
    described: Described,
    file: &'a DeploymentFile,
    threads: usize,
    shrinks: bool,
}

impl Order<'_> {
    /// Sweeps, tries every single fault, and makes a sample a second time: a cell for each class, and how many runs repeated.
    fn cells(&self) -> Result<(Vec<Cell>, usize), Failure> {
        let file = self.file;
        let subjects: [&dyn Subject; 1] = [&self.described];
        let drawn: Vec<FaultClass> = file.classes.iter().copied().filter(|class| *class != FaultClass::Single).collect();
        let (quota, shard, threads) = (Quota::Seeds(file.seeds), Shard::WHOLE, self.threads);
        let sweep = Sweep { subjects: &subjects, classes: &drawn, base: file.seed, quota, shard, threads };
        let bar = Bar::new(&sweep, None, Stopwatch::start());
        let swept = sweep.run(&Watch { cancelled: &CANCELLED, out_of_time: &|| false, progress: &|p| bar.show(p) });
        bar.end();
        let swept = swept.map_err(Failure::from)?;
        let mut tallies = swept.tallies.into_iter().flatten();
        let mut calm = BTreeSet::new();
        let mut cells = Vec::with_capacity(file.classes.len());
        for class in drawn {
            let tally = tallies.next().unwrap_or_default();
            if class == FaultClass::Calm {
                calm = tally.broken.keys().copied().collect();
            }
            cells.push(self.described.weigh(class, tally, &calm));
        }
        if file.classes.contains(&FaultClass::Single) {
            let spinner = Spinner::new();
            spinner.show("every single fault");
            let single = exhaust::column(&self.described, file.seed, self.threads, &CANCELLED);
            spinner.end();
            cells.push(self.described.weigh(FaultClass::Single, single.map_err(Failure::from)?.tally, &calm));
        }
        let certified = certify(&subjects, &swept.samples, self.threads, &CANCELLED).map_err(|e| Failure::Distrust(e.to_string()))?;
        Ok((cells, certified))
    }

    /// A witness for each class that broke it, small if that is wanted.
    fn witnesses(&self, cells: &[Cell], stem: &str) -> Result<Vec<(FaultClass, String, Witness)>, Failure> {
        let broken: Vec<_> = cells.iter().filter_map(|cell| Some((cell.class, cell.witness()?))).collect();
        let bar = Units::new(broken.len() as u64);
        bar.show(0, "what broke it, made small".to_owned());
        let usual = self.described.usual();
        let kept = witnesses::on_threads(self.threads, &broken, |&(class, broken)| {
            let witness =
                crate::report::witness(&self.described, EngineKind::Event, class, broken).map_err(|e| Failure::Distrust(e.to_string()))?;
            let smaller = || witnesses::smaller(&self.described, Some(&usual), &witness, &broken.finding);
            let witness = if self.shrinks { smaller()? } else { witness.clone() };
            bar.one();
            Ok((class, files::witness_name(stem, class), witness))
        });
        bar.end();
        kept
    }

    /// What would have to be different, each tried on all that it should cure, and without any fault: what that confirms.
    fn advice(&self, outcome: &Outcome<'_>) -> Result<Vec<(Advice, Vec<Trial>)>, Failure> {
        let all = advice::advise(self.file, &outcome.broken());
        let bar = Units::new(all.len() as u64);
        let tried = |(n, advice): (usize, Advice)| {
            bar.show(n as u64, format!("trying {}", advice.change.line()));
            let mut classes: BTreeSet<FaultClass> = advice.cures.iter().map(|(class, _): &(FaultClass, Mark)| *class).collect();
            classes.insert(FaultClass::Calm);
            let witness = |class| outcome.witnesses.iter().find(|(of, ..)| *of == class).map(|(.., witness)| witness);
            let one = |class: FaultClass| {
                let before = outcome.broken_under(class);
                advice::tried(&advice, self.file, (class, &before), witness(class), self.threads, &CANCELLED)
            };
            let trials = classes.into_iter().map(one).collect::<Result<Vec<_>, _>>().map_err(Failure::from)?;
            Ok(advice.confirmed(trials))
        };
        let done: Result<Vec<_>, Failure> = all.into_iter().enumerate().map(tried).collect();
        bar.end();
        Ok(done?.into_iter().flatten().collect())
    }
}
