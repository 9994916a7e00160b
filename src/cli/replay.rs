//! `onceproof replay`: one run as a story and as a page, and whether it is the run it should be.

mod page;

use crate::class::FaultClass;
use crate::cli::exit::Failure;
use crate::cli::{CANCELLED, Exit, ReplayArgs, input, listen_for_interrupts, names, out};
use crate::explore::certify::Difference;
use crate::explore::doomed::{Doom, Doomed, TRIES, Undecidable};
use crate::explore::observe::NoResult;
use crate::explore::subject::varied;
use crate::explore::witness::Expected;
use crate::explore::{Finding, Mark, Observed, Subject, Witness, observe};
use crate::plan::FaultPlan;
use crate::report::files::Folder;
use crate::report::knobs::{self, Drawn};
use crate::report::words::{self, count, wrap};
use crate::report::{self, doom, run as run_json, story};
use crate::scenario::{Misconfigured, Rules, Scenario};
use crate::seed::Seed;
use crate::strategy::Expectation;
use crate::world::{Deployment, EngineKind};
use std::path::Path;
use std::thread;

/// One run to be told.
struct Told {
    deployment: Deployment,
    /// What that varies.
    usual: Scenario,
    /// In what the deployment differs from the one that its strategy usually has.
    knobs: Vec<Drawn>,
    class: FaultClass,
    seed: Seed,
    engine: EngineKind,
    plan: FaultPlan,
    witness: Option<Witness>,
    /// Where its witness would be, in the reports folder.
    name: String,
    /// The command that replays it.
    replay: String,
}

/// Replays.
pub fn run(args: &ReplayArgs) -> Result<Exit, Failure> {
    let told = match (&args.witness, &args.strategy, &args.faults) {
        (Some(path), ..) => Told::from_witness(path, &args.reports)?,
        (None, Some(strategy), Some(faults)) => Told::from_names(strategy, faults, args)?,
        (None, ..) => {
            return Err(Failure::usage(
                "nothing to replay; write `onceproof replay WITNESS.toml`, or `onceproof replay --strategy NAME --faults CLASS --seed N`",
            ));
        }
    };
    let folder = if args.no_page { None } else { Some(Folder::open(&args.reports).map_err(Failure::usage)?) };
    // Twice, on two threads: a run that does not repeat must not be told as if it did.
    let first = told.observe()?;
    let second = thread::scope(|scope| scope.spawn(|| told.observe()).join().expect("panics of runs are contained"))?;

    let doom = if args.doomed { Some(told.doom(&first)?) } else { None };
    out::print(&told.text(&first, args, doom.as_ref()))?;

    if let Some(difference) = Difference::between(&first.run.trace, &second.run.trace) {
        return Err(Failure::Distrust(format!("the run does not repeat: {difference}")));
    }
    let (verdict, exit) = match &told.witness {
        Some(witness) => compared(&first, witness)?,
        None => alone(&first, &told.deployment, told.class),
    };
    let page = folder.map(|folder| told.write(&first, &folder, &args.reports)).transpose()?;
    // What a program reads holds the digest already, and nothing may follow it.
    if !args.json {
        out::print(&format!("\n{}", wrapped(&format!("digest {}, {verdict}", first.run.trace.digest()))))?;
        if let Some(page) = page {
            out::print(&format!("written: {page}\n"))?;
        }
    }
    Ok(exit)
}

/// Lines of at most the terminal's width.
fn wrapped(text: &str) -> String {
    wrap(text, out::width()).into_iter().map(|line| line + "\n").collect()
}

