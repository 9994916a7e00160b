//! Incidents as text and as JSON: the list, and one incident with its run, what broke in it,
//! and the same run with the fix.

use crate::explore::Observed;
use crate::explore::witness::Expected;
use crate::incident::{Incident, Staged, Unexpressed};
use crate::report::paint::{ALARM, FAINT, GOOD, STRONG, paint};
use crate::report::words::{self, count, wrap};
use crate::report::{knobs, story};
use crate::scenario::Scenario;
use serde::Serialize;
use std::fmt::Write;

/// An incident that was run.
pub struct Rerun<'a> {
    /// The report.
    pub incident: &'a Incident,
    /// Its run, and what was seen.
    pub broken: (&'a Staged, &'a Observed),
    /// The same with the fix.
    pub fixed: (&'a Staged, &'a Observed),
}

impl Rerun<'_> {
    /// What is not as the incident says, if anything is not.
    #[must_use]
    pub fn surprise(&self) -> Option<String> {
        let Incident { breaks, .. } = self.incident;
        let (seen, mended) = (self.broken.1, self.fixed.1);
        let broke = |seen: &Observed| seen.findings.iter().map(|finding| finding.rule).collect::<Vec<_>>().join(", ");
        if !seen.findings.iter().any(|finding| finding.rule == breaks) {
            let what = if seen.findings.is_empty() { "nothing".to_owned() } else { broke(seen) };
            return Some(format!("{breaks} should break, and {what} broke"));
        }
        if !seen.felt {
            return Some("nobody noticed its faults".to_owned());
        }
        if !mended.findings.is_empty() {
            return Some(format!("with the fix {} broke", broke(mended)));
        }
        (!mended.felt).then(|| "with the fix nobody noticed the faults".to_owned())
    }
}

/// All incidents, a line each, and those that are not reproduced.
pub fn list(incidents: &[Incident], rest: &[Unexpressed], width: usize) -> String {
    let mut out = format!("{}  {}\n", paint(STRONG, "Incidents"), paint(FAINT, "onceproof incident ID tells one"));
    for incident in incidents {
        let strategy = incident.deployment().map_or_else(|what| what, |scenario| scenario.strategy);
        let told =
            format!("{}: {} ({strategy} breaks {}; evidence {:?})", incident.source, incident.title, incident.breaks, incident.evidence);
        row(&mut out, &incident.id, &incident.damage.to_string(), &told, width);
    }
    if !rest.is_empty() {
        let _ = writeln!(out, "\n{}", paint(STRONG, "Not reproduced, and why"));
        for report in rest {
            row(&mut out, &report.id, &report.damage.to_string(), &format!("{}: {}", report.source, report.reason), width);
        }
    }
    let _ = writeln!(out, "\n{} reproduced, {} not", count(incidents.len(), "report"), rest.len());
    out
}

fn row(out: &mut String, id: &str, damage: &str, told: &str, width: usize) {
    const LEAD: usize = 2 + 5 + 12;
    for (n, line) in wrap(told, width.saturating_sub(LEAD).max(24)).into_iter().enumerate() {
        let lead = if n == 0 { format!("  {}{damage:12}", paint(STRONG, &format!("{id:5}"))) } else { " ".repeat(LEAD) };
        let _ = writeln!(out, "{}", format!("{lead}{line}").trim_end());
    }
}

/// One incident as a story.
pub fn tell(run: &Rerun<'_>, with_fix: bool, width: usize) -> String {
    let Incident { id, source, title, happened, here, fix, .. } = run.incident;
    let mut out = String::new();
    say(&mut out, &format!("{id}: {title}"), width);
    say(&mut out, &format!("{source}, {}, evidence {:?}", run.incident.damage, run.incident.evidence), width);
    out.push('\n');
    say(&mut out, &format!("Reported: {happened}"), width);
    say(&mut out, &format!("Here: {here}"), width);
    told(&mut out, run.broken, width);
    out.push('\n');
    say(&mut out, &format!("The fix: {}", fix.what), width);
    if let Some(why) = &fix.other_plan {
        let faults: Vec<String> = run.fixed.0.plan.faults.iter().map(words::fault).collect();
        say(&mut out, &format!("Tried under the corresponding faults, for {why}: {}", faults.join("; ")), width);
    }
    if with_fix {
        told(&mut out, run.fixed, width);
    } else {
        let faults = if fix.other_plan.is_some() { "under the corresponding faults" } else { "under the same faults" };
        say(&mut out, &format!("With {}, {faults}: {}", deployed(run.fixed.0), came_of(run.fixed.1)), width);
        for line in wrap(&format!("`onceproof incident {id} --fixed` tells that run too"), width) {
            let _ = writeln!(out, "{}", paint(FAINT, &line));
        }
    }
    out
}

