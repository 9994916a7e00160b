//! The way from one host to another: its faults, and the order of what travels on it.
//!
//! Segments of one link arrive in the order in which they were sent: a later one is never due
//! before an earlier one. All that a link delivers in one millisecond shares one tie, drawn
//! anew for each millisecond.

use super::agenda::Tie;
use crate::id::{FaultId, HostId};
use crate::seed::Rng;
use crate::time::SimTime;
use rand::RngExt;

/// One direction between two hosts.
#[derive(Default)]
pub(super) struct Link {
    /// Who blocks it. Blocks nest, and one fault may block a link several times.
    pub(super) blocks: Vec<FaultId>,
    /// By how many milliseconds more everything takes, and whose fault that is.
    pub(super) delay: Option<(u64, FaultId)>,
    /// Who takes the next data segments.
    pub(super) losses: Vec<FaultId>,
    last: SimTime,
    tie: u32,
}

impl Link {
    /// When, and in which order, a segment arrives that is sent now and takes `latency` milliseconds.
    pub(super) fn slot(&mut self, now: SimTime, latency: u64, rng: &mut Rng) -> (SimTime, Tie) {
        let extra = self.delay.map_or(0, |(extra, _)| extra);
        let due = SimTime(now.0 + latency + extra).max(self.last);
        if due != self.last {
            self.last = due;
            self.tie = rng.random();
        }
        (due, Tie::drawn(self.tie))
    }
}

/// All links, in a square table that grows with the highest host.
#[derive(Default)]
pub(super) struct Links {
    side: usize,
    table: Vec<Link>,
}

impl Links {
    /// The link from one host to another.
    pub(super) fn at(&mut self, from: HostId, to: HostId) -> &mut Link {
        let (from, to) = (from.index(), to.index());
        if from.max(to) >= self.side {
            self.grow(from.max(to) + 1);
        }
        &mut self.table[from * self.side + to]
    }

    /// Whether segments pass from one host to another. Whoever never sent is not blocked.
    pub(super) fn is_open(&self, from: HostId, to: HostId) -> bool {
        let (from, to) = (from.index(), to.index());
        from.max(to) >= self.side || self.table[from * self.side + to].blocks.is_empty()
    }

    /// Makes room for `side` hosts.
    pub(super) fn grow(&mut self, side: usize) {
        if side <= self.side {
            return;
        }
        let mut old = std::mem::take(&mut self.table).into_iter();
        self.table.reserve_exact(side * side);
        for _ in 0..self.side {
            self.table.extend(old.by_ref().take(self.side));
            self.table.extend((self.side..side).map(|_| Link::default()));
        }
        self.table.resize_with(side * side, Link::default);
        self.side = side;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    /// A slow segment holds back a fast one behind it; what shares a millisecond shares its tie.
    #[test]
    fn later_is_never_earlier() {
        let (mut link, mut rng) = (Link::default(), Seed(1).rng());
        let (slow, slow_tie) = link.slot(SimTime(0), 50, &mut rng);
        let (fast, fast_tie) = link.slot(SimTime(10), 1, &mut rng);
        assert_eq!((slow, fast), (SimTime(50), SimTime(50)));
        assert_eq!(format!("{slow_tie:?}"), format!("{fast_tie:?}"));
        assert_eq!(link.slot(SimTime(60), 1, &mut rng).0, SimTime(61));
    }

    #[test]
    fn growing_keeps_what_is_known() {
        let mut links = Links::default();
        links.at(HostId::Lease, HostId::Database).blocks.push(FaultId(3));
        links.grow(9);
        assert!(!links.is_open(HostId::Lease, HostId::Database));
        assert!(links.is_open(HostId::Database, HostId::Lease));
        assert!(links.is_open(HostId::node(4), HostId::node(0)));
    }
}
