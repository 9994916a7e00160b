//! Links that are cut: a broken line in the lane of either end, and a line between the two.

use super::bands::{self, Caption};
use super::shelf::wide;
use super::{Picture, px};
use crate::page::witness::stamp::length;
use crate::report::twin::{Cut, Twin};
use maud::{Markup, html};
use std::collections::{BTreeMap, BTreeSet};

/// What is cut off from a host for a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Off {
    /// From when.
    pub from_ms: u64,
    /// Until when.
    pub to_ms: u64,
    /// In a few words.
    pub text: String,
}

/// From whom a host is cut off: cuts of the same times are one.
pub fn of(twin: &Twin, host: &str) -> Vec<Off> {
    let mut times: BTreeMap<(u64, u64), Peers> = BTreeMap::new();
    for cut in &twin.cuts {
        if cut.from == host {
            times.entry((cut.from_ms, cut.to_ms)).or_default().to.insert(&cut.to);
        }
        if cut.to == host {
            times.entry((cut.from_ms, cut.to_ms)).or_default().from.insert(&cut.from);
        }
    }
    let off = |(&(from_ms, to_ms), peers): (&(u64, u64), &Peers)| {
        let text = format!("{}, {}", said(&peers.to, &peers.from), length(to_ms.saturating_sub(from_ms)));
        Off { from_ms, to_ms, text }
    };
    times.iter().map(off).collect()
}

/// Those whom a host does not reach, and those from whom it hears nothing.
#[derive(Default)]
struct Peers<'a> {
    to: BTreeSet<&'a str>,
    from: BTreeSet<&'a str>,
}

fn said(to: &BTreeSet<&str>, from: &BTreeSet<&str>) -> String {
    let names = |hosts: Vec<&str>| hosts.join(", ");
    let both: Vec<&str> = to.intersection(from).copied().collect();
    let deaf: Vec<&str> = from.difference(to).copied().collect();
    let mute: Vec<&str> = to.difference(from).copied().collect();
    let mut parts = Vec::new();
    if !both.is_empty() {
        parts.push(format!("cut off from {}", names(both)));
    }
    if !mute.is_empty() {
        parts.push(format!("does not reach {}", names(mute)));
    }
    if !deaf.is_empty() {
        parts.push(format!("hears nothing from {}", names(deaf)));
    }
    parts.join(", ")
}

/// The broken line in a lane.
pub fn strip(picture: &Picture, caption: &Caption, y: f64) -> Markup {
    let middle = px(y + 7.0);
    let left = caption.from.min(picture.axis.width - wide(&caption.text, 11.5) - 30.0).max(0.0);
    html! {
        title { (caption.text) }
        rect x=(px(caption.from)) y=(px(y)) width=(px(caption.to - caption.from)) height="14" rx="2" {}
        line x1=(px(caption.from)) x2=(px(caption.to)) y1=(middle) y2=(middle) {}
        path .sign d=(format!("M{} {}h5m4 0h5m-9 -4l-1 8m6 -8l-1 8", px(caption.from + 3.0), middle)) {}
        text x=(px(left + 22.0)) y=(px(y + 11.0)) { (caption.text) }
    }
}

/// Lines between the two ends of a cut, where it begins.
pub fn draw(picture: &Picture) -> Markup {
    let mut pairs: BTreeSet<(u64, u64, &str, &str)> = BTreeSet::new();
    for Cut { from, to, from_ms, to_ms } in &picture.twin.cuts {
        pairs.insert((*from_ms, *to_ms, from.min(to), from.max(to)));
    }
    html! {
        g .severed {
            @for &(from_ms, to_ms, a, b) in pairs.iter().take(60) {
                @if let Some((top, bottom)) = ends(picture, (from_ms, to_ms), a, b) {
                    @let x = px(picture.axis.x(from_ms) + 1.0);
                    line x1=(x) x2=(x) y1=(px(top)) y2=(px(bottom)) {}
                }
            }
        }
    }
}

fn ends(picture: &Picture, at: (u64, u64), a: &str, b: &str) -> Option<(f64, f64)> {
    let y = |host: &str| {
        let lane = picture.lane_of(host)?;
        let captions = lane.captions.iter().filter(|caption| caption.kind.is_none());
        captions.filter(|caption| caption.is_at(at)).find_map(|caption| bands::top(lane, caption)).map(|top| top + 7.0)
    };
    let (a, b) = (y(a)?, y(b)?);
    Some((a.min(b), a.max(b)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::witness::samples;

    #[test]
    fn both_directions_are_one_and_one_direction_says_which() {
        let mut twin = samples::partition();
        assert_eq!(of(&twin, "n0")[0].text, "cut off from lease, 5 min");
        twin.cuts.pop();
        assert_eq!(of(&twin, "n0")[0].text, "does not reach lease, 5 min");
        assert_eq!(of(&twin, "lease")[0].text, "hears nothing from n0, 5 min");
        assert_eq!(of(&twin, "db"), []);
    }
}