/// Whether this is the run that the witness recorded.
fn compared(seen: &Observed, witness: &Witness) -> Result<(String, Exit), Failure> {
    let digest = seen.run.trace.digest();
    if digest != witness.digest {
        return Err(Failure::Distrust(format!(
            "the history is not the recorded one: the witness has digest {}, this run {digest}, twice; another build of onceproof recorded it, or the file was changed",
            witness.digest
        )));
    }
    let broke: Vec<Expected> = seen.findings.iter().map(Expected::from).collect();
    let same = broke == witness.violations;
    let verdict = if same {
        format!("as the witness says: {} broke", count(broke.len(), "rule"))
    } else {
        "not what the witness says about it: its violations differ from what broke".to_owned()
    };
    let exit = if same { Exit::AsExpected } else { Exit::Unexpected };
    Ok((format!("as recorded; {verdict}"), exit))
}

/// Whether something broke that the strategy declares never to break.
fn alone(seen: &Observed, subject: &dyn Subject, class: FaultClass) -> (String, Exit) {
    let claims = subject.expectations();
    let never = |mark: Mark| match mark {
        Mark::Panicked | Mark::NeverEnded => true,
        Mark::Letter(letter) => claims.iter().any(|claim| match claim {
            Expectation::Never { scope, letters, .. } => scope.covers(class) && letters.contains(&letter),
            Expectation::Must { .. } => false,
        }),
    };
    let exit = if seen.findings.iter().any(|f| never(f.mark)) { Exit::Unexpected } else { Exit::AsExpected };
    ("the same twice".to_owned(), exit)
}

/// What a strategy is usually deployed as.
fn usual(strategy: &str, rules: Rules, engine: EngineKind) -> Result<Deployment, Misconfigured> {
    Deployment::new(&Scenario::on(strategy, rules), engine)
}

impl Told {
    fn from_witness(path: &Path, reports: &Path) -> Result<Told, Failure> {
        let name = path.display().to_string();
        let text = input::text(path)?;
        let witness = Witness::from_toml(&name, &text).map_err(Failure::usage)?;
        names::strategy(witness.strategy()).map_err(|e| Failure::Usage(format!("{name}: {e}")))?;
        let in_file = |what: &dyn ToString| Failure::Usage(format!("{name}: {}", what.to_string()));
        let deployment = Deployment::new(&witness.scenario, witness.engine).map_err(|e| in_file(&e))?;
        deployment.check_plan(&witness.plan).map_err(|e| in_file(&e))?;
        let usual = usual(witness.strategy(), witness.scenario.database.rules, witness.engine).map_err(|e| in_file(&e))?;
        let knobs = knobs::drawn(deployment.scenario(), usual.scenario());
        let (class, seed, engine, plan) = (witness.faults, witness.seed, witness.engine, witness.plan.clone());
        let (usual, name, replay) = (Subject::scenario(&usual).clone(), page::name_of(path, reports), page::command(path, reports));
        Ok(Told { deployment, usual, knobs, class, seed, engine, plan, witness: Some(witness), name, replay })
    }

    fn from_names(strategy: &str, faults: &str, args: &ReplayArgs) -> Result<Told, Failure> {
        let (strategy, class) = (names::strategy(strategy)?, names::class(faults)?);
        let engine = names::engine(args.engine.as_deref().unwrap_or("event"))?;
        let rules = args.rules.as_deref().map(names::rules).transpose()?.unwrap_or_default();
        let usual = usual(strategy.name(), rules, engine).map_err(Failure::usage)?;
        if let Some(why) = class.misses(strategy.steps()) {
            return Err(Failure::Usage(format!("{class} cannot strike {}: {why}", strategy.name())));
        }
        let seed = Seed(args.seed.unwrap_or(1));
        let unpinned = || Failure::Usage(format!("{} has no plan pinned to {class}; write --seed N instead of --pinned", strategy.name()));
        let (name, replay) =
            (page::name(&usual, engine, class, seed, args.pinned), report::command(&usual, engine, class, seed, args.pinned));
        let scenario = Subject::scenario(&usual).clone();
        if args.pinned {
            let plan = usual.pinned(class).into_iter().next().ok_or_else(unpinned)?;
            let knobs = Vec::new();
            return Ok(Told { deployment: usual, usual: scenario, knobs, class, seed, engine, plan, witness: None, name, replay });
        }
        let deployment = varied(&usual, class, seed).unwrap_or_else(|| usual.clone());
        let knobs = knobs::drawn(deployment.scenario(), usual.scenario());
        let plan = Subject::plan(&deployment, class, seed);
        Ok(Told { deployment, usual: scenario, knobs, class, seed, engine, plan, witness: None, name, replay })
    }

