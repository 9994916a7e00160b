//! The verdicts as Markdown, for the summary page of a CI job: first whether all is as expected, then what is not.

use crate::page::front::say::capital;
use crate::page::source::Verdicts;
use crate::page::source::verdicts::{Cell, Strategy};
use crate::page::surprise::{self, Place};
use crate::report::words::{count, one_line, percent, thousands};
use std::fmt::Write;

/// The whole text.
pub fn summary(verdicts: &Verdicts, place: &Place) -> String {
    let mut out = format!("## onceproof: {}\n", headline(verdicts));
    out.push_str(&unexpected(verdicts, place));
    out.push_str(&table(verdicts));
    let _ = writeln!(out, "\n{}", legend(verdicts));
    if let Some(worth) = worth(verdicts) {
        let _ = writeln!(out, "\n{worth}");
    }
    let _ = writeln!(out, "\n{}", figures(verdicts));
    out
}

fn cells(verdicts: &Verdicts) -> impl Iterator<Item = (&Strategy, &Cell)> {
    verdicts.strategies.iter().flat_map(|strategy| strategy.cells.iter().map(move |cell| (strategy, cell)))
}

fn headline(verdicts: &Verdicts) -> String {
    let (all, bad) = (cells(verdicts).count(), cells(verdicts).filter(|(_, cell)| !cell.as_expected).count());
    match (all, bad) {
        (0, _) => "no cell was looked at".to_owned(),
        (1, 0) => "✓ the one cell is as expected".to_owned(),
        (all, 0) => format!("✓ all {} are as expected", count(all, "cell")),
        (all, bad) => {
            format!("✗ {} of {} {} not as expected", thousands(bad as u64), count(all, "cell"), if bad == 1 { "is" } else { "are" })
        }
    }
}

fn unexpected(verdicts: &Verdicts, place: &Place) -> String {
    let mut bad = cells(verdicts).filter(|(_, cell)| !cell.as_expected).peekable();
    let mut out = String::new();
    if bad.peek().is_none() {
        return out;
    }
    out.push_str("\n| strategy | fault class | what is not as expected | see it |\n|---|---|---|---|\n");
    for (strategy, cell) in bad {
        let told = surprise::told(verdicts, cell).into_iter().map(|told| {
            let because = told.because.iter().map(|line| plain(line)).collect::<Vec<_>>().join("; ");
            let what = format!("**{}**", plain(&told.what));
            if because.is_empty() { what } else { format!("{what}: {because}") }
        });
        let sentence = place.sentence(cell).map(|sentence| format!("In short: {}", plain(&sentence)));
        let what = told.chain(sentence).collect::<Vec<_>>().join("<br>");
        let see = code(&surprise::command(verdicts, strategy, cell, place));
        let _ = writeln!(out, "| {} | {} | {what} | {see} |", plain(&strategy.label()), plain(&cell.faults));
    }
    out
}

/// Strategies by fault classes.
fn table(verdicts: &Verdicts) -> String {
    let mut classes: Vec<&str> = Vec::new();
    for (_, cell) in cells(verdicts) {
        if !classes.contains(&cell.faults.as_str()) {
            classes.push(&cell.faults);
        }
    }
    if classes.is_empty() {
        return String::new();
    }
    let heads = classes.iter().map(|class| plain(class)).collect::<Vec<_>>().join(" | ");
    let mut out = format!("\n| strategy | {heads} |\n|---|{}\n", ":-:|".repeat(classes.len()));
    for strategy in &verdicts.strategies {
        let sign = |class: &&str| strategy.cells.iter().find(|cell| cell.faults == *class).map(sign).unwrap_or_default();
        let signs = classes.iter().map(sign).collect::<Vec<_>>().join(" | ");
        let _ = writeln!(out, "| {} | {signs} |", plain(&strategy.label()));
    }
    out
}

