//! `onceproof shrink`: the smallest run that breaks the same rule as a witness.

use crate::cli::exit::Failure;
use crate::cli::progress::Spinner;
use crate::cli::stopwatch::Stopwatch;
use crate::cli::{CANCELLED, Exit, input, listen_for_interrupts, names, numbers, out};
use crate::explore::observe::NoResult;
use crate::explore::shrink::{Failed, Limits, Target};
use crate::explore::{Witness, observe};
use crate::plan::duration;
use crate::report::files::{self, Staged};
use crate::report::shrink::{Smaller, shrink};
use crate::world::Deployment;
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;

/// More runs than any witness has needed.
const RUNS: u64 = 50_000;

/// What to shrink.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Removes faults, makes them milder, shorter and rounder, and takes nodes, periods, players, earnings \
and drawn knobs away, for as long as the same rule breaks. Every step is run twice, the last one also \
in a new process. Prints what it comes down to in a sentence and at most six lines, and a #[test].

Examples:
  onceproof shrink reports/witnesses/lease-set-px-checked--swarm.toml
  onceproof shrink w.toml --out small.toml --budget 5m
  onceproof shrink w.toml --rule paid-once --json

Exit codes:
  0  shrunk; whether it converged is told
  2  wrong usage or bad input, or the output cannot be written
  3  the history is not the one that the witness recorded, or a run does not repeat
  130  interrupted; nothing was written")]
pub struct ShrinkArgs {
    /// A witness file, as `verify` writes them; it stays as it is
    #[arg(value_name = "WITNESS")]
    witness: PathBuf,
    /// The rule that has to go on breaking [default: the first that the witness names]
    #[arg(long, value_name = "RULE")]
    rule: Option<String>,
    /// How long to look for something smaller, such as 30s or 10m
    #[arg(long, value_name = "TIME", default_value = "1m", allow_hyphen_values = true)]
    budget: String,
    /// File for the smaller witness, or a folder for it [default: NAME.shrunk.toml beside the witness]
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    /// Threads to run on; what is found does not depend on it, unless time runs out [default: all cores]
    #[arg(long, value_name = "N", value_parser = numbers::threads, allow_negative_numbers = true)]
    threads: Option<u16>,
}

/// Shrinks.
pub fn run(args: &ShrinkArgs) -> Result<Exit, Failure> {
    let name = args.witness.display().to_string();
    let budget = duration::parse(&args.budget).map_err(|e| Failure::Usage(format!("--budget: {e}")))?;
    let place = place(&args.witness, args.out.as_deref())?;
    let witness = Witness::from_toml(&name, &input::text(&args.witness)?).map_err(Failure::usage)?;
    let target = target(&witness, &name, args.rule.as_deref())?;
    // Before a minute is spent on it.
    let staged = Staged::at(&place).map_err(|e| unwritable(&place, &e))?;
    listen_for_interrupts();

    let (watch, spinner) = (Stopwatch::start(), Spinner::new());
    let limits = Limits {
        runs: RUNS,
        threads: crate::cli::threads(args.threads),
        cancelled: &CANCELLED,
        out_of_time: &|| watch.elapsed() >= budget,
        progress: &|p| spinner.show(&format!("{}: {} faults left, {} smaller runs found in {}", p.pass, p.faults, p.accepted, p.runs)),
    };
    let smaller = shrink(&witness, None, &target, &limits);
    spinner.end();
    let smaller = smaller.map_err(|failed| failure(&failed))?;
    staged.write(&smaller.after.to_toml()).map_err(|e| unwritable(&place, &e))?;
    replays(staged.path(), &smaller)?;
    if CANCELLED.load(Ordering::SeqCst) {
        return Err(Failure::Interrupted);
    }
    staged.keep().map_err(|e| unwritable(&place, &e))?;
    let file = place.display().to_string();
    out::print(&if args.json { smaller.json(&file) } else { smaller.text(&file, out::width()) })?;
    Ok(Exit::AsExpected)
}

