//! The state that all hosts of a run share: links, sockets, and the bells that wake kernels.
//!
//! Streams must be `Send + Sync`, because the clients above them ask for it, so it stands
//! behind a lock. A run has one thread: the lock is never contended.

use super::links::{Links, Passage};
use super::socket::{Flushed, Socket};
use super::stream::Stream;
use crate::id::HostId;
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use tokio::io::ReadBuf;
use tokio::sync::Notify;
use turmoil::net::TcpStream;

/// Wakes the kernel of a host.
#[derive(Default)]
pub(super) struct Bell(Notify);

impl Bell {
    pub(super) fn ring(&self) {
        self.0.notify_one();
    }

    pub(super) async fn rung(&self) {
        self.0.notified().await;
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.ring();
    }
}

/// Handle of the shared state.
#[derive(Clone, Default)]
pub(super) struct Wire(Arc<Mutex<State>>);

#[derive(Default)]
pub(super) struct State {
    /// True time in milliseconds.
    pub(super) now: u64,
    pub(super) links: Links,
    sockets: BTreeMap<u64, Socket>,
    opened: u64,
    bells: BTreeMap<HostId, Arc<Bell>>,
}

impl Wire {
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        // Code of a host may panic while turmoil works for it; the state is whole all the same.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes over a stream that turmoil has opened.
    pub(super) fn open(&self, stream: TcpStream, on: HostId, peer: HostId) -> Stream {
        let mut state = self.lock();
        state.links.note(Passage::Connected, on, peer);
        let id = state.opened;
        state.opened += 1;
        let socket = Socket::new(stream, on, peer, &state.links);
        state.sockets.insert(id, socket);
        drop(state);
        Stream::new(id, self.clone())
    }
}

impl State {
    pub(super) fn bell(&mut self, host: HostId) -> Arc<Bell> {
        self.bells.entry(host).or_default().clone()
    }

    pub(super) fn poll_read(&mut self, id: u64, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let (socket, links, _) = self.socket(id);
        socket.poll_read(cx, buf, links)
    }

    pub(super) fn poll_write(&mut self, id: u64, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let (socket, links, now) = self.socket(id);
        let written = socket.poll_write(cx, buf, links, now);
        self.ring_if_waiting(id);
        written
    }

    pub(super) fn shut_down(&mut self, id: u64) {
        let (socket, links, now) = self.socket(id);
        socket.shut_down(links, now);
        self.ring_if_waiting(id);
    }

    /// The descriptor of a socket is gone. The kernel drops turmoil's stream: that must happen
    /// inside the host, whereas a descriptor may be dropped anywhere.
    pub(super) fn close(&mut self, id: u64) {
        // After the run no socket is left.
        if let Some(socket) = self.sockets.get_mut(&id) {
            socket.close(&mut self.links, self.now);
            self.ring_if_waiting(id);
        }
    }

    /// Silences all sockets of a host for good. They stay, so that nothing answers for them.
    pub(super) fn silence(&mut self, host: HostId) {
        self.sockets.values_mut().filter(|socket| socket.on == host).for_each(Socket::silence);
    }

    /// Sends what may leave a host by now; tells at which millisecond more may. Called inside the host.
    pub(super) fn flush(&mut self, host: HostId, bell: &Arc<Bell>) -> Option<u64> {
        let waker = Waker::from(bell.clone());
        let mut cx = Context::from_waker(&waker);
        let State { now, links, sockets, .. } = self;
        let mut next: Option<u64> = None;
        sockets.retain(|_, socket| {
            if socket.on != host || !socket.is_waiting() {
                return true;
            }
            match socket.flush(&mut cx, links, *now) {
                Flushed::Idle | Flushed::Full => true,
                Flushed::Until(due) => {
                    next = Some(next.map_or(due, |earlier| earlier.min(due)));
                    true
                }
                Flushed::Closed => false,
            }
        });
        next
    }

    /// Drops all sockets. Called when the run is over, outside the simulation, where turmoil sends nothing for them.
    pub(super) fn clear(&mut self) -> BTreeMap<u64, Socket> {
        std::mem::take(&mut self.sockets)
    }

    fn socket(&mut self, id: u64) -> (&mut Socket, &mut Links, u64) {
        let socket = self.sockets.get_mut(&id).expect("a socket lives as long as its descriptor");
        (socket, &mut self.links, self.now)
    }

    fn ring_if_waiting(&self, id: u64) {
        if let Some(socket) = self.sockets.get(&id).filter(|socket| socket.is_waiting())
            && let Some(bell) = self.bells.get(&socket.on)
        {
            bell.ring();
        }
    }
}
