//! The page of a run.

use super::browser::{Browser, VISIBLE, browse};
use super::site::Site;
use fantoccini::key::Key;
use serde_json::json;

const AT: &str = "document.getElementById('at').textContent";
const PICTURE: &str = "document.getElementById('lanes').innerHTML";

#[test]
fn the_scrubber_moves_by_keyboard() {
    browse("the_scrubber_moves_by_keyboard", async |browser| {
        let site = Site::new();
        browser.open(&site.run()).await;
        browser.ask("document.getElementById('scrub').focus();").await;
        browser.press(Key::Home).await;
        let (start, picture) = (browser.text(AT).await, browser.text(PICTURE).await);
        for _ in 0..3 {
            browser.press(Key::Right).await;
        }
        let later = browser.text(AT).await;
        assert_ne!(later, start, "the readout follows");
        assert_ne!(browser.text(PICTURE).await, picture, "the cursor in the picture follows");
        browser.press(Key::Left).await;
        browser.press(Key::Left).await;
        browser.press(Key::Left).await;
        assert_eq!(browser.text(AT).await, start);
        browser.press(Key::End).await;
        assert_ne!(browser.text(AT).await, later);
    });
}

#[test]
fn messages_and_believed_time_are_shown_on_demand() {
    browse("messages_and_believed_time_are_shown_on_demand", async |browser| {
        let site = Site::new();
        browser.open(&site.run()).await;
        for toggle in ["show-messages", "show-believed"] {
            let before = seen(browser).await;
            let checked = format!("document.getElementById('{toggle}').checked");
            let was = browser.is(&checked).await;
            browser.ask(&format!("document.getElementById('{toggle}').focus();")).await;
            browser.press(Key::Space).await;
            assert_ne!(browser.is(&checked).await, was);
            assert_ne!(seen(browser).await, before, "{toggle} changes what is seen");
            browser.press(Key::Space).await;
            assert_eq!(seen(browser).await, before, "{toggle} changes it back");
        }
    });
}

#[test]
fn the_run_before_shrinking_is_there_too() {
    browse("the_run_before_shrinking_is_there_too", async |browser| {
        let site = Site::new();
        browser.open(&site.run()).await;
        let third = format!("[...document.querySelectorAll('svg text, svg tspan')].some(e => e.textContent === 'n2' && {VISIBLE}(e))");
        assert!(browser.is("document.querySelector('[name=which][value=after]').checked").await, "the small run comes first");
        assert!(!browser.is(&third).await, "the small run has two nodes");
        browser.ask("document.querySelector('[name=which][value=after]').focus();").await;
        browser.press(Key::Right).await;
        if !browser.is("document.querySelector('[name=which][value=before]').checked").await {
            browser.press(Key::Left).await;
        }
        assert!(browser.is("document.querySelector('[name=which][value=before]').checked").await);
        assert!(browser.is(&third).await, "the run before it has a third node");
    });
}

/// Every copy button puts what it names on the clipboard, as it stands there, and says so to those who cannot see it.
#[test]
fn commands_and_tests_are_copied() {
    browse("commands_and_tests_are_copied", async |browser| {
        let site = Site::new();
        browser.open(&site.run()).await;
        browser.devtools("Browser.grantPermissions", &json!({ "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"] })).await;
        browser.unfold().await;
        let buttons = browser.ask("return [...document.querySelectorAll('button[data-copy]')].map(b => b.dataset.copy);").await;
        let mut copied = Vec::new();
        for id in buttons.as_array().unwrap() {
            let id = id.as_str().unwrap();
            if !browser.is(&format!("{VISIBLE}(document.querySelector('button[data-copy={id}]'))")).await {
                continue;
            }
            browser.click(&format!("button[data-copy={id}]")).await;
            let clipboard =
                browser.await_of("navigator.clipboard.readText().then(arguments[0], e => arguments[0](String(e)));", vec![]).await;
            let clipboard = clipboard.as_str().unwrap().to_owned();
            assert_eq!(clipboard.trim(), browser.text(&format!("document.getElementById('{id}').textContent")).await.trim());
            assert!(browser.is("document.getElementById('copied').textContent.trim() !== ''").await, "nothing is announced");
            copied.push(clipboard);
        }
        assert!(copied.iter().any(|text| text.trim() == "onceproof replay reports/witnesses/lease-set-px--pause.toml"), "{copied:?}");
        assert!(copied.iter().any(|text| text.contains("#[test]") && text.contains("\"a < b && b > c\"")), "{copied:?}");
    });
}

/// What a person sees of the lanes: every element that is not hidden, and its text.
async fn seen(browser: &Browser) -> String {
    let told = format!("e => {VISIBLE}(e) ? e.tagName + e.textContent : ''");
    browser.text(&format!("[...document.querySelectorAll('#lanes *')].map({told}).join('|')")).await
}
