//! What the shapes of a picture mean, and how its axis is to be read.

use super::lanes::{self, Picture};
use super::words;
use crate::report::words::count;
use maud::{Markup, html};

/// Below a picture.
pub fn draw(picture: &Picture) -> Markup {
    let twin = picture.twin;
    html! {
        p .axis-note {
            (zone(picture)) " runs to the right. Each white stretch has a scale of its own, and “+” counts from its first time; "
            (key("", &html! { path .tear d=(lanes::LEGEND_FOLD) {} }))
            " folds a quiet time, whose length stands above it."
        }
        ul .legend aria-label="Legend" {
            @for kind in lanes::kinds(picture) {
                li { (key("", &lanes::glyph(kind, false))) (words::kind(kind)) }
            }
            @if twin.ticks.iter().any(|tick| tick.wrong) { li { (key("mark wrong", &html! { circle .ring r="8" {} })) "breaks a rule" } }
            @if !twin.beliefs.is_empty() { li { (bar("belief")) "a node believes to hold the " (words::held(twin)) } }
            @if !twin.leases.is_empty() { li { (bar("lease")) "who holds it, as its store knows it" } }
            @if twin.beliefs.iter().any(|belief| belief.overlaps) { li { (clash()) "believed, and wrong" } }
        }
        (left_out(picture))
    }
}

/// Whose time it is.
fn zone(picture: &Picture) -> String {
    let zone = &picture.twin.zone;
    match (picture.stamps.are_known(), picture.stamps.are_of_the_zone()) {
        (false, _) => "True time, from the begin of the run, since it is unknown when that was,".to_owned(),
        (true, false) => format!("True time in UTC (the zone “{zone}” is unknown)"),
        (true, true) if zone.is_empty() => "True time in UTC".to_owned(),
        (true, true) => format!("True time in {zone}"),
    }
}

fn key(class: &str, shape: &Markup) -> Markup {
    html! { svg .key width="20" height="20" viewBox="-10 -10 20 20" aria-hidden="true" { g .mark.nobody.(class) { (shape) } } }
}

fn bar(class: &str) -> Markup {
    html! { svg .key width="26" height="14" aria-hidden="true" { g .bar.(class).t0 { rect .filled x="1" y="1" width="24" height="12" rx="2" fill="url(#p0)" {} } } }
}

fn clash() -> Markup {
    html! { svg .key width="26" height="14" aria-hidden="true" { g .overlap { rect x="1" y="1" width="24" height="12" fill="url(#clash)" {} } } }
}

/// Messages that the picture leaves out.
fn left_out(picture: &Picture) -> Markup {
    let n = lanes::left_out(picture);
    html! {
        @if n > 0 { p .soft.of-messages { (count(n, "message")) " not drawn: further ones of the same kind in quiet times, or too many." } }
    }
}
