//! One run as a story in true time: a lane for each node with the time that the node believes
//! it is, between them what the servers say, faults in line with whether they were felt, and
//! what broke at the end.
//!
//! Told are *beats*: things worth a line (`beats`). What happens a hundred times and means
//! nothing (polls that find the lease taken, renewals, heartbeats, earnings) is gathered into
//! one line (`quiet`). Where lanes do not fit, every beat becomes a line of a plain list.

pub(in crate::report) mod attempts;
pub(in crate::report) mod beats;
pub(in crate::report) mod clocks;
mod commit;
mod lanes;
mod quiet;
mod records;

pub use records::records;

use crate::explore::Observed;
use crate::plan::FaultPlan;
use crate::report::paint::{ALARM, FAINT, GOOD, UNSURE, paint};
use crate::report::words::{self, wrap};
use crate::settlement::Calendar;
use crate::time::SimTime;
use beats::{Beat, Voice};
use lanes::Page;

/// How many reasons why attempts failed are told.
const COMPLAINTS: usize = 5;

/// Lines of text, with colours, of at most `width` columns.
pub fn story(seen: &Observed, plan: &FaultPlan, calendar: &Calendar, nodes: u8, width: usize) -> Vec<String> {
    noted(seen, plan, calendar, nodes, width, None)
}

/// As [`story`], with a note behind what happened up to a time.
pub fn noted(
    seen: &Observed,
    plan: &FaultPlan,
    calendar: &Calendar,
    nodes: u8,
    width: usize,
    note: Option<(SimTime, String)>,
) -> Vec<String> {
    let mut page = Page::new(calendar, nodes, width);
    let until = seen.findings.iter().map(|f| f.at).max().unwrap_or(seen.run.ended_at);
    let (mut told, rest): (Vec<_>, Vec<_>) = beats::beats(&seen.run, plan, nodes).into_iter().partition(|beat| beat.at <= until);
    if let Some((at, text)) = note {
        let place = told.partition_point(|beat| beat.at <= at);
        told.insert(place, Beat { at, voice: Voice::Note, text });
    }
    let mut lines = page.head(&seen.run.trace);
    for beat in &told {
        lines.extend(page.beat(beat));
    }
    if !rest.is_empty() {
        let more = format!("… {} until {}", words::count(rest.len(), "more line"), local(calendar, seen.run.ended_at));
        lines.push(paint(FAINT, &more));
    }
    lines.push(String::new());
    lines.extend(ending(seen, plan, calendar, width));
    lines
}

/// What came of it: faults that never struck, excuses, why attempts failed, and last what broke.
fn ending(seen: &Observed, plan: &FaultPlan, calendar: &Calendar, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut tell = |style, sign: &str, text: &str| {
        for (n, line) in wrap(text, width.saturating_sub(2)).into_iter().enumerate() {
            lines.push(if n == 0 { format!("{} {line}", paint(style, sign)) } else { format!("  {line}") });
        }
    };
    for (n, (fault, receipt)) in plan.faults.iter().zip(&seen.run.receipts).enumerate() {
        if receipt.fired.is_none() {
            tell(UNSURE, "?", &format!("fault {n} never struck: {}", words::fault(fault)));
        }
    }
    for (id, why) in &seen.excuses {
        tell(UNSURE, "~", &format!("{id} excused: {why}"));
    }
    let complaints = &seen.run.complaints;
    for (attempt, why) in complaints.iter().take(COMPLAINTS) {
        tell(FAINT, "·", &format!("{attempt} failed: {}", words::one_line(why)));
    }
    if complaints.len() > COMPLAINTS {
        tell(FAINT, "·", &format!("{} why attempts failed", words::count(complaints.len() - COMPLAINTS, "more reason")));
    }
    for finding in &seen.findings {
        tell(ALARM, "✗", &format!("{} broke at {}: {}", finding.rule, local(calendar, finding.at), finding.what));
    }
    if seen.findings.is_empty() {
        tell(GOOD, "✓", "nothing broke");
    }
    lines
}

/// True time in the scenario's zone: `2026-01-10 00:00:03.412`.
pub fn local(calendar: &Calendar, at: SimTime) -> String {
    calendar.shows(at)
}

#[cfg(test)]
mod tests;
