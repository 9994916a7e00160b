//! Marks: instants that matter, on the line of their lane.

use super::shelf::{Shelf, wide};
use super::{Lane, Picture, px};
use crate::page::witness::stamp::length;
use crate::page::witness::words;
use crate::report::twin::{Host, Kind, Tick};
use maud::{Markup, html};

/// Height of a row of labels.
pub const LABEL: f64 = 15.0;
/// Pixels in which marks of one kind become one.
const CLOSE: f64 = 7.0;
/// Rows of labels, at most; beginnings and ends of attempts have one less.
const ROWS: usize = 3;
/// Characters of a label for which there is all the room that it may need.
const WHOLE: usize = 110;
/// Characters of a label.
const LONGEST: usize = 52;
/// Characters of a label for which there is little room.
const SHORT: usize = 30;

/// A mark: one tick, or several of one kind that are close to each other.
#[derive(Clone, Debug)]
pub struct Mark {
    /// From the line upwards; none if there was no room for a label.
    pub row: Option<usize>,
    /// Whether the label stands left of the mark.
    left: bool,
    x: f64,
    /// Where the last of its ticks is.
    to: f64,
    kind: Kind,
    by: String,
    wrong: bool,
    label: String,
    told: String,
}

impl Mark {
    /// Whether it needs more room than others.
    pub fn is_large(&self) -> bool {
        self.wrong || self.kind == Kind::Settled
    }
}

/// Marks of a host.
pub fn of(picture: &Picture, host: &Host) -> Vec<Mark> {
    let mut ticks: Vec<&Tick> = picture.twin.ticks.iter().filter(|tick| tick.host == host.name && tick.kind != Kind::Broke).collect();
    ticks.sort_by_key(|tick| (tick.kind as u8, &tick.by, tick.wrong, tick.at_ms));
    let mut groups: Vec<Vec<&Tick>> = Vec::new();
    for tick in ticks {
        match groups.last_mut() {
            Some(group) if alike(group[0], tick) && close(picture, group[group.len() - 1], tick) => group.push(tick),
            _ => groups.push(vec![tick]),
        }
    }
    let mut marks: Vec<Mark> = groups.iter().map(|group| mark(picture, host, group)).collect();
    marks.sort_by(|a, b| rank(a.kind, a.wrong).cmp(&rank(b.kind, b.wrong)).then(a.x.total_cmp(&b.x)));
    let mut shelf = Shelf::new(ROWS);
    for mark in &mut marks {
        labelled(mark, &mut shelf, picture.axis.width);
    }
    marks.reverse();
    marks
}

fn alike(a: &Tick, b: &Tick) -> bool {
    (a.kind, &a.by, a.wrong) == (b.kind, &b.by, b.wrong)
}

/// Whether there is no room between two ticks, or both are in one fold.
fn close(picture: &Picture, a: &Tick, b: &Tick) -> bool {
    picture.axis.x(b.at_ms) - picture.axis.x(a.at_ms) < CLOSE || picture.axis.in_one_fold(a.at_ms, b.at_ms)
}

fn rank(kind: Kind, wrong: bool) -> u8 {
    match kind {
        _ if wrong => 0,
        Kind::Settled | Kind::Broke => 1,
        Kind::Fault | Kind::Alerted => 2,
        Kind::Paid | Kind::Repeated => 3,
        Kind::Began | Kind::Ended => 4,
    }
}

fn mark(picture: &Picture, host: &Host, group: &[&Tick]) -> Mark {
    let (first, last) = (group[0], group[group.len() - 1]);
    let by = first.by.clone().unwrap_or_else(|| host.name.clone());
    let label = match (group.len(), first.kind) {
        (_, Kind::Fault) if has_caption(picture, host, first.at_ms) => String::new(),
        (2.., Kind::Ended) => String::new(),
        (1, _) => said(host, first),
        (n, Kind::Paid) => format!("{by}: {n} payments"),
        (n, Kind::Repeated) => format!("{by}: {n} payments again"),
        (n, Kind::Began) => format!("{n} attempts"),
        (n, Kind::Ended | Kind::Settled | Kind::Alerted | Kind::Fault | Kind::Broke) => format!("{} and {} more", said(host, first), n - 1),
    };
    let label = words::plain(&label);
    let told = match group.len() {
        1 => format!("{} {}", picture.stamps.full(first.at_ms), first.what),
        n => format!("{} {} and {} more, within {}", picture.stamps.full(first.at_ms), first.what, n - 1, length(last.at_ms - first.at_ms)),
    };
    Mark {
        row: None,
        left: false,
        x: picture.axis.x(first.at_ms),
        to: picture.axis.x(last.at_ms),
        kind: first.kind,
        by,
        wrong: first.wrong,
        label,
        told,
    }
}

