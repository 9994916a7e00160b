//! What letters mean.

use crate::page::source::verdicts::{Broken, Letter};

/// The letters of a file.
#[derive(Clone, Copy, Debug, Default)]
pub struct Letters<'a>(pub &'a [Letter]);

impl<'a> Letters<'a> {
    /// What a letter means: `settled twice`.
    pub fn meaning(self, letter: &'a str) -> &'a str {
        self.0.iter().find(|l| l.letter == letter).map_or("something else", |l| l.meaning.as_str())
    }

    /// A letter and what it means: `settled twice (D)`.
    pub fn told(self, letter: &'a str) -> String {
        format!("{} ({letter})", self.meaning(letter))
    }

    /// Several letters and what they mean, in the order of the file.
    pub fn list(self, letters: &'a [String]) -> Vec<String> {
        letters.iter().map(|l| self.told(l)).collect()
    }
}

/// Letters that were there without the fault.
pub fn inherited(broken: &[Broken]) -> String {
    broken.iter().filter(|b| b.inherited).map(|b| b.letter.as_str()).collect()
}
