//! What lies behind lanes and before them: stretches, folds, the axis, ends of periods, what broke.

use super::shelf::{Shelf, bold, wide};
use super::{Picture, px};
use crate::page::witness::axis::Axis;
use crate::page::witness::stamp::{about, length};
use crate::report::twin::Twin;
use maud::{Markup, html};

/// Height of a flag.
const FLAG: f64 = 22.0;
/// Rows of flags, at most.
const FLAGS: usize = 4;
/// Height of the axis: dates, times, lengths of folds.
const AXIS: f64 = 46.0;
/// Height below the lanes.
pub const BELOW: f64 = 34.0;
/// By how much a time may stand right of its tick.
const LATER: f64 = 14.0;
/// How a fold looks, for the legend.
pub const LEGEND_FOLD: &str = "M4 0l4 3l-4 3l4 3l-4 3l4 3M9 0l4 3l-4 3l4 3l-4 3l4 3";

/// What broke at an instant.
#[derive(Clone, Debug)]
pub struct Flag {
    x: f64,
    left: f64,
    row: usize,
    text: String,
}

/// Flags of all that broke; what breaks at one instant shares one.
pub fn flags(twin: &Twin, axis: &Axis) -> Vec<Flag> {
    let mut all: Vec<_> = twin.violations.iter().map(|v| (v.at_ms, !v.kept_for, v)).collect();
    all.sort_by_key(|&(at, others, _)| (at, others));
    let mut shelf = Shelf::new(FLAGS);
    let together = all.chunk_by(|a, b| a.0 == b.0);
    together
        .filter_map(|group| {
            let mut names: Vec<String> = group.iter().map(|(_, _, v)| format!("{} {}", v.letter, v.rule)).collect();
            names.dedup();
            let more = names.len().saturating_sub(3);
            names.truncate(3);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let text = format!("✗ {}{more}", names.join(", "));
            let (x, wide) = (axis.x(group[0].0), bold(&text, 12.5) + 16.0);
            let left = (x - wide / 2.0).min(axis.width - wide).max(0.0);
            shelf.put(left, left + wide + 4.0).map(|row| Flag { x, left, row, text })
        })
        .collect()
}

/// Height of what stands above the lanes.
pub fn height(flags: &[Flag]) -> f64 {
    rows(flags) as f64 * FLAG + AXIS
}

fn rows(flags: &[Flag]) -> usize {
    flags.iter().map(|flag| flag.row + 1).max().unwrap_or(0)
}

/// Lanes, stretches and ends of periods.
pub fn behind(picture: &Picture) -> Markup {
    let (top, bottom) = (picture.top, picture.height() - BELOW);
    html! {
        @for lane in &picture.lanes {
            rect .lane y=(px(lane.top)) width=(px(picture.axis.width)) height=(px(lane.bottom - lane.top)) {}
            line .time x2=(px(picture.axis.width)) y1=(px(lane.line)) y2=(px(lane.line)) {}
        }
        @for fold in picture.axis.folds() {
            rect .fold x=(px(fold.x)) y=(px(top)) width=(px(fold.wide)) height=(px(bottom - top)) {}
        }
        (boundaries(picture, top, bottom))
    }
}

fn boundaries(picture: &Picture, top: f64, bottom: f64) -> Markup {
    let mut shelf = Shelf::new(2);
    html! {
        @for boundary in &picture.twin.boundaries {
            @let x = picture.axis.x(boundary.at_ms);
            @let text = format!("period {} ends", boundary.period);
            line .boundary x1=(px(x)) x2=(px(x)) y1=(px(top)) y2=(px(bottom + 6.0)) {}
            @let left = (x + 4.0).min(picture.axis.width - wide(&text, 11.5)).max(0.0);
            @if let Some(row) = shelf.put(left, left + wide(&text, 11.5) + 8.0) {
                text .boundary x=(px(left)) y=(px(bottom + 17.0 + row as f64 * 13.0)) { (text) }
            }
        }
    }
}

