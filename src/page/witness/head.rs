//! The top of the page: which run, what it comes down to, what broke.

use crate::page::witness::{shrunk, words};
use crate::report::twin::{Twin, Violation};
use maud::{Markup, html};

/// From how many bytes on a sentence is set smaller.
const LONG: usize = 120;

/// The top of the page.
pub fn draw(twin: &Twin) -> Markup {
    html! {
        header .witness {
            nav { a href="../index.html" { "← All results" } }
            p .which { b { (twin.label) } " under " b { (twin.faults) } @if !twin.about.is_empty() { span .soft { " · " (twin.about) } } }
            @if twin.before.is_some() { p .shrinking.soft { "After shrinking:" } }
            h1.long[sentence(twin).len() > LONG] { (words::coded(&words::begins(&sentence(twin)))) }
            @if twin.shrunk.as_ref().is_some_and(|shrunk| shrunk.milder) {
                p .milder.after { "Shrinking replaced faults by milder kinds: the same rule breaks already by this." }
            }
            (shrunk::each(twin, |twin| html! { ul .broke { @for violation in sorted(twin) { (broke(violation)) } } }))
        }
    }
}

/// What the run comes down to: its sentence, or what broke.
pub fn sentence(twin: &Twin) -> String {
    let kept = sorted(twin).first().map(|violation| violation.what.clone());
    match (twin.sentence.is_empty(), kept) {
        (false, _) => twin.sentence.clone(),
        (true, Some(what)) => what,
        (true, None) => format!("{} under {}: nothing broke", twin.label, twin.faults),
    }
}

fn sorted(twin: &Twin) -> Vec<&Violation> {
    let mut all: Vec<&Violation> = twin.violations.iter().collect();
    all.sort_by_key(|violation| !violation.kept_for);
    all
}

fn broke(violation: &Violation) -> Markup {
    html! {
        li {
            b .letter { "✗ " (violation.letter) } " " code { (violation.rule) } " is broken: " (words::coded(&violation.what))
        }
    }
}
