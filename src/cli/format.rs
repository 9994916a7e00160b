//! In which form verdicts are printed.

use crate::cli::input;
use crate::page::source::{Verdicts, document};
use crate::page::surprise::Place;
use crate::page::{junit, markdown};
use crate::report::twin::Twin;
use clap::ValueEnum;
use std::path::Path;

/// Bytes of the longest JSON file of a reports folder that is read: some times what the whole table has at its largest.
pub const LONGEST: u64 = 256 * 1024 * 1024;

/// What `verify` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// The truth table, for people
    Table,
    /// The text of verdicts.json, for programs
    Json,
    /// A test case for each cell, as CI systems read them
    Junit,
    /// A summary for the page of a CI job
    Markdown,
}

impl Format {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Format::Table => "table",
            Format::Json => "json",
            Format::Junit => "junit",
            Format::Markdown => "markdown",
        }
    }
}

/// Verdicts that are in a reports folder, as `JUnit` XML.
pub fn junit(verdicts: &Verdicts, reports: &Path) -> String {
    beside(reports, |place| junit::xml(verdicts, place))
}

/// The same as Markdown.
pub fn markdown(verdicts: &Verdicts, reports: &Path) -> String {
    beside(reports, |place| markdown::summary(verdicts, place))
}

fn beside(reports: &Path, made: impl FnOnce(&Place) -> String) -> String {
    let sentence = |witness: &str| {
        let twin = input::read(&reports.join(witness).with_extension("json"), "JSON", LONGEST).ok()?;
        document::read::<Twin>(&twin).ok().map(|twin| twin.sentence)
    };
    made(&Place { reports: &reports.display().to_string(), sentence: &sentence })
}
