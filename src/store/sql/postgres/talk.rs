//! What a connection tells without being asked: the heads of the messages that pass over it say
//! whether a request has left that the server acts on, whether an answer is due, and whether a
//! transaction is open. That is how the text of statements that are none of ours need not be read.

use crate::host::Duplex;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;

/// Tag and length: what every message but a client's first begins with.
const HEAD: usize = 5;

/// What is known about one connection. Only one thread ever touches it; streams have to be `Sync`.
#[derive(Debug)]
pub(super) struct Talk {
    /// Requests that the server acts on: query texts and executions. Preparing one is none.
    requests: AtomicU64,
    request: Notify,
    /// How often the server has yet to say that it is ready.
    due: AtomicI64,
    /// What the server said last about a transaction.
    open: AtomicBool,
}

impl Talk {
    /// A connection whose greeting is due.
    pub(super) fn new() -> Arc<Talk> {
        let talk = Talk { requests: AtomicU64::new(0), request: Notify::new(), due: AtomicI64::new(1), open: AtomicBool::new(false) };
        Arc::new(talk)
    }

    /// Waits until a request has left that the server acts on, counted from this call.
    pub(super) fn request_left(self: Arc<Self>) -> impl Future<Output = ()> {
        let before = self.requests.load(Ordering::Relaxed);
        async move {
            loop {
                let next = self.request.notified();
                if self.requests.load(Ordering::Relaxed) != before {
                    return;
                }
                next.await;
            }
        }
    }

    /// Whether the server has said that a transaction is open, failed ones included.
    pub(super) fn in_transaction(&self) -> bool {
        self.open.load(Ordering::Relaxed)
    }

    /// Whether a transaction is open, or may come to be when what is under way is answered.
    pub(super) fn may_open_transaction(&self) -> bool {
        self.in_transaction() || self.due.load(Ordering::Relaxed) > 0
    }

    fn said(&self, tag: u8) {
        if matches!(tag, b'Q' | b'E') {
            self.requests.fetch_add(1, Ordering::Relaxed);
            self.request.notify_waiters();
        }
        // The end of a flight: each is answered with one `ReadyForQuery`.
        if matches!(tag, b'Q' | b'S') {
            self.due.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn heard(&self, tag: u8, last: u8) {
        if tag == b'Z' {
            self.due.fetch_sub(1, Ordering::Relaxed);
            self.open.store(last != b'I', Ordering::Relaxed);
        }
    }
}

/// A stream whose messages are noticed as they pass.
#[derive(Debug)]
pub(super) struct Overheard {
    stream: Box<dyn Duplex>,
    talk: Arc<Talk>,
    sent: Cutter,
    received: Cutter,
}

impl Overheard {
    /// A stream on which nothing has been said yet.
    pub(super) fn new(stream: Box<dyn Duplex>, talk: Arc<Talk>) -> Overheard {
        Overheard { stream, talk, sent: Cutter::greeting(), received: Cutter::default() }
    }
}

impl AsyncRead for Overheard {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let had = buf.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buf))?;
        let Overheard { talk, received, .. } = &mut *self;
        received.cut(&buf.filled()[had..], |tag, last| talk.heard(tag, last));
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Overheard {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.stream).poll_write(cx, buf))?;
        let Overheard { talk, sent, .. } = &mut *self;
        sent.cut(&buf[..written], |tag, _| talk.said(tag));
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// Finds the messages in a stream of bytes that comes in any pieces.
#[derive(Debug, Default)]
struct Cutter {
    head: [u8; HEAD],
    /// How much of the head is there.
    have: usize,
    /// How much of the body is not.
    left: usize,
}

impl Cutter {
    /// A client's first message has no tag.
    fn greeting() -> Cutter {
        Cutter { have: 1, ..Cutter::default() }
    }

    /// Calls `each` with the tag and the last byte of every message that is now complete.
    fn cut(&mut self, mut bytes: &[u8], mut each: impl FnMut(u8, u8)) {
        while let Some((&byte, rest)) = bytes.split_first() {
            if self.have < HEAD {
                self.head[self.have] = byte;
                self.have += 1;
                bytes = rest;
                if self.have < HEAD {
                    continue;
                }
                let [_, length @ ..] = self.head;
                // The length counts itself.
                self.left = (u32::from_be_bytes(length) as usize).saturating_sub(length.len());
                if self.left > 0 {
                    continue;
                }
                each(self.head[0], byte);
            } else {
                let taken = self.left.min(bytes.len());
                self.left -= taken;
                let last = bytes[taken - 1];
                bytes = &bytes[taken..];
                if self.left > 0 {
                    continue;
                }
                each(self.head[0], last);
            }
            self.have = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(tag: u8, body: &[u8]) -> Vec<u8> {
        let length = (body.len() as u32 + 4).to_be_bytes();
        [&[tag], &length[..], body].concat()
    }

    /// Every message is found once, however its bytes are cut, also one without a body.
    #[test]
    fn messages_are_found_in_any_pieces() {
        let greeting = [&[0, 0, 0, 9][..], b"hello"].concat();
        let bytes = [greeting, message(b'Q', b"BEGIN\0"), message(b'S', b""), message(b'E', b"x")].concat();
        for size in 1..=bytes.len() {
            let mut cutter = Cutter::greeting();
            let mut found = Vec::new();
            for piece in bytes.chunks(size) {
                cutter.cut(piece, |tag, last| found.push((tag, last)));
            }
            assert_eq!(found, [(0, b'o'), (b'Q', 0), (b'S', 4), (b'E', b'x')], "in pieces of {size}");
        }
    }

    /// What is under way may open a transaction, what the server said decides, and a failed one is still one.
    #[test]
    fn the_server_says_whether_a_transaction_is_open() {
        let talk = Talk::new();
        let told = |talk: &Talk| (talk.in_transaction(), talk.may_open_transaction());
        assert_eq!(told(&talk), (false, true), "the greeting is due");
        talk.heard(b'Z', b'I');
        assert_eq!(told(&talk), (false, false));
        talk.said(b'Q');
        assert_eq!(told(&talk), (false, true), "it may have been BEGIN");
        for (status, open) in [(b'T', true), (b'E', true), (b'I', false)] {
            talk.heard(b'Z', status);
            assert_eq!(told(&talk), (open, open));
            talk.said(b'S');
        }
    }
}
