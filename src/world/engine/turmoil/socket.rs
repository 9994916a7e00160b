//! One end of a connection, as the kernel of its host keeps it: turmoil's stream, and what has
//! been written but may not leave yet. It outlives the process that wrote.

use super::links::{Links, Passage};
use crate::id::HostId;
use bytes::{Buf, Bytes};
use std::collections::VecDeque;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use turmoil::net::TcpStream;

/// How many milliseconds lie between two attempts to send what a block holds back. It does not
/// back off: worlds on this engine are scaled (their minutes are seconds), so that the two
/// minutes to which a real kernel backs off are a few such intervals.
pub(super) const RETRY_MS: u64 = 200;

/// How many bytes may wait in a socket before writes wait too.
const WINDOW: usize = 64 * 1024;

/// Something that waits to leave.
enum Outgoing {
    Data(Bytes),
    /// No more data follows.
    Fin,
    /// The process has closed the socket.
    Close,
}

/// Whether the kernel still needs a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flushed {
    /// Nothing waits.
    Idle,
    /// Something waits until this millisecond.
    Until(u64),
    /// Something waits until the receiver has room.
    Full,
    /// It was closed and everything has left.
    Closed,
}

pub(super) struct Socket {
    stream: TcpStream,
    pub(super) on: HostId,
    pub(super) peer: HostId,
    /// How often the peer had lost power when the connection was opened.
    peer_cuts: u32,
    /// What waits to leave, and the millisecond before which it may not.
    outgoing: VecDeque<(u64, Outgoing)>,
    waiting_bytes: usize,
    retry_at: u64,
    writer: Option<Waker>,
    /// A segment of this direction is lost: nothing that follows it is ever delivered.
    dark: bool,
    /// Its host has lost power: it says nothing any more, not even that it closes.
    mute: bool,
    shut: bool,
}

impl Socket {
    pub(super) fn new(stream: TcpStream, on: HostId, peer: HostId, links: &Links) -> Socket {
        Socket {
            stream,
            on,
            peer,
            peer_cuts: links.cuts(peer),
            outgoing: VecDeque::new(),
            waiting_bytes: 0,
            retry_at: 0,
            writer: None,
            dark: false,
            mute: false,
            shut: false,
        }
    }

    /// Whether the kernel has something to do for it.
    pub(super) fn is_waiting(&self) -> bool {
        !self.outgoing.is_empty()
    }

    pub(super) fn poll_read(&mut self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>, links: &mut Links) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buf))?;
        if buf.filled().len() > before {
            links.note(Passage::Read, self.peer, self.on);
        }
        Poll::Ready(Ok(()))
    }

    pub(super) fn poll_write(&mut self, cx: &mut Context<'_>, buf: &[u8], links: &mut Links, now: u64) -> Poll<io::Result<usize>> {
        if self.shut {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        if !links.is_off(self.peer) && links.cuts(self.peer) != self.peer_cuts {
            return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
        }
        if buf.is_empty() {
            return Poll::Ready(Ok(0));
        }
        if self.waiting_bytes >= WINDOW {
            self.writer = Some(cx.waker().clone());
            return Poll::Pending;
        }
        if !self.dark && links.loses(self.on, self.peer) {
            links.note(Passage::Lost, self.on, self.peer);
            self.dark = true;
        }
        if self.dark {
            // Never acknowledged, so it fills the window for ever.
            self.waiting_bytes += buf.len();
            return Poll::Ready(Ok(buf.len()));
        }
        if self.must_wait(links) {
            links.note(Passage::Held, self.on, self.peer);
            self.hold(Outgoing::Data(Bytes::copy_from_slice(buf)), links, now);
            return Poll::Ready(Ok(buf.len()));
        }
        let written = ready!(Pin::new(&mut self.stream).poll_write(cx, buf))?;
        links.note(Passage::Written, self.on, self.peer);
        Poll::Ready(Ok(written))
    }

    /// No more data follows. The kernel tells the peer.
    pub(super) fn shut_down(&mut self, links: &mut Links, now: u64) {
        if !std::mem::replace(&mut self.shut, true) && !self.dark && !self.mute {
            self.hold(Outgoing::Fin, links, now);
        }
    }

    /// The process closed the socket, or is gone. The kernel says so to the peer once it may.
    pub(super) fn close(&mut self, links: &mut Links, now: u64) {
        if !self.dark && !self.mute {
            self.hold(Outgoing::Close, links, now);
        }
    }

    /// The host lost power: nobody is left to send what waits, or to close.
    pub(super) fn silence(&mut self) {
        self.mute = true;
        self.outgoing.clear();
    }

    /// Sends what may leave by now.
    pub(super) fn flush(&mut self, cx: &mut Context<'_>, links: &mut Links, now: u64) -> Flushed {
        while let Some(&(due, ref next)) = self.outgoing.front() {
            if now < due.max(self.retry_at) {
                return Flushed::Until(due.max(self.retry_at));
            }
            if links.holds(self.on, self.peer) {
                self.retry_at = now + RETRY_MS;
                return Flushed::Until(self.retry_at);
            }
            let room = match next {
                Outgoing::Data(_) => Poll::Ready(Ok(())),
                // turmoil gives no credit for an end of stream, and forgets one that finds the receiver full.
                Outgoing::Fin | Outgoing::Close => pin!(self.stream.writable()).poll(cx),
            };
            let sent = match (room, next) {
                (Poll::Pending, _) => Poll::Pending,
                (Poll::Ready(_), Outgoing::Data(bytes)) => Pin::new(&mut self.stream).poll_write(cx, bytes),
                (Poll::Ready(_), Outgoing::Fin) => Pin::new(&mut self.stream).poll_shutdown(cx).map_ok(|()| 0),
                (Poll::Ready(_), Outgoing::Close) => return Flushed::Closed,
            };
            match sent {
                Poll::Pending => return Flushed::Full,
                Poll::Ready(Ok(written)) => self.left(written),
                Poll::Ready(Err(_)) => self.was_reset(),
            }
        }
        Flushed::Idle
    }

    /// The first thing that waited has left, or so many bytes of it.
    fn left(&mut self, written: usize) {
        if let Some((_, Outgoing::Data(bytes))) = self.outgoing.front_mut() {
            self.waiting_bytes -= written;
            bytes.advance(written);
            if !bytes.is_empty() {
                return;
            }
        }
        self.outgoing.pop_front();
        if let Some(writer) = self.writer.take() {
            writer.wake();
        }
    }

    /// The peer has reset the connection. Whoever reads or writes next is told so by turmoil.
    fn was_reset(&mut self) {
        self.outgoing.retain(|(_, next)| matches!(next, Outgoing::Close));
        self.waiting_bytes = 0;
        if let Some(writer) = self.writer.take() {
            writer.wake();
        }
    }

    fn must_wait(&self, links: &mut Links) -> bool {
        // In this order, so that each harm that strikes the segment is felt.
        let held = links.holds(self.on, self.peer);
        let delayed = links.extra(self.on, self.peer) > 0;
        held || delayed || self.is_waiting()
    }

    fn hold(&mut self, outgoing: Outgoing, links: &mut Links, now: u64) {
        if let Outgoing::Data(bytes) = &outgoing {
            self.waiting_bytes += bytes.len();
        }
        // What is held in front of it has its own delay; order is kept by the queue.
        let due = now + links.extra(self.on, self.peer);
        if !self.is_waiting() && links.holds(self.on, self.peer) {
            self.retry_at = now + RETRY_MS;
        }
        self.outgoing.push_back((due, outgoing));
    }
}
