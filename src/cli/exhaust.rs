//! `onceproof exhaust`: every single fault, or every pair, at every step of a calm period.

use crate::class::{KINDS, Kind};
use crate::cli::exit::Failure;
use crate::cli::progress::Units;
use crate::cli::stopwatch::Stopwatch;
use crate::cli::{CANCELLED, Exit, input, listen_for_interrupts, names, numbers, out, threads};
use crate::explore::Subject;
use crate::explore::exhaust::{Done, Enumeration, Faults, Watch, point};
use crate::report;
use crate::report::exhaust::{self, EXHAUST, Page};
use crate::report::files::Folder;
use crate::report::words::{count, thousands, wrap};
use crate::scenario::{Rules, Scenario};
use crate::seed::Seed;
use crate::strategy::Strategy;
use crate::world::{Deployment, EngineKind};
use clap::Args;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// How often an enumeration of pairs is kept, so that it can be continued after anything.
const KEEP_EVERY: Duration = Duration::from_secs(15);

/// Bytes of the longest file of kept results that is read.
const LONGEST: u64 = 512 * 1024 * 1024;

/// What to exhaust.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
A calm run of one period is made first, and its steps are numbered. Then one run for every step of every
node and every kind of fault that can strike there: crash before, in and after a request, power cut, a pause
that outlives any lease, the reply lost, every kind of partition, a store that restarts, a clock that jumps.
A run with one fault is the calm run up to the moment when it strikes, so every place is reached.

Examples:
  onceproof exhaust --strategy dual-guard              all single faults, about a second
  onceproof exhaust                                    of every strategy
  onceproof exhaust --strategy table-key --faults 2    all pairs of the seven kinds of the table's column
  onceproof exhaust --strategy lease-fenced --kinds pause-before,pause-after,reply-lost

Pairs take minutes. Ctrl-C keeps what has been done beside the reports, and the same command goes on from there.

Exit codes:
  0  everything is as the strategies declare
  1  something broke that never may
  2  wrong usage or bad input, or the output cannot be written
  3  the harness cannot be trusted: nothing was felt
  130  interrupted")]
pub struct ExhaustArgs {
    /// Only these strategies, separated by commas or given repeatedly [default: all]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    strategy: Vec<String>,
    /// Faults in a plan: 1, or 2 for all pairs, the second after the first
    #[arg(long, value_name = "N", default_value = "1", value_parser = faults, allow_negative_numbers = true)]
    faults: Faults,
    /// Kinds of faults, separated by commas; core: the seven of the table's column [default: all, or core for pairs]
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    kinds: Vec<String>,
    /// Rules of the database: postgresql, innodb, or DATABASE-LEVEL [default: postgresql, and innodb once more where it decides]
    #[arg(long, value_name = "RULES")]
    rules: Option<String>,
    /// The seed of all runs
    #[arg(long, value_name = "S", default_value_t = 1, value_parser = numbers::seed, allow_negative_numbers = true)]
    seed: u64,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    /// Threads to run on [default: all cores]
    #[arg(long, value_name = "N", value_parser = numbers::threads, allow_negative_numbers = true)]
    threads: Option<u16>,
    /// Folder for exhaust.json and witnesses
    #[arg(long, value_name = "DIR", default_value = "reports")]
    reports: PathBuf,
}

fn faults(text: &str) -> Result<Faults, String> {
    match text {
        "1" => Ok(Faults::Single),
        "2" => Ok(Faults::Pairs),
        _ => Err("write 1 for single faults, or 2 for pairs".to_owned()),
    }
}

