//! The network: hosts' kernels, the links between them, and the connections over these.
//!
//! It behaves as TCP does towards applications: a handshake, bytes in order within a window of
//! 64 KiB, FIN and RST, retransmission with doubling pauses. It has no sequence numbers, no
//! congestion and no `TIME_WAIT`. This file sends and delivers; `kernel.rs` is what sockets ask
//! for, `stall.rs` what happens when segments do not get through.

use super::agenda::{Agenda, Due};
use super::conn::{Conns, EndId, Line, Phase, Segment};
use super::link::Links;
use super::waiting::Waiting;
use crate::id::HostId;
use crate::seed::Rng;
use crate::trace::Proof;
use crate::world::engine::Observer;
use rand::RngExt;
use std::collections::VecDeque;
use std::io::ErrorKind;
use std::rc::Rc;

/// Segment buffers that wait to be used again.
#[derive(Default)]
pub(super) struct Pool(Vec<Vec<u8>>);

impl Pool {
    /// How many are kept.
    const KEPT: usize = 64;

    fn take(&mut self) -> Vec<u8> {
        self.0.pop().unwrap_or_default()
    }

    /// Takes a used buffer back.
    pub(super) fn give(&mut self, mut buffer: Vec<u8>) {
        if self.0.len() < Self::KEPT {
            buffer.clear();
            self.0.push(buffer);
        }
    }
}

/// A host as its network sees it.
#[derive(Default)]
pub(super) struct Site {
    /// Its kernel is there.
    pub(super) powered: bool,
    /// Its process is there.
    pub(super) running: bool,
    /// How many processes it has had.
    pub(super) incarnation: u32,
    pub(super) listener: Option<Listening>,
}

/// The socket that listens.
pub(super) struct Listening {
    /// Unique over the run.
    pub(super) number: u32,
    /// Established and not accepted.
    pub(super) queue: VecDeque<EndId>,
    pub(super) acceptor: Waiting,
}

/// The network of one run.
///
/// It calls the observer while it works: observers may ask for the time, and nothing else.
pub(super) struct Fabric {
    pub(super) agenda: Rc<Agenda>,
    pub(super) observer: Rc<dyn Observer>,
    pub(super) rng: Rng,
    /// Smallest and largest one-way latency in milliseconds.
    pub(super) latency: (u64, u64),
    pub(super) links: Links,
    pub(super) sites: Vec<Site>,
    pub(super) conns: Conns,
    /// Ends that were written to in the present poll, in the order of their first write.
    pub(super) drafts: Vec<EndId>,
    pub(super) pool: Pool,
    numbers: u32,
}

impl Fabric {
    pub(super) fn new(agenda: Rc<Agenda>, observer: Rc<dyn Observer>, rng: Rng, latency: (u64, u64)) -> Fabric {
        Fabric {
            agenda,
            observer,
            rng,
            latency,
            links: Links::default(),
            sites: Vec::new(),
            conns: Conns::default(),
            drafts: Vec::new(),
            pool: Pool::default(),
            numbers: 0,
        }
    }

    /// The site of a host; one that was never booted has power and no process.
    pub(super) fn site(&mut self, host: HostId) -> &mut Site {
        if self.sites.len() <= host.index() {
            self.grow(host.index() + 1);
        }
        &mut self.sites[host.index()]
    }

    /// Makes room for `hosts` hosts.
    pub(super) fn grow(&mut self, hosts: usize) {
        self.links.grow(hosts);
        if self.sites.len() < hosts {
            self.sites.resize_with(hosts, || Site { powered: true, ..Site::default() });
        }
    }

    /// A number for something that must be told from all others of its kind.
    pub(super) fn number(&mut self) -> u32 {
        self.numbers += 1;
        self.numbers
    }

    /// A one-way latency.
    pub(super) fn draw_latency(&mut self) -> u64 {
        let (min, max) = self.latency;
        if min == max { min } else { self.rng.random_range(min..=max) }
    }

    /// Whether a segment that reaches the end of this link now gets in.
    pub(super) fn is_open(&self, from: HostId, to: HostId) -> bool {
        self.links.is_open(from, to) && self.sites.get(to.index()).is_none_or(|site| site.powered)
    }

    /// Sends one segment from an end.
    pub(super) fn send(&mut self, from: EndId, segment: Segment) {
        let (src, dst) = self.conns.route(from);
        if !self.site(src).powered {
            return;
        }
        let reset = matches!(segment, Segment::Rst);
        match self.conns.end(from).line {
            Line::Open => {}
            Line::Dead if reset => {}
            Line::Dead | Line::Dark { .. } => return,
        }
        if matches!(segment, Segment::Data(_)) && self.lose(from, src, dst) {
            return;
        }
        let latency = self.draw_latency();
        let link = self.links.at(src, dst);
        if let Some((_, fault)) = link.delay {
            self.observer.felt(fault, Proof::Delayed { from: src, to: dst });
        }
        let (due, tie) = link.slot(self.agenda.now(), latency, &mut self.rng);
        self.conns.end(from).flight.push_back(segment);
        self.agenda.enter(due, tie, Due::Arrive(from));
    }

