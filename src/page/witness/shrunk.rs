//! What shrinking did, and the switch between the run before it and after.

use crate::report::twin::{Shrunk, Size, Twin};
use crate::report::words::{count, thousands};
use maud::{Markup, html};

/// The switch.
pub fn switch(after: &Twin, before: &Twin) -> Markup {
    let size = |twin: &Twin| count(twin.plan.len(), "fault");
    html! {
        fieldset .which {
            legend { "Which run" }
            label { input type="radio" name="which" value="after" id="which-after" checked; " shrunk, " (size(after)) }
            label { input type="radio" name="which" value="before" id="which-before"; " as it was found, " (size(before)) }
        }
    }
}

/// A few words of the run that is chosen: of the only one, or of the shrunk one and of the one before it.
pub fn either(twin: &Twin, draw: impl Fn(&Twin) -> Markup) -> Markup {
    html! {
        @match twin.before.as_deref() {
            Some(before) => { span .after { (draw(twin)) } span .before { (draw(before)) } }
            None => { (draw(twin)) }
        }
    }
}

/// The same of something larger than words.
pub fn each(twin: &Twin, draw: impl Fn(&Twin) -> Markup) -> Markup {
    html! {
        @match twin.before.as_deref() {
            Some(before) => { div .after { (draw(twin)) } div .before { (draw(before)) } }
            None => { (draw(twin)) }
        }
    }
}

/// What shrinking took away.
pub fn table(shrunk: &Shrunk) -> Markup {
    html! {
        section aria-labelledby="shrunk" {
            h2 #shrunk { "What shrinking took away" }
            div .scroll {
                table .shrunk {
                    thead { tr { th scope="col" { "" span .sr { "what" } } th scope="col" .number { "before" } th scope="col" .number { "after" } } }
                    tbody {
                        @for (name, before, after) in rows(&shrunk.from, &shrunk.to) {
                            tr { th scope="row" { (name) } td .number { (thousands(before)) } td .number { (thousands(after)) } }
                        }
                    }
                }
            }
            p { (tried(shrunk)) }
        }
    }
}

fn rows(from: &Size, to: &Size) -> [(&'static str, u64, u64); 5] {
    [
        ("faults", from.faults as u64, to.faults as u64),
        ("nodes", from.nodes.into(), to.nodes.into()),
        ("periods", from.periods.into(), to.periods.into()),
        ("players", from.players.into(), to.players.into()),
        ("earnings in a period", from.earnings.into(), to.earnings.into()),
    ]
}

fn tried(shrunk: &Shrunk) -> String {
    let end = match shrunk.converged {
        true => "Nothing smaller is left to try.",
        false => "It stopped when its budget was spent; a smaller run may exist.",
    };
    let noun = if shrunk.tried == 1 { "run was" } else { "runs were" };
    format!("{} smaller {noun} tried, {} of them broke the same rule. {end}", thousands(shrunk.tried), thousands(shrunk.accepted))
}
