//! A page of a very long run shows what is near to what broke.

use crate::report::twins::view::View;

/// Requests that are kept.
pub const MESSAGES: usize = 1_500;
/// Instants that are kept.
pub const TICKS: usize = 1_500;
/// Lines of the story that are kept.
pub const BEATS: usize = 1_500;
/// Leases that are kept, and beliefs.
pub const LEASES: usize = 1_000;
/// Bands that are kept, and cuts.
pub const BANDS: usize = 1_000;

/// At most so many of a list, those nearest to what broke, in their order.
pub fn of<T>(all: Vec<T>, most: usize, view: &View<'_>, at: impl Fn(&T) -> u64) -> Vec<T> {
    if all.len() <= most {
        return all;
    }
    let centre = view.finding.map_or(view.ends.0, |finding| finding.at.0);
    let mut ranked: Vec<(u64, usize)> = all.iter().enumerate().map(|(n, one)| (at(one).abs_diff(centre), n)).collect();
    ranked.sort_unstable();
    let mut kept = vec![false; all.len()];
    ranked.iter().take(most).for_each(|(_, n)| kept[*n] = true);
    all.into_iter().zip(kept).filter_map(|(one, kept)| kept.then_some(one)).collect()
}
