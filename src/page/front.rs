//! The front page: the answer first, then what it rests on.

pub mod advice;
pub mod answer;
pub mod card;
pub mod cell;
pub mod differences;
pub mod evidence;
pub mod exhaust;
pub mod faults;
pub mod footer;
pub mod held;
pub mod letters;
pub mod need;
pub mod order;
pub mod plots;
pub mod recommended;
pub mod row;
pub mod runs;
pub mod say;
pub mod sentence;
pub mod table;
pub mod verdict;

#[cfg(test)]
mod sample;
#[cfg(test)]
mod tests;

use crate::page::source::Sources;
use crate::page::{layout, plot};
use letters::Letters;
use maud::{Markup, html};
use row::Row;

/// Styles of this page alone.
const STYLE: &str = include_str!("front/front.css");

/// Filter, walking in the table, details of a cell. Without it everything can still be read.
const SCRIPT: &str = include_str!("front/front.js");

/// The whole page.
pub fn page(sources: &Sources) -> Markup {
    let rows = sources.verdicts.as_ref().map(Row::all).unwrap_or_default();
    let letters = sources.verdicts.as_ref().map(|v| Letters(&v.letters)).unwrap_or_default();
    let sections = [
        ("strategies", "Strategies", card::cards(&rows, letters, sources)),
        ("table", "What broke where", table::table(&rows, letters, sources)),
        ("advice", "Which strategy to take", recommended::tables(&rows, letters, sources)),
        ("plots", "Plots", plots::figures(sources)),
        ("single-faults", exhaust::title(sources), exhaust::strategies(sources, letters)),
        ("other-runs", runs::title(sources), runs::others(sources)),
        ("differences", "Where simulated servers differ from real ones", differences::list(sources)),
        ("unreadable", "Files that could not be read", differences::unreadable(sources)),
    ];
    let sections: Vec<_> = sections.into_iter().filter_map(|(id, title, body)| body.map(|body| (id, title, body))).collect();
    let body = html! {
        (answer::header(&rows, letters, sources, &sections))
        @if sections.len() > 1 {
            nav aria-label="Sections" {
                ul { @for (id, title, _) in &sections { li { a href={ "#" (id) } { (title) } } } }
            }
        }
        main #main {
            @for (id, title, body) in &sections {
                section aria-labelledby=(id) { h2 #(id) { (title) } (body) }
            }
            @if !rows.is_empty() { (table::tip()) }
        }
        (footer::footer(sources))
    };
    layout::styled("onceproof: does a scheduled job run exactly once?", &[plot::STYLE, STYLE], &body, SCRIPT)
}
