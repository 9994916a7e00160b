//! Which strategy to take, by what is needed. Nothing here is written by hand but the needs.

use crate::page::front::held::Evidence;
use crate::page::front::need::{NEEDS, Need};
use crate::page::front::order::Price;
use crate::page::front::row::{Row, classes};
use crate::page::front::verdict::Verdict;
use crate::page::source::Sources;

/// At most so many strategies are recommended for a need.
const MOST: usize = 3;

/// A need and what fulfils it.
#[derive(Clone, Debug)]
pub struct Advice {
    /// The need.
    pub need: &'static Need,
    /// The need in words.
    pub what: String,
    /// The best of those that fulfil it.
    pub best: Vec<Choice>,
    /// The others that do.
    pub more: Vec<Choice>,
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
    pub evidence: Evidence,
    /// What it costs, as far as that was measured.
    pub price: Price,
}

/// What fulfils each need, in the order of the needs.
pub fn all(rows: &[Row], sources: &Sources) -> Vec<Advice> {
    let tried = classes(rows);
    NEEDS.iter().filter(|need| need.was_tried(&tried)).map(|need| advice(need, rows, &tried, sources)).collect()
}

fn advice(need: &'static Need, rows: &[Row], tried: &[&str], sources: &Sources) -> Advice {
    let throughput = sources.throughput.as_ref();
    let classes = need.classes(tried);
    let fulfil = rows.iter().filter(|row| need.fulfilled_by(row, tried, sources.exhaust.as_ref()));
    let mut priced: Vec<(&Row, Price)> = fulfil.map(|row| (row, Price::of(row, &classes, throughput))).collect();
    if need.most_nodes(throughput).is_some() {
        priced.retain(|(_, price)| price.contended_ns.is_some());
    }
    let broken = |row: &Row| row.cells(Verdict::Breaks).count();
    priced.sort_by(|(a, p), (b, q)| p.compare(*q, need.order).then_with(|| broken(a).cmp(&broken(b))).then_with(|| a.place.cmp(&b.place)));
    let choice = |(row, price): &(&Row, Price)| Choice {
        label: row.label.clone(),
        anchor: row.anchor(),
        evidence: Evidence::of(row, &classes),
        price: *price,
    };
    Advice {
        need,
        what: need.told(throughput),
        best: priced.iter().take(MOST).map(choice).collect(),
        more: priced.iter().skip(MOST).map(choice).collect(),
        untried: need.untried(tried),
    }
}
