//! `onceproof report`: a reports folder as pages, or as text for CI, from the JSON files in it.

use crate::cli::exit::Failure;
use crate::cli::{CANCELLED, Exit, format, input, listen_for_interrupts, out};
use crate::page::source::{Document, Sources, Throughput, Verdicts, document};
use crate::page::{self, INDEX};
use crate::report::files::{Folder, VERDICTS};
use crate::report::twin::Twin;
use crate::report::words::{quoted, thousands};
use clap::{Args, ValueEnum};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// Where criterion leaves what it measured, unless told otherwise.
const CRITERION: &str = "target/criterion";

/// Where its measurements are kept, in the reports folder.
const THROUGHPUT: &str = "throughput.json";

/// Which folder, and as what.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  onceproof report                               reports/index.html, reports/witnesses/*.html
  onceproof report old-reports                   of another folder, also of an older version
  onceproof report --format junit >junit.xml     a test case for each cell of verdicts.json
  onceproof report --format markdown >>\"$GITHUB_STEP_SUMMARY\"
  onceproof report --criterion target/criterion  with throughput, as criterion measured it

Exit codes:
  0  written, or printed; what the verdicts say changes nothing
  2  wrong usage, a file is missing or cannot be read, or the output cannot be written; every page is as it was
  130  interrupted; every page is as it was")]
pub struct ReportArgs {
    /// The reports folder
    #[arg(value_name = "DIR", default_value = "reports")]
    reports: PathBuf,
    /// html (pages in the folder), or what to print of verdicts.json: junit, markdown or json
    #[arg(long, value_name = "FORMAT", default_value = "html", hide_possible_values = true)]
    format: Form,
    /// What criterion has measured, for throughput.json [default: target/criterion, if it is there]
    #[arg(long, value_name = "DIR")]
    criterion: Option<PathBuf>,
}

/// As what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    Html,
    Junit,
    Markdown,
    Json,
}

/// Reports.
pub fn run(args: &ReportArgs) -> Result<Exit, Failure> {
    match fs::metadata(&args.reports) {
        Err(e) => return Err(Failure::Usage(format!("cannot read {}: {e}; {}", args.reports.display(), first(&args.reports)))),
        Ok(found) if !found.is_dir() => {
            return Err(Failure::Usage(format!("{} is no folder; write the name of a reports folder", args.reports.display())));
        }
        Ok(_) => {}
    }
    if args.format == Form::Html {
        return pages(args);
    }
    if args.criterion.is_some() {
        return Err(Failure::usage("--criterion brings measurements to the pages; leave --format out, or --criterion"));
    }
    let text = text(&args.reports, VERDICTS)?;
    let verdicts: Verdicts = read(&args.reports, VERDICTS, &text)?;
    out::print(&match args.format {
        Form::Junit => format::junit(&verdicts, &args.reports),
        Form::Markdown => format::markdown(&verdicts, &args.reports),
        Form::Json | Form::Html => text,
    })?;
    Ok(Exit::AsExpected)
}

/// All pages are made before the first is replaced.
fn pages(args: &ReportArgs) -> Result<Exit, Failure> {
    let reports = &args.reports;
    listen_for_interrupts();
    let folder = Folder::open(reports).map_err(|e| Failure::Usage(e.bare()))?;
    let mut files: Vec<(String, String)> = measured(args.criterion.as_deref())?.into_iter().collect();
    let runs = runs(reports)?;
    let written = runs.len() + 1;
    files.extend(runs);
    let sources = Sources::of(reports, &files);
    if !sources.unreadable.is_empty() {
        let told = sources.unreadable.iter().map(|(name, why)| format!("{}: {why}", reports.join(name).display()));
        return Err(Failure::Usage(told.collect::<Vec<_>>().join("; ")));
    }
    if sources.is_empty() && sources.pages.is_empty() {
        return Err(Failure::Usage(format!(
            "nothing to report: there is no JSON file of onceproof in {}; {}",
            reports.display(),
            first(reports)
        )));
    }
    files.push((INDEX.to_owned(), page::index(&sources)));
    go_on()?;
    folder.replace(&files, &[]).map_err(|e| Failure::Usage(e.bare()))?;
    out::print(&told(reports, written, files.iter().any(|(name, _)| name == THROUGHPUT)))?;
    Ok(Exit::AsExpected)
}

