//! Segments that do not get through: held back by the kernel that sent them, sent again after
//! doubling pauses, given up after a quarter of an hour; or lost for good.

use super::agenda::{Due, Tie};
use super::conn::{EndId, Line, Phase, Segment, Stall};
use super::fabric::Fabric;
use crate::id::{FaultId, HostId};
use crate::time::SimTime;
use crate::trace::Proof;
use rand::RngExt;
use std::io::ErrorKind;

/// Pause before data is sent again for the first time (Linux: smallest RTO), in milliseconds. It doubles each time.
const FIRST_RETRY: u64 = 200;
/// The same for a handshake (Linux: initial RTO).
const FIRST_HANDSHAKE_RETRY: u64 = 1_000;
/// Longest pause (Linux: `TCP_RTO_MAX`).
const LONGEST_RETRY: u64 = 120_000;
/// After this many milliseconds a sender gives up (Linux: `tcp_retries2` = 15).
const GIVE_UP: u64 = 924_600;
/// After this many milliseconds a connect is given up (Linux: `tcp_syn_retries` = 6).
const GIVE_UP_CONNECT: u64 = 127_000;

impl Stall {
    /// When the kernel tries next, at `now` or later.
    fn next_try(&self, now: SimTime) -> SimTime {
        let mut pause = if self.handshake { FIRST_HANDSHAKE_RETRY } else { FIRST_RETRY };
        let mut at = self.since;
        while at < now {
            at = SimTime(at.0 + pause);
            pause = (pause * 2).min(LONGEST_RETRY);
        }
        at
    }
}

impl Fabric {
    /// A segment from this end reached a closed door, or one behind which an earlier one is missing.
    pub(super) fn hold(&mut self, from: EndId, src: HostId, dst: HostId) {
        let now = self.agenda.now();
        for fault in &self.links.at(src, dst).blocks {
            self.observer.felt(*fault, Proof::Held { from: src, to: dst });
        }
        let end = self.conns.end(from);
        if let Some(stall) = &mut end.stall {
            stall.held += 1;
            return;
        }
        if end.unpowered && !matches!(end.flight.front(), Some(Segment::Rst)) {
            end.flight.pop_front();
            end.line = Line::Dead;
            self.conns.reap(from);
            return;
        }
        let (handshake, limit) = match end.flight.front() {
            Some(Segment::Syn) => (true, GIVE_UP_CONNECT),
            Some(Segment::SynAck | Segment::Ack) => (true, GIVE_UP),
            Some(Segment::Data(_) | Segment::Fin | Segment::Rst) => (false, GIVE_UP),
            None => unreachable!("every arrival has its segment"),
        };
        let number = self.number();
        self.conns.end(from).stall = Some(Stall { number, since: now, held: 1, handshake });
        self.agenda.enter(SimTime(now.0 + limit), Tie::FIRST, Due::GiveUp { from, stall: number });
    }

    /// The kernel sends again what it holds. If the door is still closed, the next opening schedules the next try.
    pub(super) fn retransmit(&mut self, from: EndId, stall: u32) {
        let Some(end) = self.conns.get(from) else { return };
        let Some(held) = end.stall.filter(|present| present.number == stall).map(|present| present.held) else { return };
        let (src, dst) = self.conns.route(from);
        if !self.is_open(src, dst) {
            for fault in &self.links.at(src, dst).blocks {
                self.observer.felt(*fault, Proof::Held { from: src, to: dst });
            }
            return;
        }
        self.conns.end(from).stall = None;
        // Only the last delivery can free the connection: until then something is under way on it.
        for _ in 0..held {
            self.deliver(from);
        }
    }

    /// The kernel stops trying and tells its application.
    pub(super) fn give_up(&mut self, from: EndId, stall: u32) {
        let Some(end) = self.conns.get(from) else { return };
        let held = end.stall.is_some_and(|present| present.number == stall);
        if !held && end.line != (Line::Dark { stall }) {
            return;
        }
        if held {
            end.drop_held();
        }
        match end.phase {
            Phase::Connecting | Phase::Established => end.fail(ErrorKind::TimedOut),
            Phase::Handshaking => end.phase = Phase::Closed,
            Phase::Unborn | Phase::Closed => {}
        }
        self.conns.reap(from);
    }

    /// Whether a data segment that is sent now is lost; if so, its direction stays dark.
    pub(super) fn lose(&mut self, from: EndId, src: HostId, dst: HostId) -> bool {
        let losses = &mut self.links.at(src, dst).losses;
        if losses.is_empty() {
            return false;
        }
        let fault = losses.remove(0);
        let stall = self.number();
        self.conns.end(from).line = Line::Dark { stall };
        self.agenda.enter(SimTime(self.agenda.now().0 + GIVE_UP), Tie::FIRST, Due::GiveUp { from, stall });
        self.observer.felt(fault, Proof::Lost { from: src, to: dst });
        self.observer.reply_lost(src, dst);
        true
    }

    /// Nothing passes from one host to another until the block is taken away.
    pub(super) fn block(&mut self, from: HostId, to: HostId, fault: FaultId) {
        self.links.at(from, to).blocks.push(fault);
    }

    /// Takes one block of this fault away, if there is one.
    pub(super) fn unblock(&mut self, from: HostId, to: HostId, fault: FaultId) {
        let blocks = &mut self.links.at(from, to).blocks;
        if let Some(place) = blocks.iter().position(|block| *block == fault) {
            blocks.remove(place);
            self.reopen(from, to);
        }
    }

    /// A door may be open again: what is held goes out at its next try, and credits that waited travel back.
    pub(super) fn reopen(&mut self, from: HostId, to: HostId) {
        if !self.is_open(from, to) {
            return;
        }
        let now = self.agenda.now();
        for id in self.conns.ends(|end, peer| end.host == from && peer.host == to && (end.stall.is_some() || end.owed > 0)) {
            let end = self.conns.end(id);
            let (stall, owed) = (end.stall, std::mem::take(&mut end.owed));
            if owed > 0 {
                self.conns.end(id.peer()).credit(owed);
            }
            if let Some(stall) = stall {
                let at = SimTime(stall.next_try(now).0 + self.draw_latency());
                let tie = Tie::drawn(self.rng.random());
                self.agenda.enter(at, tie, Due::Retransmit { from: id, stall: stall.number });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Data held since 0 is sent again at 200, 600, 1,400, 3,000, 6,200 ms …, a SYN at 1, 3, 7, 15 s ….
    #[test]
    fn pauses_double() {
        let data = Stall { number: 1, since: SimTime(0), held: 1, handshake: false };
        assert_eq!([1, 201, 5_000, 6_200].map(|now| data.next_try(SimTime(now)).0), [200, 600, 6_200, 6_200]);
        let syn = Stall { handshake: true, ..data };
        assert_eq!([1, 1_001, 10_000].map(|now| syn.next_try(SimTime(now)).0), [1_000, 3_000, 15_000]);
    }

    /// The doubling stops at two minutes.
    #[test]
    fn pauses_are_capped() {
        let stall = Stall { number: 1, since: SimTime(0), held: 1, handshake: false };
        // 200 * (2^10 - 1) = 204,600; from there on every 120,000.
        assert_eq!(stall.next_try(SimTime(204_601)).0, 324_600);
        assert_eq!(stall.next_try(SimTime(804_601)).0, 924_600);
    }
}
