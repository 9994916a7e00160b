//! Connections: what the kernels at both ends know, and what is under way between them.
//!
//! Each end owns the direction that starts at it. Segments of a direction wait in one queue from
//! the moment they are sent to the moment they are delivered; an arrival carries no segment,
//! it only lets the oldest one through. So bytes cannot change their order, whatever faults do.

use super::waiting::Waiting;
use crate::id::HostId;
use std::collections::VecDeque;
use std::io;

/// Bytes that may be sent and not yet read by the peer's application.
pub(super) const WINDOW: usize = 64 * 1024;

/// One end of a connection: 0 = who connected, 1 = who listened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EndId(u32);

impl EndId {
    fn client(conn: usize) -> EndId {
        EndId((conn as u32) << 1)
    }

    pub(super) fn conn(self) -> usize {
        (self.0 >> 1) as usize
    }

    pub(super) fn side(self) -> usize {
        (self.0 & 1) as usize
    }

    pub(super) fn peer(self) -> EndId {
        EndId(self.0 ^ 1)
    }
}

/// What travels.
#[derive(Debug)]
pub(super) enum Segment {
    Syn,
    SynAck,
    Ack,
    Data(Vec<u8>),
    Fin,
    Rst,
}

impl Segment {
    /// Its kind as a number for the digest. Bytes and lengths stay out: clients put process-global counters in them.
    pub(super) fn kind(&self) -> u64 {
        match self {
            Segment::Syn => 1,
            Segment::SynAck => 2,
            Segment::Ack => 3,
            Segment::Data(_) => 4,
            Segment::Fin => 5,
            Segment::Rst => 6,
        }
    }
}

/// Where an end is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// The SYN has not been accepted by the kernel here.
    Unborn,
    /// The SYN has left.
    Connecting,
    /// The SYN-ACK has left; nobody owns this end yet.
    Handshaking,
    /// A stream owns it, or the listener's queue.
    Established,
    /// Whoever owned it is gone.
    Closed,
}

/// Whether a direction still carries anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// It does.
    Open,
    /// What is sent vanishes, resets included; the sender finds out when this stall has lasted too long.
    Dark { stall: u32 },
    /// A segment is missing for good and nobody sends it again: nothing that follows counts, except a reset.
    Dead,
}

/// Segments that a kernel holds back and sends again and again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stall {
    /// Unique over the run.
    pub(super) number: u32,
    /// When the first of them did not get through.
    pub(super) since: crate::time::SimTime,
    /// How many of the oldest segments under way it holds.
    pub(super) held: usize,
    /// The first of them is part of a handshake.
    pub(super) handshake: bool,
}

/// One end.
#[expect(clippy::struct_excessive_bools, reason = "independent facts: any of them can be true without any other")]
pub(super) struct End {
    pub(super) host: HostId,
    /// The process that owns it, by its number on that host.
    pub(super) incarnation: u32,
    pub(super) phase: Phase,
    /// Its host lost power: no kernel is left that would send again what did not get through.
    pub(super) unpowered: bool,
    /// What every read, once the inbox is empty, and every write say.
    pub(super) error: Option<io::ErrorKind>,
    pub(super) reader: Waiting,
    pub(super) writer: Waiting,

    /// Arrived and not read.
    pub(super) inbox: VecDeque<Vec<u8>>,
    /// How much of the first buffer of the inbox has been read.
    pub(super) taken: usize,
    /// The peer has sent its last byte.
    pub(super) ended: bool,
    /// Bytes read here whose credit could not travel back.
    pub(super) owed: usize,

    /// Written in the present poll.
    pub(super) draft: Vec<u8>,
    /// It is on the list of drafts.
    pub(super) drafted: bool,
    /// Bytes sent that the peer has not read, as far as is known here.
    pub(super) unread: usize,
    /// The last byte has been sent.
    pub(super) finished: bool,
    /// Sent and not delivered, oldest first.
    pub(super) flight: VecDeque<Segment>,
    pub(super) stall: Option<Stall>,
    pub(super) line: Line,
}

impl End {
    fn new(host: HostId, incarnation: u32, phase: Phase) -> End {
        End {
            host,
            incarnation,
            phase,
            unpowered: false,
            error: None,
            reader: Waiting::default(),
            writer: Waiting::default(),
            inbox: VecDeque::new(),
            taken: 0,
            ended: false,
            owed: 0,
            draft: Vec::new(),
            drafted: false,
            unread: 0,
            finished: false,
            flight: VecDeque::new(),
            stall: None,
            line: Line::Open,
        }
    }

