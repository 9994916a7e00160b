//! Pages of runs to which nothing else on this page leads, such as those that were replayed.

use crate::page::front::cell;
use crate::page::source::Sources;
use crate::page::source::exhaust::Strategy;
use maud::{Markup, html};
use std::collections::BTreeSet;

/// The title of the section.
pub fn title(sources: &Sources) -> &'static str {
    if linked(sources).is_empty() { "Runs" } else { "Other runs" }
}

/// The section.
pub fn others(sources: &Sources) -> Option<Markup> {
    let linked = linked(sources);
    let others: Vec<&String> = sources.pages.iter().filter(|page| !linked.contains(*page)).collect();
    (!others.is_empty()).then(|| {
        html! {
            p { "Pages of single runs in this folder, such as “onceproof replay” writes:" }
            ul #runs { @for page in others { li { a href=(cell::address(page)) { (name(page)) } } } }
        }
    })
}

/// The pages to which cells of the table and kinds of single faults lead.
fn linked(sources: &Sources) -> BTreeSet<String> {
    let cells = sources.verdicts.iter().flat_map(|verdicts| &verdicts.strategies).flat_map(|strategy| &strategy.cells);
    let kinds = sources.exhaust.iter().flat_map(|exhaust| &exhaust.strategies).flat_map(Strategy::broken);
    let witnesses = cells.map(|cell| &cell.witness).chain(kinds.map(|kind| &kind.witness));
    witnesses.filter_map(|witness| cell::page_name(witness.as_deref()?)).filter(|page| sources.pages.contains(page)).collect()
}

/// The name of the run: that of its file.
fn name(page: &str) -> &str {
    page.strip_prefix("witnesses/").unwrap_or(page).trim_end_matches(".html")
}
