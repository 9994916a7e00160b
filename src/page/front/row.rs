//! A row of the table, and what is counted of it.

use crate::page::front::verdict::Verdict;
use crate::page::source::Verdicts;
use crate::page::source::verdicts::{Cell, Cost, Strategy};

/// The column in which nothing goes wrong.
pub const CALM: &str = "calm";

/// A row.
#[derive(Clone, Debug)]
pub struct Row<'a> {
    /// Its place in the file.
    pub place: usize,
    /// What people call it.
    pub label: String,
    /// The strategy, with its cells.
    pub strategy: &'a Strategy,
}

impl<'a> Row<'a> {
    /// The rows of a file, in its order.
    pub fn all(verdicts: &'a Verdicts) -> Vec<Row<'a>> {
        let row = |(place, strategy): (usize, &'a Strategy)| Row { place, label: strategy.label(), strategy };
        verdicts.strategies.iter().enumerate().map(row).collect()
    }

    /// Its cells with a verdict.
    pub fn cells(&self, verdict: Verdict) -> impl Iterator<Item = &'a Cell> {
        self.strategy.cells.iter().filter(move |cell| Verdict::of(cell) == verdict)
    }

    /// The cell of a fault class, if it was looked at.
    pub fn cell(&self, faults: &str) -> Option<&'a Cell> {
        self.strategy.cells.iter().find(|cell| cell.faults == faults)
    }

    /// Nothing broke, nothing is undecided, and something was tried.
    pub fn holds(&self) -> bool {
        let none = |verdict| self.cells(verdict).next().is_none();
        none(Verdict::Breaks) && none(Verdict::Undecided) && !none(Verdict::Holds)
    }

    /// What its cells cost, with their fault classes.
    pub fn costs(&self) -> impl Iterator<Item = (&'a str, &'a Cost)> {
        let costs = |cell: &'a Cell| Some((cell.faults.as_str(), cell.cost.as_ref().filter(|cost| cost.due > 0)?));
        self.strategy.cells.iter().filter_map(costs)
    }

    /// Where its card is in the page.
    pub fn anchor(&self) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        format!("s{}-{}", self.place, self.label.chars().map(plain).collect::<String>())
    }
}

/// The fault classes of a file, in its order.
pub fn classes<'a>(rows: &[Row<'a>]) -> Vec<&'a str> {
    let mut classes: Vec<&str> = Vec::new();
    for cell in rows.iter().flat_map(|row| &row.strategy.cells) {
        if !classes.contains(&cell.faults.as_str()) {
            classes.push(&cell.faults);
        }
    }
    classes
}
