//! Clients that wait for a message: `BLPOP`, `BRPOP` and `BLMOVE`.
//!
//! When a list gets its first message, whoever has waited longest for its key is served first,
//! after the command that brought the message is over and as if he had asked just then
//! (`handleClientsBlockedOnKeys` of Redis). What a client says while it waits is read and
//! done afterwards; one whose connection ends waits no longer. One that is gone without the
//! store knowing is still served, and the message with it.

use super::lists::{End, Way};
use super::store::{Caller, LeaseStore, WrongType};
use crate::host::Host;
use crate::id::HostId;
use bytes::Bytes;
use redis_protocol::resp2::types::BytesFrame;
use std::collections::VecDeque;
use std::time::Duration;
use tokio::sync::oneshot;

/// What somebody waits for.
#[derive(Clone, Debug)]
pub(super) enum Wish {
    /// A message of the first of these lists that has one.
    Pop { keys: Vec<Bytes>, end: End },
    /// A message to be moved.
    Move(Way),
}

impl Wish {
    fn names(&self, key: &Bytes) -> bool {
        match self {
            Wish::Pop { keys, .. } => keys.contains(key),
            Wish::Move(way) => way.from.0 == *key,
        }
    }
}

/// Somebody who waits.
#[derive(Debug)]
struct Waiter {
    by: HostId,
    wish: Wish,
    answer: oneshot::Sender<Served>,
}

/// How a wish came out.
pub(super) type Served = Result<BytesFrame, WrongType>;

/// Those who wait, in the order of their arrival.
#[derive(Debug, Default)]
pub(super) struct Waiting(Vec<Waiter>);

/// A client that has to wait.
#[derive(Debug)]
pub(super) struct Blocked {
    pub answer: oneshot::Receiver<Served>,
    /// On the store's clock; `None`: for ever.
    pub timeout: Option<Duration>,
}

impl LeaseStore {
    /// Carries out a wish; `None`: there is nothing yet.
    pub(super) fn grant(&mut self, caller: Caller<'_>, wish: &Wish) -> Result<Option<BytesFrame>, WrongType> {
        match wish {
            Wish::Pop { keys, end } => {
                for key in keys {
                    if let Some(text) = self.pop(caller, key, *end, 1)?.and_then(|mut texts| texts.pop()) {
                        let pair = [key.clone(), text].map(BytesFrame::BulkString);
                        return Ok(Some(BytesFrame::Array(pair.to_vec())));
                    }
                }
                Ok(None)
            }
            Wish::Move(way) => Ok(self.shift(caller, way)?.map(BytesFrame::BulkString)),
        }
    }

    /// Lets a client wait.
    pub(super) fn wait(&mut self, by: HostId, wish: Wish, timeout: Option<Duration>) -> Blocked {
        let (answer, told) = oneshot::channel();
        self.waiting.0.retain(|waiter| !waiter.answer.is_closed());
        self.waiting.0.push(Waiter { by, wish, answer });
        Blocked { answer: told, timeout }
    }

    /// Serves those who wait for a list that has got a message, and for those that get one thereby.
    pub(super) fn serve(&mut self, host: &dyn Host, key: &Bytes) {
        let mut ready = VecDeque::from([key.clone()]);
        while let Some(key) = ready.pop_front() {
            let mut n = 0;
            while n < self.waiting.0.len() && self.length(Caller { host, by: host.id() }, &key).is_ok_and(|length| length > 0) {
                if !self.waiting.0[n].wish.names(&key) {
                    n += 1;
                    continue;
                }
                let Waiter { by, wish, answer } = self.waiting.0.remove(n);
                if answer.is_closed() {
                    continue;
                }
                let wish = match wish {
                    Wish::Pop { end, .. } => Wish::Pop { keys: vec![key.clone()], end },
                    Wish::Move(way) => {
                        ready.push_back(way.to.0.clone());
                        Wish::Move(way)
                    }
                };
                let served = self.grant(Caller { host, by }, &wish).map(|answer| answer.unwrap_or(BytesFrame::Null));
                // Nobody hears it any more: the message is gone all the same.
                let _ = answer.send(served);
            }
        }
    }
}
