//! The story of a run: a line for each event, in order.

use crate::page::witness::axis::Axis;
use crate::page::witness::lanes::px;
use crate::page::witness::stamp::{Stamps, length};
use crate::page::witness::words;
use crate::report::twin::{Beat, Kind, Tick, Twin};
use crate::report::words::thousands;
use maud::{Markup, html};
use std::collections::BTreeSet;

/// Lines of a story, at most.
pub const MOST: usize = 3000;

/// A line of the story.
#[derive(Debug)]
struct Line<'a> {
    at_ms: u64,
    voice: &'a str,
    text: String,
    believed: Option<i64>,
    wrong: bool,
    /// Whether the run is kept for this.
    kept: bool,
}

/// The story as an ordered list. `x` of each line is where it is in the picture.
pub fn list(twin: &Twin, stamps: &Stamps, axis: &Axis) -> Markup {
    let (lines, left_out) = lines(twin);
    let times = times(&lines, stamps);
    html! {
        @if left_out > 0 {
            p .soft { (thousands(left_out as u64)) " lines are left out here, far from what broke." }
        }
        ol .story tabindex="0" aria-label="The story" {
            @for (line, time) in lines.iter().zip(&times) {
                li data-t=(line.at_ms) data-x=(px(axis.x(line.at_ms))) data-wrong[line.wrong] data-kept[line.kept] {
                    time { (time) }
                    b { (line.voice) }
                    span { (words::coded(&line.text)) }
                    @if let Some(unix) = line.believed.filter(|_| stamps.are_known()) { i { (stamps.time_at(unix)) } }
                }
            }
        }
    }
}

/// The time of each line, with its date where that is another than before.
fn times(lines: &[Line], stamps: &Stamps) -> Vec<String> {
    let mut date = String::new();
    let time = |line: &Line| {
        let today = stamps.date(line.at_ms);
        let text = if today == date { stamps.time(line.at_ms) } else { stamps.full(line.at_ms) };
        date = today;
        text
    };
    lines.iter().map(time).collect()
}

/// Lines in order, and how many are left out.
fn lines(twin: &Twin) -> (Vec<Line<'_>>, usize) {
    let mut lines: Vec<Line> = twin.beats.iter().map(told).collect();
    lines.extend(untold(twin));
    lines.extend(twin.violations.iter().map(|violation| Line {
        at_ms: violation.at_ms,
        voice: "judge",
        text: format!("✗ {} {} is broken: {}", violation.letter, violation.rule, violation.what),
        believed: None,
        wrong: true,
        kept: violation.kept_for,
    }));
    lines.sort_by_key(|line| line.at_ms);
    thinned(lines, twin)
}

/// Ticks at instants of which no beat tells; payments in a row are one line.
fn untold(twin: &Twin) -> Vec<Line<'_>> {
    let told: BTreeSet<u64> = twin.beats.iter().map(|beat| beat.at_ms).collect();
    let routine = |tick: &Tick| matches!(tick.kind, Kind::Began | Kind::Ended) && !tick.wrong;
    let mut ticks: Vec<&Tick> = twin.ticks.iter().filter(|tick| !told.contains(&tick.at_ms)).collect();
    ticks.retain(|tick| tick.kind != Kind::Broke && !routine(tick));
    ticks.sort_by_key(|tick| tick.at_ms);
    let rows = ticks.chunk_by(|a, b| is_payment(a) && (a.kind, &a.host, &a.by, a.wrong) == (b.kind, &b.host, &b.by, b.wrong));
    rows.map(|row| Line { at_ms: row[0].at_ms, voice: &row[0].host, text: in_a_row(row), believed: None, wrong: row[0].wrong, kept: false })
        .collect()
}

fn is_payment(tick: &Tick) -> bool {
    matches!(tick.kind, Kind::Paid | Kind::Repeated)
}

fn in_a_row(row: &[&Tick]) -> String {
    let (first, last) = (row[0], row[row.len() - 1]);
    match row.len() {
        1 => first.what.clone(),
        n => format!("{}, and {} more within {}", first.what, n - 1, length(last.at_ms - first.at_ms)),
    }
}

fn told(beat: &Beat) -> Line<'_> {
    Line {
        at_ms: beat.at_ms,
        voice: &beat.voice,
        text: words::attempt(&beat.text),
        believed: beat.believed_unix_ms,
        wrong: false,
        kept: false,
    }
}

/// Of too many lines those that are closest to what broke.
fn thinned<'a>(mut lines: Vec<Line<'a>>, twin: &Twin) -> (Vec<Line<'a>>, usize) {
    let left_out = lines.len().saturating_sub(MOST);
    if left_out > 0 {
        let broke: Vec<u64> = twin.violations.iter().map(|violation| violation.at_ms).collect();
        lines.sort_by_key(|line| (!line.wrong, broke.iter().map(|at| at.abs_diff(line.at_ms)).min(), line.at_ms));
        lines.truncate(MOST);
        lines.sort_by_key(|line| line.at_ms);
    }
    (lines, left_out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::witness::samples;

    #[test]
    fn what_broke_is_told_where_it_broke() {
        let twin = samples::pause();
        let (lines, left_out) = lines(&twin);
        let at = lines.iter().position(|line| line.wrong).expect("something broke");
        assert_eq!((lines[at].at_ms, left_out), (twin.violations[0].at_ms, 0));
        assert!(lines.is_sorted_by_key(|line| line.at_ms));
    }

    #[test]
    fn a_long_story_keeps_what_broke() {
        let mut twin = samples::pause();
        twin.beats = (0..9000).map(|i| Beat { at_ms: i, text: "more".to_owned(), ..Beat::default() }).collect();
        let (lines, left_out) = lines(&twin);
        assert_eq!(lines.len(), MOST);
        assert!(left_out > 6000);
        assert_eq!(lines.iter().filter(|line| line.voice == "judge").count(), 2);
    }
}
