//! Bars: who holds the lease as its store knows it, and who believes to hold it.

use super::shelf::{Shelf, wide};
use super::{Lane, Picture, px};
use crate::page::witness::overlap;
use crate::page::witness::words;
use crate::report::twin::Host;
use maud::{Markup, html};

/// Height of a row of bars.
pub const HEIGHT: f64 = 24.0;
/// Height of a bar.
pub const BAR: f64 = 18.0;
/// Bars of a lane, at most.
pub const MOST: usize = 1000;

/// A bar.
#[derive(Clone, Debug)]
pub struct Bar {
    /// From the top.
    pub row: usize,
    holder: String,
    believed: bool,
    /// From when until when.
    pub at: (u64, u64),
    x: (f64, f64),
    text: String,
    /// Where the part begins that somebody contradicts, or its end.
    clear: f64,
    /// How it ended, for the mark at its end.
    end: &'static str,
}

/// Bars of a host: leases that it grants, or those that it believes to hold.
pub fn of(picture: &Picture, host: &Host) -> Vec<Bar> {
    let held = words::held(picture.twin);
    let leases = picture.twin.leases.iter().filter(|lease| lease.store == host.name).map(|lease| {
        let ended = words::ended(lease.ended);
        let text = match overlap::votes(picture.twin, &host.name) {
            true => format!("vote for {}, {ended}", lease.holder),
            false => format!("{} holds the {held}, {ended}", lease.holder),
        };
        (lease.holder.clone(), false, (lease.from_ms, lease.to_ms), text, ended)
    });
    let beliefs = picture.twin.beliefs.iter().filter(|belief| belief.node == host.name).map(|belief| {
        let text = format!("believes: I hold the {held} ({})", belief.attempt);
        (belief.node.clone(), true, (belief.from_ms, belief.to_ms), text, "")
    });
    let mut all: Vec<_> = leases.chain(beliefs).collect();
    all.sort_by_key(|bar| bar.2);
    all.truncate(MOST);
    let mut shelf = Shelf::new(8);
    all.into_iter()
        .filter_map(|(holder, believed, at, text, end)| {
            let (from, to) = (picture.axis.x(at.0), picture.axis.x(at.1));
            let to = to.max(from + 2.0);
            let row = shelf.put(from, to)?;
            let clear = if believed { clear(picture, &holder, at) } else { to };
            Some(Bar { row, holder, believed, at, x: (from, to), text, clear, end })
        })
        .collect()
}

/// Until where a belief is right.
fn clear(picture: &Picture, node: &str, at: (u64, u64)) -> f64 {
    let wrong = picture.wrong.iter().filter(|overlap| overlap.node == node);
    let first = wrong.map(|overlap| overlap.from_ms).find(|from| (at.0..at.1).contains(from));
    picture.axis.x(first.unwrap_or(at.1))
}

/// The bars of a lane.
pub fn draw(picture: &Picture, lane: &Lane) -> Markup {
    html! {
        @for bar in &lane.rows { (draw_bar(picture, lane, bar)) }
    }
}

fn draw_bar(picture: &Picture, lane: &Lane, bar: &Bar) -> Markup {
    let y = lane.bars + bar.row as f64 * HEIGHT;
    let (x, width) = (px(bar.x.0), px(bar.x.1 - bar.x.0));
    let class = match bar.believed {
        true => "belief",
        false if overlap::votes(picture.twin, &lane.host.name) => "vote",
        false => "lease",
    };
    html! {
        g .bar.(class).(picture.tint(&bar.holder)) data-host=(lane.host.name) data-holder=(bar.holder) data-from=(bar.at.0) data-to=(bar.at.1) {
            title { (bar.text) }
            rect .ground x=(x) y=(px(y)) width=(width) height=(BAR) rx="2" {}
            rect .filled x=(x) y=(px(y)) width=(width) height=(BAR) rx="2" fill=(picture.pattern(&bar.holder)) {}
            (text(bar, y))
        }
    }
}

/// What fits of a bar's text, and how it ended at its end.
fn text(bar: &Bar, y: f64) -> Markup {
    let room = bar.clear - bar.x.0 - 8.0;
    let texts = texts(bar);
    let fitting = texts.iter().find(|text| wide(text, 11.5) <= room);
    html! {
        @if let Some(text) = fitting {
            text x=(px(bar.x.0 + 5.0)) y=(px(y + 13.0)) { (text) }
        }
        @if !bar.believed && !bar.end.is_empty() { line .end x1=(px(bar.x.1)) x2=(px(bar.x.1)) y1=(px(y - 3.0)) y2=(px(y + BAR + 3.0)) {} }
    }
}

/// What a bar says, from the longest to the shortest.
fn texts(bar: &Bar) -> Vec<String> {
    let Bar { holder, end, text, .. } = bar;
    if bar.believed {
        vec![text.clone(), "believes: I hold it".to_owned(), "believes".to_owned()]
    } else {
        vec![text.clone(), format!("{holder} holds it, {end}"), format!("{holder}, {end}"), holder.clone()]
    }
}
