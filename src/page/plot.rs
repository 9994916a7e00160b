//! Plots, as SVG that follows the page's colours.

use crate::page::source::Sources;

/// A plot and what it says.
#[derive(Clone, Debug)]
pub struct Figure {
    /// For links.
    pub id: String,
    /// Title.
    pub title: String,
    /// What it shows, in a sentence or two, also for those who cannot see it.
    pub caption: String,
    /// The plot: an `<svg>` element.
    pub svg: String,
    /// The same as a table: heads, then rows.
    pub table: (Vec<String>, Vec<Vec<String>>),
}

/// All plots for which there is data.
pub fn figures(sources: &Sources) -> Vec<Figure> {
    let _ = sources;
    Vec::new()
}