/// Nothing has been written yet, and nothing is if somebody has interrupted.
fn go_on() -> Result<(), Failure> {
    if CANCELLED.load(Ordering::SeqCst) { Err(Failure::Interrupted) } else { Ok(()) }
}

fn told(reports: &Path, written: usize, measured: bool) -> String {
    let place = |name: &str| reports.join(name).display().to_string();
    let runs = match written - 1 {
        0 => String::new(),
        n => format!(
            ", and {} in {}",
            if n == 1 { "1 page of a run".to_owned() } else { format!("{} pages of runs", thousands(n as u64)) },
            place("witnesses")
        ),
    };
    let measured = if measured { format!(", with measurements in {}", place(THROUGHPUT)) } else { String::new() };
    format!("written: {}{runs}{measured}\n", place(INDEX))
}

/// What to do in a folder in which there is nothing.
fn first(reports: &Path) -> String {
    format!("run `onceproof verify --reports {}` first", quoted(&reports.display().to_string()))
}

/// The page of each run that has a JSON file.
fn runs(reports: &Path) -> Result<Vec<(String, String)>, Failure> {
    let unreadable = |e: std::io::Error| Failure::Usage(format!("cannot read {}: {e}", reports.join("witnesses").display()));
    let entries = match fs::read_dir(reports.join("witnesses")) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(unreadable)?,
    };
    let mut stems = Vec::new();
    for entry in entries {
        let name = entry.map_err(unreadable)?.file_name();
        let stem = name.to_str().and_then(|name| name.strip_suffix(".json")).filter(|stem| !stem.starts_with('.'));
        stems.extend(stem.map(str::to_owned));
    }
    stems.sort_unstable();
    let page = |stem: String| {
        go_on()?;
        let name = format!("witnesses/{stem}.json");
        let twin: Twin = read(reports, &name, &text(reports, &name)?)?;
        Ok((format!("witnesses/{stem}.html"), page::run(&twin)))
    };
    stems.into_iter().map(page).collect()
}

fn text(reports: &Path, name: &str) -> Result<String, Failure> {
    let path = reports.join(name);
    if !path.exists() {
        return Err(Failure::Usage(format!("nothing to report: there is no {}; {}", path.display(), first(reports))));
    }
    input::read(&path, "JSON", format::LONGEST)
}

fn read<D: Document>(reports: &Path, name: &str, text: &str) -> Result<D, Failure> {
    document::read(text).map_err(|why| Failure::Usage(format!("{}: {why}", reports.join(name).display())))
}

/// What criterion measured, as a file of the folder: none if nobody asked and nothing is there.
fn measured(criterion: Option<&Path>) -> Result<Option<(String, String)>, Failure> {
    let folder = criterion.unwrap_or(Path::new(CRITERION));
    if criterion.is_none() && !folder.is_dir() {
        return Ok(None);
    }
    let again = "run `cargo bench --bench contention` first, or name another folder with --criterion DIR";
    let found = Throughput::from_criterion(&folder.join("contention"))
        .map_err(|e| Failure::Usage(format!("cannot read {}: {e}; {again}", folder.display())))?;
    match found {
        None if criterion.is_some() => Err(Failure::Usage(format!("no measurements of contention in {}; {again}", folder.display()))),
        found => found.map(|found| Ok((THROUGHPUT.to_owned(), json(&found)?))).transpose(),
    }
}

fn json(measured: &Throughput) -> Result<String, Failure> {
    serde_json::to_string_pretty(measured).map(|text| text + "\n").map_err(Failure::usage)
}
