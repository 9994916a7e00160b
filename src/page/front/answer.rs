//! The question, the answer, and what it rests on.

use crate::page::front::letters::Letters;
use crate::page::front::order::best_first;
use crate::page::front::row::Row;
use crate::page::front::say::list;
use crate::page::front::verdict::Verdict;
use crate::page::source::{Sources, Verdicts};
use crate::report::words::{count, percent, thousands};
use maud::{Markup, html};

/// A section of the page: its id, its title, and what is in it.
pub type Section = (&'static str, &'static str, Markup);

/// The head of the page.
pub fn header(rows: &[Row], letters: Letters, sources: &Sources, sections: &[Section]) -> Markup {
    html! {
        header {
            p .product { "onceproof" }
            h1 { "Will a scheduled job run exactly once when several servers share it?" }
            @match &sources.verdicts {
                Some(verdicts) => {
                    p .answer { (yes_or_no(rows)) " " (failures(rows, letters)) " " (bound(rows)) }
                    @if let Some(made) = made(verdicts) { p .soft { (made) } }
                    (as_declared(verdicts))
                }
                None => (there(sections)),
            }
        }
    }
}

/// What there is instead of an answer.
fn there(sections: &[Section]) -> Markup {
    html! {
        p .answer {
            @if sections.is_empty() {
                "This folder has no readable verdicts.json, so there is no answer yet. “onceproof verify” writes it."
            } @else {
                "On this page: "
                @for (n, (id, title, _)) in sections.iter().enumerate() {
                    @if n > 0 { (if n + 1 == sections.len() { " and " } else { ", " }) }
                    a href={ "#" (id) } { (title.to_lowercase()) }
                }
                ". Which strategies hold is not told: this folder has no readable verdicts.json; “onceproof verify” writes it."
            }
        }
    }
}

/// Which strategies hold.
pub fn yes_or_no(rows: &[Row]) -> String {
    let held: Vec<String> = best_first(rows).into_iter().filter(Row::holds).map(|row| row.label).collect();
    match (held.len(), rows.len()) {
        (_, 0) => "No strategy was tried.".to_owned(),
        (0, 1) => "Not with this strategy: it did not hold under everything that was tried.".to_owned(),
        (0, n) => format!("Not with any of these {n} strategies: none held under everything that was tried."),
        (h, n) if h == n => format!("Yes, as far as this was tried, with every strategy here: {}.", list(&held)),
        (h, n) => format!("With {h} of {n} strategies, as far as this was tried: {}.", list(&held)),
    }
}

/// How many break, and how most often.
pub fn failures(rows: &[Row], letters: Letters) -> String {
    let breaks = |row: &&Row| row.cells(Verdict::Breaks).next().is_some();
    let broken = rows.iter().filter(breaks).count();
    let open = rows.iter().filter(|row| !row.holds() && !breaks(row)).count();
    let open = match open {
        0 => String::new(),
        1 => " One did not break, but was not tried enough.".to_owned(),
        n => format!(" {n} did not break, but were not tried enough."),
    };
    let (most, n) = most_common(rows);
    if most.is_empty() {
        return open.trim_start().to_owned();
    }
    let verb = if broken == 1 { "strategy breaks" } else { "strategies break" };
    let (is, each) = if most.len() == 1 { ("is", "") } else { ("are", "each ") };
    let told: Vec<String> = most.iter().map(|letter| format!("“{}” ({letter})", letters.meaning(letter))).collect();
    format!("{broken} {verb}; most common {is} {}, {each}in {n} of them.{open}", list(&told))
}

/// The letters that most strategies show, and how many strategies that are.
fn most_common(rows: &[Row]) -> (Vec<String>, usize) {
    let mut seen: Vec<(String, usize)> = Vec::new();
    for row in rows {
        let mut letters: Vec<&String> = row.strategy.cells.iter().flat_map(|c| &c.broken).map(|b| &b.letter).collect();
        letters.sort();
        letters.dedup();
        for letter in letters {
            match seen.iter_mut().find(|(other, _)| other == letter) {
                Some((_, n)) => *n += 1,
                None => seen.push((letter.clone(), 1)),
            }
        }
    }
    let most = seen.iter().map(|(_, n)| *n).max().unwrap_or_default();
    (seen.into_iter().filter(|(_, n)| *n == most).map(|(letter, _)| letter).collect(), most)
}

/// What holding is worth: the weakest bound of those that hold.
pub fn bound(rows: &[Row]) -> String {
    let bounds = rows.iter().filter(|row| row.holds()).flat_map(|row| row.cells(Verdict::Holds)).filter_map(|cell| cell.upper_bound);
    let Some(weakest) = bounds.reduce(f64::max) else { return String::new() };
    format!(
        "To hold means that no run broke, not that none can: at most {} of runs break in the least tried cell of these, with 95 % confidence.",
        percent(weakest)
    )
}

/// What was run.
pub fn made(verdicts: &Verdicts) -> Option<String> {
    if verdicts.runs == 0 && verdicts.apart.runs == 0 && verdicts.pinned_runs == 0 {
        return None;
    }
    let mut parts = vec![format!("{} drawn runs", thousands(verdicts.runs))];
    if verdicts.apart.runs > 0 {
        parts.push(format!("{} steered or enumerated ones", thousands(verdicts.apart.runs)));
    }
    if verdicts.pinned_runs > 0 {
        parts.push(format!("{} of plans that are known to break something", thousands(verdicts.pinned_runs)));
    }
    let seeds = verdicts.seeds_per_cell.map_or(String::new(), |n| format!(", {} for each cell", count(n as usize, "seed")));
    let again = match verdicts.certified_runs {
        0 => String::new(),
        n => format!(" {} runs were made twice and came out the same.", thousands(n)),
    };
    Some(format!("{}{seeds}{}.{again}", list(&parts), said(verdicts)))
}

/// With what it was run, as far as the file says.
fn said(verdicts: &Verdicts) -> String {
    let told = |what: &str, before: &str, after: &str| if what.is_empty() { String::new() } else { format!(", {before}{what}{after}") };
    let (seed, engine) = (told(&verdicts.base_seed, "from base seed ", ""), told(&verdicts.engine, "on the ", " engine"));
    format!("{seed}{engine}{}", told(&verdicts.onceproof, "by onceproof ", ""))
}

/// Whether what was seen is what strategies declare.
fn as_declared(verdicts: &Verdicts) -> Markup {
    let cells = || verdicts.strategies.iter().flat_map(|s| &s.cells);
    let off = cells().filter(|cell| !cell.as_expected).count();
    html! {
        @if cells().next().is_some() {
            @if off == 0 && verdicts.as_expected {
                p { span .good { "✓" } " Every cell is as its strategy declares." }
            } @else {
                p .alarm {
                    b { "≠ " (if off == 0 { "Not all is".to_owned() } else { format!("{} not", count(off, "cell")) }) " as declared. " }
                    @if off == 0 { "The file says so, but not of which cell." }
                    @else { "They are outlined and marked ≠ in " a href="#table" { "the table" } "." }
                }
            }
        }
    }
}
