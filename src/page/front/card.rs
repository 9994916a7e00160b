//! The strategies, best first, each in a few sentences, with all of its cells in words.

use crate::page::front::letters::Letters;
use crate::page::front::order::best_first;
use crate::page::front::row::Row;
use crate::page::front::table::details;
use crate::page::front::verdict::Verdict;
use crate::page::front::{cell, evidence, faults, sentence};
use crate::page::source::Sources;
use maud::{Markup, html};

/// All strategies.
pub fn cards(rows: &[Row], letters: Letters, sources: &Sources) -> Option<Markup> {
    (!rows.is_empty()).then(|| {
        html! {
            p {
                "Best first: fewest fault classes that break it, then what it costs."
                @if rows.iter().any(|row| row.costs().next().is_some()) {
                    " A wasted attempt is one that settles nothing. Times are medians, from the end of a period, or from the fault that struck, to the settlement; 95 % stay below the time in parentheses. Costs are told for calm, and for the fault class in which they are highest."
                }
            }
            form #find role="search" .screen hidden {
                label for="filter" { "Find" }
                input #filter type="search" autocomplete="off" placeholder="name or word";
                label for="kind" { "Show" }
                select #kind {
                    option value="" { "all" }
                    option value="holds" { "those that hold" }
                    option value="breaks" { "those that break" }
                    option value="undecided" { "those that are undecided" }
                }
                output #found for="filter kind" {}
            }
            div #cards { @for row in best_first(rows) { (card(&row, letters, sources)) } }
        }
    })
}

fn card(row: &Row, letters: Letters, sources: &Sources) -> Markup {
    let broken = row.cells(Verdict::Breaks).count();
    let tried = row.strategy.cells.iter().filter(|c| Verdict::of(c) != Verdict::Misses).count();
    let kind = match (row.holds(), broken) {
        (true, _) => "holds",
        (false, 0) => "undecided",
        (false, _) => "breaks",
    };
    html! {
        article #(row.anchor()) data-holds=(kind) {
            header {
                h3 { (row.label) }
                p .tally {
                    @match (row.holds(), broken) {
                        (true, _) => span .good { "✓ holds under " (tried) " of " (tried) },
                        (false, 0) => span .unsure { "? undecided" },
                        (false, n) => span .bad { "✗ breaks under " (n) " of " (tried) },
                    }
                }
            }
            div {
                p .about { (row.strategy.about) }
                p { (sentence::fate(row, letters)) @if let Some(cost) = sentence::cost(row) { " " (cost) } }
                details {
                    summary { "All fault classes" span .sr { " of " (row.label) } }
                    dl {
                        @for (n, cell) in row.strategy.cells.iter().enumerate() {
                            dt { (cell.faults) @if !faults::about(&cell.faults).is_empty() { " " small .soft { (faults::about(&cell.faults)) } } }
                            dd #(details(row, n)) {
                                (evidence::paragraphs(cell, letters))
                                @if let Some(page) = cell::page(cell.witness.as_deref(), sources) { p { a href=(page) { "See the run" } } }
                            }
                        }
                    }
                }
            }
        }
    }
}