/// Exhausts.
pub fn run(args: &ExhaustArgs) -> Result<Exit, Failure> {
    let kinds = kinds(args)?;
    let rows = names::rows(&args.strategy, args.rules.as_deref())?;
    let deploy = |(strategy, rules): &(&'static dyn Strategy, Rules)| {
        Deployment::new(&Scenario::on(strategy.name(), *rules).of_one_period(), EngineKind::Event)
    };
    let deployments = rows.iter().map(deploy).collect::<Result<Vec<_>, _>>().map_err(Failure::usage)?;
    let folder = Folder::open(&args.reports).map_err(Failure::usage)?;
    listen_for_interrupts();
    if !args.json {
        let faults = if args.faults == Faults::Single { "single faults" } else { "pairs of faults" };
        out::print(&format!("seed {}: {faults} of {}, {}\n\n", args.seed, count(kinds.len(), "kind"), count(rows.len(), "row")))?;
    }
    let watch = Stopwatch::start();
    let mut pages = Vec::new();
    for (n, (deployment, (strategy, rules))) in deployments.iter().zip(&rows).enumerate() {
        let enumeration = Enumeration::of(deployment, &kinds, Seed(args.seed), args.faults)?;
        let kept = Kept { folder: &folder, head: Head::of(&rules.label(strategy.name()), &enumeration, &kinds), args };
        let done = kept.go_on(&enumeration, &format!("{} ({}/{})", rules.label(strategy.name()), n + 1, rows.len()))?;
        let exhausted = enumeration.weigh(done);
        pages.push(Page { name: strategy.name(), rules: *rules, enumeration, exhausted });
    }
    let took = watch.elapsed();
    let files = files(&deployments, &pages, args.faults)?;
    if CANCELLED.load(Ordering::SeqCst) {
        return Err(Failure::Interrupted);
    }
    folder.replace(&files, &gone(&pages, args.faults)).map_err(Failure::usage)?;
    if args.json {
        out::print(&files[0].1)?;
    } else {
        let told: Vec<String> = pages.iter().map(|page| exhaust::render(page, out::width())).collect();
        out::print(&(told.join("\n") + "\n" + &summary(&pages, took, args)))?;
    }
    verdict(&pages)
}

/// A blind harness cannot be trusted, whatever else it says.
fn verdict(pages: &[Page<'_>]) -> Result<Exit, Failure> {
    if let Some(page) = pages.iter().find(|page| page.exhausted.runs().felt == 0) {
        let runs = count(page.exhausted.runs().runs as usize, "run");
        return Err(Failure::Distrust(format!("nothing was felt: not one of {runs} of {} noticed its fault", page.label())));
    }
    let as_expected = pages.iter().all(|page| page.exhausted.as_expected());
    Ok(if as_expected { Exit::AsExpected } else { Exit::Unexpected })
}

fn kinds(args: &ExhaustArgs) -> Result<Vec<&'static Kind>, Failure> {
    if args.kinds.is_empty() {
        return Ok(point::kinds(args.faults == Faults::Single));
    }
    let mut wanted: Vec<&'static Kind> = Vec::new();
    for name in &args.kinds {
        match name.as_str() {
            "all" => wanted.extend(point::kinds(true)),
            "core" => wanted.extend(point::kinds(false)),
            name => wanted.push(names::kind(name)?),
        }
    }
    // In the order of the list, each once.
    Ok(KINDS.iter().filter(|kind| wanted.iter().any(|w| w.name == kind.name)).collect())
}

