//! Which run this is, for whoever wants to find it again.

use crate::page::witness::shrunk;
use crate::report::twin::Twin;
use crate::report::words::thousands;
use maud::{Markup, html};

/// The section.
pub fn draw(twin: &Twin) -> Markup {
    html! {
        section aria-labelledby="facts" {
            h2 #facts { "Facts" }
            (shrunk::each(twin, list))
        }
    }
}

fn list(twin: &Twin) -> Markup {
    let engine = match twin.time_scale {
        0 | 1 => twin.engine.clone(),
        scale => format!("{}, durations divided by {scale}", twin.engine),
    };
    let rows = [
        ("seed", twin.seed.clone()),
        ("engine", engine),
        ("digest of the history", twin.digest.clone()),
        ("events", thousands(twin.events as u64)),
        ("onceproof", twin.onceproof.clone()),
    ];
    html! {
        dl .facts {
            @for (name, value) in rows.iter().filter(|row| !row.1.is_empty()) { div { dt { (name) } dd { code { (value) } } } }
        }
    }
}
