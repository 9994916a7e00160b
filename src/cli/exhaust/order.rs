//! What is to be exhausted, worked out from what the user wrote, and what becomes of it.

use crate::class::{KINDS, Kind};
use crate::cli::exhaust::ExhaustArgs;
use crate::cli::exhaust::kept::partial_name;
use crate::cli::exit::Failure;
use crate::cli::{CANCELLED, Exit, names, out, pages, threads, witnesses};
use crate::explore::exhaust::{Done, Enumeration, Faults, point};
use crate::explore::{Shard, Subject};
use crate::report;
use crate::report::exhaust::{self, EXHAUST, Page};
use crate::report::files::{self, Folder};
use crate::report::words::{count, wrap};
use crate::scenario::{Rules, Scenario};
use crate::seed::Seed;
use crate::step::Step;
use crate::strategy::Strategy;
use crate::world::{Deployment, EngineKind};
use std::path::Path;
use std::sync::atomic::Ordering;

/// What the arguments mean.
pub struct Order {
    /// Each strategy, and the rules of its database.
    pub rows: Vec<(&'static dyn Strategy, Rules)>,
    /// The kinds of faults, in the order of their list.
    pub kinds: Vec<&'static Kind>,
    /// Faults in a plan.
    pub faults: Faults,
    /// The seed of all runs.
    pub seed: Seed,
    /// On how many threads.
    pub threads: usize,
}

impl Order {
    /// Works it out.
    pub fn of(args: &ExhaustArgs) -> Result<Order, Failure> {
        let (rows, kinds) = (names::rows(&args.strategy, args.rules.as_deref())?, kinds(&args.kinds, args.faults)?);
        let strikes = |steps: &[Step]| kinds.iter().any(|kind| steps.iter().any(|step| kind.strikes(*step, steps)));
        if let Some((strategy, _)) = rows.iter().find(|(strategy, _)| !strikes(strategy.steps())) {
            let named: Vec<&str> = kinds.iter().map(|kind| kind.name).collect();
            return Err(Failure::Usage(format!(
                "{} cannot strike {}: it makes no such step; leave the strategy out, or add another kind",
                named.join(", "),
                strategy.name()
            )));
        }
        Ok(Order { rows, kinds, faults: args.faults, seed: Seed(args.seed), threads: threads(args.threads) })
    }

    /// One deployment for each row, watched for one period.
    pub fn deployments(&self) -> Result<Vec<Deployment>, Failure> {
        let deploy = |(strategy, rules): &(&'static dyn Strategy, Rules)| {
            Deployment::new(&Scenario::on(strategy.name(), *rules).of_one_period(), EngineKind::Event)
        };
        self.rows.iter().map(deploy).collect::<Result<_, _>>().map_err(Failure::usage)
    }