    /// What an end wrote in the present poll leaves as one segment.
    pub(super) fn flush(&mut self, from: EndId) {
        let Some(end) = self.conns.get(from) else { return };
        end.drafted = false;
        if end.draft.is_empty() {
            return;
        }
        let fresh = self.pool.take();
        let bytes = std::mem::replace(&mut end.draft, fresh);
        end.unread += bytes.len();
        self.send(from, Segment::Data(bytes));
    }

    /// The poll has ended: everything written in it leaves.
    pub(super) fn flush_all(&mut self) {
        if self.drafts.is_empty() {
            return;
        }
        let mut drafts = std::mem::take(&mut self.drafts);
        for from in drafts.drain(..) {
            self.flush(from);
        }
        self.drafts = drafts;
    }

    /// The oldest segment under way from this end reaches the other side's door.
    pub(super) fn arrive(&mut self, from: EndId) {
        let (src, dst) = self.conns.route(from);
        let open = self.is_open(src, dst);
        let end = self.conns.end(from);
        if end.line == Line::Dead && !matches!(end.flight.front(), Some(Segment::Rst)) {
            end.flight.pop_front();
            self.conns.reap(from);
        } else if open && end.stall.is_none() {
            self.deliver(from);
        } else {
            self.hold(from, src, dst);
        }
    }

    /// Delivers the oldest segment under way from this end.
    pub(super) fn deliver(&mut self, from: EndId) {
        let segment = self.conns.end(from).flight.pop_front().expect("every arrival has its segment");
        let (src, dst) = self.conns.route(from);
        let word = (src.index() as u64) << 16 | (dst.index() as u64) << 8 | segment.kind();
        self.observer.note(self.agenda.now(), word);
        let here = from.peer();
        match segment {
            Segment::Syn => self.greet(here),
            Segment::Rst => self.reset(here),
            Segment::SynAck | Segment::Ack | Segment::Data(_) | Segment::Fin if self.is_stranger(here) => {
                // A process that merely closed took note of the FIN; a kernel that never knew the connection resets it.
                let known = self.conns.end(here).incarnation == self.site(dst).incarnation;
                if !(known && matches!(segment, Segment::Fin)) {
                    self.send(here, Segment::Rst);
                }
                if let Segment::Data(bytes) = segment {
                    self.pool.give(bytes);
                }
            }
            Segment::SynAck => self.answer(here),
            Segment::Ack => self.admit(here),
            Segment::Data(bytes) => {
                let end = self.conns.end(here);
                end.inbox.push_back(bytes);
                end.reader.wake();
            }
            Segment::Fin => {
                let end = self.conns.end(here);
                end.ended = true;
                end.reader.wake();
            }
        }
        self.conns.reap(from);
    }

    /// The kernel does not know this connection, or no longer.
    fn is_stranger(&mut self, here: EndId) -> bool {
        let end = self.conns.end(here);
        let (host, incarnation) = (end.host, end.incarnation);
        end.phase == Phase::Closed || end.error.is_some() || incarnation != self.site(host).incarnation
    }

    /// A SYN arrived: accepted by the kernel if somebody listens, paused or not; else refused.
    fn greet(&mut self, here: EndId) {
        let host = self.conns.end(here).host;
        let site = self.site(host);
        let (listens, incarnation) = (site.running && site.listener.is_some(), site.incarnation);
        if !listens {
            self.send(here, Segment::Rst);
            return;
        }
        let end = self.conns.end(here);
        end.incarnation = incarnation;
        end.phase = Phase::Handshaking;
        self.send(here, Segment::SynAck);
    }

    /// A SYN-ACK arrived. On a clean link the last segment of the handshake takes no time of its own:
    /// whatever the client sends next would carry it.
    fn answer(&mut self, here: EndId) {
        let end = self.conns.end(here);
        end.phase = Phase::Established;
        end.wake();
        let (src, dst) = self.conns.route(here);
        if self.is_open(src, dst) && self.links.at(src, dst).delay.is_none() {
            self.conns.end(here).flight.push_back(Segment::Ack);
            self.deliver(here);
        } else {
            self.send(here, Segment::Ack);
        }
    }

    /// The handshake is complete: the connection waits to be accepted.
    fn admit(&mut self, here: EndId) {
        let host = self.conns.end(here).host;
        if let Some(listener) = &mut self.site(host).listener {
            listener.queue.push_back(here);
            listener.acceptor.wake();
            self.conns.end(here).phase = Phase::Established;
        } else {
            self.conns.end(here).phase = Phase::Closed;
            self.send(here, Segment::Rst);
        }
    }

    fn reset(&mut self, here: EndId) {
        let end = self.conns.end(here);
        match end.phase {
            Phase::Connecting => end.fail(ErrorKind::ConnectionRefused),
            Phase::Established => end.fail(ErrorKind::ConnectionReset),
            Phase::Handshaking => end.phase = Phase::Closed,
            Phase::Unborn | Phase::Closed => {}
        }
    }
}
