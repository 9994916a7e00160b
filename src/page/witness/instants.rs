//! Which instants of a run deserve a place of their own on its axis.

use crate::report::twin::{Kind, LeaseEnd, Tick, Twin};

/// How close to an instant of interest an attempt begins or ends, in milliseconds, to be of
/// interest itself: hundreds of polls are not.
const NEAR: u64 = 1500;

/// Beginnings and ends of attempts that are all of interest if there are no more.
const FEW: usize = 12;

/// Instants with their rank; 0 is the most important. Sorted, each once, with its best rank.
pub fn ranked(twin: &Twin) -> Vec<(u64, u8)> {
    let mut all = first_rank(twin);
    all.extend(edges(twin));
    all.extend(twin.boundaries.iter().map(|boundary| (boundary.at_ms, 2)));
    all.extend(bursts(&twin.ticks));
    let mut times: Vec<u64> = all.iter().map(|&(at, _)| at).collect();
    times.sort_unstable();
    let attempts = twin.ticks.iter().filter(|tick| is_attempt(tick));
    let few = attempts.clone().count() <= FEW;
    all.extend(attempts.filter(|tick| few || is_near(&times, tick)).map(|tick| (tick.at_ms, 3)));
    all.sort_unstable();
    all.dedup_by_key(|instant| instant.0);
    all
}

fn first_rank(twin: &Twin) -> Vec<(u64, u8)> {
    let broke = twin.violations.iter().map(|violation| violation.at_ms);
    let struck = twin.ticks.iter().filter(|tick| tick.wrong || matters(tick.kind)).map(|tick| tick.at_ms);
    broke.chain(struck).map(|at| (at, 0)).collect()
}

/// Whether every tick of this kind is of the first rank.
fn matters(kind: Kind) -> bool {
    matches!(kind, Kind::Settled | Kind::Alerted | Kind::Fault | Kind::Broke)
}

fn edges(twin: &Twin) -> Vec<(u64, u8)> {
    let mut edges = Vec::new();
    let mut add = |from: u64, to: u64, rank: u8| edges.extend([(from, rank), (to, rank)].into_iter().filter(|&(at, _)| at < twin.ends_ms));
    for lease in &twin.leases {
        let given_back = matches!(lease.ended, LeaseEnd::Released | LeaseEnd::Held | LeaseEnd::Completed);
        add(lease.from_ms, lease.to_ms, if given_back { 2 } else { 1 });
    }
    for belief in &twin.beliefs {
        add(belief.from_ms, belief.to_ms, if belief.overlaps { 1 } else { 2 });
    }
    for band in &twin.bands {
        add(band.from_ms, band.to_ms, 1);
    }
    for cut in &twin.cuts {
        add(cut.from_ms, cut.to_ms, 1);
    }
    edges
}

/// First and last of payments in a row.
fn bursts(ticks: &[Tick]) -> Vec<(u64, u8)> {
    let mut paid: Vec<&Tick> = ticks.iter().filter(|tick| matches!(tick.kind, Kind::Paid | Kind::Repeated)).collect();
    paid.sort_by_key(|tick| tick.at_ms);
    let rows = paid.chunk_by(|a, b| (a.kind, &a.by) == (b.kind, &b.by) && b.at_ms - a.at_ms < NEAR);
    rows.flat_map(|row| [row.first(), row.last()]).flatten().map(|tick| (tick.at_ms, 2)).collect()
}

fn is_attempt(tick: &Tick) -> bool {
    matches!(tick.kind, Kind::Began | Kind::Ended)
}

fn is_near(times: &[u64], tick: &Tick) -> bool {
    let (from, to) = match tick.kind {
        Kind::Ended => (tick.at_ms.saturating_sub(NEAR), tick.at_ms),
        _ => (tick.at_ms, tick.at_ms.saturating_add(NEAR)),
    };
    let first = times.partition_point(|&at| at < from);
    times.get(first).is_some_and(|&at| at <= to)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::witness::samples;

    #[test]
    fn polls_that_come_to_nothing_have_no_place_of_their_own() {
        let twin = samples::pause();
        let ranked = ranked(&twin);
        assert!(ranked.len() < 25, "{}", ranked.len());
        let polls = twin.ticks.iter().filter(|tick| tick.what == "lease refused");
        let placed = polls.filter(|poll| ranked.iter().any(|&(at, _)| at == poll.at_ms));
        assert_eq!(placed.count(), 1, "but the one beside the end of the lease");
    }

    #[test]
    fn what_broke_comes_first() {
        let twin = samples::pause();
        let at = twin.violations[0].at_ms;
        assert!(ranked(&twin).contains(&(at, 0)));
    }
}
