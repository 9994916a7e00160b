//! A colour and a pattern for each node, so that nodes are told apart without colour too.

use maud::{Markup, html};

/// Colours and patterns before they repeat.
pub const COLOURS: usize = 6;

/// What the lines of each pattern are, in a tile of eight by eight.
const TILES: [&str; COLOURS] = ["", "M0 8L8 0M-2 2L2 -2M6 10L10 6", "M0 4h8", "M4 0v8", "M0 0L8 8M-2 6L2 10M6 -2L10 2", "M0 4h8M4 0v8"];

/// Patterns to which all pictures of a page refer.
pub fn patterns() -> Markup {
    html! {
        svg .defs width="0" height="0" aria-hidden="true" {
            defs {
                @for (i, tile) in TILES.iter().enumerate() {
                    pattern id={ "p" (i) } width="8" height="8" patternUnits="userSpaceOnUse" {
                        rect .{ "t" (i) } width="8" height="8" {}
                        path .{ "t" (i) } d=(tile) {}
                    }
                }
                pattern id="stopped" width="10" height="10" patternUnits="userSpaceOnUse" {
                    path d="M0 10L10 0M-2 2L2 -2M8 12L12 8" {}
                }
                pattern id="down" width="10" height="10" patternUnits="userSpaceOnUse" {
                    path d="M0 10L10 0M0 0L10 10" {}
                }
                pattern id="slow" width="6" height="6" patternUnits="userSpaceOnUse" {
                    circle cx="3" cy="3" r="1.1" {}
                }
                pattern id="lapsed" width="8" height="8" patternUnits="userSpaceOnUse" {
                    path d="M0 8L8 0M-2 2L2 -2M6 10L10 6" {}
                }
                pattern id="clash" width="8" height="8" patternUnits="userSpaceOnUse" {
                    path d="M0 8L8 0M0 0L8 8" {}
                }
            }
        }
    }
}