    /// What is printed about a run.
    fn text(&self, seen: &Observed, args: &ReplayArgs, doom: Option<&Doom>) -> String {
        let (strategy, scenario) = (Subject::strategy(&self.deployment), Subject::scenario(&self.deployment));
        if args.json {
            return run_json::render(&run_json::Replayed {
                strategy: strategy.name(),
                faults: self.class,
                engine: self.engine,
                knobs: &self.knobs,
                plan: &self.plan,
                seen,
                doom: self.what_broke(seen).zip(doom),
            });
        }
        let engine = words::engine(self.engine, scenario.time_scale);
        let label = scenario.database.rules.label(strategy.name());
        let head = format!("{label} under {}, seed {}, {engine}: {}", self.class, self.seed, strategy.about());
        let calendar = self.deployment.calendar();
        let lines = if args.records {
            story::records(&seen.run.trace, calendar)
        } else {
            let told = self.what_broke(seen).zip(doom);
            let note = told.and_then(|(finding, doom)| doom::note(finding, doom));
            let mut lines = story::noted(seen, &self.plan, calendar, scenario.nodes, out::width(), note);
            lines.extend(told.into_iter().flat_map(|(finding, doom)| doom::table(finding, doom, seen, calendar, out::width())));
            lines
        };
        let drawn = knobs::told(&self.knobs, out::width());
        let milder: Vec<String> = words::milder(self.class, &self.plan).iter().flat_map(|milder| wrap(milder, out::width())).collect();
        milder.iter().chain(&drawn).chain(&lines).fold(wrapped(&head) + "\n", |text, line| text + line + "\n")
    }

    /// What broke that the run is about: what its witness was shrunk for, or else the worst.
    fn what_broke<'a>(&self, seen: &'a Observed) -> Option<&'a Finding> {
        let kept = self.witness.as_ref().and_then(|witness| witness.shrunk_from.as_ref());
        let about = kept.and_then(|from| seen.findings.iter().find(|finding| finding.rule == from.rule));
        about.or(seen.findings.first())
    }

    /// From when on that had to break.
    fn doom(&self, seen: &Observed) -> Result<Doom, Failure> {
        let rule = self.what_broke(seen).map(|finding| finding.rule);
        let rule = rule.ok_or_else(|| Failure::usage("nothing broke in this run, so it was never doomed; leave --doomed out"))?;
        let threads = crate::cli::threads(None);
        listen_for_interrupts();
        let run = Doomed { deployment: &self.deployment, class: self.class, seed: self.seed, plan: &self.plan, seen };
        run.to(rule, TRIES, threads, &CANCELLED).map_err(|e| match e {
            Undecidable::Engine | Undecidable::Held(_) | Undecidable::NoResult(NoResult::Refused(_)) => Failure::usage(e),
            Undecidable::Parted { .. } | Undecidable::NoResult(NoResult::Bug(_)) => Failure::Distrust(e.to_string()),
            Undecidable::Cancelled => Failure::Interrupted,
        })
    }

    fn observe(&self) -> Result<Observed, Failure> {
        observe(&self.deployment, self.class, self.seed, &self.plan).map_err(|e| match e {
            NoResult::Refused(why) => Failure::Usage(format!("{}: {why}", self.deployment.strategy().name())),
            NoResult::Bug(what) => Failure::Distrust(format!("onceproof itself failed: {what}")),
        })
    }
}