    /// Room left in the peer's window.
    pub(super) fn room(&self) -> usize {
        WINDOW.saturating_sub(self.unread + self.draft.len())
    }

    /// The peer has read this much more.
    pub(super) fn credit(&mut self, bytes: usize) {
        self.unread = self.unread.saturating_sub(bytes);
        self.writer.wake();
    }

    /// Everybody who waits here shall look again.
    pub(super) fn wake(&mut self) {
        self.reader.wake();
        self.writer.wake();
    }

    /// The kernel here gives this error from now on, unless it gives one already.
    pub(super) fn fail(&mut self, error: io::ErrorKind) {
        self.error.get_or_insert(error);
        self.wake();
    }

    /// What is held back vanishes, and with it the sense of everything behind it.
    pub(super) fn drop_held(&mut self) {
        if let Some(stall) = self.stall.take() {
            self.flight.drain(..stall.held);
            if self.line == Line::Open {
                self.line = Line::Dead;
            }
        }
    }

    /// No stream, future or listener's queue refers to it.
    fn is_ownerless(&self) -> bool {
        match self.phase {
            Phase::Unborn | Phase::Handshaking | Phase::Closed => true,
            Phase::Connecting | Phase::Established => false,
        }
    }
}

struct Conn {
    generation: u32,
    ends: [End; 2],
}

/// All connections that somebody owns, or on which something is under way.
#[derive(Default)]
pub(super) struct Conns {
    slots: Vec<Option<Conn>>,
    free: Vec<u32>,
    opened: u32,
}

impl Conns {
    /// A connection that is about to send its SYN. Gives the client's end and a generation.
    pub(super) fn open(&mut self, from: HostId, incarnation: u32, to: HostId) -> (EndId, u32) {
        self.opened = self.opened.wrapping_add(1);
        let ends = [End::new(from, incarnation, Phase::Connecting), End::new(to, 0, Phase::Unborn)];
        let conn = Some(Conn { generation: self.opened, ends });
        let slot = if let Some(slot) = self.free.pop() {
            self.slots[slot as usize] = conn;
            slot as usize
        } else {
            self.slots.push(conn);
            self.slots.len() - 1
        };
        (EndId::client(slot), self.opened)
    }

    fn conn(&mut self, id: EndId) -> &mut Conn {
        self.slots[id.conn()].as_mut().expect("a connection with something under way is not freed")
    }

    pub(super) fn generation(&mut self, id: EndId) -> u32 {
        self.conn(id).generation
    }

    /// The end, and its peer, if the connection is still that of this generation.
    pub(super) fn known(&mut self, id: EndId, generation: u32) -> Option<(&mut End, &mut End)> {
        let conn = self.slots.get_mut(id.conn())?.as_mut().filter(|conn| conn.generation == generation)?;
        let [client, server] = &mut conn.ends;
        Some(if id.side() == 0 { (client, server) } else { (server, client) })
    }

    pub(super) fn end(&mut self, id: EndId) -> &mut End {
        let side = id.side();
        &mut self.conn(id).ends[side]
    }

    /// The end, if its connection exists.
    pub(super) fn get(&mut self, id: EndId) -> Option<&mut End> {
        self.slots.get_mut(id.conn())?.as_mut().map(|conn| &mut conn.ends[id.side()])
    }

    /// From which host to which host this end's direction goes.
    pub(super) fn route(&mut self, from: EndId) -> (HostId, HostId) {
        let ends = &self.conn(from).ends;
        (ends[from.side()].host, ends[from.peer().side()].host)
    }

    /// Frees the connection if nobody can notice it any more.
    pub(super) fn reap(&mut self, id: EndId) {
        let Some(conn) = self.slots[id.conn()].as_ref() else { return };
        if conn.ends.iter().all(|end| end.is_ownerless() && end.flight.is_empty()) {
            self.slots[id.conn()] = None;
            self.free.push(id.conn() as u32);
        }
    }

    /// All ends that `wanted` picks, given the end and its peer.
    pub(super) fn ends(&self, wanted: impl Fn(&End, &End) -> bool) -> Vec<EndId> {
        let mut found = Vec::new();
        for (slot, conn) in self.slots.iter().enumerate() {
            let Some(conn) = conn else { continue };
            let [client, server] = &conn.ends;
            let id = EndId::client(slot);
            found.extend(wanted(client, server).then_some(id));
            found.extend(wanted(server, client).then_some(id.peer()));
        }
        found
    }

    /// How many connections there are.
    #[cfg(test)]
    pub(super) fn alive(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}
