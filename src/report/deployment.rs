//! A described deployment, for people and for programs: what its file says about itself, what its
//! runs came to, the runs that broke it, and what would have to be different.

mod advice;
mod json;

pub use json::{FORMAT, checks_json, json};

use crate::class::FaultClass;
use crate::deployment_file::checks::{Check, Severity};
use crate::deployment_file::{DeploymentFile, checks};
use crate::explore::advice::{Advice, Trial};
use crate::explore::{Cell, Mark, Witness};
use crate::plan::duration;
use crate::profile::Profile;
use crate::report::paint::{ALARM, BROKEN, FAINT, GOOD, Painted, STRONG, UNSURE, paint};
use crate::report::words::{count, percent, quoted, thousands, wrap};
use crate::trace::Digest;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Everything that is known about it.
pub struct Outcome<'a> {
    /// The file.
    pub file: &'a DeploymentFile,
    /// What it says about itself.
    pub checks: Vec<Check>,
    /// What its runs came to, a cell for each class.
    pub cells: Vec<Cell>,
    /// The runs that broke it: the class, the file in the reports folder, the run.
    pub witnesses: Vec<(FaultClass, String, Witness)>,
    /// What would have to be different, tried.
    pub advice: Vec<(Advice, Vec<Trial>)>,
    /// Runs that were made a second time and told the same history.
    pub certified: usize,
}

impl Outcome<'_> {
    /// What broke, and under which class; what is broken without any fault is told once.
    pub fn broken(&self) -> Vec<(FaultClass, Mark)> {
        self.cells.iter().flat_map(|cell| cell.own().map(move |mark| (cell.class, mark))).collect()
    }

    /// What broke under a class, or without any fault.
    pub fn broken_under(&self, class: FaultClass) -> BTreeSet<Mark> {
        let cells = self.cells.iter().filter(|cell| cell.class == class || cell.class == FaultClass::Calm);
        cells.flat_map(|cell| cell.tally.broken.keys().copied()).collect()
    }

    /// Whether everything held, and was felt often enough to say so.
    pub fn holds(&self) -> bool {
        self.cells.iter().all(|cell| cell.own().next().is_none() && !undecided(cell))
    }
}

/// Nothing broke, and too little was felt to call that holding.
fn undecided(cell: &Cell) -> bool {
    cell.undecided() || cell.misses.is_none() && cell.own().next().is_none() && cell.blind()
}

/// Where the outcome is, in the reports folder. `stem` is what all its reports are called by.
pub fn name(stem: &str) -> String {
    format!("{stem}.json")
}

/// What is deployed, and what is going to be done with it.
pub fn announced(file: &DeploymentFile, width: usize) -> String {
    let scenario = &file.scenario;
    let job = match &scenario.job_lengths {
        None => duration::text(scenario.node.work),
        Some(job) => format!("{} (p50) to {} (longest)", duration::text(job.p50), duration::text(job.max)),
    };
    let head = format!(
        "{}: {} on {}, {}, a job of {job}; base seed {}, {}, {} each",
        file.file,
        file.guard.name(),
        count(scenario.nodes.into(), "node"),
        scenario.database.rules.short(),
        file.seed,
        count(file.classes.len(), "fault class"),
        count(file.seeds as usize, "seed"),
    );
    let model = file.profile.map(|profile| modelled(profile, file.guard.name()));
    let lines = [head].into_iter().chain(model).flat_map(|text| wrap(&text, width));
    lines.map(|line| line + "\n").collect::<String>() + "\n"
}

/// Whose mechanism is run, and that it is a model of it.
pub fn modelled(profile: &Profile, guard: &str) -> String {
    format!("profile {}: our model of {}, run as {guard}; what is said here is said of the model", profile.name, profile.about)
}

/// The text of a witness of this file.
pub fn witness_text(file: &DeploymentFile, witness: &Witness) -> String {
    let model = file.profile.map(|profile| format!("# {}.\n", modelled(profile, file.guard.name())));
    model.unwrap_or_default() + &witness.to_toml()
}

/// What tells one file's text from another's.
pub fn digest(file: &DeploymentFile) -> String {
    Digest::of_text(file.text()).to_string()
}

