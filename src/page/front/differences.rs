//! What this page cannot vouch for: known differences, and files that nobody could read.

use crate::page::source::Sources;
use maud::{Markup, html};

/// Where simulated servers are known to answer otherwise than real ones.
pub fn list(sources: &Sources) -> Option<Markup> {
    let differences = &sources.verdicts.as_ref()?.differences;
    (!differences.is_empty()).then(|| {
        html! {
            p { "The servers in these runs are simulated. They were compared with real ones; this is where they are known to answer otherwise." }
            div .scroll role="group" aria-labelledby="differences" tabindex="0" {
                table {
                    thead { tr { th scope="col" { "Difference" } th scope="col" { "Server" } th scope="col" { "What" } th scope="col" { "Why it is left so" } } }
                    tbody { @for d in differences {
                        tr { th scope="row" { code { (d.id) } } td { (server(&d.server)) } td { (d.what) } td { (d.why) } }
                    } }
                }
            }
        }
    })
}

fn server(name: &str) -> &str {
    match name {
        "lease" => "lease store",
        "db" => "database",
        other => other,
    }
}

/// Files that are there and could not be read.
pub fn unreadable(sources: &Sources) -> Option<Markup> {
    (!sources.unreadable.is_empty()).then(|| {
        html! {
            p .alarm { b { "What these files say is missing on this page." } }
            dl { @for (file, why) in &sources.unreadable { dt { code { (file) } } dd { (why) } } }
        }
    })
}
