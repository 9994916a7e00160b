//! What a cell came to.

use crate::page::source::verdicts::Cell;

/// What a cell came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing broke.
    Holds,
    /// Something broke, here or without any fault already.
    Breaks,
    /// The class cannot strike this strategy.
    Misses,
    /// Too few runs felt the fault.
    Undecided,
}

impl Verdict {
    /// The verdict of a cell. A word that this version does not know decides nothing.
    pub fn of(cell: &Cell) -> Verdict {
        match cell.verdict.as_str() {
            "holds" => Verdict::Holds,
            "breaks" => Verdict::Breaks,
            "misses" => Verdict::Misses,
            _ => Verdict::Undecided,
        }
    }

    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Breaks => "breaks",
            Verdict::Misses => "misses",
            Verdict::Undecided => "undecided",
        }
    }
}
