//! What all pages have: head, styles, colours, and a link that skips to their `<main id="main">`.

use maud::{DOCTYPE, Markup, PreEscaped, html};

/// Styles of all pages.
const STYLE: &str = include_str!("style.css");

/// Nothing may be loaded from anywhere.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

/// A whole page with style sheets of its own, after the one of all pages. Its body has a `<main id="main">`; `script` runs at its end.
pub fn styled(title: &str, styles: &[&str], body: &Markup, script: &str) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="color-scheme" content="light dark";
                title { (title) }
                style { (PreEscaped(STYLE)) }
                @for style in styles {
                    style { (PreEscaped(style)) }
                }
            }
            body {
                a .skip href="#main" { "Skip to the content" }
                (body)
                @if !script.is_empty() {
                    script { (PreEscaped(script)) }
                }
            }
        }
    }
}

#[cfg(test)]
mod contrast;
