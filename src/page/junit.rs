//! The verdicts as `JUnit` XML: a suite for each strategy, a test case for each cell. There are no times in it, so equal
//! verdicts are equal files.

use crate::page::source::Verdicts;
use crate::page::source::verdicts::{Cell, Strategy};
use crate::page::surprise::{self, Place};
use crate::report::words::one_line;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

/// The whole file.
///
/// # Panics
/// Never: XML written to memory is text, and writing there does not fail.
pub fn xml(verdicts: &Verdicts, place: &Place) -> String {
    let mut report = Report::new("onceproof");
    for strategy in &verdicts.strategies {
        let mut suite = TestSuite::new(name(&strategy.label()));
        suite.add_test_cases(strategy.cells.iter().map(|cell| case(verdicts, strategy, cell, place)));
        report.add_test_suite(suite);
    }
    report.to_string().expect("XML written to memory is text, and writing to memory does not fail")
}

fn case(verdicts: &Verdicts, strategy: &Strategy, cell: &Cell, place: &Place) -> TestCase {
    let status = match &cell.misses {
        Some(why) => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(name(why));
            status
        }
        None if cell.as_expected => TestCaseStatus::success(),
        None => failure(verdicts, strategy, cell, place),
    };
    let passed = matches!(status, TestCaseStatus::Success { .. });
    let mut case = TestCase::new(name(&cell.faults), status);
    case.set_classname(name(&strategy.label()));
    if let Some(out) = as_declared(verdicts, cell, place).filter(|_| passed) {
        case.set_system_out(legal(&out));
    }
    case
}

fn failure(verdicts: &Verdicts, strategy: &Strategy, cell: &Cell, place: &Place) -> TestCaseStatus {
    let told = surprise::told(verdicts, cell);
    let what = told.iter().map(|told| told.what.as_str()).collect::<Vec<_>>().join("; ");
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status.set_message(name(if what.is_empty() { "not as expected" } else { &what }));
    status.set_type(name(cell.surprises.first().map_or("not-as-expected", |surprise| &surprise.kind)));

    let mut lines: Vec<String> = Vec::new();
    for told in told {
        lines.push(told.what);
        lines.extend(told.because.into_iter().map(|line| format!("  {line}")));
    }
    lines.extend(place.sentence(cell).map(|sentence| format!("in short: {sentence}")));
    lines.push(format!("see it: {}", surprise::command(verdicts, strategy, cell, place)));
    lines.extend(place.witness(cell).map(|witness| format!("witness: {witness}")));
    status.set_description(legal(&lines.join("\n")));
    status
}

/// What a cell tells that is as its strategy declares, if it did more than hold.
fn as_declared(verdicts: &Verdicts, cell: &Cell, place: &Place) -> Option<String> {
    let letters = |inherited: bool| {
        let letters = cell.broken.iter().filter(|b| b.inherited == inherited).map(|b| surprise::named(verdicts, &b.letter));
        Some(letters.collect::<Vec<_>>().join(", ")).filter(|letters| !letters.is_empty())
    };
    let lines = [
        letters(false).map(|letters| format!("breaks, as declared: {letters}")),
        letters(true).map(|letters| format!("breaks without any fault already: {letters}")),
        (cell.verdict == "undecided").then(|| surprise::undecided(cell)),
        place.sentence(cell).map(|sentence| format!("in short: {sentence}")),
        place.witness(cell).map(|witness| format!("witness: {witness}")),
    ];
    let lines: Vec<String> = lines.into_iter().flatten().collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// What can stand in an attribute.
fn name(text: &str) -> String {
    one_line(&legal(text))
}

/// Text without the two characters that no XML file may contain and that the library lets through.
fn legal(text: &str) -> String {
    text.replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}

#[cfg(test)]
mod tests;
