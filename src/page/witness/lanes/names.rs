//! Names of lanes, in a column that stays when the picture scrolls.

use super::{Lane, Picture, px};
use crate::page::witness::words;
use maud::{Markup, html};

/// Pixels of the column.
pub const WIDTH: f64 = 84.0;

/// The column.
pub fn draw(picture: &Picture) -> Markup {
    let height = px(picture.height());
    html! {
        svg .names aria-hidden="true" data-held=(words::held(picture.twin)) width=(WIDTH) height=(height) viewBox={ "0 0 " (WIDTH) " " (height) } {
            rect .paper width=(WIDTH) height=(height) {}
            @for lane in &picture.lanes { (name(lane)) }
        }
    }
}

fn name(lane: &Lane) -> Markup {
    html! {
        rect .lane y=(px(lane.top)) width=(WIDTH) height=(px(lane.bottom - lane.top)) {}
        @if let Some(node) = lane.node {
            rect .swatch.{ "t" (node % super::tint::COLOURS) } x="0" y=(px(lane.top)) width="10" height=(px(lane.bottom - lane.top)) fill={ "url(#p" (node % super::tint::COLOURS) ")" } {}
        }
        text .name x="16" data-node=[lane.node.map(|_| &lane.host.name)] y=(px(lane.line + 1.0)) { (words::short(&lane.host.name, 9)) }
        text .role x="16" y=(px(lane.line + 15.0)) { (words::role(lane.host.role)) }
    }
}
