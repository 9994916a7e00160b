//! What the directed links between hosts do to segments, and which hosts are without power.
//!
//! turmoil's own partitions drop what is on the way and never send it again, so that one lost
//! segment ends a connection for good, and no host that is cut off can ever be told from one
//! that is dead. A kernel sends again. Links are therefore judged at the sender, before a
//! segment enters turmoil: what may not leave yet waits in its socket.

use crate::id::{FaultId, HostId};
use crate::time::millis;
use crate::trace::Proof;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// Something the engine tells the observer as soon as no lock is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Report {
    /// For the digest.
    Note(u64),
    /// A fault was noticed.
    Felt(FaultId, Proof),
    /// A segment was lost for good.
    Lost(HostId, HostId),
}

/// What happened to a segment, for the digest.
#[derive(Clone, Copy, Debug)]
pub(super) enum Passage {
    Connected = 1,
    Written = 2,
    Held = 3,
    Lost = 4,
    Read = 5,
}

/// A fault on a link. It is felt once.
struct Harm {
    fault: FaultId,
    felt: bool,
}

impl Harm {
    fn new(fault: FaultId) -> Harm {
        Harm { fault, felt: false }
    }

    fn feel(&mut self, proof: Proof, reports: &mut Vec<Report>) {
        if !std::mem::replace(&mut self.felt, true) {
            reports.push(Report::Felt(self.fault, proof));
        }
    }
}

#[derive(Default)]
struct Link {
    blocks: Vec<Harm>,
    /// Extra milliseconds, and whose fault they are.
    delay: Option<(u64, Harm)>,
    lose: VecDeque<FaultId>,
}

#[derive(Clone, Copy, Default)]
struct Power {
    off: bool,
    cuts: u32,
}

/// All links, by sender and receiver.
#[derive(Default)]
pub(super) struct Links {
    by_ends: BTreeMap<(HostId, HostId), Link>,
    power: BTreeMap<HostId, Power>,
    reports: Vec<Report>,
}

impl Links {
    pub(super) fn block(&mut self, from: HostId, to: HostId, fault: FaultId) {
        self.by_ends.entry((from, to)).or_default().blocks.push(Harm::new(fault));
    }

    pub(super) fn unblock(&mut self, from: HostId, to: HostId, fault: FaultId) {
        if let Some(link) = self.by_ends.get_mut(&(from, to))
            && let Some(position) = link.blocks.iter().position(|block| block.fault == fault)
        {
            link.blocks.remove(position);
        }
    }

    pub(super) fn delay(&mut self, from: HostId, to: HostId, extra: Duration, fault: FaultId) {
        let link = self.by_ends.entry((from, to)).or_default();
        link.delay = (!extra.is_zero()).then(|| (millis(extra), Harm::new(fault)));
    }

    pub(super) fn lose_next(&mut self, from: HostId, to: HostId, fault: FaultId) {
        self.by_ends.entry((from, to)).or_default().lose.push_back(fault);
    }

    pub(super) fn power_off(&mut self, host: HostId) {
        let power = self.power.entry(host).or_default();
        power.off = true;
        power.cuts += 1;
    }

    pub(super) fn power_on(&mut self, host: HostId) {
        self.power.entry(host).or_default().off = false;
    }

    pub(super) fn is_off(&self, host: HostId) -> bool {
        self.power.get(&host).is_some_and(|power| power.off)
    }

    /// How often a host has lost power: a connection from before the last time is unknown to it.
    pub(super) fn cuts(&self, host: HostId) -> u32 {
        self.power.get(&host).map_or(0, |power| power.cuts)
    }

    /// Whether a segment that wants to leave now is held back. Whatever holds it is felt.
    pub(super) fn holds(&mut self, from: HostId, to: HostId) -> bool {
        let Some(link) = self.by_ends.get_mut(&(from, to)) else { return false };
        for block in &mut link.blocks {
            block.feel(Proof::Held { from, to }, &mut self.reports);
        }
        !link.blocks.is_empty()
    }

    /// How many milliseconds a segment that wants to leave now is delayed. The delay is felt.
    pub(super) fn extra(&mut self, from: HostId, to: HostId) -> u64 {
        match self.by_ends.get_mut(&(from, to)).and_then(|link| link.delay.as_mut()) {
            None => 0,
            Some((extra, harm)) => {
                harm.feel(Proof::Delayed { from, to }, &mut self.reports);
                *extra
            }
        }
    }

    /// Whether the data segment that leaves now is lost for good.
    pub(super) fn loses(&mut self, from: HostId, to: HostId) -> bool {
        let Some(fault) = self.by_ends.get_mut(&(from, to)).and_then(|link| link.lose.pop_front()) else { return false };
        self.reports.push(Report::Felt(fault, Proof::Lost { from, to }));
        self.reports.push(Report::Lost(from, to));
        true
    }

    pub(super) fn note(&mut self, passage: Passage, from: HostId, to: HostId) {
        self.reports.push(Report::Note((passage as u64) << 16 | (from.index() as u64) << 8 | to.index() as u64));
    }

    pub(super) fn take_reports(&mut self) -> Vec<Report> {
        std::mem::take(&mut self.reports)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Span;

    const A: HostId = HostId::Lease;
    const B: HostId = HostId::Database;

    #[test]
    fn blocks_nest_and_are_felt_once_each_in_their_direction_only() {
        let mut links = Links::default();
        links.block(A, B, FaultId(1));
        links.block(A, B, FaultId(2));
        assert!(!links.holds(B, A) && links.holds(A, B) && links.holds(A, B));
        assert_eq!(links.take_reports(), [1, 2].map(|n| Report::Felt(FaultId(n), Proof::Held { from: A, to: B })));
        links.unblock(A, B, FaultId(1));
        assert!(links.holds(A, B), "one block is left");
        links.unblock(A, B, FaultId(2));
        assert!(!links.holds(A, B));
    }

    #[test]
    fn a_loss_takes_one_segment_and_a_delay_lasts_until_it_is_taken_back() {
        let mut links = Links::default();
        links.lose_next(A, B, FaultId(3));
        assert!(links.loses(A, B) && !links.loses(A, B));
        links.delay(A, B, 5.ms(), FaultId(4));
        assert_eq!((links.extra(A, B), links.extra(A, B), links.extra(B, A)), (5, 5, 0));
        links.delay(A, B, 0.ms(), FaultId(4));
        assert_eq!(links.extra(A, B), 0);
        assert_eq!(
            links.take_reports(),
            [
                Report::Felt(FaultId(3), Proof::Lost { from: A, to: B }),
                Report::Lost(A, B),
                Report::Felt(FaultId(4), Proof::Delayed { from: A, to: B }),
            ]
        );
    }
}
