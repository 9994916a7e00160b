//! What applications ask their kernel for: listen, connect, accept, read, write, close; and what
//! kernels do when a process dies or the power goes.

use super::conn::{EndId, Phase, Segment};
use super::fabric::{Fabric, Listening};
use super::waiting::Waiting;
use crate::id::HostId;
use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::task::{Poll, Waker};
use tokio::io::ReadBuf;

impl Fabric {
    /// Starts to listen; gives the listener's number.
    pub(super) fn listen(&mut self, on: HostId) -> io::Result<u32> {
        let number = self.number();
        let site = self.site(on);
        if !site.running {
            return Err(ErrorKind::NetworkDown.into());
        }
        if site.listener.is_some() {
            return Err(ErrorKind::AddrInUse.into());
        }
        site.listener = Some(Listening { number, queue: VecDeque::new(), acceptor: Waiting::default() });
        Ok(number)
    }

    /// The next connection that waits to be accepted, and who made it.
    pub(super) fn accept(&mut self, on: HostId, number: u32, waker: &Waker) -> Poll<(EndId, u32, HostId)> {
        // A listener whose process is dead never accepts again.
        let Some(listener) = self.listener(on, number) else { return Poll::Pending };
        let Some(end) = listener.queue.pop_front() else {
            listener.acceptor.wait(waker);
            return Poll::Pending;
        };
        let (_, from) = self.conns.route(end);
        Poll::Ready((end, self.conns.generation(end), from))
    }

    /// Stops to listen. What was not accepted is reset.
    pub(super) fn unlisten(&mut self, on: HostId, number: u32) {
        if self.listener(on, number).is_none() {
            return;
        }
        let queue = self.site(on).listener.take().map_or_else(VecDeque::new, |listener| listener.queue);
        for end in queue {
            self.close(end, true);
        }
    }

    fn listener(&mut self, on: HostId, number: u32) -> Option<&mut Listening> {
        self.site(on).listener.as_mut().filter(|listener| listener.number == number)
    }

    /// Sends a SYN; gives the client's end and the connection's generation.
    pub(super) fn connect(&mut self, from: HostId, to: HostId) -> io::Result<(EndId, u32)> {
        let site = self.site(from);
        if !site.running {
            return Err(ErrorKind::NetworkDown.into());
        }
        let incarnation = site.incarnation;
        let (end, generation) = self.conns.open(from, incarnation, to);
        self.send(end, Segment::Syn);
        Ok((end, generation))
    }

    /// Whether a connect has come to its end.
    pub(super) fn connected(&mut self, id: EndId, generation: u32, waker: &Waker) -> Poll<io::Result<()>> {
        let Some((end, _)) = self.conns.known(id, generation) else { return Poll::Ready(Err(ErrorKind::ConnectionAborted.into())) };
        match (end.error, end.phase) {
            (Some(error), _) => Poll::Ready(Err(error.into())),
            (None, Phase::Established) => Poll::Ready(Ok(())),
            (None, Phase::Unborn | Phase::Connecting | Phase::Handshaking | Phase::Closed) => {
                end.reader.wait(waker);
                Poll::Pending
            }
        }
    }

    /// Reads what has arrived, as much as fits.
    pub(super) fn read(&mut self, id: EndId, generation: u32, into: &mut ReadBuf<'_>, waker: &Waker) -> Poll<io::Result<()>> {
        let Some((end, peer)) = self.conns.known(id, generation) else { return Poll::Ready(Err(ErrorKind::ConnectionAborted.into())) };
        let before = into.remaining();
        while into.remaining() > 0
            && let Some(first) = end.inbox.front()
        {
            let some = (first.len() - end.taken).min(into.remaining());
            into.put_slice(&first[end.taken..end.taken + some]);
            end.taken += some;
            if end.taken == first.len() {
                end.taken = 0;
                if let Some(emptied) = end.inbox.pop_front() {
                    self.pool.give(emptied);
                }
            }
        }
        let got = before - into.remaining();
        if got > 0 {
            end.owed += got;
            if self.sites[peer.host.index()].powered && self.links.is_open(end.host, peer.host) {
                peer.credit(std::mem::take(&mut end.owed));
            }
            return Poll::Ready(Ok(()));
        }
        if before == 0 || end.ended {
            return Poll::Ready(Ok(()));
        }
        if let Some(error) = end.error {
            return Poll::Ready(Err(error.into()));
        }
        end.reader.wait(waker);
        Poll::Pending
    }

