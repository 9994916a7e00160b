//! How members talk to each other: the requests of the Raft crate over the streams of the host,
//! one stream for each of its senders.

use super::disk::Types;
use crate::host::Host;
use crate::id::HostId;
use crate::store::log::Said;
use crate::store::wire::Wire;
use openraft::error::{InstallSnapshotError, NetworkError, RPCError, RaftError, RemoteError};
use openraft::network::{RPCOption, RaftNetwork, RaftNetworkFactory};
use openraft::raft::{
    AppendEntriesRequest, AppendEntriesResponse, InstallSnapshotRequest, InstallSnapshotResponse, VoteRequest, VoteResponse,
};
use openraft::{EmptyNode, RaftTypeConfig};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::error::Error;
use std::io;
use std::rc::Rc;
use std::time::Duration;

/// What one member asks another.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Asks {
    Append(AppendEntriesRequest<Types>),
    Vote(VoteRequest<u64>),
    Snapshot(InstallSnapshotRequest<Types>),
}

/// Reaches the other members.
pub struct Links {
    pub host: Rc<dyn Host>,
    /// How long to wait after a failure: the crate asks again at once.
    pub pause: Duration,
}

impl RaftNetworkFactory<Types> for Links {
    type Network = Link;

    async fn new_client(&mut self, target: u64, _: &EmptyNode) -> Link {
        Link { host: Rc::clone(&self.host), to: target, pause: self.pause, wire: None }
    }
}

/// The stream to one member.
pub struct Link {
    host: Rc<dyn Host>,
    to: u64,
    pause: Duration,
    wire: Option<Wire>,
}

type Failure<E = openraft::error::Infallible> = RPCError<u64, EmptyNode, RaftError<u64, E>>;

impl Link {
    /// One request. If it is given up, its stream is closed: an answer that comes later answers nothing.
    async fn ask<A, E>(&mut self, asks: Asks) -> Result<A, Failure<E>>
    where
        A: DeserializeOwned,
        E: Error + DeserializeOwned,
    {
        match self.exchange::<Result<A, RaftError<u64, E>>>(&Said::Member(asks)).await {
            Ok(answer) => answer.map_err(|why| RPCError::RemoteError(RemoteError::new(self.to, why))),
            Err(why) => {
                // Not as unreachable: for that the crate has a timer of its own, whose races are not seeded.
                self.host.sleep(self.pause).await;
                Err(RPCError::Network(NetworkError::new(&why)))
            }
        }
    }

    async fn exchange<A: DeserializeOwned>(&mut self, said: &Said<Asks>) -> io::Result<A> {
        let mut wire = match self.wire.take() {
            Some(wire) => wire,
            None => Wire::new(self.host.connect(HostId::Log(self.to as u8)).await?),
        };
        let answer = wire.ask(said).await?;
        self.wire = Some(wire);
        Ok(answer)
    }
}

impl RaftNetwork<Types> for Link {
    async fn append_entries(
        &mut self,
        request: AppendEntriesRequest<Types>,
        _: RPCOption,
    ) -> Result<AppendEntriesResponse<<Types as RaftTypeConfig>::NodeId>, Failure> {
        self.ask(Asks::Append(request)).await
    }

    async fn vote(&mut self, request: VoteRequest<u64>, _: RPCOption) -> Result<VoteResponse<u64>, Failure> {
        self.ask(Asks::Vote(request)).await
    }

    async fn install_snapshot(
        &mut self,
        request: InstallSnapshotRequest<Types>,
        _: RPCOption,
    ) -> Result<InstallSnapshotResponse<u64>, Failure<InstallSnapshotError>> {
        self.ask(Asks::Snapshot(request)).await
    }
}
