//! The replicated log: three members that run Raft, as `openraft` implements it, over the streams,
//! clocks and random numbers of their hosts.
//!
//! * `runtime` lets the crate run on a host; `network` carries what members say to each other;
//!   `disk` is what survives a process; `machine` is what the entries come to.
//! * A client may ask any member. One that does not lead says who does.
//! * **Members rest.** A heartbeat every three seconds for fifteen idle days would be millions of
//!   events that change nothing. When nothing was written for `log.rest_after`, a member stops
//!   its Raft code; a client or a candidate that calls starts it again from its disk. To Raft
//!   that is a crash and a restart, which it is safe against at any moment. An empty heartbeat
//!   wakes nobody: its leader is about to rest too.

mod disk;
mod machine;
mod network;
mod runtime;

pub use disk::Disk;

use crate::host::Host;
use crate::id::HostId;
use crate::scenario::LogKnobs;
use crate::store::log::{Command, Reply, Said};
use crate::store::wire::Wire;
use crate::time::millis;
use disk::{Open, Types};
use machine::Stamped;
use network::{Asks, Links};
use openraft::error::{ClientWriteError, Fatal, RaftError};
use openraft::{Config, Raft, SnapshotPolicy};
use serde::Serialize;
use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use tokio::sync::Mutex;

/// The crate's own defaults, which it reads with a parser of command lines: once is enough.
static DEFAULTS: LazyLock<Config> = LazyLock::new(Config::default);

/// How often a member looks, within a heartbeat, whether somebody leads by now.
const LOOKS: u32 = 4;

/// The state behind one member.
#[derive(Clone)]
pub struct LogState {
    disk: Rc<RefCell<Disk>>,
    untold: Rc<Cell<u64>>,
}

impl LogState {
    /// The states of all members of a log in which nothing has been written. `drawn` says who leads it.
    pub fn of_all<const N: usize>(drawn: u64) -> [LogState; N] {
        let (untold, leader) = (Rc::new(Cell::new(0)), drawn % N as u64);
        std::array::from_fn(|_| LogState { disk: Rc::new(RefCell::new(Disk::formed(leader))), untold: Rc::clone(&untold) })
    }
}

/// The process of a member: accepts connections for as long as it lives.
pub async fn serve(host: Rc<dyn Host>, id: u8, state: LogState, knobs: LogKnobs) {
    let member = Rc::new(Member { host: Rc::clone(&host), id, state, knobs, raft: Mutex::default(), written: Cell::default() });
    let Ok(mut listener) = host.listen().await else { return };
    while let Ok((stream, by)) = listener.accept().await {
        runtime::spawn(&host, "log-connection", Rc::clone(&member).connection(Wire::new(stream), by));
    }
}

/// The process of a member, at work or at rest.
struct Member {
    host: Rc<dyn Host>,
    id: u8,
    state: LogState,
    knobs: LogKnobs,
    /// `None` while it rests. Whoever starts or stops it holds the lock meanwhile.
    raft: Mutex<Option<Raft<Types>>>,
    /// When something was written last, or this member began to work, by what its clock has counted.
    written: Cell<Duration>,
}

type Failure = Fatal<u64>;

impl Member {
    /// Answers one peer until it goes away, or asks what cannot be answered.
    async fn connection(self: Rc<Self>, mut wire: Wire, by: HostId) {
        while let Ok(Some(said)) = wire.receive().await {
            let sent = match said {
                Said::Client(command) => match self.client(command, by).await {
                    Ok(reply) => wire.send(&reply).await,
                    Err(_) => return,
                },
                Said::Member(asks) => self.member(&mut wire, asks).await,
            };
            if sent.is_err() {
                return;
            }
        }
    }

