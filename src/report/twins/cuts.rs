//! Times in which segments did not get through.

use crate::id::HostId;
use crate::report::twin::Cut;
use crate::report::twins::most;
use crate::report::twins::view::View;
use crate::trace::Event;
use std::collections::BTreeMap;

/// All cuts, in the order of their beginnings. A link that several faults cut is cut until the last of them heals.
pub fn cuts(view: &View<'_>) -> Vec<Cut> {
    let mut open: BTreeMap<(HostId, HostId), (u64, usize)> = BTreeMap::new();
    let mut cuts = Vec::new();
    let told = |(from, to): (HostId, HostId), from_ms, to_ms| Cut { from: from.to_string(), to: to.to_string(), from_ms, to_ms };
    for record in view.records {
        match record.event {
            Event::Cut { from, to } if view.shows(from) && view.shows(to) => {
                open.entry((from, to)).or_insert((record.at.0, 0)).1 += 1;
            }
            Event::Healed { from, to } => {
                let Some((since, times)) = open.get_mut(&(from, to)) else { continue };
                *times -= 1;
                if *times == 0 {
                    cuts.push(told((from, to), *since, record.at.0));
                    open.remove(&(from, to));
                }
            }
            _ => {}
        }
    }
    cuts.extend(open.into_iter().map(|(link, (since, _))| told(link, since, view.ends.0)));
    cuts.sort_by(|a, b| (a.from_ms, &a.from, &a.to).cmp(&(b.from_ms, &b.from, &b.to)));
    most::of(cuts, most::BANDS, view, |cut| cut.from_ms)
}
