//! All that is known of a cell, in words: for its tooltip, and for readers without one.

use crate::page::front::letters::Letters;
use crate::page::front::row::CALM;
use crate::page::front::say::{capital, list};
use crate::page::front::verdict::Verdict;
use crate::page::source::verdicts::{Broken, Cell, Expected, Surprise};
use crate::report::words::{percent, thousands};
use maud::{Markup, html};

/// The verdict in words: `breaks: settled twice (D)`.
pub fn verdict(cell: &Cell, letters: Letters) -> String {
    let told = |inherited| cell.broken.iter().filter(|b| b.inherited == inherited).map(|b| letters.told(&b.letter)).collect::<Vec<_>>();
    match Verdict::of(cell) {
        Verdict::Holds => "holds".to_owned(),
        Verdict::Misses => format!("cannot strike: {}", cell.misses.as_deref().unwrap_or("the strategy asks no such server")),
        Verdict::Undecided => format!("undecided: nothing broke, but fewer than {} runs felt the fault", cell.felt_needed),
        Verdict::Breaks => match (told(false), told(true)) {
            (own, calm) if calm.is_empty() => format!("breaks: {}", list(&own)),
            (own, calm) if own.is_empty() => format!("breaks, as without any fault: {}", list(&calm)),
            (own, calm) => format!("breaks: {}; and without any fault already: {}", list(&own), list(&calm)),
        },
    }
}

/// The paragraphs of a cell.
pub fn paragraphs(cell: &Cell, letters: Letters) -> Markup {
    let verdict_class = match Verdict::of(cell) {
        Verdict::Holds => "good",
        Verdict::Breaks => "bad",
        Verdict::Undecided => "unsure",
        Verdict::Misses => "soft",
    };
    html! {
        p { b class=(verdict_class) { (capital(&verdict(cell, letters))) "." } }
        @if !cell.as_expected {
            p .bad { b { "≠ Not as declared. " } @for surprise in &cell.surprises { (surprised(surprise, letters)) " " } }
        }
        @if let Some(runs) = runs(cell) {
            p { (runs) @if let Some(bound) = cell.upper_bound { " At most " (percent(bound)) " of runs break, with 95 % confidence." } }
        }
        @for broken in cell.broken.iter().filter(|b| !b.inherited) { (first(broken, letters)) }
        @for expected in &cell.expected { p { (declared(expected, letters)) } }
    }
}

/// How many runs there were, and how many of them are evidence.
pub fn runs(cell: &Cell) -> Option<String> {
    let mut parts = Vec::new();
    if cell.runs > 0 {
        let felt = || format!("{} of {} drawn runs felt it", thousands(cell.felt), thousands(cell.runs));
        parts.push(if cell.faults == CALM { format!("{} drawn runs", thousands(cell.runs)) } else { felt() });
    }
    if cell.apart.runs > 0 {
        parts.push(format!("{} of {} chosen runs felt it", thousands(cell.apart.felt), thousands(cell.apart.runs)));
    }
    if cell.pinned_runs > 0 {
        parts.push(format!("{} pinned", thousands(cell.pinned_runs)));
    }
    (!parts.is_empty()).then(|| format!("{}.", parts.join("; ")))
}

/// How often a letter broke, and what happened in the first run that shows it.
fn first(broken: &Broken, letters: Letters) -> Markup {
    let rate = broken.rate.map(|rate| {
        format!(
            "in {} of drawn runs (with 95 % confidence at least {}, at most {})",
            percent(rate.seen),
            percent(rate.lower),
            percent(rate.upper)
        )
    });
    let chosen = (broken.apart > 0).then(|| format!("in {} chosen runs", thousands(broken.apart)));
    let counted = (broken.rate.is_none() && broken.runs > 0).then(|| format!("in {} drawn runs", thousands(broken.runs)));
    let often = match [rate, counted, chosen].into_iter().flatten().collect::<Vec<_>>() {
        parts if parts.is_empty() => "only in its pinned plan".to_owned(),
        parts => list(&parts),
    };
    html! { p { b { (broken.letter) } ", " (letters.meaning(&broken.letter)) ": " (often) ". First: " (broken.first.what) "." } }
}

/// What the strategy declares.
pub fn declared(expected: &Expected, letters: Letters) -> String {
    let letters = list(&letters.list(&expected.letters));
    let because = if expected.because.is_empty() { String::new() } else { format!(", because {}", expected.because) };
    match expected.kind.as_str() {
        "must" => format!("Declared: breaks in its pinned plan: {letters}{because}."),
        "never" => format!("Declared: never {letters}{because}."),
        other => format!("Declared ({other}): {letters}{because}."),
    }
}

/// Why a cell is not as declared.
pub fn surprised(surprise: &Surprise, letters: Letters) -> String {
    let told = list(&letters.list(&surprise.letters));
    let because = if surprise.because.is_empty() { String::new() } else { format!(" (its reason: {})", surprise.because) };
    match surprise.kind.as_str() {
        "never-broke" => format!("It declares never to break so, and did: {told}{because}."),
        "must-held" => format!("It declares to break so in its pinned plan, and held: {told}{because}."),
        "went-wrong" => format!("A run panicked or never ended{because}."),
        "undecided" => format!("It declares never to break, and too few runs felt the fault{because}."),
        other => format!("{other}: {told}{because}."),
    }
}