/// The JSON, and a witness for each kind that broke something of its own.
fn files(deployments: &[Deployment], pages: &[Page<'_>], faults: Faults) -> Result<Vec<(String, String)>, Failure> {
    let mut files = vec![(EXHAUST.to_owned(), exhaust::json(pages, faults))];
    for (deployment, page) in deployments.iter().zip(pages) {
        for (kind, cell) in &page.exhausted.kinds {
            if let Some(broken) = cell.witness() {
                let witness = report::witness(deployment as &dyn Subject, EngineKind::Event, cell.class, broken)
                    .map_err(|e| Failure::Distrust(e.to_string()))?;
                files.push((page.witness_name(kind), witness.to_toml()));
            }
        }
    }
    Ok(files)
}

/// What is no longer true: what was kept of an enumeration that is complete now, and witnesses of kinds that broke nothing this time.
fn gone(pages: &[Page<'_>], faults: Faults) -> Vec<String> {
    let held = |page: &Page<'_>| {
        let kinds = page.exhausted.kinds.iter().filter(|(_, cell)| cell.witness().is_none());
        kinds.map(|(kind, _)| page.witness_name(kind)).collect::<Vec<_>>()
    };
    pages.iter().flat_map(|page| held(page).into_iter().chain([partial_name(&page.label(), faults)])).collect()
}

fn summary(pages: &[Page<'_>], took: Duration, args: &ExhaustArgs) -> String {
    let runs: u64 = pages.iter().map(|page| page.exhausted.runs().runs).sum();
    let seconds = took.as_secs_f64();
    let lines = [
        format!(
            "{} in {seconds:.1} s, {} runs/s on {}",
            count(runs as usize, "run"),
            thousands((runs as f64 / seconds.max(0.001)) as u64),
            count(threads(args.threads), "thread")
        ),
        format!("written: {0}/{EXHAUST}, witnesses in {0}/witnesses", args.reports.display()),
    ];
    lines.iter().flat_map(|line| wrap(line, out::width())).map(|line| line + "\n").collect()
}

/// Where what has been done of one enumeration is kept, in the reports folder.
fn partial_name(label: &str, faults: Faults) -> String {
    let faults = if faults == Faults::Single { "single" } else { "pairs" };
    format!("exhaust--{label}--{faults}.partial.json")
}

/// What an enumeration is of. Two that differ in anything have nothing in common.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Head {
    onceproof: String,
    label: String,
    seed: String,
    faults: Faults,
    kinds: Vec<String>,
    units: u64,
}

impl Head {
    fn of(label: &str, enumeration: &Enumeration<'_>, kinds: &[&'static Kind]) -> Head {
        Head {
            onceproof: env!("CARGO_PKG_VERSION").to_owned(),
            label: label.to_owned(),
            seed: enumeration.seed().to_string(),
            faults: enumeration.faults(),
            kinds: kinds.iter().map(|kind| kind.name.to_owned()).collect(),
            units: enumeration.units(),
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Partial {
    head: Head,
    done: Done,
}

/// An enumeration that can be broken off and continued.
struct Kept<'a> {
    folder: &'a Folder,
    head: Head,
    args: &'a ExhaustArgs,
}

impl Kept<'_> {
    fn name(&self) -> String {
        partial_name(&self.head.label, self.head.faults)
    }

    /// What was kept by an earlier run of the same command; nothing if there is none, or if it is of something else.
    fn earlier(&self) -> Result<Done, Failure> {
        let path = self.args.reports.join(self.name());
        if !path.exists() {
            return Ok(Done::default());
        }
        let unreadable =
            |why: &dyn ToString| Failure::Usage(format!("{}: {}; remove the file to begin anew", path.display(), why.to_string()));
        let partial: Partial = serde_json::from_str(&input::read(&path, "results", LONGEST)?).map_err(|e| unreadable(&e))?;
        if partial.head != self.head {
            return Err(unreadable(&"it was begun with another version, seed or other kinds, and cannot be continued so"));
        }
        Ok(partial.done)
    }

    fn keep(&self, done: &Done) -> Result<(), Failure> {
        let partial = Partial { head: self.head.clone(), done: done.clone() };
        let text = serde_json::to_string(&partial).expect("what was done has only values that JSON knows");
        self.folder.replace(&[(self.name(), text)], &[]).map_err(Failure::usage)
    }

    /// Does what is left.
    fn go_on(&self, enumeration: &Enumeration<'_>, title: &str) -> Result<Done, Failure> {
        let earlier = self.earlier()?;
        if !earlier.units.is_empty() && !self.args.json {
            let kept = format!("going on after {} of {} units\n\n", thousands(earlier.units.len() as u64), thousands(enumeration.units()));
            out::print(&kept)?;
        }
        let bar = Units::new(enumeration.units());
        let watch = Stopwatch::start();
        let kept = Mutex::new((Duration::ZERO, Ok(())));
        let progress = |done: &Done| {
            bar.show(done.units.len() as u64, format!("{title}  {} runs", thousands(done.runs().runs)));
            let mut kept = kept.lock().expect("nothing here panics");
            if watch.elapsed() >= kept.0 + KEEP_EVERY {
                *kept = (watch.elapsed(), self.keep(done));
            }
        };
        let done = enumeration.run(earlier, |_| true, threads(self.args.threads), &Watch { cancelled: &CANCELLED, progress: &progress });
        bar.end();
        let done = done?;
        kept.into_inner().expect("nothing here panics").1?;
        if (done.units.len() as u64) < enumeration.units() {
            if done.units.is_empty() {
                return Err(Failure::Interrupted);
            }
            self.keep(&done)?;
            return Err(Failure::Suspended(format!(
                "interrupted; {} of {} units of {} are kept in {}: the same command goes on from there",
                thousands(done.units.len() as u64),
                thousands(enumeration.units()),
                self.head.label,
                self.args.reports.join(self.name()).display()
            )));
        }
        Ok(done)
    }
}