/// A cell: `✓`, letters, `–` or `?`; what is not as expected is bold and says so by `✗`.
fn sign(cell: &Cell) -> String {
    let letters = cell.broken.iter().map(|b| if b.inherited { format!("({})", plain(&b.letter)) } else { plain(&b.letter) });
    let letters = letters.collect::<Vec<_>>().join(" ");
    let sign = match cell.verdict.as_str() {
        "misses" => "–".to_owned(),
        "undecided" if letters.is_empty() => "?".to_owned(),
        "undecided" => format!("{letters} ?"),
        "holds" if cell.as_expected => "✓".to_owned(),
        "holds" => "held".to_owned(),
        _ => letters,
    };
    if cell.as_expected { sign } else { format!("**✗ {sign}**") }
}

fn legend(verdicts: &Verdicts) -> String {
    let shows = |what: &dyn Fn(&Cell) -> bool| cells(verdicts).any(|(_, cell)| what(cell));
    let mut entries = vec!["✓ held in every run".to_owned()];
    for letter in &verdicts.letters {
        if shows(&|cell| cell.broken.iter().any(|b| b.letter == letter.letter)) {
            entries.push(format!("{} {}", plain(&letter.letter), plain(&letter.meaning)));
        }
    }
    if shows(&|cell| cell.broken.iter().any(|b| b.inherited)) {
        entries.push("( ) breaks without any fault already".to_owned());
    }
    if shows(&|cell| !cell.as_expected) {
        entries.push("**✗** not as expected".to_owned());
    }
    if shows(&|cell| cell.verdict == "undecided") {
        entries.push("? undecided: too few runs felt the fault".to_owned());
    }
    if shows(&|cell| cell.verdict == "misses") {
        entries.push("– cannot strike this strategy".to_owned());
    }
    entries.join(" · ")
}

/// What ✓ is worth: the bound of the cell in which the fewest runs felt the fault.
fn worth(verdicts: &Verdicts) -> Option<String> {
    let holding = cells(verdicts).filter(|(_, cell)| cell.verdict == "holds" && cell.felt > 0);
    let (strategy, weakest) = holding.min_by_key(|(_, cell)| cell.felt)?;
    Some(format!(
        "✓ is worth at least {} (fewest: {} under {}): with 95 % confidence fewer than {} of runs break it.",
        count(weakest.felt as usize, "felt run"),
        plain(&strategy.label()),
        plain(&weakest.faults),
        percent(weakest.upper_bound?)
    ))
}

fn figures(verdicts: &Verdicts) -> String {
    let seeds = verdicts.seeds_per_cell.map(|n| format!(", {} a cell", count(n as usize, "seed"))).unwrap_or_default();
    let told = |before: &str, what: &str, after: &str| (!what.is_empty()).then(|| format!("{before}{}{after}", plain(what)));
    let made =
        [told("base seed ", &verdicts.base_seed, ""), told("", &verdicts.engine, " engine"), told("onceproof ", &verdicts.onceproof, "")];
    let made = made.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let made = if made.is_empty() { made } else { format!(" {}.", capital(&made)) };
    format!(
        "{} drawn{seeds}, {} chosen, {} of pinned plans; {} made twice with equal digests.{made}",
        count(verdicts.runs as usize, "run"),
        thousands(verdicts.apart.runs),
        thousands(verdicts.pinned_runs),
        count(verdicts.certified_runs as usize, "run"),
    )
}

/// Text in which nothing is a sign of Markdown or of HTML.
fn plain(text: &str) -> String {
    let mut out = String::new();
    for c in one_line(text).chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '#' => out.extend(['\\', c]),
            _ => out.push(c),
        }
    }
    out
}

/// Text as it is, in a cell of a table: between more backticks than stand together in it.
fn code(text: &str) -> String {
    // A backslash before a bar would end the cell: code has no way to write it.
    if text.contains("\\|") {
        return plain(text);
    }
    let text = one_line(text).replace('|', "\\|");
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let air = if longest > 0 { " " } else { "" };
    format!("{fence}{air}{text}{air}{fence}")
}

#[cfg(test)]
mod tests;
