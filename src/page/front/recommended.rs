//! The table of recommendations.

use crate::page::front::advice::{self, Advice, Choice};
use crate::page::front::letters::Letters;
use crate::page::front::need::ENOUGH;
use crate::page::front::row::Row;
use crate::page::front::say::{duration, list, mean};
use crate::page::source::Sources;
use maud::{Markup, html};

/// The tables, and where they are in the page.
const GROUPS: [(&str, &str); 3] = [("Scale", "by-scale"), ("Reliability", "by-reliability"), ("Consistency", "by-consistency")];

/// Which costs the table has columns for.
#[derive(Clone, Copy, Debug)]
struct Measured {
    costs: bool,
    contended: bool,
}

/// A table for each kind of need.
pub fn tables(rows: &[Row], letters: Letters, sources: &Sources) -> Option<Markup> {
    let all = advice::all(rows, sources);
    let any = |of: fn(&Choice) -> bool| all.iter().flat_map(|a| &a.best).any(of);
    let measured = Measured { costs: any(|c| c.price.waste.is_some()), contended: any(|c| c.price.contended_ns.is_some()) };
    (!all.is_empty()).then(|| {
        html! {
            p {
                "Computed from the table above: a strategy is named if it showed none of the letters that the need forbids, "
                @if measured.costs { "the cheapest first." } @else { "first those that break least elsewhere; these results say nothing of costs." }
                " The bound is that of its least tried fault class."
                " For a need that speaks of any fault class only those are named that felt at least " (ENOUGH) " of them besides calm."
                @if sources.exhaust.is_some() { " What broke when every single fault or pair was tried counts too." }
            }
            div #recommended {
                @for (about, id) in GROUPS.into_iter().filter(|(about, _)| all.iter().any(|a| a.need.about == *about)) {
                    h3 #(id) { "By " (about.to_lowercase()) }
                    div .scroll role="group" aria-labelledby=(id) tabindex="0" {
                        table aria-labelledby=(id) {
                            (head(measured))
                            @for advice in all.iter().filter(|a| a.need.about == about) { (body(advice, letters, measured)) }
                        }
                    }
                }
            }
        }
    })
}

fn head(measured: Measured) -> Markup {
    html! {
        thead { tr {
            th scope="col" { "Take" }
            th scope="col" { "Held in" }
            th scope="col" .number { "At most so many runs break" }
            @if measured.costs {
                th scope="col" .number { "Wasted attempts a period, worst class" }
                th scope="col" .number { "95 % settled within, worst class" }
            }
            @if measured.contended { th scope="col" .number { "A period, most nodes" } }
        } }
    }
}

fn body(advice: &Advice, letters: Letters, measured: Measured) -> Markup {
    let columns = 3 + if measured.costs { 2 } else { 0 } + usize::from(measured.contended);
    html! {
        tbody {
            tr {
                th .need colspan=(columns) scope="rowgroup" {
                    span { (advice.what) } " " small .soft { (advice.need.asks(letters)) }
                    @if !advice.untried.is_empty() { " " small .unsure { "(not tried: " (list(&advice.untried)) ")" } }
                }
            }
            @if advice.best.is_empty() { tr { td .bad colspan=(columns) { "None of these." } } }
            @for choice in &advice.best { (line(choice, measured)) }
            @if !advice.more.is_empty() { tr { td colspan=(columns) { (others(&advice.more)) } } }
        }
    }
}

fn others(more: &[Choice]) -> Markup {
    html! {
        details {
            summary .soft { "and " (more.len()) " more" }
            @for (n, choice) in more.iter().enumerate() {
                @if n > 0 { ", " }
                a href={ "#" (choice.anchor) } { (choice.label) }
            }
        }
    }
}

fn line(choice: &Choice, measured: Measured) -> Markup {
    let or_dash = |text: Option<String>| text.unwrap_or("–".to_owned());
    let price = choice.price;
    html! {
        tr {
            th scope="row" { a href={ "#" (choice.anchor) } { (choice.label) } }
            td { (choice.evidence.told()) }
            td .number { (choice.evidence.bound()) }
            @if measured.costs {
                td .number { (or_dash(price.waste.map(|w| mean((w * 1_000.0).round() as u64, 1_000)))) }
                td .number { (or_dash(price.late_ms.map(duration))) }
            }
            @if measured.contended { td .number { (or_dash(price.contended_ns.map(|ns| format!("{:.0} µs", ns / 1_000.0)))) } }
        }
    }
}
