//! The lease store: a single-threaded server that speaks RESP2 as Redis does, so that an
//! unmodified redis-rs works against it.
//!
//! `store` holds the keys and tells the history who got, lost and kept which lease; `lists` does
//! so for messages, and `waiting` for those who wait for one; `command` turns requests into calls
//! on them; `script` knows the two Lua scripts that lease clients send; `busy` lets requests wait
//! for a slow command. Keys survive a restart of
//! the process (as with an append-only file), loaded scripts do not. What else can become of
//! them is in `loss`: all gone, one evicted, or the latest writes forgotten by a replica.

mod asked;
mod busy;
mod command;
mod lists;
mod loss;
mod script;
mod store;
#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the test host runs on paused tokio time")]
mod tests;
mod waiting;

pub use busy::Busy;
pub use loss::Loss;
pub use store::LeaseStore;

use crate::host::{Duplex, Host};
use crate::id::HostId;
use bytes::Bytes;
use command::Answer;
use futures_util::{SinkExt, StreamExt};
use redis_protocol::codec::Resp2;
use redis_protocol::error::RedisProtocolError;
use redis_protocol::resp2::types::BytesFrame;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::pending;
use std::rc::Rc;
use store::Caller;
use tokio_util::codec::Framed;
use waiting::Blocked;

/// Room for one request; larger ones grow it.
const BUFFER: usize = 512;

/// The process of the lease store: accepts connections for as long as it lives.
pub async fn serve(host: Rc<dyn Host>, store: Rc<RefCell<LeaseStore>>) {
    store.borrow_mut().new_process();
    let Ok(mut listener) = host.listen().await else { return };
    while let Ok((stream, by)) = listener.accept().await {
        let connection = connection(host.clone(), store.clone(), stream, by);
        host.spawn("lease-connection", Box::pin(connection)).detach();
    }
}

/// Answers one client until it goes away or stops speaking RESP.
async fn connection(host: Rc<dyn Host>, store: Rc<RefCell<LeaseStore>>, stream: Box<dyn Duplex>, by: HostId) {
    let busy = store.borrow().busy();
    let mut frames = Framed::with_capacity(stream, Resp2::default(), BUFFER);
    let mut early = VecDeque::new();
    loop {
        let frame = if let Some(said_before) = early.pop_front() { Some(said_before) } else { frames.next().await };
        let Some(frame) = frame else { return };
        let Some(request) = frame.ok().and_then(arguments) else {
            // As Redis does: say so, then hang up. If even that cannot be sent, the client is gone.
            let _ = frames.send(BytesFrame::Error("ERR Protocol error: expected an array of bulk strings".into())).await;
            return;
        };
        if request.is_empty() {
            continue;
        }
        busy.wait(&*host, by).await;
        let answer = command::execute(&mut store.borrow_mut(), Caller { host: &*host, by }, &request);
        let reply = match answer {
            Answer::Now(reply) => reply,
            Answer::Later(blocked) => match wait(&*host, blocked, &mut frames, &mut early).await {
                Some(reply) => reply,
                None => return,
            },
        };
        if frames.send(reply).await.is_err() {
            return;
        }
    }
}

/// What is said on a connection.
type Said = Result<BytesFrame, RedisProtocolError>;

/// Waits for a message, or until a client has waited long enough; `None`: it has gone away. What it says meanwhile is kept.
async fn wait(
    host: &dyn Host,
    Blocked { mut answer, timeout }: Blocked,
    frames: &mut Framed<Box<dyn Duplex>, Resp2>,
    early: &mut VecDeque<Said>,
) -> Option<BytesFrame> {
    let mut too_long = match timeout {
        Some(timeout) => host.sleep(timeout),
        None => Box::pin(pending()),
    };
    loop {
        tokio::select! {
            biased;
            served = &mut answer => return served.ok().map(command::served),
            () = &mut too_long => return Some(BytesFrame::Null),
            said = frames.next() => early.push_back(said?),
        }
    }
}

/// The words of a request; `None` if it is not an array of strings.
fn arguments(frame: BytesFrame) -> Option<Vec<Bytes>> {
    let BytesFrame::Array(words) = frame else { return None };
    words
        .into_iter()
        .map(|word| match word {
            BytesFrame::BulkString(text) | BytesFrame::SimpleString(text) => Some(text),
            BytesFrame::Error(_) | BytesFrame::Integer(_) | BytesFrame::Array(_) | BytesFrame::Null => None,
        })
        .collect()
}
