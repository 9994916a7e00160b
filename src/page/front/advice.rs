//! Which strategy to take, by what is needed. Nothing here is written by hand but the needs.

use crate::page::front::need::{NEEDS, Need};
use crate::page::front::order::{Order, Price};
use crate::page::front::row::{Row, classes};
use crate::page::front::say::{duration, list, mean};
use crate::page::front::verdict::Verdict;
use crate::page::source::verdicts::Cell;
use crate::page::source::{Sources, Throughput};
use crate::report::words::{count, percent, thousands};
use maud::{Markup, html};

/// At most so many strategies are recommended for a need.
const MOST: usize = 3;

/// A need and what fulfils it.
#[derive(Clone, Debug)]
pub struct Advice {
    /// The need.
    pub need: &'static Need,
    /// The best of those that fulfil it.
    pub best: Vec<Choice>,
    /// How many more do.
    pub more: usize,
    /// Classes that it speaks of and nobody tried.
    pub untried: Vec<&'static str>,
}

/// A strategy that fulfils a need.
#[derive(Clone, Debug)]
pub struct Choice {
    /// What people call it.
    pub label: String,
    /// Where its card is.
    pub anchor: String,
    /// What that rests on.
    pub evidence: String,
    /// What it costs, if that was measured.
    pub cost: String,
}

/// What fulfils each need, in the order of the needs.
pub fn all(rows: &[Row], throughput: Option<&Throughput>) -> Vec<Advice> {
    let tried = classes(rows);
    NEEDS.iter().filter(|need| !need.classes(&tried).is_empty()).map(|need| advice(need, rows, &tried, throughput)).collect()
}

fn advice(need: &'static Need, rows: &[Row], tried: &[&str], throughput: Option<&Throughput>) -> Advice {
    let classes = need.classes(tried);
    let fulfil = rows.iter().filter(|row| need.fulfilled_by(row, tried));
    let mut priced: Vec<(&Row, Price)> = fulfil.map(|row| (row, Price::of(row, &classes, throughput))).collect();
    let broken = |row: &Row| row.cells(Verdict::Breaks).count();
    priced.sort_by(|(a, p), (b, q)| p.compare(*q, need.order).then_with(|| broken(a).cmp(&broken(b))).then_with(|| a.place.cmp(&b.place)));
    let choice = |(row, price): &(&Row, Price)| Choice {
        label: row.label.clone(),
        anchor: row.anchor(),
        evidence: evidence(row, &classes),
        cost: cost(*price, need.order),
    };
    Advice {
        need,
        best: priced.iter().take(MOST).map(choice).collect(),
        more: priced.len().saturating_sub(MOST),
        untried: need.untried(tried),
    }
}

/// In how many runs a strategy held, under how many classes, and what that is worth.
fn evidence(row: &Row, classes: &[&str]) -> String {
    let struck = |cell: &&Cell| Verdict::of(cell) != Verdict::Misses;
    let cells: Vec<&Cell> = classes.iter().filter_map(|class| row.cell(class)).filter(struck).collect();
    let (drawn, chosen) = cells.iter().fold((0, 0), |(d, c), cell| (d + cell.felt, c + cell.apart.felt));
    let chosen = if chosen == 0 { String::new() } else { format!(" and {} chosen", thousands(chosen)) };
    let under = format!("held in {} drawn{chosen} runs that felt it, under {}", thousands(drawn), count(cells.len(), "fault class"));
    match cells.iter().map(|cell| cell.felt).filter(|felt| *felt > 0).min() {
        Some(least) => format!("{under}; at most {} of runs break in the least tried", percent(at_most(least))),
        None => under,
    }
}

/// With 95 % confidence no larger share of runs breaks, if none of so many did (Clopper and Pearson, one-sided).
fn at_most(held: u64) -> f64 {
    1.0 - 0.05_f64.powf(1.0 / held as f64)
}

/// What was measured of it, the measure by which it was chosen first.
fn cost(price: Price, order: Order) -> String {
    let waste = price.waste.map(|w| format!("{} wasted attempts a period", mean((w * 1_000.0).round() as u64, 1_000)));
    let late = price.late_ms.map(|ms| format!("95 % settled within {}", duration(ms)));
    let contended = price.contended_ns.map(|ns| format!("{:.0} µs a period with most nodes", ns / 1_000.0));
    let parts = match order {
        Order::Waste => [waste, late, None],
        Order::Late => [late, waste, None],
        Order::Contended => [contended, waste, late],
    };
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// The table.
pub fn table(rows: &[Row], sources: &Sources) -> Option<Markup> {
    let all = all(rows, sources.throughput.as_ref());
    let costs = rows.iter().any(|row| row.costs().next().is_some());
    (!all.is_empty()).then(|| {
        html! {
            p {
                "Computed from the table above: recommended is what showed none of the letters that the need forbids, "
                @if costs { "the cheapest first." } @else { "first what breaks least elsewhere; these results say nothing of costs." }
            }
            div .scroll role="region" aria-labelledby="advice" tabindex="0" {
                table #recommended {
                    thead { tr { th scope="col" { "About" } th scope="col" { "What is needed" } th scope="col" { "Take" } } }
                    tbody { @for (n, advice) in all.iter().enumerate() { (line(advice, n, &all)) } }
                }
            }
        }
    })
}

fn line(advice: &Advice, n: usize, all: &[Advice]) -> Markup {
    let about = advice.need.about;
    let starts = n == 0 || all[n - 1].need.about != about;
    let span = all.iter().filter(|other| other.need.about == about).count();
    html! {
        tr {
            @if starts { th scope="rowgroup" rowspan=(span) { (about) } }
            th scope="row" {
                (advice.need.what)
                @if !advice.untried.is_empty() { " " small .unsure { "(not tried: " (list(&advice.untried)) ")" } }
            }
            td {
                @if advice.best.is_empty() { span .bad { "none of these" } }
                ol { @for choice in &advice.best {
                    li {
                        a href={ "#" (choice.anchor) } { (choice.label) }
                        " " small .soft { (choice.evidence) @if !choice.cost.is_empty() { ". Costs: " (choice.cost) } "." }
                    }
                } }
                @if advice.more > 0 { small .soft { (advice.more) " more would do." } }
            }
        }
    }
}
