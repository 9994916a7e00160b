//! What letters mean.

use crate::explore::Mark;
use crate::page::source::verdicts::Letter;

/// The letters of a file.
#[derive(Clone, Copy, Debug, Default)]
pub struct Letters<'a>(pub &'a [Letter]);

impl<'a> Letters<'a> {
    /// What a letter means: `settled twice`.
    pub fn meaning(self, letter: &'a str) -> &'a str {
        self.0.iter().find(|l| l.letter == letter).map_or_else(|| usual(letter), |l| l.meaning.as_str())
    }

    /// A letter and what it means, in as few words as will do: `settled twice (D)`.
    pub fn told(self, letter: &'a str) -> String {
        let meaning = self.meaning(letter);
        format!("{} ({letter})", meaning.split_once(": ").map_or(meaning, |(short, _)| short))
    }

    /// Several letters and what they mean, in the order of the file.
    pub fn list(self, letters: &'a [String]) -> Vec<String> {
        letters.iter().map(|l| self.told(l)).collect()
    }
}

/// What a letter means in a folder that does not say.
fn usual(letter: &str) -> &'static str {
    Mark::ALL.into_iter().find(|mark| mark.to_string() == letter).map_or("a rule of its own", Mark::meaning)
}
