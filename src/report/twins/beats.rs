//! The story, a line each.

use crate::id::HostId;
use crate::report::story::beats::{self as story, Voice};
use crate::report::twin::Beat;
use crate::report::twins::most;
use crate::report::twins::view::View;
use crate::report::words::count;

/// The lines, and one that says how many were left out, if any were.
pub fn beats(view: &View<'_>) -> Vec<Beat> {
    let told: Vec<Beat> = story::beats(&view.seen.run, view.plan, view.nodes).into_iter().map(|beat| one(view, beat)).collect();
    let all = told.len();
    let mut kept = most::of(told, most::BEATS, view, |beat| beat.at_ms);
    if kept.len() < all {
        let text = format!("… {} far from this are not shown", count(all - kept.len(), "line"));
        kept.insert(0, Beat { at_ms: 0, text, ..Beat::default() });
    }
    kept
}

fn one(view: &View<'_>, beat: story::Beat) -> Beat {
    let (voice, believed_unix_ms) = match beat.voice {
        Voice::Node(node, _) => (node.to_string(), Some(view.clocks.shows(HostId::Node(node), beat.at).0)),
        Voice::World(who) => (who.to_owned(), None),
        Voice::Fault => ("fault".to_owned(), None),
        Voice::Quiet | Voice::Note => (String::new(), None),
    };
    Beat { at_ms: beat.at.0, voice, text: beat.text, believed_unix_ms }
}
