//! `onceproof certify`: make a sample of runs in every way that must not matter, keep what came of
//! it, or hold this build against what another one kept.

mod fresh;

use crate::class::FaultClass;
use crate::cli::exit::Failure;
use crate::cli::progress::Units;
use crate::cli::stopwatch::Stopwatch;
use crate::cli::{CANCELLED, Exit, input, listen_for_interrupts, names, numbers, out, threads};
use crate::explore::certify::certificate::{Build, Named, OTHERS};
use crate::explore::certify::{Certificate, Entry, Matrix, Sample, Uncertain};
use crate::explore::observe::NoResult;
use crate::explore::{Staged, Subject, observe};
use crate::report::files::{self, One};
use crate::report::words::{count, wrap};
use crate::scenario::{Rules, Scenario};
use crate::seed::Seed;
use crate::strategy::Strategy;
use crate::world::{Deployment, EngineKind};
use clap::Args;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// How long a fresh process may take at least; beside that, ten times what all other ways have taken.
const PATIENCE: Duration = Duration::from_mins(1);

/// Where the certificate is, unless told otherwise.
const FILE: &str = "reports/certificate.json";

/// What to certify.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
A run must depend on nothing but seed, scenario and fault plan. Every run of the sample is made
twice, on another thread, after 1,000 other runs, and in a fresh process; all must tell the same
history, to the byte. The certificate keeps their digests, and for every record four characters by
which the first record can be found in which another build, or another machine, differs.

Examples:
  onceproof certify                                 every strategy under every class, reports/certificate.json
  onceproof certify --out debug.json --strategy dual-guard,lease-fenced
  onceproof certify --compare debug.json            the same runs here: are they the same?
  onceproof certify --strategy dual-guard --faults crash --full --out full.json
                                                    with every record as text: a comparison shows both sides

Exit codes:
  0  every run is the same in every way, and the same as in the certificate
  2  wrong usage, or a file that is no certificate, was changed, is of another version, or of other scenarios; or the output cannot be written
  3  the harness cannot be trusted: a run differs, and the first record in which it does is named
  130  interrupted")]
pub struct CertifyArgs {
    /// Seeds for each strategy and class [default: 1]
    #[arg(long, value_name = "N", value_parser = numbers::seeds, allow_negative_numbers = true)]
    seeds: Option<u64>,
    /// Base seed: run i of every cell gets the i-th seed after it [default: 1]
    #[arg(long, value_name = "S", value_parser = numbers::seed, allow_negative_numbers = true)]
    seed: Option<u64>,
    /// Only these strategies, separated by commas or given repeatedly
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    strategy: Vec<String>,
    /// Only these fault classes
    #[arg(long, value_name = "CLASS", value_delimiter = ',')]
    faults: Vec<String>,
    /// Rules of the database for all rows [default: postgresql, and innodb once more where it decides]
    #[arg(long, value_name = "RULES")]
    rules: Option<String>,
    /// The file for the certificate [default: reports/certificate.json; with --compare none is written]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// A certificate of another build or machine: its runs are made here, and held against it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["seeds", "seed", "strategy", "faults", "rules"])]
    compare: Option<PathBuf>,
    /// Keep every record as text: about sixteen times the size
    #[arg(long)]
    full: bool,
    /// Print the certificate instead of a summary
    #[arg(long)]
    json: bool,
    /// Threads to run on [default: all cores]
    #[arg(long, value_name = "N", value_parser = numbers::threads, allow_negative_numbers = true)]
    threads: Option<u16>,
}

/// Certifies.
pub fn run(args: &CertifyArgs) -> Result<Exit, Failure> {
    if let (Some(compare), Some(out)) = (&args.compare, &args.out)
        && files::are_same(compare, out)
    {
        return Err(Failure::Usage(format!("--out is the certificate itself, {}; choose another file", compare.display())));
    }
    let held = args.compare.as_deref().map(held).transpose()?;
    let runs = match &held {
        Some((_, held)) => held.runs.iter().map(|entry| entry.run.clone()).collect(),
        None => sampled(args)?,
    };
    let deployed = Deployed::of(&runs).map_err(|why| match &held {
        Some((name, _)) => Failure::Usage(format!("{name}: {why}")),
        None => why,
    })?;
    if let Some((name, held)) = &held {
        deployed.same_scenarios(name, held)?;
    }
    let place = match (&args.out, &held) {
        (Some(out), _) => Some(out.clone()),
        (None, None) => Some(PathBuf::from(FILE)),
        (None, Some(_)) => None,
    };
    let one = place.as_deref().map(One::open).transpose().map_err(Failure::usage)?;
    listen_for_interrupts();

    let samples = deployed.samples(threads(args.threads), &runs)?;
    let entries: Vec<Entry> = runs.iter().zip(&samples).map(|(run, sample)| deployed.entry(run, sample, args.full)).collect();
    if let Some((name, held)) = &held {
        against(name, held, &samples)?;
    }
    let certificate = Certificate::new(entries);
    if CANCELLED.load(Ordering::SeqCst) {
        return Err(Failure::Interrupted);
    }
    let text = certificate.to_json();
    if let Some(one) = &one {
        one.replace(&text).map_err(Failure::usage)?;
    }
    out::print(&if args.json { text } else { summary(&certificate, held.as_ref(), place.as_deref()) })?;
    Ok(Exit::AsExpected)
}

