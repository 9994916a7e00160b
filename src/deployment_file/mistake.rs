//! What is wrong in a file, where, and what to write instead.

use std::fmt::{self, Write};
use std::ops::Range;

/// Columns of a line that are shown; a longer one is cut around the place.
const SHOWN: usize = 100;

/// One mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Where in the text, in bytes; `None` if something is missing.
    pub span: Option<Range<usize>>,
    /// What is wrong, a lowercase fragment.
    pub what: String,
    /// What to write instead.
    pub cure: String,
}

impl Mistake {
    /// One at a place.
    pub fn at(span: Range<usize>, what: impl Into<String>, cure: impl Into<String>) -> Mistake {
        Mistake { span: Some(span), what: what.into(), cure: cure.into() }
    }

    /// One that is nowhere: something is missing.
    pub fn missing(what: impl Into<String>, cure: impl Into<String>) -> Mistake {
        Mistake { span: None, what: what.into(), cure: cure.into() }
    }
}

/// A place in a text, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
    /// The line itself.
    pub text: String,
    /// How many characters of it are meant, at least 1.
    pub width: usize,
}

impl Place {
    /// Where a range of bytes begins, and how much of its first line it takes.
    pub fn of(text: &str, span: &Range<usize>) -> Place {
        let floor = |at: usize| (0..=at.min(text.len())).rev().find(|n| text.is_char_boundary(*n)).unwrap_or(0);
        let start = floor(span.start);
        let end = floor(span.end).max(start);
        let begins = text[..start].rfind('\n').map_or(0, |n| n + 1);
        let line = text[begins..].lines().next().unwrap_or("");
        let meant = text[start..end].lines().next().unwrap_or("").chars().count();
        Place {
            line: 1 + text[..begins].matches('\n').count(),
            column: 1 + text[begins..start].chars().count(),
            text: line.to_owned(),
            width: meant.max(1),
        }
    }
}

/// Everything that is wrong in one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistakes {
    /// The file, as it was named.
    pub file: String,
    /// Its text.
    pub text: String,
    /// In the order of the file; what is missing comes last.
    pub all: Vec<Mistake>,
}

impl Mistakes {
    /// Those of a file, in its order.
    pub fn of(file: &str, text: &str, mut all: Vec<Mistake>) -> Mistakes {
        all.sort_by_key(|mistake| mistake.span.as_ref().map_or(usize::MAX, |span| span.start));
        all.dedup();
        Mistakes { file: file.to_owned(), text: text.to_owned(), all }
    }
}

/// Each with `file:line:column`, the line, and a caret under what is meant.
impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, mistake) in self.all.iter().enumerate() {
            if n > 0 {
                f.write_char('\n')?;
            }
            match &mistake.span {
                None => writeln!(f, "{}: {}", self.file, mistake.what)?,
                Some(span) => {
                    let place = Place::of(&self.text, span);
                    writeln!(f, "{}:{}:{}: {}", self.file, place.line, place.column, mistake.what)?;
                    let number = place.line.to_string();
                    let skipped = (place.column - 1).saturating_sub(SHOWN / 2);
                    let shown: String = place.text.chars().skip(skipped).take(SHOWN).map(visible).collect();
                    writeln!(f, " {number} | {shown}")?;
                    let before = place.column - 1 - skipped;
                    let carets = place.width.min(SHOWN - before.min(SHOWN - 1));
                    writeln!(f, " {} | {}{}", " ".repeat(number.len()), " ".repeat(before), "^".repeat(carets))?;
                }
            }
            if !mistake.cure.is_empty() {
                writeln!(f, "   = {}", mistake.cure)?;
            }
        }
        Ok(())
    }
}

/// A tab would move the caret, and a control character the whole terminal.
fn visible(c: char) -> char {
    match c {
        '\t' => ' ',
        c if c.is_control() => '\u{fffd}',
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_counts_characters_and_never_cuts_one() {
        let text = "a = 1\nzone = \"Zürich\"\n";
        let at = text.find("rich").unwrap();
        let place = Place::of(text, &(at..at + 4));
        assert_eq!((place.line, place.column, place.width), (2, 11, 4));
        for start in 0..=text.len() + 2 {
            for end in start..=text.len() + 2 {
                let place = Place::of(text, &(start..end));
                assert!(place.line <= 3 && place.width >= 1);
            }
        }
    }
}
