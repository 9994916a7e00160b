//! Messages as arrows, from the line of who asks to that of who is asked, and back.

use super::shelf::{Shelf, wide};
use super::{Picture, px};
use crate::report::twin::{Message, Twin};
use maud::{Markup, html};
use std::collections::{BTreeMap, BTreeSet};

/// Messages that are drawn, at most.
const MOST: usize = 400;

/// Messages to draw, in order of time: the lost ones first, then those that had an effect. Of
/// those that one host sends another within one fold, which would hide each other, one.
fn chosen<'a>(picture: &Picture<'a>) -> Vec<&'a Message> {
    let twin: &'a Twin = picture.twin;
    let mut seen = BTreeSet::new();
    let mut all: Vec<&Message> = twin.messages.iter().filter(|message| seen.insert(place(picture, message))).collect();
    all.sort_by_key(|message| {
        (message.seen_ms.is_some(), picture.axis.folded(message.sent_ms), message.reached_ms.is_none(), message.sent_ms)
    });
    all.truncate(MOST);
    all.sort_by_key(|message| message.sent_ms);
    all
}

/// How many messages are not drawn.
pub fn left_out(picture: &Picture) -> usize {
    picture.twin.messages.len() - chosen(picture).len()
}

/// Where a message is: its fold, or its own time.
fn place<'a>(picture: &Picture, message: &'a Message) -> (&'a str, &'a str, bool, Result<usize, u64>) {
    let end = message.seen_ms.or(message.reached_ms).unwrap_or(message.sent_ms);
    let fold = picture.axis.folds().position(|fold| fold.from < message.sent_ms as f64 && (end as f64) < fold.to);
    (&message.from, &message.to, message.seen_ms.is_none(), fold.ok_or(message.sent_ms))
}

/// All arrows.
pub fn draw(picture: &Picture) -> Markup {
    let chosen = chosen(picture);
    let mut shelves = BTreeMap::new();
    // Where there is room for one name, it is that of the message that got lost.
    let (lost, seen): (Vec<&Message>, Vec<&Message>) = chosen.iter().partition(|message| message.seen_ms.is_none());
    html! {
        g .messages {
            @for message in &chosen { (arrows(picture, message)) }
            @for message in lost.into_iter().chain(seen) { (step(picture, message, &mut shelves)) }
        }
    }
}

fn arrows(picture: &Picture, message: &Message) -> Markup {
    let (Some(from), Some(to)) = (picture.lane_of(&message.from), picture.lane_of(&message.to)) else { return html! {} };
    let x = |at: f64| picture.axis.x_of(at);
    let sent = (x(message.sent_ms as f64), from.line);
    let there = arrival(message).map(|at| (x(at), to.line));
    let back = message.seen_ms.map(|at| (x(at as f64), from.line));
    html! {
        g .message.(picture.tint(&message.from)) {
            title { (message.step) ", " (message.from) " to " (message.to) (fate(message)) }
            @match (there, back) {
                (Some(there), Some(back)) => { (arrow(sent, there)) (arrow(there, back)) }
                (Some(there), None) => { (arrow(sent, there)) (lost(there, (there.0 + 24.0, from.line))) }
                (None, _) => { (lost(sent, (sent.0 + 24.0, to.line))) }
            }
        }
    }
}

/// The name of a step where its request arrives, if there is room for it.
fn step<'a>(picture: &Picture, message: &'a Message, shelves: &mut BTreeMap<&'a str, Shelf>) -> Markup {
    let (Some(lane), Some(at)) = (picture.lane_of(&message.to), arrival(message)) else { return html! {} };
    let x = picture.axis.x_of(at);
    let width = wide(&message.step, 10.0);
    let shelf = shelves.entry(&message.to).or_insert_with(|| Shelf::new(1));
    let fits = x + 10.0 + width < picture.axis.width && shelf.put(x, x + width + 14.0).is_some();
    html! {
        @if fits { text .step x=(px(x + 10.0)) y=(px(lane.line + 11.0)) { (message.step) } }
    }
}

/// When a request arrives; half-way to its reply, if the server recorded nothing.
fn arrival(message: &Message) -> Option<f64> {
    let half = |seen: u64| f64::midpoint(message.sent_ms as f64, seen as f64);
    message.reached_ms.map(|at| at as f64).or(message.seen_ms.map(half))
}

fn fate(message: &Message) -> &'static str {
    match (message.reached_ms, message.seen_ms) {
        (_, Some(_)) => "",
        (Some(_), None) => ": its reply is never seen",
        (None, None) => ": never answered",
    }
}

/// An arrow with its head.
fn arrow(from: (f64, f64), to: (f64, f64)) -> Markup {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let long = dx.hypot(dy).max(1.0);
    let (ux, uy) = (dx / long, dy / long);
    let (bx, by) = (to.0 - ux * 7.0, to.1 - uy * 7.0);
    let head =
        format!("M{} {}L{} {}L{} {}", px(bx - uy * 3.0), px(by + ux * 3.0), px(to.0), px(to.1), px(bx + uy * 3.0), px(by - ux * 3.0));
    html! { path d=(format!("M{} {}L{} {}{head}", px(from.0), px(from.1), px(to.0), px(to.1))) {} }
}

/// A line that ends half-way.
fn lost(from: (f64, f64), to: (f64, f64)) -> Markup {
    let (x, y) = (f64::midpoint(from.0, to.0), f64::midpoint(from.1, to.1));
    html! {
        path .lost d=(format!("M{} {}L{} {}", px(from.0), px(from.1), px(x), px(y))) {}
        path .cross d=(format!("M{} {}l8 8m0 -8l-8 8", px(x - 4.0), px(y - 4.0))) {}
    }
}
