//! Plots, as SVG that follows the page's colours. Each says in words and in a table what it shows.

mod axis;
mod chart;
mod coverage;
mod frontier;
mod ink;
mod kills;
mod panel;
mod settle;
mod throughput;

use crate::page::source::Sources;
use maud::{PreEscaped, html};

/// The rules that give plots the page's colours and their place on it.
pub const STYLE: &str = include_str!("plot/style.css");

/// Heads, then rows.
pub type Table = (Vec<String>, Vec<Vec<String>>);

/// A plot and what it says.
#[derive(Clone, Debug)]
pub struct Figure {
    /// For links.
    pub id: String,
    /// Title.
    pub title: String,
    /// What it shows, in a sentence or two, also for those who cannot see it.
    pub caption: String,
    /// The plot: HTML with one `<svg>` element or several.
    pub svg: String,
    /// The same as a table: heads, then rows.
    pub table: Table,
}

/// How panels stand on a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    /// Beside each other, as many as there is room for.
    Beside,
    /// Two beside each other that belong together.
    Pairs,
    /// A single one.
    Single,
    /// Broad ones beside each other: where they do not fit, whoever shows them has to scroll.
    Map,
}

/// All plots for which there is data.
pub fn figures(sources: &Sources) -> Vec<Figure> {
    let verdicts = sources.verdicts.as_ref();
    let mut all = Vec::new();
    if let Some(verdicts) = verdicts {
        all.extend(settle::worst(verdicts));
        all.extend(settle::by_class(verdicts));
    }
    all.extend(sources.frontier.as_ref().and_then(frontier::figure));
    all.extend(sources.throughput.as_ref().and_then(|throughput| throughput::figure(throughput, verdicts)));
    if let Some(kills) = &sources.kills {
        all.extend(kills::curve(kills));
        all.extend(kills::dots(kills));
    }
    if let Some(verdicts) = verdicts {
        all.extend(coverage::by_strategy(verdicts));
        all.extend(coverage::map(verdicts));
    }
    all
}

/// Panels as HTML.
fn panels(layout: Layout, all: &[String]) -> String {
    let class = match layout {
        Layout::Beside => "panels",
        Layout::Pairs => "panels pairs",
        Layout::Single => "panels single",
        Layout::Map => "panels map",
    };
    html! { div class=(class) { (PreEscaped(all.concat())) } }.into_string()
}

/// Heads of a table.
fn heads<const N: usize>(heads: [&str; N]) -> Vec<String> {
    heads.map(str::to_owned).to_vec()
}

#[cfg(test)]
mod tests;
