//! A cell of the truth table: its sign, and the page of the run behind it.

use crate::page::front::evidence;
use crate::page::front::letters::Letters;
use crate::page::front::verdict::Verdict;
use crate::page::source::Sources;
use crate::page::source::verdicts::Cell;
use maud::{Markup, html};

/// The page of a witness file, if it is there.
pub fn page(witness: Option<&str>, sources: &Sources) -> Option<String> {
    let page = page_name(witness?)?;
    sources.pages.contains(&page).then(|| address(&page))
}

/// Where the page of a witness file would be.
pub fn page_name(witness: &str) -> Option<String> {
    witness.strip_suffix(".toml").map(|stem| format!("{stem}.html"))
}

/// A path in the folder as an address.
pub fn address(path: &str) -> String {
    path.replace('%', "%25").replace('#', "%23").replace('?', "%3F").replace(' ', "%20")
}

/// What a cell shows. Letters that it declares never to show are crossed, those that it declares to show and did not are empty.
fn sign(cell: &Cell) -> Markup {
    let kind = |kind: &'static str| cell.surprises.iter().filter(move |s| s.kind == kind).flat_map(|s| &s.letters);
    let letters = |calm| cell.broken.iter().filter(move |b| b.inherited == calm).map(|b| b.letter.as_str()).collect::<Vec<_>>();
    let (own, calm) = (letters(false), letters(true));
    html! {
        @match Verdict::of(cell) {
            Verdict::Holds => @if cell.as_expected { span .good { "✓" } },
            Verdict::Misses => span .soft { "–" },
            Verdict::Undecided => span .unsure { "?" },
            Verdict::Breaks => {}
        }
        @if !own.is_empty() { b .bad { @for letter in &own {
            @if kind("never-broke").any(|l| l == letter) { "✗" } (letter)
        } } }
        @for letter in kind("must-held") { b .bad { "∅" (letter) } }
        @if !calm.is_empty() { small { "(" (calm.concat()) ")" } }
        @if !cell.as_expected { i { "≠" } }
    }
}

/// The cell itself. `at` is where its details are.
pub fn td(cell: &Cell, label: &str, at: &str, letters: Letters, sources: &Sources) -> Markup {
    let verdict = Verdict::of(cell).name();
    let told = html! {
        (sign(cell))
        span .sr {
            " " (evidence::verdict(cell, letters))
            @if !cell.as_expected { "; not as declared" }
        }
    };
    html! {
        td data-strategy=(label) data-faults=(cell.faults) data-verdict=(verdict) data-declared=(if cell.as_expected { "yes" } else { "no" }) {
            @match page(cell.witness.as_deref(), sources) {
                Some(page) => a href=(page) aria-describedby="tip" data-at=(at) { (told) },
                None => button type="button" aria-describedby="tip" data-at=(at) { (told) },
            }
        }
    }
}
