//! What can be copied: the command that replays the run, and the run as a test.

use crate::page::IN_THE_FOLDER;
use crate::report::twin::Twin;
use maud::{Markup, html};

/// The section; empty if there is neither.
pub fn draw(twin: &Twin) -> Markup {
    html! {
        @if !twin.replay.is_empty() || !twin.test.is_empty() {
            section aria-labelledby="again" {
                h2 #again { "Run it again" }
                div .after { (command(twin, "replay")) }
                @if let Some(before) = twin.before.as_deref() {
                    div .before {
                        (command(before, "replay-before"))
                        @if before.replay.is_empty() { p { "No command makes the run as it was found: choose the shrunk one." } }
                    }
                }
                @if !twin.test.is_empty() {
                    details {
                        summary { "The " @if twin.before.is_some() { "shrunk " } "run as a Rust test" }
                        div .copied { pre #test tabindex="0" { (twin.test) } (button("test", "Copy the test")) }
                    }
                }
                p #copied .soft role="status" aria-live="polite" {}
            }
        }
    }
}

fn command(twin: &Twin, id: &str) -> Markup {
    html! {
        @if !twin.replay.is_empty() {
            p { (place(&twin.replay)) }
            div .copied { pre id=(id) tabindex="0" { (twin.replay) } (button(id, "Copy the command")) }
        }
    }
}

/// What a command does, and where it is to be run.
fn place(command: &str) -> &'static str {
    match command.starts_with(IN_THE_FOLDER) {
        true => "The same history, to the byte, on any machine. Run this in the reports folder, where index.html is:",
        false => "The same history, to the byte, on any machine:",
    }
}

fn button(id: &str, text: &str) -> Markup {
    html! { button .screen type="button" data-copy=(id) hidden { (text) } }
}
