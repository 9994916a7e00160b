//! The whole table with everything that a report needs to know about how it came to be.

use crate::class::FaultClass;
use crate::explore::cell::{Apart, Cell, Tally};
use crate::explore::sweep::Quota;
use crate::explore::{Mark, Subject};
use crate::scenario::Rules;
use crate::seed::Seed;
use crate::strategy::Policy;
use crate::world::EngineKind;
use std::collections::BTreeSet;

/// A finished sweep, weighed.
#[derive(Clone, Debug)]
pub struct Survey {
    /// The seed from which all others come.
    pub base: Seed,
    /// Which network carried the runs.
    pub engine: EngineKind,
    /// How many seeds each cell was given.
    pub quota: Quota,
    /// The columns.
    pub classes: Vec<FaultClass>,
    /// The rows.
    pub rows: Vec<Row>,
    /// Runs that were made a second time and told the same history.
    pub certified: usize,
}

/// One strategy's row.
#[derive(Clone, Debug)]
pub struct Row {
    /// The strategy's name.
    pub name: &'static str,
    /// One line about it.
    pub about: &'static str,
    /// The rules of its database.
    pub rules: Rules,
    /// What its nodes do after an attempt.
    pub policy: Policy,
    /// One cell for each column.
    pub cells: Vec<Cell>,
}

impl Row {
    /// What people call it: its strategy, and its rules if they are not the default.
    pub fn label(&self) -> String {
        self.rules.label(self.name)
    }

    /// Weighs the tallies of one strategy, one for each of `classes`.
    pub fn weigh(subject: &dyn Subject, classes: &[FaultClass], tallies: Vec<Tally>) -> Row {
        let strategy = subject.strategy();
        let rules = subject.scenario().database.rules;
        let claims = subject.expectations();
        let calm: BTreeSet<Mark> = classes
            .iter()
            .zip(&tallies)
            .filter(|(class, _)| **class == FaultClass::Calm)
            .flat_map(|(_, tally)| tally.broken.keys().copied())
            .collect();
        let weigh = |(class, tally): (&FaultClass, Tally)| match subject.misses(*class) {
            Some(why) => Cell::missed(*class, why),
            None => Cell::weigh(&claims, *class, tally, &calm),
        };
        let cells = classes.iter().zip(tallies).map(weigh).collect();
        Row {
            name: strategy.name(),
            about: strategy.about(),
            rules,
            policy: subject.scenario().node.policy.unwrap_or(strategy.policy()),
            cells,
        }
    }
}

impl Survey {
    /// Every cell with its row, row by row.
    pub fn cells(&self) -> impl Iterator<Item = (&Row, &Cell)> + '_ {
        self.rows.iter().flat_map(|row| row.cells.iter().map(move |cell| (row, cell)))
    }

    /// Whether every cell is as its strategy declares.
    pub fn as_expected(&self) -> bool {
        self.cells().all(|(_, cell)| cell.as_expected())
    }

    /// Sampled runs, all cells together.
    pub fn runs(&self) -> u64 {
        self.cells().map(|(_, cell)| cell.tally.runs).sum()
    }

    /// Runs of pinned plans, all cells together.
    pub fn pinned_runs(&self) -> usize {
        self.cells().map(|(_, cell)| cell.tally.pinned.len()).sum()
    }

    /// Steered and enumerated runs, all cells together.
    pub fn apart(&self) -> Apart {
        let add =
            |sum: Apart, (_, cell): (&Row, &Cell)| Apart { runs: sum.runs + cell.tally.apart.runs, felt: sum.felt + cell.tally.apart.felt };
        self.cells().fold(Apart::default(), add)
    }

    /// The fewest and the most sampled runs that any cell got whose class is drawn and can strike its strategy.
    pub fn spread(&self) -> (u64, u64) {
        let drawn = |cell: &Cell| cell.misses.is_none() && cell.class != FaultClass::Single;
        let runs = || self.cells().filter(|(_, cell)| drawn(cell)).map(|(_, cell)| cell.tally.runs);
        (runs().min().unwrap_or(0), runs().max().unwrap_or(0))
    }
}
