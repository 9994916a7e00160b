//! What nodes believe wrongly: hatched parts of their bars, and frames around two who both believe.

use super::bars::{BAR, HEIGHT, MOST};
use super::shelf::{Shelf, bold};
use super::{Lane, Picture, px};
use crate::page::witness::overlap::{self, Overlap};
use crate::page::witness::words;
use maud::{Markup, html};
use std::collections::BTreeMap;

/// Texts of each lane, which do not touch each other.
type Shelves<'a> = BTreeMap<&'a str, Shelf>;

/// All of them.
pub fn draw(picture: &Picture) -> Markup {
    let both = overlap::both(picture.twin);
    let (mut beside, mut between) = (Shelves::new(), Shelves::new());
    html! {
        @for overlap in picture.wrong.iter().take(MOST) {
            @if let Some(lane) = picture.lane_of(&overlap.node) { (hatched(picture, lane, overlap, &mut beside)) }
        }
        @for overlap in both.iter().take(MOST) { (framed(picture, overlap, &mut between)) }
    }
}

/// A part of a belief that is wrong.
fn hatched<'a>(picture: &Picture, lane: &Lane<'a>, overlap: &Overlap, shelves: &mut Shelves<'a>) -> Markup {
    let (from, to) = (picture.axis.x(overlap.from_ms), picture.axis.x(overlap.to_ms));
    let bar = lane.rows.iter().find(|bar| bar.at.0 <= overlap.from_ms && overlap.to_ms <= bar.at.1);
    let y = lane.bars + bar.map_or(0, |bar| bar.row) as f64 * HEIGHT;
    let (class, told) = match &overlap.other {
        Some(other) => ("clash", format!("its store has given it to {other}")),
        None => ("lapsed", "its store says that nobody does".to_owned()),
    };
    let holder = overlap.other.as_deref().unwrap_or("nobody");
    let texts = [format!("wrong: {holder} holds it"), "wrong".to_owned()];
    let text = texts.iter().find(|text| bold(text, 11.5) + 12.0 <= to - from);
    let shelf = shelves.entry(&lane.host.name).or_insert_with(|| Shelf::new(1));
    let text = text.filter(|text| shelf.put(to - 6.0 - bold(text, 11.5), to).is_some());
    html! {
        g .overlap.(class) data-host=(overlap.node) data-from=(overlap.from_ms) data-to=(overlap.to_ms) {
            title { (overlap.node) " believes to hold the " (words::held(picture.twin)) "; " (told) }
            rect x=(px(from)) y=(px(y)) width=(px((to - from).max(2.0))) height=(BAR) fill={ "url(#" (class) ")" } {}
            @if let Some(text) = text { text x=(px(to - 6.0)) y=(px(y + 13.0)) text-anchor="end" { (text) } }
        }
    }
}

/// A frame around both beliefs.
fn framed<'a>(picture: &Picture<'a>, overlap: &Overlap, shelves: &mut Shelves<'a>) -> Markup {
    let lanes = (picture.lane_of(&overlap.node), overlap.other.as_deref().and_then(|other| picture.lane_of(other)));
    let (Some(a), Some(b)) = lanes else { return html! {} };
    let (upper, lower) = if a.top <= b.top { (a, b) } else { (b, a) };
    let (from, to) = (picture.axis.x(overlap.from_ms), picture.axis.x(overlap.to_ms));
    let (top, bottom) = (upper.bars - 2.0, lower.bars + BAR + 2.0);
    let text = "both believe";
    let wide = bold(text, 11.5) + 8.0;
    let left = (f64::midpoint(from, to) - wide / 2.0).min(picture.axis.width - wide).max(0.0);
    let y = upper.bottom + super::BETWEEN / 2.0;
    let shelf = shelves.entry(&upper.host.name).or_insert_with(|| Shelf::new(1));
    html! {
        g .both {
            title { (upper.host.name) " and " (lower.host.name) " both believe to hold the " (words::held(picture.twin)) }
            rect .area x=(px(from)) y=(px(top)) width=(px((to - from).max(3.0))) height=(px(bottom - top)) {}
            @if shelf.put(left, left + wide).is_some() {
                rect .tag x=(px(left)) y=(px(y - 8.0)) width=(px(wide)) height="16" rx="3" {}
                text x=(px(left + 4.0)) y=(px(y + 4.0)) { (text) }
            }
        }
    }
}