/// Where the smaller witness goes. Never onto the one that it comes from.
fn place(witness: &Path, out: Option<&Path>) -> Result<PathBuf, Failure> {
    let stem = witness.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let file = format!("{stem}.shrunk.toml");
    let place = match out {
        None => witness.with_file_name(file),
        Some(folder) if folder.is_dir() => folder.join(file),
        Some(place) => place.to_owned(),
    };
    if files::are_same(witness, &place) {
        return Err(Failure::Usage(format!("--out is the witness itself, {}; choose another file", witness.display())));
    }
    Ok(place)
}

/// What has to go on breaking. The run has to be the one that the witness recorded.
fn target(witness: &Witness, name: &str, rule: Option<&str>) -> Result<Target, Failure> {
    let in_file = |what: &dyn ToString| Failure::Usage(format!("{name}: {}", what.to_string()));
    let strategy = names::strategy(witness.strategy()).map_err(|e| in_file(&e))?;
    let deployment = Deployment::new(&witness.scenario, witness.engine).map_err(|e| in_file(&e))?;
    deployment.check_plan(&witness.plan).map_err(|e| in_file(&e))?;
    let seen = observe(&deployment, witness.faults, witness.seed, &witness.plan).map_err(|e| match e {
        NoResult::Refused(why) => in_file(&why),
        NoResult::Bug(what) => Failure::Distrust(format!("onceproof itself failed: {what}")),
    })?;
    let digest = seen.run.trace.digest();
    if digest != witness.digest {
        return Err(Failure::Distrust(format!(
            "the history is not the recorded one: the witness has digest {}, this run {digest}; another build of onceproof recorded it, or the file was changed",
            witness.digest
        )));
    }
    let wanted = rule.or(witness.violations.first().map(|v| v.rule.as_str()));
    let found = seen.findings.iter().find(|finding| wanted.is_none_or(|rule| finding.rule == rule));
    let found = found.ok_or_else(|| {
        let broken: Vec<&str> = seen.findings.iter().map(|finding| finding.rule).collect();
        match (broken.is_empty(), wanted) {
            (false, Some(rule)) => in_file(&format!("its run does not break `{rule}`; it breaks {}", broken.join(", "))),
            _ => in_file(&"its run breaks nothing, so there is nothing to shrink"),
        }
    })?;
    Ok(Target { strategy, engine: witness.engine, class: witness.faults, mark: found.mark, rule: found.rule.to_owned() })
}

/// The last word has a process that has run nothing else.
fn replays(file: &Path, smaller: &Smaller) -> Result<(), Failure> {
    let distrust = |why: String| Failure::Distrust(format!("the shrunk run does not repeat in a new process: {why}"));
    let program = std::env::current_exe().map_err(|e| distrust(e.to_string()))?;
    let replayed =
        Command::new(program).args(["replay", "--no-page"]).arg(file).stdin(Stdio::null()).output().map_err(|e| distrust(e.to_string()))?;
    match replayed.status.code() {
        Some(0) => Ok(()),
        // Ctrl-C reaches the whole group of processes.
        _ if CANCELLED.load(Ordering::SeqCst) => Err(Failure::Interrupted),
        code => {
            let told = String::from_utf8_lossy(&replayed.stderr).trim().to_owned();
            Err(distrust(format!("`replay` of digest {} ended with {code:?}: {told}", smaller.after.digest)))
        }
    }
}

fn failure(failed: &Failed) -> Failure {
    match failed {
        Failed::Cancelled => Failure::Interrupted,
        Failed::NotBroken(_) | Failed::Flaky { .. } | Failed::Bug(_) => Failure::Distrust(failed.to_string()),
    }
}

fn unwritable(place: &Path, why: &std::io::Error) -> Failure {
    Failure::Usage(format!("cannot write {}: {why}; choose another place with --out", place.display()))
}