/// Breaks of the axis.
pub fn tears(picture: &Picture) -> Markup {
    let (top, bottom) = (picture.top, picture.height() - BELOW);
    let zigzags = "l4 4l-4 4".repeat(((bottom - top) / 8.0) as usize);
    html! {
        @for fold in picture.axis.folds() {
            path .tear d=(format!("M{} {}{zigzags}", px(fold.x + fold.wide / 2.0 - 2.0), px(top))) {}
        }
    }
}

/// The axis: times, and the lengths of folds.
pub fn axis(picture: &Picture) -> Markup {
    let y = rows(&picture.flags) as f64 * FLAG;
    html! {
        g .axis {
            @for fold in picture.axis.folds() {
                @let length = about((fold.to - fold.from).round() as u64);
                @let half = wide(&length, 11.5) / 2.0;
                @let middle = (fold.x + fold.wide / 2.0).max(half).min(picture.axis.width - half);
                text .length x=(px(middle)) y=(px(y + 42.0)) text-anchor="middle" { (length) }
            }
            (times(picture, y))
        }
    }
}

/// Times of day: that of the first instant of each stretch, and what fits of the others, as the
/// time since then.
fn times(picture: &Picture, y: f64) -> Markup {
    let (mut shelf, mut date) = (Shelf::new(1), String::new());
    let mut ticks = Vec::new();
    let mut dates = Vec::new();
    for (_, (first, _)) in picture.axis.stretches() {
        let x = picture.axis.x(first);
        let text = picture.stamps.time(first);
        let wide = wide(&text, 11.5);
        let fits = |shelf: &mut Shelf, left: f64| shelf.put(left, left + wide + 6.0).map(|_| left);
        let left = (x + 3.0).min(picture.axis.width - wide).max(0.0);
        let Some(left) = fits(&mut shelf, left).or_else(|| fits(&mut shelf, left + LATER)) else {
            ticks.push((x, None));
            continue;
        };
        let today = picture.stamps.date(first);
        if today != date {
            dates.push((left, today.clone()));
            date = today;
        }
        ticks.push((x, Some((left, text))));
    }
    let offsets = offsets(picture, &mut shelf);
    html! {
        @for (x, date) in &dates { text .date x=(px(*x)) y=(px(y + 12.0)) { (date) } }
        @for (x, text) in ticks.iter().chain(&offsets) {
            line .tick x1=(px(*x)) x2=(px(*x)) y1=(px(picture.top - 16.0)) y2=(px(picture.top)) {}
            @if let Some((left, text)) = text { text .when x=(px(*left)) y=(px(y + 27.0)) { (text) } }
        }
    }
}

/// A tick, and its text where there is room for one.
type Timed = (f64, Option<(f64, String)>);

fn offsets(picture: &Picture, shelf: &mut Shelf) -> Vec<Timed> {
    let mut instants = super::instants::ranked(picture.twin);
    instants.sort_by_key(|&(at, rank)| (rank, at));
    let mut found = Vec::new();
    for (_, (first, last)) in picture.axis.stretches() {
        for &(at, _) in instants.iter().filter(|&&(at, _)| first < at && at <= last) {
            let (x, text) = (picture.axis.x(at), format!("+{}", length(at - first)));
            let wide = wide(&text, 11.5);
            let left = x + 3.0;
            let fits = left + wide <= picture.axis.width && shelf.put(left, left + wide + 6.0).is_some();
            found.push((x, fits.then_some((left, text))));
        }
    }
    found
}

/// What broke: a line through all lanes, and a flag.
pub fn broken(picture: &Picture) -> Markup {
    let bottom = picture.height() - BELOW;
    html! {
        @for flag in &picture.flags {
            @let y = flag.row as f64 * FLAG;
            g .broke {
                line x1=(px(flag.x)) x2=(px(flag.x)) y1=(px(y + FLAG - 3.0)) y2=(px(bottom)) {}
                rect x=(px(flag.left)) y=(px(y)) width=(px(bold(&flag.text, 12.5) + 16.0)) height=(px(FLAG - 3.0)) rx="3" {}
                text x=(px(flag.left + 8.0)) y=(px(y + 14.0)) { (flag.text) }
            }
        }
    }
}
