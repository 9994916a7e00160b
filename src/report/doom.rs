//! From when on a run was doomed: as a note in its story, as a table, as JSON.

use crate::explore::doomed::{Doom, Moment};
use crate::explore::{Finding, Observed};
use crate::report::paint::{ALARM, FAINT, STRONG, paint};
use crate::report::words::{fit, wrap};
use crate::settlement::Calendar;
use crate::time::SimTime;
use serde::Serialize;

/// The moment in the story, if there is one.
pub fn note(finding: &Finding, doom: &Doom) -> Option<(SimTime, String)> {
    let from = doom.from?;
    Some((from.at, format!("doomed: from here on {} of {} continuations break {}", from.broke, doom.tries, finding.rule)))
}

/// The moments at which the share changes, with what had just happened.
pub fn table(finding: &Finding, doom: &Doom, seen: &Observed, calendar: &Calendar, width: usize) -> Vec<String> {
    let head = format!(
        "{} broke in so many of {} continuations with other luck, and without the faults that had not struck by then, begun after:",
        finding.rule, doom.tries
    );
    let mut lines = vec![String::new()];
    lines.extend(wrap(&head, width).into_iter().map(|line| paint(STRONG, &line)));
    let mut last = None;
    for moment in &doom.moments {
        let is_doom = doom.from == Some(*moment);
        if last == Some(moment.broke) && !is_doom {
            continue;
        }
        last = Some(moment.broke);
        let line = fit(&format!("  {}  {:>3}  {}", calendar.shows(moment.at), moment.broke, event(moment, seen)), width);
        lines.push(if is_doom { paint(ALARM, &line) } else { line });
    }
    if doom.from.is_none() {
        lines.push(paint(FAINT, "  it was never certain before it happened"));
    }
    lines
}

fn event(moment: &Moment, seen: &Observed) -> String {
    moment.after.map_or("the beginning".to_owned(), |n| seen.run.trace.records()[n].event.to_string())
}

/// The same for programs.
#[derive(Serialize)]
pub struct Row<'a> {
    rule: &'a str,
    tries: u64,
    from_ms: Option<u64>,
    moments: Vec<MomentRow>,
}

#[derive(Serialize)]
struct MomentRow {
    at_ms: u64,
    after_record: Option<usize>,
    broke: u64,
}

/// What [`Row`] says.
pub fn row<'a>(finding: &'a Finding, doom: &Doom) -> Row<'a> {
    let moment = |m: &Moment| MomentRow { at_ms: m.at.0, after_record: m.after, broke: m.broke };
    Row { rule: finding.rule, tries: doom.tries, from_ms: doom.from.map(|m| m.at.0), moments: doom.moments.iter().map(moment).collect() }
}