/// What a report in the same place is of, if it is of another file, or another text: the name of that file.
pub fn of_another(file: &DeploymentFile, kept: &str) -> Option<String> {
    let kept: serde_json::Value = serde_json::from_str(kept).ok()?;
    let text = |key: &str| kept.get(key).and_then(serde_json::Value::as_str);
    let same = text("file") == Some(file.file.as_str()) && text("digest") == Some(digest(file).as_str());
    let name = text("file").unwrap_or("another file");
    (!same).then(|| if name == file.file { format!("an earlier {name}, or another file of that name") } else { name.to_owned() })
}

/// What the file says about itself; nothing, if there is nothing to say.
pub fn checked(file: &DeploymentFile, found: &[Check], width: usize) -> String {
    let mut out = String::new();
    if found.is_empty() {
        return out;
    }
    let _ = writeln!(out, "{}", paint(STRONG, "What the file says about itself"));
    for check in found {
        let style = match check.severity {
            Severity::Danger => BROKEN,
            Severity::Warning => UNSURE,
            Severity::Note => FAINT,
        };
        let place = match &check.place {
            Some(place) => format!("{}:{}", file.file, place.line),
            None => format!("{} (not in the file)", check.key),
        };
        let _ = writeln!(out, "  {}  {}  {}", paint(style, check.severity.name()), paint(STRONG, check.name), paint(FAINT, &place));
        for line in
            wrap(&check.what, width.saturating_sub(4)).into_iter().chain(wrap(&format!("→ {}", check.cure), width.saturating_sub(4)))
        {
            let _ = writeln!(out, "    {line}");
        }
    }
    out.push('\n');
    out
}

/// All that can be said about it after it was run.
pub fn concluded(outcome: &Outcome<'_>, reports: &str, width: usize) -> String {
    let mut out = verdicts(outcome, width);
    out.push_str(&witnesses(outcome, reports, width));
    out.push_str(&advice::told(outcome, width));
    out.push_str(&summary(outcome, width));
    out
}

/// A line for each class: what broke, in how many runs, and what "holds" is worth.
fn verdicts(outcome: &Outcome<'_>, width: usize) -> String {
    let mut out = String::new();
    let names = outcome.cells.iter().map(|cell| cell.class.name().len()).max().unwrap_or(0).max("fault".len());
    let words: Vec<Painted> = outcome.cells.iter().map(word).collect();
    let verdict = words.iter().map(Painted::width).max().unwrap_or(0).max("verdict".len());
    let head = format!("{:names$}  {:verdict$}  {:>7}  {:>7}  worth", "fault", "verdict", "runs", "felt");
    let _ = writeln!(out, "{}", paint(FAINT, &head));
    let left = names + verdict + 22;
    for (cell, word) in outcome.cells.iter().zip(words) {
        let (runs, felt) = (cell.tally.runs + cell.tally.apart.runs, cell.tally.felt + cell.tally.apart.felt);
        let (runs, felt) = if cell.misses.is_some() { (String::new(), String::new()) } else { (thousands(runs), thousands(felt)) };
        let worth = wrap(&worth(cell), width.saturating_sub(left).max(24));
        let first = worth.first().map_or("", String::as_str);
        let _ = writeln!(out, "{:names$}  {}  {runs:>7}  {felt:>7}  {first}", cell.class.name(), word.padded(verdict));
        for line in worth.iter().skip(1) {
            let _ = writeln!(out, "{}{line}", " ".repeat(left));
        }
    }
    let marks: BTreeSet<Mark> = outcome.cells.iter().flat_map(|cell| cell.tally.broken.keys().copied()).collect();
    if !marks.is_empty() {
        let legend: Vec<String> = marks.iter().map(|mark| format!("{mark} {}", mark.meaning())).collect();
        out.push('\n');
        let anyway =
            if outcome.cells.iter().any(|cell| !cell.inherited.is_empty()) { "; in parentheses: without any fault already" } else { "" };
        out.extend(wrap(&format!("{}{anyway}", legend.join(", ")), width).iter().map(|line| paint(FAINT, line) + "\n"));
    }
    out.push('\n');
    out
}

