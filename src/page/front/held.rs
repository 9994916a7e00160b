//! On how many runs it rests that a strategy held.

use crate::explore::bound;
use crate::page::front::row::Row;
use crate::page::front::verdict::Verdict;
use crate::page::source::sum;
use crate::page::source::verdicts::Cell;
use crate::report::words::{count, percent, thousands};

/// On what it rests that something did not appear.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// Drawn runs that felt the fault, or were calm.
    pub drawn: u64,
    /// Steered and enumerated runs that did.
    pub chosen: u64,
    /// Fault classes that could strike.
    pub classes: usize,
    /// Drawn runs that felt it in the class with the fewest.
    pub least: Option<u64>,
}

impl Evidence {
    /// The evidence of a row under these classes.
    pub fn of(row: &Row, classes: &[&str]) -> Evidence {
        let struck = |cell: &&Cell| Verdict::of(cell) != Verdict::Misses;
        let cells: Vec<&Cell> = classes.iter().filter_map(|class| row.cell(class)).filter(struck).collect();
        Evidence {
            drawn: sum(cells.iter().map(|cell| cell.felt)),
            chosen: sum(cells.iter().map(|cell| cell.apart.felt)),
            classes: cells.len(),
            least: cells.iter().map(|cell| cell.felt).filter(|felt| *felt > 0).min(),
        }
    }

    /// In how many runs, under how many classes.
    pub fn told(self) -> String {
        let chosen = if self.chosen == 0 { String::new() } else { format!(" and {} chosen", thousands(self.chosen)) };
        format!("{} drawn{chosen} runs that felt it, under {}", thousands(self.drawn), count(self.classes, "fault class"))
    }

    /// With 95 % confidence no larger share of runs breaks in the class with the fewest runs
    /// (Clopper and Pearson, one-sided).
    pub fn bound(self) -> String {
        self.least.and_then(bound::upper_bound).map_or("–".to_owned(), percent)
    }
}
