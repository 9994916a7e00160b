//! The front page.

use super::browser::{Browser, VISIBLE, browse};
use super::site::{RUN, Site};
use fantoccini::key::Key;
use serde_json::Value;

/// Everything that a cell of the table says, read from the page.
const CELLS: &str = "
const heads = document.querySelectorAll('#verdicts thead tr:last-child > *');
return [...document.querySelectorAll('#verdicts tbody td')].map(td => ({
    strategy: td.dataset.strategy,
    faults: td.dataset.faults,
    verdict: td.dataset.verdict,
    row: td.closest('tr').querySelector('th').textContent,
    column: heads[td.cellIndex].textContent,
    inside: td.querySelectorAll('a, button').length,
    text: td.querySelector('a, button').textContent,
    link: td.querySelector('a')?.getAttribute('href') ?? '',
}));";

/// Where the focus is: strategy and fault class of its cell.
const FOCUS: &str =
    "(td => td ? td.dataset.strategy + ' ' + td.dataset.faults : 'elsewhere')(document.activeElement.closest('#verdicts td'))";

/// The tooltip of a cell whose link or button this is.
fn tip(of: &str) -> String {
    format!("document.getElementById({of}.getAttribute('aria-describedby').split(' ').at(-1))")
}

/// Whether it can be seen.
fn shown(of: &str) -> String {
    let tip = tip(of);
    format!("{VISIBLE}({tip}) && {tip}.textContent.trim() !== ''")
}

#[test]
fn the_table_says_what_the_json_says() {
    browse("the_table_says_what_the_json_says", async |browser| {
        let site = Site::new();
        browser.open(&site.front()).await;
        let cells = browser.ask(CELLS).await;
        let cells = cells.as_array().unwrap();
        let mut seen = 0;
        for strategy in site.verdicts["strategies"].as_array().unwrap() {
            for cell in strategy["cells"].as_array().unwrap() {
                let (strategy, faults) = (strategy["name"].as_str().unwrap(), cell["faults"].as_str().unwrap());
                let on_page = cells.iter().filter(|c| c["strategy"] == strategy && c["faults"] == faults).collect::<Vec<_>>();
                let [on_page] = on_page[..] else { panic!("{strategy} under {faults}: {} cells", on_page.len()) };
                compare(cell, on_page);
                seen += 1;
            }
        }
        assert_eq!((seen, cells.len()), (18, 18));
    });
}

fn compare(cell: &Value, on_page: &Value) {
    let text = |field: &str| on_page[field].as_str().unwrap();
    assert_eq!(on_page["verdict"], cell["verdict"], "{on_page}");
    assert!(text("row").contains(text("strategy")), "{on_page}");
    assert_eq!(text("column").replace(['\u{ad}', '\u{200b}'], "").trim(), text("faults"), "{on_page}");
    assert_eq!(on_page["inside"], 1, "{on_page}");
    for broken in cell["broken"].as_array().unwrap() {
        assert!(text("text").contains(broken["letter"].as_str().unwrap()), "{on_page} does not show {broken}");
    }
    let page = cell["witness"].as_str().map(|witness| witness.replace(".toml", ".html")).filter(|page| page == RUN);
    assert_eq!(text("link"), page.unwrap_or_default(), "only a run that has a page is linked");
}

/// Tab goes into the table, once; arrow keys go from cell to cell; what a cell says in full is seen on focus and on
/// hover, and Escape takes it away.
#[test]
fn the_table_is_walked_by_keyboard() {
    browse("the_table_is_walked_by_keyboard", async |browser| {
        let site = Site::new();
        browser.open(&site.front()).await;
        tab_into_table(browser).await;
        assert_eq!(browser.text("document.querySelectorAll('#verdicts td [tabindex=\"0\"]').length").await, "1", "one stop for Tab");
        let first = browser.text(FOCUS).await;
        browser.press(Key::Right).await;
        let right = browser.text(FOCUS).await;
        browser.press(Key::Down).await;
        let below = browser.text(FOCUS).await;
        browser.press(Key::Left).await;
        browser.press(Key::Up).await;
        assert_eq!(browser.text(FOCUS).await, first, "once around a corner");
        let cells = browser.ask(CELLS).await;
        let name = |n: usize| format!("{} {}", cells[n]["strategy"].as_str().unwrap(), cells[n]["faults"].as_str().unwrap());
        assert_eq!((first, right, below), (name(0), name(1), name(7)), "six fault classes make a row");

        assert!(browser.is(&shown("document.activeElement")).await, "a focused cell explains itself");
        assert!(browser.text(&format!("{}.textContent", tip("document.activeElement"))).await.contains("40"), "with its 40 runs");
        browser.press(Key::Escape).await;
        assert!(!browser.is(&shown("document.activeElement")).await, "Escape takes it away");
        assert_ne!(browser.text(FOCUS).await, "elsewhere", "and leaves the focus where it is");
    });
}

#[test]
fn a_cell_explains_itself_under_the_pointer() {
    browse("a_cell_explains_itself_under_the_pointer", async |browser| {
        let site = Site::new();
        browser.open(&site.front()).await;
        let inside = "#verdicts td[data-strategy=\"dual-guard\"][data-faults=\"crash\"] button";
        let element = format!("document.querySelector('{inside}')");
        assert!(!browser.is(&shown(&element)).await);
        browser.hover(inside).await;
        assert!(browser.is(&shown(&element)).await, "no tooltip under the pointer");
        assert!(browser.text(&format!("{}.textContent", tip(&element))).await.contains("felt"), "it tells how many runs felt the fault");
        browser.press(Key::Escape).await;
        assert!(!browser.is(&shown(&element)).await, "Escape takes it away");
    });
}

async fn tab_into_table(browser: &Browser) {
    for _ in 0..80 {
        browser.press(Key::Tab).await;
        if browser.text(FOCUS).await != "elsewhere" {
            return;
        }
    }
    panic!("Tab never comes to the table");
}
