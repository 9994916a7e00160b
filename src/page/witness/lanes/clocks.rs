//! Clocks: how wrong each was, as a strip below its lane, and what it showed.

use super::shelf::{Shelf, wide};
use super::{Lane, Picture, px};
use crate::page::witness::stamp::length;
use crate::report::twin::{Clock, Twin};
use maud::{Markup, html};

/// Height of a strip.
pub const HEIGHT: f64 = 40.0;

fn clock<'a>(twin: &'a Twin, host: &str) -> Option<&'a Clock> {
    twin.clocks.iter().find(|clock| clock.host == host)
}

/// Whether a host's clock was ever wrong.
pub fn is_wrong(twin: &Twin, host: &str) -> bool {
    clock(twin, host).is_some_and(|clock| clock.points.iter().any(|&(_, error)| error != 0))
}

/// By how much a host's clock was wrong.
pub fn error(twin: &Twin, host: &str, at: u64) -> i64 {
    let Some(clock) = clock(twin, host) else { return 0 };
    let next = clock.points.partition_point(|&(from, _)| from <= at);
    match (next.checked_sub(1).map(|i| clock.points[i]), clock.points.get(next)) {
        (Some((from, a)), Some(&(to, b))) => {
            let (from, to, a, b) = (from as f64, to as f64, a as f64, b as f64);
            (a + (b - a) * (at as f64 - from) / (to - from)).round() as i64
        }
        (Some((_, error)), None) | (None, Some(&(_, error))) => error,
        (None, None) => 0,
    }
}

/// A node's own clock below its lane, and the strip.
pub fn draw(picture: &Picture, lane: &Lane) -> Markup {
    html! {
        @if lane.node.is_some() { (own(picture, lane)) }
        @if let Some(y) = lane.strip { (strip(picture, lane, y)) }
    }
}

fn own(picture: &Picture, lane: &Lane) -> Markup {
    let mut shelf = Shelf::new(1);
    let instants = picture.axis.stretches().map(|(_, (first, _))| first);
    html! {
        g .own {
            @for at in instants {
                @let unix = picture.stamps.unix(at).saturating_add(error(picture.twin, &lane.host.name, at));
                @let text = picture.stamps.time_at(unix);
                @let left = (picture.axis.x(at) + 3.0).min(picture.axis.width - wide(&text, 11.5)).max(0.0);
                @if shelf.put(left, left + wide(&text, 11.5) + 6.0).is_some() {
                    text x=(px(left)) y=(px(lane.own)) { (text) }
                }
            }
        }
    }
}

fn strip(picture: &Picture, lane: &Lane, y: f64) -> Markup {
    let name = &lane.host.name;
    let points = points(picture, name);
    let most = points.iter().map(|&(_, error)| error.saturating_abs()).max().unwrap_or(0).max(1);
    let zero = y + HEIGHT / 2.0;
    let place =
        |&(at, error): &(u64, i64)| format!("{} {}", px(picture.axis.x(at)), px(zero - error as f64 / most as f64 * (HEIGHT / 2.0 - 5.0)));
    let line = points.iter().map(place).collect::<Vec<_>>().join("L");
    let text = said(&points);
    let below = if points.iter().map(|&(_, error)| error).max_by_key(|error| error.saturating_abs()).is_some_and(|error| error < 0) {
        y + 13.0
    } else {
        y + HEIGHT - 5.0
    };
    html! {
        g .clock.(picture.tint(name)) {
            title { (name) ": " (text) }
            line .zero x2=(px(picture.axis.width)) y1=(px(zero)) y2=(px(zero)) {}
            path d={ "M" (line) } {}
            text x="6" y=(px(below)) { (text) }
        }
    }
}

/// Points of the line: those of the clock, and the ends of all pieces of the axis.
fn points(picture: &Picture, host: &str) -> Vec<(u64, i64)> {
    let end = picture.twin.ends_ms;
    let mut points: Vec<(u64, i64)> = clock(picture.twin, host).map_or(Vec::new(), |clock| clock.points.clone());
    let ends = picture.axis.pieces.iter().map(|piece| piece.from.round() as u64).chain([end]);
    points.extend(ends.map(|at| (at, error(picture.twin, host, at))));
    points.retain(|&(at, _)| at <= end);
    points.sort_by_key(|&(at, _)| at);
    points.dedup();
    points
}

fn said(points: &[(u64, i64)]) -> String {
    let fast = points.iter().map(|&(_, error)| error).max().unwrap_or(0);
    let slow = points.iter().map(|&(_, error)| error).min().unwrap_or(0);
    let size = |error: i64| length(error.unsigned_abs());
    match (fast > 0, slow < 0) {
        (true, true) => format!("its clock: between {} fast and {} slow", size(fast), size(slow)),
        (true, false) if fast == slow => format!("its clock: {} fast", size(fast)),
        (true, false) => format!("its clock: up to {} fast", size(fast)),
        (false, true) if fast == slow => format!("its clock: {} slow", size(slow)),
        (false, true) => format!("its clock: up to {} slow", size(slow)),
        (false, false) => "its clock: right".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::witness::samples;

    #[test]
    fn an_error_runs_evenly_between_two_points() {
        let mut twin = samples::partition();
        twin.clocks = vec![Clock { host: "n0".to_owned(), points: vec![(0, 0), (1000, 500), (1000, -300), (3000, -300)] }];
        let errors = [0, 500, 999, 1000, 2000, 9000].map(|at| error(&twin, "n0", at));
        assert_eq!(errors, [0, 250, 500, -300, -300, -300]);
        assert_eq!(error(&twin, "n1", 5), 0);
    }
}
