//! The page of one run.

use crate::page::layout;
use crate::report::twin::Twin;
use maud::{Markup, html};

/// The whole page.
pub fn page(twin: &Twin) -> Markup {
    layout::page(&twin.label, &html! { h1 { (twin.sentence) } }, "")
}