/// What a fresh process does: the runs that standard input names, once, as entries on standard output.
pub fn again() -> Result<Exit, Failure> {
    let mut order = String::new();
    std::io::stdin().read_to_string(&mut order).map_err(|e| Failure::Usage(format!("cannot read standard input: {e}")))?;
    let runs: Vec<Named> = serde_json::from_str(&order)
        .map_err(|e| Failure::Usage(format!("standard input names no runs: {e}; `onceproof certify` writes it")))?;
    listen_for_interrupts();
    let deployed = Deployed::of(&runs)?;
    let mut entries = Vec::with_capacity(runs.len());
    for (run, row) in runs.iter().zip(&deployed.rows) {
        if CANCELLED.load(Ordering::SeqCst) {
            return Err(Failure::Interrupted);
        }
        let staged = deployed.staged(run, *row);
        let plan = staged.plan(run.faults, run.seed);
        let seen = observe(&*staged, run.faults, run.seed, &plan).map_err(|why| no_result(run, &why))?;
        entries.push(Entry::of(run.clone(), staged.scenario(), &plan, &seen.run.trace, false));
    }
    out::print(&serde_json::to_string(&entries).expect("entries can be written as JSON"))?;
    Ok(Exit::AsExpected)
}

fn no_result(run: &Named, why: &NoResult) -> Failure {
    match why {
        NoResult::Refused(_) => Failure::Usage(format!("{run}: {why}")),
        NoResult::Bug(what) => Failure::Distrust(format!("onceproof itself failed in {run}: {what}")),
    }
}

/// A certificate to be held against, with the name of its file.
fn held(path: &Path) -> Result<(String, Certificate), Failure> {
    let name = path.display().to_string();
    let certificate = Certificate::from_json(&name, &input::certificate(path)?).map_err(Failure::usage)?;
    Ok((name, certificate))
}

/// The runs that the arguments ask for: every class that can strike each strategy.
fn sampled(args: &CertifyArgs) -> Result<Vec<Named>, Failure> {
    let rows = names::rows(&args.strategy, args.rules.as_deref())?;
    let wanted = args.faults.iter().map(|name| names::class(name)).collect::<Result<Vec<_>, _>>()?;
    let (base, seeds) = (Seed(args.seed.unwrap_or(1)), args.seeds.unwrap_or(1));
    let mut runs = Vec::new();
    for (strategy, rules) in rows {
        for faults in FaultClass::ALL.into_iter().filter(|class| wanted.is_empty() || wanted.contains(class)) {
            if faults.misses(strategy.steps()).is_none() {
                let run = |i| Named { strategy: strategy.name().to_owned(), rules, faults, seed: base.nth(i) };
                runs.extend((0..seeds).map(run));
            }
        }
    }
    if runs.is_empty() {
        return Err(Failure::usage("none of these classes can strike any of these strategies; `onceproof list` shows all"));
    }
    Ok(runs)
}

/// What has to be deployed for some runs.
struct Deployed {
    deployments: Vec<Deployment>,
    /// For each run, the number of its deployment.
    rows: Vec<usize>,
}

impl Deployed {
    fn of(runs: &[Named]) -> Result<Deployed, Failure> {
        let mut known: BTreeMap<(&str, Rules), usize> = BTreeMap::new();
        let mut deployed = Deployed { deployments: Vec::new(), rows: Vec::with_capacity(runs.len()) };
        for run in runs {
            let key = (run.strategy.as_str(), run.rules);
            if let Some(row) = known.get(&key) {
                deployed.rows.push(*row);
                continue;
            }
            let strategy: &'static dyn Strategy = names::strategy(&run.strategy)?;
            deployed
                .deployments
                .push(Deployment::new(&Scenario::on(strategy.name(), run.rules), EngineKind::Event).map_err(Failure::usage)?);
            let row = deployed.deployments.len() - 1;
            known.insert(key, row);
            deployed.rows.push(row);
        }
        Ok(deployed)
    }