    /// Takes what fits into the window. It leaves when the poll ends.
    pub(super) fn write(&mut self, id: EndId, generation: u32, bytes: &[u8], waker: &Waker) -> Poll<io::Result<usize>> {
        let Some((end, _)) = self.conns.known(id, generation) else { return Poll::Ready(Err(ErrorKind::ConnectionAborted.into())) };
        if let Some(error) = end.error {
            return Poll::Ready(Err(error.into()));
        }
        if end.finished || end.phase == Phase::Closed {
            return Poll::Ready(Err(ErrorKind::BrokenPipe.into()));
        }
        let some = bytes.len().min(end.room());
        if some == 0 && !bytes.is_empty() {
            end.writer.wait(waker);
            return Poll::Pending;
        }
        end.draft.extend_from_slice(&bytes[..some]);
        if !end.drafted {
            end.drafted = true;
            self.drafts.push(id);
        }
        Poll::Ready(Ok(some))
    }

    /// Sends what was written, and then FIN: no more bytes will follow.
    pub(super) fn finish(&mut self, id: EndId, generation: u32) {
        if self.conns.known(id, generation).is_none() {
            return;
        }
        self.flush(id);
        let end = self.conns.end(id);
        let last = !std::mem::replace(&mut end.finished, true) && end.error.is_none() && end.phase == Phase::Established;
        if last {
            self.send(id, Segment::Fin);
        }
    }

    /// Closes a stream that its owner dropped.
    pub(super) fn release(&mut self, id: EndId, generation: u32) {
        if self.conns.known(id, generation).is_some() {
            self.close(id, false);
        }
    }

    /// Closes an end: what was written still leaves, then FIN; or RST, if `abort` or if bytes were left unread.
    fn close(&mut self, id: EndId, abort: bool) {
        self.flush(id);
        let end = self.conns.end(id);
        let phase = std::mem::replace(&mut end.phase, Phase::Closed);
        let unread = !end.inbox.is_empty();
        let inbox = std::mem::take(&mut end.inbox);
        end.reader.forget();
        end.writer.forget();
        let finished = std::mem::replace(&mut end.finished, true);
        let last = match phase {
            Phase::Closed | Phase::Unborn => None,
            Phase::Connecting => {
                // Nobody wants the connection any more: its SYN is not sent again.
                end.drop_held();
                None
            }
            Phase::Handshaking => Some(Segment::Rst),
            Phase::Established if end.error.is_some() => None,
            Phase::Established if abort || unread => Some(Segment::Rst),
            Phase::Established => (!finished).then_some(Segment::Fin),
        };
        for buffer in inbox {
            self.pool.give(buffer);
        }
        if let Some(last) = last {
            self.send(id, last);
        }
        self.conns.reap(id);
    }

    /// The process of a host dies: its kernel lives on and closes its sockets. False = there was none.
    pub(super) fn crash(&mut self, host: HostId) -> bool {
        let site = self.site(host);
        if !site.running {
            return false;
        }
        site.running = false;
        site.listener = None;
        let incarnation = site.incarnation;
        for id in self.conns.ends(|end, _| end.host == host && end.incarnation == incarnation && end.phase != Phase::Closed) {
            self.close(id, true);
        }
        true
    }

    /// A host goes silent: nothing leaves it any more, and nothing that it held back is sent again. False = it had no power.
    pub(super) fn power_off(&mut self, host: HostId) -> bool {
        let site = self.site(host);
        if !site.powered {
            return false;
        }
        site.powered = false;
        site.running = false;
        site.listener = None;
        // An end that is unborn is nothing but a SYN under way to this host.
        for id in self.conns.ends(|end, _| end.host == host && end.phase != Phase::Unborn) {
            let Some(end) = self.conns.get(id) else { continue };
            end.phase = Phase::Closed;
            end.unpowered = true;
            end.inbox.clear();
            end.draft.clear();
            end.drop_held();
            self.conns.reap(id);
        }
        true
    }

    /// A new process starts on a host that has none. False = it has one.
    pub(super) fn boot(&mut self, host: HostId) -> bool {
        let site = self.site(host);
        if site.running {
            return false;
        }
        site.running = true;
        site.powered = true;
        site.listener = None;
        site.incarnation += 1;
        for other in 0..self.sites.len() {
            self.reopen(HostId::from_index(other), host);
        }
        true
    }
}