    /// What another member asks.
    async fn member(self: &Rc<Self>, wire: &mut Wire, asks: Asks) -> io::Result<()> {
        let is_heartbeat = matches!(&asks, Asks::Append(request) if request.entries.is_empty());
        if is_heartbeat && self.raft.lock().await.is_none() {
            return Err(io::ErrorKind::ConnectionRefused.into());
        }
        let raft = self.at_work().await.map_err(io::Error::other)?;
        match asks {
            Asks::Append(request) => {
                if !request.entries.is_empty() {
                    self.touch();
                }
                answer(wire, raft.append_entries(request).await).await
            }
            Asks::Vote(request) => answer(wire, raft.vote(request).await).await,
            Asks::Snapshot(request) => answer(wire, raft.install_snapshot(request).await).await,
        }
    }

    /// What a client asks. If nobody is known to lead, this member waits for a leader for as long as a heartbeat.
    async fn client(self: &Rc<Self>, command: Command, by: HostId) -> Result<Reply, Failure> {
        let raft = self.at_work().await?;
        self.touch();
        let mut reply = self.write(&raft, command, by).await?;
        for _ in 0..LOOKS {
            if reply != Reply::NoLeader {
                break;
            }
            self.host.sleep(self.knobs.heartbeat / LOOKS).await;
            reply = self.write(&raft, command, by).await?;
        }
        Ok(reply)
    }

    async fn write(&self, raft: &Raft<Types>, command: Command, by: HostId) -> Result<Reply, Failure> {
        match raft.client_write(Stamped { at: self.host.wall(), by, command }).await {
            Ok(written) => Ok(written.data.map_or(Reply::NoLeader, Reply::Answered)),
            Err(RaftError::APIError(ClientWriteError::ForwardToLeader(other))) => {
                Ok(other.leader_id.map_or(Reply::NoLeader, |leader| Reply::Ask(leader as u8)))
            }
            Err(RaftError::APIError(ClientWriteError::ChangeMembershipError(_))) => Ok(Reply::NoLeader),
            Err(RaftError::Fatal(why)) => Err(why),
        }
    }

    fn touch(&self) {
        self.written.set(self.host.counts());
    }

    /// The Raft code, started if this member was at rest.
    async fn at_work(self: &Rc<Self>) -> Result<Raft<Types>, Failure> {
        let mut raft = self.raft.lock().await;
        if let Some(raft) = &*raft {
            return Ok(raft.clone());
        }
        let links = Links { host: Rc::clone(&self.host), pause: self.knobs.heartbeat };
        let open = Open { host: Rc::clone(&self.host), disk: Rc::clone(&self.state.disk), untold: Rc::clone(&self.state.untold) };
        let started = Raft::new(self.id.into(), Arc::new(self.config()), links, open.clone(), open).await?;
        *raft = Some(started.clone());
        self.touch();
        runtime::spawn(&self.host, "log-rest", Rc::clone(self).rest());
        Ok(started)
    }

    /// The crate draws an election timeout from a range when it starts, with a generator of its
    /// own. The range has one number, which the host has drawn.
    fn config(&self) -> Config {
        let election = millis(self.knobs.election);
        let drawn = election + self.host.random() % election.max(1);
        Config {
            cluster_name: "log".to_owned(),
            heartbeat_interval: millis(self.knobs.heartbeat),
            election_timeout_min: drawn,
            election_timeout_max: drawn + 1,
            install_snapshot_timeout: millis(self.knobs.heartbeat),
            snapshot_policy: SnapshotPolicy::LogsSinceLast(1000),
            max_in_snapshot_log_to_keep: 100,
            ..DEFAULTS.clone()
        }
    }

    /// Waits until nothing was written for long enough, and stops the Raft code.
    async fn rest(self: Rc<Self>) {
        loop {
            let left = (self.written.get() + self.knobs.rest_after).saturating_sub(self.host.counts());
            if left.is_zero() {
                break;
            }
            self.host.sleep(left).await;
        }
        let mut raft = self.raft.lock().await;
        if let Some(raft) = raft.take() {
            // Its task may have ended by itself; then there is nothing to stop.
            let _ = raft.shutdown().await;
        }
    }
}

async fn answer<A: Serialize, E: Serialize>(wire: &mut Wire, answer: Result<A, E>) -> io::Result<()> {
    wire.send(&answer).await
}