/// What a tick says, and of whom if it is not in his lane.
fn said(host: &Host, tick: &Tick) -> String {
    match &tick.by {
        Some(by) if *by != host.name && !tick.what.starts_with(by.as_str()) => format!("{by} {}", tick.what),
        Some(_) | None => words::attempt(&tick.what),
    }
}

/// Whether a band or a cut that begins now says already what happens.
fn has_caption(picture: &Picture, host: &Host, at: u64) -> bool {
    let band = picture.twin.bands.iter().any(|band| band.host == host.name && band.from_ms == at);
    band || picture.twin.cuts.iter().any(|cut| (cut.from == host.name || cut.to == host.name) && cut.from_ms == at)
}

/// Finds room for a mark's label, right of it, or left; a shorter one will do.
fn labelled(mark: &mut Mark, shelf: &mut Shelf, width: f64) {
    let rows = if rank(mark.kind, mark.wrong) < 4 { ROWS } else { ROWS - 1 };
    if mark.label.is_empty() {
        return;
    }
    for most in [WHOLE, LONGEST, SHORT] {
        let label = words::short(&mark.label, most);
        let wide = wide(&label, 11.5) * if mark.wrong { 1.12 } else { 1.0 } + 8.0;
        let left = mark.x + wide > width;
        let (from, to) = if left { (mark.x - wide, mark.x) } else { (mark.x, mark.x + wide) };
        let row = if from >= 0.0 { shelf.put_low(from, to, rows) } else { None };
        if row.is_some() {
            (mark.row, mark.left, mark.label) = (row, left, label);
            return;
        }
    }
}

/// The marks of a lane.
pub fn draw(picture: &Picture, lane: &Lane) -> Markup {
    html! {
        @for mark in &lane.labels {
            g .mark.(picture.tint(&mark.by)).wrong[mark.wrong] {
                title { (mark.told) }
                @if let Some(row) = mark.row { (label(lane, mark, row)) }
                @if mark.to - mark.x > 1.0 { line .run x1=(px(mark.x)) x2=(px(mark.to)) y1=(px(lane.line)) y2=(px(lane.line)) {} }
                g transform=(format!("translate({} {})", px(mark.x), px(lane.line))) { (glyph(mark.kind, mark.wrong)) }
            }
        }
    }
}

fn label(lane: &Lane, mark: &Mark, row: usize) -> Markup {
    let y = lane.label - row as f64 * LABEL;
    let (x, anchor) = if mark.left { (mark.x - 4.0, "end") } else { (mark.x + 4.0, "start") };
    html! {
        line .lead x1=(px(mark.x)) x2=(px(mark.x)) y1=(px(y + 2.0)) y2=(px(lane.line)) {}
        text x=(px(x)) y=(px(y)) text-anchor=(anchor) { (mark.label) }
    }
}

/// The shape of a kind, around the origin.
pub fn glyph(kind: Kind, wrong: bool) -> Markup {
    html! {
        @match kind {
            Kind::Began => { path .open d="M-3 -5l7 5l-7 5z" {} }
            Kind::Ended => { path .stroke d="M0 -5v10" {} }
            Kind::Settled => { path .full d="M0 -9l9 9l-9 9l-9 -9z" {} }
            Kind::Paid => { circle .full r="4" {} }
            Kind::Repeated => { circle .open r="4" {} }
            Kind::Alerted => { path .full d="M0 -7l7 12h-14z" {} path .on d="M0 -3v4M0 2.4v1" {} }
            Kind::Fault => { path .fault d="M2 -9l-7 10h5l-3 8l8 -11h-5z" {} }
            Kind::Broke => { path .cross d="M-5 -5l10 10M5 -5l-10 10" {} }
        }
        @if wrong { circle .ring r="12" {} }
    }
}

/// Dotted lines from a node to what it did in a server's lane.
pub fn threads(picture: &Picture) -> Markup {
    html! {
        @for lane in &picture.lanes {
            @for mark in lane.labels.iter().filter(|mark| mark.kind == Kind::Settled && mark.by != lane.host.name) {
                @if let Some(node) = picture.lane_of(&mark.by) {
                    line .thread.(picture.tint(&mark.by)) x1=(px(mark.x)) x2=(px(mark.x)) y1=(px(node.line)) y2=(px(lane.line)) {}
                    circle .thread.(picture.tint(&mark.by)) cx=(px(mark.x)) cy=(px(node.line)) r="2.5" {}
                }
            }
        }
    }
}

/// Kinds that a picture shows, for its legend.
pub fn kinds(picture: &Picture) -> Vec<Kind> {
    let all = [Kind::Began, Kind::Ended, Kind::Settled, Kind::Paid, Kind::Repeated, Kind::Alerted, Kind::Fault];
    all.into_iter().filter(|kind| picture.lanes.iter().any(|lane| lane.labels.iter().any(|mark| mark.kind == *kind))).collect()
}