    /// What is to be tried on each of them.
    pub fn enumerations<'a>(&self, deployments: &'a [Deployment]) -> Result<Vec<Enumeration<'a>>, Failure> {
        let enumerate = |deployment: &'a Deployment| Ok(Enumeration::of(deployment, &self.kinds, self.seed, self.faults)?);
        deployments.iter().map(enumerate).collect()
    }

    /// What people call each row.
    pub fn labels(&self) -> impl Iterator<Item = String> + '_ {
        self.rows.iter().map(|(strategy, rules)| rules.label(strategy.name()))
    }

    /// What is said first.
    pub fn announced(&self, shard: Option<Shard>) -> String {
        let faults = if self.faults == Faults::Single { "single faults" } else { "pairs of faults" };
        let part = shard.map(|shard| format!(", shard {shard} of it")).unwrap_or_default();
        format!("seed {}: {faults} of {}, {}{part}\n\n", self.seed, count(self.kinds.len(), "kind"), count(self.rows.len(), "row"))
    }

    /// Weighs what has been done of every row, writes the reports, and prints them. `told` is what only the caller knows.
    pub fn conclude(
        &self,
        deployments: &[Deployment],
        done: Vec<(Enumeration<'_>, Done)>,
        (folder, reports): (&Folder, &Path),
        json: bool,
        told: impl FnOnce(u64) -> String,
    ) -> Result<Exit, Failure> {
        let rows = self.rows.iter().zip(done);
        let pages: Vec<Page<'_>> = rows
            .map(|((strategy, rules), (enumeration, done))| {
                let exhausted = enumeration.weigh(done);
                Page { name: strategy.name(), rules: *rules, enumeration, exhausted }
            })
            .collect();
        let (mut files, gone) = (self.files(deployments, &pages)?, self.gone(&pages));
        files.push(pages::index(reports, &files, &gone));
        if CANCELLED.load(Ordering::SeqCst) {
            return Err(Failure::Interrupted);
        }
        folder.replace(&files, &gone).map_err(Failure::usage)?;
        if json {
            out::print(&files[0].1)?;
        } else {
            let runs = pages.iter().map(|page| page.exhausted.runs().runs).sum();
            let reports = reports.display().to_string();
            let lines = [told(runs), format!("{}, witnesses in {reports}/witnesses", files::written(&reports, EXHAUST))];
            let lines: String = lines.iter().flat_map(|line| wrap(line, out::width())).map(|line| line + "\n").collect();
            let pages: Vec<String> = pages.iter().map(|page| exhaust::render(page, out::width())).collect();
            out::print(&(pages.join("\n") + "\n" + &lines))?;
        }
        verdict(&pages)
    }

    /// The JSON, and a witness with its page for each kind that broke something of its own.
    fn files(&self, deployments: &[Deployment], pages: &[Page<'_>]) -> Result<Vec<(String, String)>, Failure> {
        let broken: Vec<_> = deployments
            .iter()
            .zip(pages)
            .flat_map(|(deployment, page)| {
                let kinds = page.exhausted.kinds.iter();
                kinds.filter_map(move |(kind, cell)| Some((deployment, page.witness_name(kind), cell.class, cell.witness()?)))
            })
            .collect();
        let kept = witnesses::on_threads(self.threads, &broken, |(deployment, name, class, broken)| {
            let subject: &dyn Subject = *deployment;
            let kept = report::with_twin(subject, EngineKind::Event, *class, broken).map_err(|e| Failure::Distrust(e.to_string()))?;
            Ok(pages::files(name.clone(), kept))
        })?;
        Ok([(EXHAUST.to_owned(), exhaust::json(pages, self.faults))].into_iter().chain(kept.into_iter().flatten()).collect())
    }

    /// What is no longer true: what was kept of an enumeration that is complete now, and witnesses of kinds that broke nothing this time.
    fn gone(&self, pages: &[Page<'_>]) -> Vec<String> {
        let held = |page: &Page<'_>| {
            let kinds = page.exhausted.kinds.iter().filter(|(_, cell)| cell.witness().is_none());
            kinds.flat_map(|(kind, _)| files::of_witness(&page.witness_name(kind))).collect::<Vec<_>>()
        };
        pages.iter().flat_map(|page| held(page).into_iter().chain([partial_name(&page.label(), self.faults, Shard::WHOLE)])).collect()
    }
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

/// The kinds of these names, in the order of their list, each once.
fn kinds(named: &[String], faults: Faults) -> Result<Vec<&'static Kind>, Failure> {
    if named.is_empty() {
        return Ok(point::kinds(faults == Faults::Single));
    }
    let mut wanted: Vec<&'static Kind> = Vec::new();
    for name in named {
        match name.as_str() {
            "all" => wanted.extend(point::kinds(true)),
            "core" => wanted.extend(point::kinds(false)),
            name => wanted.push(names::kind(name)?),
        }
    }
    Ok(KINDS.iter().filter(|kind| wanted.iter().any(|w| w.name == kind.name)).collect())
}
