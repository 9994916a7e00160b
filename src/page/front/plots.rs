//! Plots and what they say, with their numbers.

use crate::page::plot::{self, Figure};
use crate::page::source::Sources;
use maud::{Markup, PreEscaped, html};

/// All plots for which there is data.
pub fn figures(sources: &Sources) -> Option<Markup> {
    let figures = plot::figures(sources);
    (!figures.is_empty()).then(|| html! { @for figure in &figures { (one(figure)) } })
}

fn one(figure: &Figure) -> Markup {
    let (heads, rows) = &figure.table;
    let title = format!("{}-title", figure.id);
    html! {
        h3 #(title) { (figure.title) }
        figure #(figure.id) aria-labelledby=(title) {
            figcaption { (figure.caption) }
            div .scroll .plot role="group" aria-labelledby=(title) tabindex="0" { (PreEscaped(&figure.svg)) }
            details {
                summary { "The same in numbers" }
                div .scroll role="group" aria-labelledby=(title) tabindex="0" {
                    table {
                        thead { tr { @for head in heads { th scope="col" { (head) } } } }
                        tbody { @for row in rows { tr { @for (n, value) in row.iter().enumerate() {
                            @if n == 0 { th scope="row" { (value) } } @else { td { (value) } }
                        } } } }
                    }
                }
            }
        }
    }
}