/// A report that is not reproduced.
pub fn tell_unexpressed(report: &Unexpressed, width: usize) -> String {
    let Unexpressed { id, source, title, damage, evidence, reason, .. } = report;
    let mut out = String::new();
    say(&mut out, &format!("{id}: {title}"), width);
    say(&mut out, &format!("{source}, {damage}, evidence {evidence:?}"), width);
    out.push('\n');
    say(&mut out, &format!("Not reproduced: {reason}"), width);
    out
}

/// The same as JSON.
///
/// # Panics
/// Never: everything in it can be written as JSON.
pub fn unexpressed_json(report: &Unexpressed) -> String {
    serde_json::to_string_pretty(report).expect("a report has only values that JSON knows") + "\n"
}

fn say(out: &mut String, text: &str, width: usize) {
    for line in wrap(text, width) {
        let _ = writeln!(out, "{line}");
    }
}

fn deployed(staged: &Staged) -> String {
    let scenario = staged.deployment.scenario();
    scenario.database.rules.label(&scenario.strategy)
}

fn came_of(seen: &Observed) -> String {
    match seen.findings.first() {
        None => format!("{} nothing broke", paint(GOOD, "✓")),
        Some(finding) => format!("{} {} broke: {}", paint(ALARM, "✗"), finding.rule, finding.what),
    }
}

/// A run: what is deployed, what goes wrong, and what happened.
fn told(out: &mut String, (staged, seen): (&Staged, &Observed), width: usize) {
    let (scenario, calendar) = (staged.deployment.scenario(), staged.deployment.calendar());
    let _ = writeln!(out, "\n{} with {}", paint(STRONG, &deployed(staged)), count(usize::from(scenario.nodes), "node"));
    let usual = Scenario::on(&scenario.strategy, scenario.database.rules).of_one_period();
    for line in knobs::told(&knobs::drawn(scenario, &usual), width) {
        let _ = writeln!(out, "{line}");
    }
    for line in story::story(seen, &staged.plan, calendar, scenario.nodes, width) {
        let _ = writeln!(out, "{line}");
    }
}

#[derive(Serialize)]
struct Told<'a> {
    id: &'a str,
    source: &'a str,
    title: &'a str,
    damage: crate::incident::Damage,
    evidence: crate::incident::Evidence,
    knobs: &'a [String],
    happened: &'a str,
    here: &'a str,
    breaks: &'a str,
    fix: &'a str,
    /// Why the fix is tried under the corresponding faults, if it is not under the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    corresponding_faults: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<RunRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fixed: Option<RunRow>,
}

#[derive(Serialize)]
struct RunRow {
    scenario: Scenario,
    plan: Vec<String>,
    digest: String,
    felt: bool,
    broken: Vec<Expected>,
}

impl RunRow {
    fn of((staged, seen): (&Staged, &Observed)) -> RunRow {
        RunRow {
            scenario: staged.deployment.scenario().clone(),
            plan: staged.plan.faults.iter().map(words::fault).collect(),
            digest: seen.run.trace.digest().to_string(),
            felt: seen.felt,
            broken: seen.findings.iter().map(Expected::from).collect(),
        }
    }
}

impl<'a> Told<'a> {
    fn of(incident: &'a Incident) -> Told<'a> {
        let Incident { id, source, title, damage, evidence, knobs, happened, here, breaks, fix, .. } = incident;
        Told {
            id,
            source,
            title,
            damage: *damage,
            evidence: *evidence,
            knobs,
            happened,
            here,
            breaks,
            fix: &fix.what,
            corresponding_faults: fix.other_plan.as_deref(),
            run: None,
            fixed: None,
        }
    }
}

/// One incident as JSON.
///
/// # Panics
/// Never: everything in it can be written as JSON.
pub fn json(run: &Rerun<'_>) -> String {
    let told = Told { run: Some(RunRow::of(run.broken)), fixed: Some(RunRow::of(run.fixed)), ..Told::of(run.incident) };
    serde_json::to_string_pretty(&told).expect("an incident has only values that JSON knows") + "\n"
}

/// The list as JSON.
///
/// # Panics
/// Never: everything in it can be written as JSON.
pub fn list_json(incidents: &[Incident], rest: &[Unexpressed]) -> String {
    #[derive(Serialize)]
    struct List<'a> {
        format: u32,
        reproduced: Vec<Told<'a>>,
        not_reproduced: &'a [Unexpressed],
    }
    let list = List { format: 1, reproduced: incidents.iter().map(Told::of).collect(), not_reproduced: rest };
    serde_json::to_string_pretty(&list).expect("a list has only values that JSON knows") + "\n"
}
