//! Whether the colours of the style sheet can be told apart by everybody (WCAG 2.2, AA).

use super::STYLE;
use std::collections::BTreeMap;

type Colours<'a> = BTreeMap<&'a str, &'a str>;

/// The colours of each `:root` block that defines any: light, dark, paper.
fn schemes() -> Vec<Colours<'static>> {
    let blocks = STYLE.split(":root {").skip(1).filter_map(|rest| rest.split_once('}')).map(|(block, _)| block);
    let colours = |block: &'static str| {
        let lines = block.split(';').filter_map(|line| line.trim().strip_prefix("--")?.split_once(": #"));
        lines.collect::<Colours>()
    };
    blocks.map(colours).filter(|colours| !colours.is_empty()).collect()
}

fn luminance(hex: &str) -> f64 {
    let part = |n: usize| {
        let c = f64::from(u8::from_str_radix(&hex[2 * n..2 * n + 2], 16).unwrap()) / 255.0;
        if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * part(0) + 0.7152 * part(1) + 0.0722 * part(2)
}

fn contrast(a: &str, b: &str) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// Every front on every back has at least this contrast, in every scheme.
fn holds(fronts: &[&str], backs: &[&str], least: f64) {
    let schemes = schemes();
    assert_eq!(schemes.len(), 3, "light, dark and paper");
    for (n, colours) in schemes.iter().enumerate() {
        for (front, back) in fronts.iter().flat_map(|front| backs.iter().map(move |back| (front, back))) {
            let found = contrast(colours[front], colours[back]);
            assert!(found >= least, "--{front} on --{back} in scheme {n}: {found:.2} < {least}");
        }
    }
}

#[test]
fn the_formula_is_that_of_the_standard() {
    assert!((contrast("000000", "ffffff") - 21.0).abs() < 1e-9);
    assert!((contrast("777777", "ffffff") - 4.478).abs() < 1e-3);
}

#[test]
fn text_can_be_read() {
    let backs = ["paper", "panel", "good-bg", "bad-bg", "unsure-bg"];
    holds(&["ink", "soft", "accent", "good", "bad", "unsure"], &backs, 4.5);
    holds(&["paper"], &["bad"], 4.5);
}

#[test]
fn bars_and_lines_can_be_seen() {
    holds(&["c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7"], &["paper", "panel"], 3.0);
}

#[test]
fn every_scheme_has_every_colour() {
    let schemes = schemes();
    let names = |n: usize| schemes[n].keys().copied().collect::<Vec<_>>();
    assert_eq!(names(0).len(), 20);
    assert_eq!((names(1), names(2)), (names(0), names(0)));
}

#[test]
fn paper_is_printed_as_light_is_shown() {
    let schemes = schemes();
    let but_the_page = |n: usize| schemes[n].iter().filter(|(name, _)| **name != "paper").collect::<Vec<_>>();
    assert_eq!(but_the_page(2), but_the_page(0));
}
