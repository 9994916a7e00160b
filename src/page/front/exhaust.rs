//! Every single fault, or every pair, at every step: what was tried, and what broke.

use crate::page::front::letters::Letters;
use crate::page::front::{cell, say};
use crate::page::source::exhaust::{Kind, Strategy};
use crate::page::source::{Exhaust, Sources, sum};
use crate::report::words::{count, thousands};
use maud::{Markup, html};

/// The title of the section.
pub fn title(sources: &Sources) -> &'static str {
    match &sources.exhaust {
        Some(exhaust) if exhaust.faults == "pairs" => "Every pair of faults",
        _ => "Every single fault",
    }
}

/// The section.
pub fn strategies(sources: &Sources, letters: Letters) -> Option<Markup> {
    let exhaust = sources.exhaust.as_ref().filter(|e| !e.strategies.is_empty())?;
    Some(html! {
        p { (intro(exhaust)) }
        @if !exhaust.as_expected { p .alarm { b { "≠ Something broke that its strategy declares never to break." } } }
        div .scroll role="group" aria-labelledby="single-faults" tabindex="0" {
            table #exhaust {
                thead { tr {
                    th scope="col" { "Strategy" }
                    th scope="col" .number { "Runs" }
                    th scope="col" .number { "Felt" }
                    th scope="col" { "What broke, by which kind of fault" }
                    th scope="col" { "No fault reached" }
                } }
                tbody { @for strategy in &exhaust.strategies { (line(strategy, sources, letters)) } }
            }
        }
    })
}

/// What was tried, in a sentence.
pub fn intro(exhaust: &Exhaust) -> String {
    let runs: u64 = sum(exhaust.strategies.iter().map(|s| s.runs));
    let strategies = match exhaust.strategies.len() {
        1 => "one strategy".to_owned(),
        n => format!("{n} strategies"),
    };
    let tried = format!("in {} runs of {strategies}", thousands(runs));
    if exhaust.faults == "pairs" {
        return format!("After each single fault {}a second one, at every later step of every node, {tried}.", of_kinds(exhaust));
    }
    if exhaust.all_kinds {
        return format!(
            "Complete for single faults: every kind of fault that can strike, at every step of every node in a calm period, {tried}."
        );
    }
    format!(
        "Complete for single faults {}at every step of every node in a calm period, {tried}. Other kinds were not tried.",
        of_kinds(exhaust)
    )
}

/// Of which kinds, if not of all.
fn of_kinds(exhaust: &Exhaust) -> String {
    match exhaust.kinds().as_slice() {
        _ if exhaust.all_kinds => String::new(),
        [] => "of some kinds ".to_owned(),
        [one] => format!("of this kind ({one}) "),
        some => format!("of these {} kinds ({}) ", some.len(), some.join(", ")),
    }
}

fn line(strategy: &Strategy, sources: &Sources, letters: Letters) -> Markup {
    let kinds: Vec<&Kind> = strategy.broken().collect();
    html! {
        tr {
            th scope="row" {
                (strategy.label())
                @if !strategy.as_expected { " " b .bad { "≠ not as declared" } }
            }
            td .number { (thousands(strategy.runs)) }
            td .number { (thousands(strategy.felt)) }
            td {
                @if !strategy.calm.is_empty() { p { "Without any fault: " b .bad { (say::list(&letters.list(&strategy.calm))) } } }
                @if kinds.is_empty() { span .good { "✓ nothing" @if !strategy.calm.is_empty() { " more" } } }
                @else if kinds.len() <= 3 { (broken(&kinds, sources, letters)) }
                @else { details { summary { (count(kinds.len(), "kind")) " of fault: " (summary(&kinds)) } (broken(&kinds, sources, letters)) } }
            }
            td { @if strategy.unreached.is_empty() { span .soft { "every step was reached" } } @else { code { (strategy.unreached.join(", ")) } } }
        }
    }
}

/// The letters that some kind brought, each once.
fn summary(kinds: &[&Kind]) -> String {
    let mut letters: Vec<String> = Vec::new();
    for broken in kinds.iter().flat_map(|kind| &kind.broken).filter(|b| !b.inherited) {
        if !letters.contains(&broken.letter) {
            letters.push(broken.letter.clone());
        }
    }
    say::list(&letters)
}

fn broken(kinds: &[&Kind], sources: &Sources, letters: Letters) -> Markup {
    html! {
        ul { @for kind in kinds {
            li {
                @match cell::page(kind.witness.as_deref(), sources) {
                    Some(page) => a href=(page) { (kind.kind) },
                    None => (kind.kind),
                }
                ": "
                @for (n, broken) in kind.broken.iter().filter(|b| !b.inherited).enumerate() {
                    @if n > 0 { ", " }
                    b .bad title=(letters.meaning(&broken.letter)) { (broken.letter) }
                    " in " (thousands(broken.runs)) " of " (thousands(kind.runs))
                }
            }
        } }
    }
}