/// A cell's verdict.
fn word(cell: &Cell) -> Painted {
    let text = |marks: &mut dyn Iterator<Item = Mark>| marks.map(|mark| mark.to_string()).collect::<Vec<_>>().join(" ");
    let own = text(&mut cell.own());
    let painted = match (cell.misses, own.as_str()) {
        (Some(_), _) => Painted::default().and(FAINT, "–"),
        (None, "") if undecided(cell) => Painted::default().and(UNSURE, "undecided"),
        (None, "") => Painted::default().and(GOOD, "holds"),
        (None, own) => Painted::default().and(ALARM, own),
    };
    match text(&mut cell.inherited.iter().copied()).as_str() {
        "" => painted,
        inherited => painted.and(FAINT, &format!(" ({inherited})")),
    }
}

/// What a verdict is worth.
fn worth(cell: &Cell) -> String {
    if let Some(why) = cell.misses {
        return why.to_owned();
    }
    let rates: Vec<String> = cell
        .own()
        .map(|mark| {
            let broken = &cell.tally.broken[&mark];
            match cell.rate(mark) {
                Some(rate) if broken.runs > 0 => {
                    format!("{mark} in {} ({} to {} of all)", count(broken.runs as usize, "run"), percent(rate.lower), percent(rate.upper))
                }
                _ if broken.apart > 0 => format!("{mark} in {}", count(broken.apart as usize, "run")),
                _ => format!("{mark} in the run that its guard is known to break in, and in no drawn one"),
            }
        })
        .collect();
    match (rates.is_empty(), cell.upper_bound()) {
        (false, _) => rates.join(", "),
        (true, _) if undecided(cell) => {
            format!("{} would have to feel it to say anything; more seeds, or a longer job, may help", count(cell.needed as usize, "run"))
        }
        (true, Some(bound)) => format!("fewer than {} of runs break it", percent(bound)),
        (true, None) => "complete: every one of them was tried".to_owned(),
    }
}

/// The runs that broke it, each as a sentence and a command.
fn witnesses(outcome: &Outcome<'_>, reports: &str, width: usize) -> String {
    let mut out = String::new();
    if outcome.witnesses.is_empty() {
        return out;
    }
    let _ = writeln!(out, "{}", paint(STRONG, "What happened"));
    for (class, name, witness) in &outcome.witnesses {
        let rules: Vec<&str> = witness.violations.iter().map(|broken| broken.rule.as_str()).collect();
        let said = if witness.sentence.is_empty() { format!("{} broke", rules.join(", ")) } else { witness.sentence.clone() };
        let _ = writeln!(out, "  {}", paint(STRONG, class.name()));
        let file = quoted(&format!("{}/{name}", reports.trim_end_matches('/')));
        for line in wrap(&said, width.saturating_sub(4)) {
            let _ = writeln!(out, "    {line}");
        }
        let _ = writeln!(out, "    {}", paint(FAINT, &format!("onceproof replay {file}")));
    }
    out.push('\n');
    out
}

/// The last lines.
fn summary(outcome: &Outcome<'_>, width: usize) -> String {
    let file = outcome.file;
    let struck: Vec<&Cell> = outcome.cells.iter().filter(|cell| cell.misses.is_none()).collect();
    let broken = struck.iter().filter(|cell| cell.own().next().is_some()).count();
    let open: Vec<&str> = struck.iter().filter(|cell| undecided(cell)).map(|cell| cell.class.name()).collect();
    let worst = struck.iter().filter_map(|cell| cell.upper_bound()).fold(0.0, f64::max);
    let (style, text) = match (broken, open.is_empty()) {
        (0, true) => (
            GOOD,
            format!(
                "{} holds under {}: in each, with 95 % confidence, fewer than {} of runs break it",
                file.file,
                count(struck.len(), "fault class"),
                percent(worst)
            ),
        ),
        (0, false) => (UNSURE, format!("{}: nothing broke, and too little was felt to say more about {}", file.file, open.join(", "))),
        (n, _) => (BROKEN, format!("{} breaks under {n} of {}", file.file, count(struck.len(), "fault class"))),
    };
    wrap(&text, width).iter().map(|line| paint(style, line) + "\n").collect()
}

/// What a file says about itself.
pub fn checks_of(file: &DeploymentFile) -> Vec<Check> {
    checks::checks(file)
}
