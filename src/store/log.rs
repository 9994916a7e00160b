//! The replicated log as its clients see it: one command, one answer, over length-prefixed JSON.
//! A member that does not lead says who does; finding the leader is the client's business.

use crate::host::{Host, within};
use crate::id::HostId;
use crate::store::StoreError;
use crate::store::wire::Wire;
use serde::{Deserialize, Serialize};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

/// How many members the log has.
pub const MEMBERS: u8 = HostId::LOG_MEMBERS;

/// What is granted or decided: a period by its number, or the one lease of all.
pub type Key = i64;

/// The one lease of the job, whatever the period.
pub const WHOLE_JOB: Key = 0;

/// What a client may write into the log. The nonce is the client's own, drawn for one attempt: whoever repeats
/// a command because he lost its answer gets the same answer again.
#[expect(missing_docs, reason = "the fields are named after what they are, and each variant says what it tells")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// Grants `key` for `ttl_ms` by the log's time, if nobody holds it and nothing is decided.
    Grant { key: Key, nonce: u64, ttl_ms: u64 },
    /// Lets a grant that has not run out last for `ttl_ms` from now on.
    Renew { key: Key, nonce: u64, ttl_ms: u64 },
    /// Gives a grant back.
    Release { key: Key, nonce: u64 },
    /// Decides `key` for good, for whoever was granted it last.
    Decide { key: Key, nonce: u64 },
    /// Whatever follows from the decision is done.
    Finish { key: Key },
    /// Asks what is finished. A read is an entry too: an answer from a leader that is none any longer is impossible.
    Finished,
}

/// What the log says to a command.
#[expect(missing_docs, reason = "the fields are named after what they are, and each variant says what it tells")]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// It is yours; the token is the entry's place in the log, larger than all before.
    Granted { token: i64 },
    /// It is somebody else's.
    Held,
    /// It was decided, for the grant of `by` with this token.
    Decided { by: HostId, token: i64 },
    /// It was decided, and nothing is left to do.
    Over,
    /// Done.
    Yes,
    /// Not done: the grant is not yours, or has run out.
    No,
    /// The keys with nothing left to do.
    Finished(Vec<Key>),
}

/// What a member says to a client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reply {
    /// It is in the log, and this came of it.
    Answered(Answer),
    /// This member leads, as far as is known here.
    Ask(u8),
    /// Nobody is known to lead.
    NoLeader,
}

/// What members send to a member: `C` for clients, `R` for each other.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Said<R> {
    /// A client's command.
    Client(Command),
    /// A member's request.
    Member(R),
}

/// A client of the log: it knows all members, and remembers who led last.
pub struct LogService {
    host: Rc<dyn Host>,
    timeout: Duration,
    leader: Cell<u8>,
    /// The open connections while nobody uses them.
    idle: RefCell<[Option<Wire>; MEMBERS as usize]>,
}

impl LogService {
    /// A client on `host` that waits for at most `timeout` for a connection or an answer.
    pub fn new(host: Rc<dyn Host>, timeout: Duration) -> LogService {
        let leader = Cell::new(host.id().index() as u8 % MEMBERS);
        LogService { host, timeout, leader, idle: RefCell::default() }
    }

    /// Whom to ask.
    pub fn presumed(&self) -> u8 {
        self.leader.get()
    }

    /// Remembers who is said to lead.
    pub fn presume(&self, member: u8) {
        self.leader.set(member % MEMBERS);
    }

    /// Connects to a member, unless a connection is open.
    ///
    /// # Errors
    /// `NotSent`: the member could not be reached.
    pub async fn ready(&self, member: u8) -> Result<(), StoreError> {
        let wire = self.wire(member).await?;
        self.idle.borrow_mut()[usize::from(member)] = Some(wire);
        Ok(())
    }

    /// Asks a member.
    ///
    /// # Errors
    /// `MaybeApplied`: no answer came.
    pub async fn ask(&self, member: u8, command: Command) -> Result<Reply, StoreError> {
        let mut wire = self.wire(member).await?;
        let said = Said::<()>::Client(command);
        let answer = within(&*self.host, self.timeout, wire.ask(&said)).await;
        let reply = answer.ok_or_else(StoreError::timed_out)?.map_err(StoreError::maybe_applied)?;
        self.idle.borrow_mut()[usize::from(member)] = Some(wire);
        Ok(reply)
    }

    async fn wire(&self, member: u8) -> Result<Wire, StoreError> {
        let idle = self.idle.borrow_mut()[usize::from(member)].take();
        if let Some(wire) = idle {
            return Ok(wire);
        }
        let stream = within(&*self.host, self.timeout, self.host.connect(HostId::Log(member))).await;
        Ok(Wire::new(stream.ok_or_else(|| StoreError::not_sent("timed out"))??))
    }
}
