//! The truth table: strategies by fault classes.

use crate::page::front::letters::Letters;
use crate::page::front::row::{Row, classes};
use crate::page::front::verdict::Verdict;
use crate::page::front::{cell, faults};
use crate::page::source::Sources;
use maud::{Markup, html};

/// Where the details of a cell are in the page.
pub fn details(row: &Row, column: usize) -> String {
    format!("c{}-{column}", row.place)
}

/// The table and its legend.
pub fn table(rows: &[Row], letters: Letters, sources: &Sources) -> Option<Markup> {
    let classes = classes(rows);
    (!classes.is_empty()).then(|| {
        html! {
            (legend(rows, letters))
            div #hints .screen .soft hidden {
                p .touch { "Tap a cell for its details." }
                p .keys { "With the keyboard: arrow keys walk from cell to cell, Enter opens the run of a cell that broke, Escape closes its details." }
            }
            div .scroll .grid role="group" aria-labelledby="table" tabindex="0" {
                table #verdicts {
                    caption .sr { "For each strategy and fault class, what broke" }
                    thead { tr {
                        th scope="col" { "Strategy" }
                        @for class in &classes { th scope="col" title=(faults::about(class)) { span { (class) } } }
                    } }
                    tbody {
                        @for row in rows { (line(row, &classes, letters, sources)) }
                    }
                }
            }
        }
    })
}

fn line(row: &Row, classes: &[&str], letters: Letters, sources: &Sources) -> Markup {
    html! {
        tr {
            th scope="row" { a href={ "#" (row.anchor()) } { (row.label) } }
            @for class in classes {
                @match row.strategy.cells.iter().position(|cell| cell.faults == *class) {
                    Some(n) => (cell::td(&row.strategy.cells[n], &row.label, &details(row, n), letters, sources)),
                    None => td .soft { span .sr { "not tried" } },
                }
            }
        }
    }
}

/// What signs and letters mean: all letters, and the signs that the table shows.
fn legend(rows: &[Row], letters: Letters) -> Markup {
    let cells = || rows.iter().flat_map(|row| &row.strategy.cells);
    let shows = |verdict| cells().any(|cell| Verdict::of(cell) == verdict);
    let surprises = |kind: &str| cells().any(|cell| cell.surprises.iter().any(|s| s.kind == kind));
    let signs = [
        (true, "good", "✓", "nothing broke in any run"),
        (shows(Verdict::Misses), "soft", "–", "the fault cannot strike this strategy; nothing was run"),
        (shows(Verdict::Undecided), "unsure", "?", "undecided: too few runs felt the fault"),
        (cells().any(|c| c.broken.iter().any(|b| b.inherited)), "soft", "(D)", "breaks without any fault already"),
        (cells().any(|cell| !cell.as_expected), "bad", "≠", "outlined: not as the strategy declares"),
        (surprises("never-broke"), "bad", "✗D", "broke, though the strategy declares that it never does"),
        (surprises("must-held"), "bad", "∅D", "did not break, though the strategy declares that it must"),
    ];
    html! {
        p { "A row is a strategy, a column a class of faults. A cell shows what broke in it:" }
        ul .legend {
            @for letter in letters.0 { li { b .bad { (letter.letter) } " " (letter.meaning) } }
            @for (shown, class, sign, meaning) in signs {
                @if shown { li { b class=(class) { (sign) } " " (meaning) } }
            }
        }
    }
}

/// Where the script shows the details of a cell.
pub fn tip() -> Markup {
    html! {
        div #tip-box .screen hidden {
            div #tip role="tooltip" {}
            p #tip-acts { a #tip-run href="#table" { "See the run" } " " button #tip-close type="button" { "Close" } }
        }
    }
}
