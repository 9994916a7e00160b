//! Colours, and text whose width is known although it carries colours.

use crate::report::words::wrap;
use anstyle::{AnsiColor, Style};
use std::fmt;

/// It holds.
pub const GOOD: Style = AnsiColor::Green.on_default();
/// It broke, as declared or allowed.
pub const BROKEN: Style = AnsiColor::Red.on_default();
/// Not as declared.
pub const ALARM: Style = AnsiColor::Red.on_default().bold().invert();
/// Not known.
pub const UNSURE: Style = AnsiColor::Yellow.on_default().bold();
/// Of less interest.
pub const FAINT: Style = Style::new().dimmed();
/// A heading or a name.
pub const STRONG: Style = Style::new().bold();

/// A piece of a line: text that is as wide as it has characters, and the escape codes around it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Painted {
    pieces: Vec<(Style, String)>,
}

impl Painted {
    /// Adds text in a style.
    #[must_use]
    pub fn and(mut self, style: Style, text: &str) -> Painted {
        self.pieces.push((style, text.to_owned()));
        self
    }

    /// Adds another piece.
    #[must_use]
    pub fn join(mut self, other: Painted) -> Painted {
        self.pieces.extend(other.pieces);
        self
    }

    /// How many columns it takes.
    pub fn width(&self) -> usize {
        self.pieces.iter().map(|(_, text)| text.chars().count()).sum()
    }

    /// Filled up with spaces to `width` columns.
    pub fn padded(&self, width: usize) -> String {
        format!("{self}{}", " ".repeat(width.saturating_sub(self.width())))
    }

    /// Cut into lines of at most `width` columns, between words, in the style in which it begins. Never without a line.
    pub fn wrapped(&self, width: usize) -> Vec<String> {
        let style = self.pieces.first().map_or(Style::new(), |(style, _)| *style);
        let text: String = self.pieces.iter().map(|(_, text)| text.as_str()).collect();
        let mut lines: Vec<String> = wrap(&text, width).iter().map(|line| paint(style, line)).collect();
        if lines.is_empty() {
            lines.push(String::new());
        }
        lines
    }
}

impl fmt::Display for Painted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pieces.iter().try_for_each(|(style, text)| f.write_str(&paint(*style, text)))
    }
}

/// Text with the escape codes of a style around it.
pub fn paint(style: Style, text: &str) -> String {
    if style == Style::new() || text.is_empty() { text.to_owned() } else { format!("{style}{text}{style:#}") }
}
