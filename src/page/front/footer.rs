//! How to make this page again.

use crate::page::source::Sources;
use maud::{Markup, html};

/// The commands that wrote the files of this page, as far as the files tell.
pub fn commands(sources: &Sources) -> Vec<String> {
    let mut commands = Vec::new();
    if let Some(v) = &sources.verdicts {
        let seeds = v.seeds_per_cell.map_or(String::new(), |n| format!(" --seeds {n}"));
        let engine = if v.engine.is_empty() || v.engine == "event" { String::new() } else { format!(" --engine {}", v.engine) };
        let seed = if v.base_seed.is_empty() { String::new() } else { format!(" --seed {}", v.base_seed) };
        commands.push(format!("onceproof verify{seed}{seeds}{engine}"));
    }
    if let Some(e) = &sources.exhaust {
        let pairs = if e.faults == "pairs" { " --faults 2" } else { "" };
        let kinds = e.kinds().join(",");
        let kinds = if e.all_kinds || kinds.is_empty() { String::new() } else { format!(" --kinds {kinds}") };
        commands.push(format!("onceproof exhaust{pairs}{kinds}"));
    }
    if let Some(f) = &sources.frontier {
        let seed = if f.base_seed.is_empty() { String::new() } else { format!(" --seed {}", f.base_seed) };
        let seeds = if f.seeds == 0 { String::new() } else { format!(" --seeds {}", f.seeds) };
        commands.push(format!("onceproof frontier{seed}{seeds}"));
    }
    commands
}

/// The foot of the page.
pub fn footer(sources: &Sources) -> Markup {
    let commands = commands(sources);
    let version = sources.verdicts.as_ref().map(|v| v.onceproof.as_str()).filter(|v| !v.is_empty());
    html! {
        footer {
            @if !commands.is_empty() {
                p { "As far as the files tell, these commands wrote them; the same arguments give the same results, on any machine:" }
                pre tabindex="0" role="group" aria-label="Commands" { (commands.join("\n")) }
            }
            p {
                "Made from the JSON files beside this page; " code { "onceproof report DIR" } " makes it again."
                @if let Some(version) = version { " onceproof " (version) "." }
            }
        }
    }
}
