//! The page of one run: what broke, a picture of how, and what replays it.

mod axis;
mod copy;
mod facts;
mod faults;
mod head;
mod instants;
mod lanes;
mod legend;
mod overlap;
#[cfg(test)]
mod samples;
mod shrunk;
mod stamp;
mod story;
mod words;

use crate::page::layout;
use crate::report::twin::Twin;
use crate::report::words::thousands;
use lanes::Picture;
use maud::{Markup, html};

/// Styles of this page.
const STYLE: &str = include_str!("witness/style.css");

/// What the page does.
const SCRIPT: &str = include_str!("witness/witness.js");

/// The whole page.
pub fn page(twin: &Twin) -> Markup {
    let title = format!("{} under {}", twin.label, twin.faults);
    let after = Picture::new(twin);
    let before = twin.before.as_deref().map(Picture::new);
    let body = html! {
        (head::draw(twin))
        main #main {
            (lanes::patterns())
            section aria-labelledby="picture" {
                h2 #picture { "What happened" }
                @if let Some(before) = &before { (shrunk::switch(twin, before.twin)) }
                (switches(twin))
                div .after { (after.draw("lanes")) }
                @if let Some(before) = &before { div .before { (before.draw("lanes-before")) } }
                (scrubber())
                div .after { (legend::draw(&after)) }
                @if let Some(before) = &before { div .before { (legend::draw(before)) } }
            }
            section aria-labelledby="story" {
                h2 #story { "The story" }
                div .after { (told(&after)) }
                @if let Some(before) = &before { div .before { (told(before)) } }
            }
            @if let Some(shrunk) = &twin.shrunk { (shrunk::table(shrunk)) }
            (copy::draw(twin))
            (facts::draw(twin))
        }
    };
    layout::styled(&title, &[STYLE], &body, SCRIPT)
}

/// What can be shown or hidden in the picture.
fn switches(twin: &Twin) -> Markup {
    let count = |twin: &Twin| thousands(twin.messages.len() as u64);
    html! {
        fieldset .switches {
            legend .sr { "Shown in the picture" }
            label { input type="checkbox" id="show-messages"; " messages (" (shrunk::either(twin, |twin| html! { (count(twin)) })) ")" }
            label { input type="checkbox" id="show-believed"; " what each node’s own clock shows" }
        }
    }
}

/// The scrubber: hidden unless there is a script to move it.
fn scrubber() -> Markup {
    html! {
        div #scrubber hidden {
            div .row {
                button type="button" id="previous" { "◂ Previous" }
                input type="range" id="scrub" min="0" max="0" value="0" step="1" aria-label="Event";
                button type="button" id="next" { "Next ▸" }
                button type="button" id="next-wrong" { "✗ Next that went wrong" }
            }
            output id="at" for="scrub" {}
        }
    }
}

fn told(picture: &Picture) -> Markup {
    html! {
        div .told {
            div { (story::list(picture.twin, &picture.stamps, &picture.axis)) }
            div { (faults::draw(picture.twin, &picture.stamps)) }
        }
    }
}

#[cfg(test)]
mod tests;
