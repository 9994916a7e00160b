//! What is true of both pages: they load nothing, complain about nothing, obey no text, fit on every screen, and are
//! usable by everyone; and the control: a page that does all of it is found out.

use super::browser::{Browser, browse};
use super::driver::skip;
use super::site::{SCRIPT, Site};
use fantoccini::key::Key;
use serde_json::Value;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// Serious violations, each in a line.
const AXE: &str = "
const done = arguments[arguments.length - 1];
axe.run(document, { resultTypes: ['violations'] }).then(
    found => done(found.violations.filter(v => v.impact === 'serious' || v.impact === 'critical').map(v =>
        v.id + ': ' + v.help + ': ' + v.nodes.slice(0, 3).map(n => n.target.join(' ') + ' ' + n.failureSummary).join('; '))),
    failed => done(['axe failed: ' + failed]));";

/// How much wider the page is than the screen.
const TOO_WIDE: &str = "document.documentElement.scrollWidth - document.documentElement.clientWidth";

#[test]
fn no_request_leaves_a_page_and_the_console_stays_empty() {
    browse("no_request_leaves_a_page_and_the_console_stays_empty", async |browser| {
        let site = Site::new();
        for page in [site.front(), site.run()] {
            browser.open(&page).await;
            browser.unfold().await;
            for key in [Key::Tab, Key::Right, Key::Down, Key::Tab, Key::Right, Key::Escape] {
                browser.press(key).await;
            }
            assert_eq!(browser.requests().await, [format!("file://{}", page.display())]);
            assert_eq!(browser.complaints().await, [""; 0], "{}", page.display());
        }
    });
}

#[test]
fn a_script_in_a_name_is_shown_and_not_run() {
    browse("a_script_in_a_name_is_shown_and_not_run", async |browser| {
        let site = Site::hostile();
        for page in [site.front(), site.run()] {
            browser.open(&page).await;
            assert!(browser.text("document.body.innerText").await.contains(SCRIPT), "{} does not show it", page.display());
            assert!(!browser.is("window.pwned").await, "{} runs it", page.display());
            assert_eq!(browser.complaints().await, [""; 0], "{}", page.display());
        }
    });
}

#[test]
fn pages_fit_on_wide_and_on_narrow_screens() {
    browse("pages_fit_on_wide_and_on_narrow_screens", async |browser| {
        let site = Site::new();
        for page in [site.front(), site.run()] {
            browser.open(&page).await;
            for (width, scheme) in [(1280, "light"), (390, "dark")] {
                browser.see(width, scheme).await;
                browser.unfold().await;
                assert_eq!(browser.text("innerWidth").await, width.to_string());
                assert_eq!(browser.text(TOO_WIDE).await, "0", "{} at {width}", page.display());
            }
        }
    });
}

/// The two colour schemes are two, and in each everything can be read and used.
#[test]
fn axe_finds_no_serious_violation() {
    let test = "axe_finds_no_serious_violation";
    let Some(axe) = axe(test) else { return };
    browse(test, async |browser| {
        let site = Site::new();
        for page in [site.front(), site.run()] {
            let mut papers = Vec::new();
            for (width, scheme) in [(1280, "light"), (390, "dark")] {
                browser.open(&page).await;
                browser.see(width, scheme).await;
                browser.unfold().await;
                papers.push(browser.text("getComputedStyle(document.body).backgroundColor").await);
                assert_eq!(violations(browser, &axe).await, [""; 0], "{} in {scheme}", page.display());
            }
            assert_ne!(papers[0], papers[1], "{} is the same in both schemes", page.display());
        }
    });
}

/// Without this, a harness that sees nothing would find everything in order.
#[test]
fn a_bad_page_is_found_out() {
    browse("a_bad_page_is_found_out", async |browser| {
        let site = Site::new();
        let bad = "<!doctype html><body style='margin: 0'><div style='width: 5000px; color: #eee; background: #fff'>pale</div>\
            <img src='other.png'><script>window.pwned = 1; console.warn('a warning')</script>";
        let page = site.other(bad);
        browser.open(&page).await;
        browser.see(390, "light").await;
        assert_eq!(browser.requests().await.len(), 2, "the page and its picture");
        let complaints = browser.complaints().await;
        assert!(complaints.iter().any(|c| c.contains("a warning")) && complaints.iter().any(|c| c.contains("other.png")), "{complaints:?}");
        assert!(browser.is("window.pwned").await);
        assert!(browser.is(&format!("{TOO_WIDE} >= 4610")).await);
        if let Some(axe) = axe("a_bad_page_is_found_out") {
            let found = violations(browser, &axe).await;
            for id in ["color-contrast", "image-alt", "html-has-lang"] {
                assert!(found.iter().any(|violation| violation.starts_with(id)), "no {id} in {found:?}");
            }
        }
    });
}

async fn violations(browser: &Browser, axe: &str) -> Vec<String> {
    browser.inject(axe).await;
    match browser.await_of(AXE, Vec::new()).await {
        Value::Array(found) => found.iter().map(|line| line.as_str().unwrap_or("?").to_owned()).collect(),
        other => panic!("axe answers {other}"),
    }
}

/// The text of axe-core, wherever it is.
fn axe(test: &str) -> Option<String> {
    let usual = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/axe/node_modules/axe-core/axe.min.js");
    let path = env::var_os("ONCEPROOF_AXE").map_or(usual, PathBuf::from);
    match fs::read_to_string(&path) {
        Ok(text) => Some(text),
        Err(why) => skip(test, &format!("no axe-core ({why}): `npm install --prefix target/axe axe-core`, or ONCEPROOF_AXE=FILE")),
    }
}
