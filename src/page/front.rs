//! The front page: the answer first.

use crate::page::layout;
use crate::page::source::Sources;
use maud::{Markup, html};

/// The whole page.
pub fn page(sources: &Sources) -> Markup {
    let _ = sources;
    layout::page("onceproof", &html! { h1 { "onceproof" } }, "")
}
