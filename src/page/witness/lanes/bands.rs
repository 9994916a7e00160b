//! Times in which something was wrong with a host, as bands in its lane.

use super::shelf::{Shelf, wide};
use super::{Lane, Picture, cuts, px};
use crate::page::witness::stamp::length;
use crate::page::witness::words;
use crate::report::twin::{Band, Host, Wrong};
use maud::{Markup, html};

/// Height of a caption.
pub const CAPTION: f64 = 15.0;

/// A band or a cut with a few words, at the top of a lane.
#[derive(Clone, Debug)]
pub struct Caption {
    /// From the top; none if there is no room.
    pub row: Option<usize>,
    /// Where the band begins.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
    /// What it says.
    pub text: String,
    /// What kind of band, if it is none of a cut.
    pub kind: Option<Wrong>,
    at: (u64, u64),
}

impl Caption {
    /// Whether it is about this time.
    pub fn is_at(&self, at: (u64, u64)) -> bool {
        self.at == at
    }
}

/// Captions of a host's bands and cuts.
pub fn captions(picture: &Picture, host: &Host) -> Vec<Caption> {
    let bands = picture.twin.bands.iter().filter(|band| band.host == host.name);
    let bands = bands.map(|band| (band.from_ms, band.to_ms, said(band), Some(band.kind)));
    let cuts = cuts::of(picture.twin, &host.name).into_iter().map(|cut| (cut.from_ms, cut.to_ms, cut.text, None));
    let mut all: Vec<_> = bands.chain(cuts).collect();
    all.sort_by_key(|band| (band.0, band.1));
    let mut shelf = Shelf::new(4);
    all.into_iter()
        .map(|(from_ms, to_ms, text, kind)| {
            let (from, to) = (picture.axis.x(from_ms), picture.axis.x(to_ms).max(picture.axis.x(from_ms) + 3.0));
            let row = shelf.put(from, to.max(from + wide(&text, 11.5) + 10.0));
            Caption { row, from, to, text, kind, at: (from_ms, to_ms) }
        })
        .collect()
}

fn said(band: &Band) -> String {
    let what = if band.what.is_empty() { words::wrong(band.kind) } else { &band.what };
    format!("{}, {}", words::plain(what), length(band.to_ms.saturating_sub(band.from_ms)))
}

/// The bands of a lane.
pub fn draw(picture: &Picture, lane: &Lane) -> Markup {
    let (y, height) = (px(lane.top), px(lane.bottom - lane.top));
    html! {
        @for (caption, kind) in lane.captions.iter().filter_map(|caption| caption.kind.map(|kind| (caption, kind))) {
            @let (x, width) = (px(caption.from), px(caption.to - caption.from));
            @let (class, pattern) = look(kind);
            g .band.(class) data-host=(lane.host.name) data-from=(caption.at.0) data-to=(caption.at.1) data-say=(words::wrong(kind)) {
                title { (lane.host.name) ": " (caption.text) }
                rect .ground x=(x) y=(y) width=(width) height=(height) {}
                rect x=(x) y=(y) width=(width) height=(height) fill=(pattern) {}
            }
        }
        @for caption in lane.captions.iter().filter(|caption| caption.kind.is_none()) {
            g .cut data-host=(lane.host.name) data-from=(caption.at.0) data-to=(caption.at.1) data-say=(caption.text) {
                @if let Some(y) = top(lane, caption) { (cuts::strip(picture, caption, y)) }
            }
        }
    }
}

/// What the bands of a lane say, above all bands.
pub fn captioned(picture: &Picture, lane: &Lane) -> Markup {
    html! {
        @for caption in lane.captions.iter().filter(|caption| caption.kind.is_some()) {
            @let left = caption.from.min(picture.axis.width - wide(&caption.text, 11.5) - 8.0).max(0.0);
            @if let Some(y) = top(lane, caption) { text .caption x=(px(left + 4.0)) y=(px(y + 12.0)) { (caption.text) } }
        }
    }
}

/// Where a caption begins, from above.
pub fn top(lane: &Lane, caption: &Caption) -> Option<f64> {
    caption.row.map(|row| lane.top + 3.0 + row as f64 * CAPTION)
}

/// The class of a band, and its pattern.
fn look(kind: Wrong) -> (&'static str, &'static str) {
    match kind {
        Wrong::Paused => ("stopped", "url(#stopped)"),
        Wrong::Down => ("down", "url(#down)"),
        Wrong::Busy | Wrong::Slow | Wrong::Lagging => ("slow", "url(#slow)"),
    }
}