    fn same_scenarios(&self, name: &str, held: &Certificate) -> Result<(), Failure> {
        let other = |(entry, row): &(&Entry, &usize)| !entry.deployed(self.staged(&entry.run, **row).scenario());
        match held.runs.iter().zip(&self.rows).find(other) {
            None => Ok(()),
            Some((entry, _)) => Err(Failure::Usage(format!(
                "{name}: {} was made in another scenario than this build deploys; only runs of equal scenarios can be compared",
                entry.run
            ))),
        }
    }

    /// Every run, the same in every way, as it was the first time.
    fn samples(&self, threads: usize, names: &[Named]) -> Result<Vec<Sample>, Failure> {
        let subjects: Vec<&dyn Subject> = self.deployments.iter().map(|d| d as &dyn Subject).collect();
        let runs: Vec<_> = names.iter().zip(&self.rows).map(|(run, row)| (*row, run.faults, run.seed)).collect();
        let matrix = Matrix { subjects: &subjects, runs: &runs, others: OTHERS, threads };
        let bar = Units::new(matrix.work() + names.len() as u64);
        let watch = Stopwatch::start();
        let samples = matrix.run(&CANCELLED, &|| bar.one()).map_err(|uncertain| {
            bar.end();
            match uncertain {
                Uncertain::Stopped(stopped) => Failure::from(stopped),
                Uncertain::Differs { .. } => Failure::Distrust(uncertain.to_string()),
            }
        })?;
        bar.show(matrix.work(), "in a fresh process".to_owned());
        let made = fresh::entries(names, PATIENCE + watch.elapsed() * 10);
        bar.end();
        for (entry, sample) in made?.iter().zip(&samples) {
            if let Some(parting) = entry.parts_from(&sample.case.plan, &sample.trace) {
                return Err(Failure::Distrust(format!("{} does not repeat in a fresh process: {parting}", entry.run)));
            }
        }
        Ok(samples)
    }

    /// What a run is made on: a class may draw knobs as well as faults.
    fn staged(&self, run: &Named, row: usize) -> Staged<'_> {
        Staged::of(&self.deployments[row], run.faults, run.seed)
    }

    fn entry(&self, run: &Named, sample: &Sample, full: bool) -> Entry {
        Entry::of(run.clone(), self.staged(run, sample.subject).scenario(), &sample.case.plan, &sample.trace, full)
    }
}

/// Holds the runs of this build against a certificate.
fn against(name: &str, held: &Certificate, samples: &[Sample]) -> Result<(), Failure> {
    let changed = held.runs.iter().zip(samples).find(|(entry, sample)| entry.was_changed(&sample.case.plan, &sample.trace));
    if let Some((entry, _)) = changed {
        return Err(Failure::Usage(format!(
            "{name}: the digest of {} is that of its run, and its marks are of another one; the file was changed, so write it again with `onceproof certify --out FILE`",
            entry.run
        )));
    }
    let partings =
        held.runs.iter().zip(samples).filter_map(|(entry, sample)| Some((entry, entry.parts_from(&sample.case.plan, &sample.trace)?)));
    let partings: Vec<_> = partings.collect();
    let Some((entry, parting)) = partings.first() else { return Ok(()) };
    let more = match partings.len() - 1 {
        0 => String::new(),
        n => format!("; so do {n} more"),
    };
    Err(Failure::Distrust(format!(
        "{} is not the run of {name} (made on {}): {parting}{more}; see this build's with `onceproof replay --strategy {} --rules {} --faults {} --seed {} --records`",
        entry.run,
        held.build,
        entry.run.strategy,
        entry.run.rules.name(),
        entry.run.faults,
        entry.run.seed
    )))
}

fn summary(certificate: &Certificate, held: Option<&(String, Certificate)>, place: Option<&Path>) -> String {
    let records: usize = certificate.runs.iter().map(|entry| entry.records).sum();
    let mut told = format!(
        "{}, {}: the same twice, on another thread, after {}, and in a fresh process ({})",
        count(certificate.runs.len(), "run"),
        count(records, "record"),
        count(OTHERS as usize, "other run"),
        Build::this()
    );
    if let Some((name, held)) = held {
        let _ = write!(told, "; the same as in {name} ({})", held.build);
    }
    if let Some(place) = place {
        let _ = write!(told, "; certificate in {}", place.display());
    }
    wrap(&told, out::width()).into_iter().map(|line| line + "\n").collect()
}
