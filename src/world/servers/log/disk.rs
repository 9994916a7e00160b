//! What a member has written down, and how the Raft crate reads and writes it. Every write is on
//! disk when it returns, as after an fsync: vote, entries, what is known to be committed, and the
//! state that was applied survive crashes and power cuts.

use super::machine::{Machine, Place, Stamped};
use super::runtime::MemberRuntime;
use crate::host::Host;
use crate::id::HostId;
use crate::store::log::{Answer, MEMBERS};
use crate::trace::Event;
use openraft::storage::{LogFlushed, RaftLogStorage, RaftStateMachine};
use openraft::{
    EmptyNode, Entry, EntryPayload, LogId, LogState, Membership, OptionalSend, RaftLogReader, RaftSnapshotBuilder, Snapshot, SnapshotMeta,
    StorageError, StorageIOError, StoredMembership, Vote,
};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::io::Cursor;
use std::ops::RangeBounds;
use std::rc::Rc;

openraft::declare_raft_types!(
    /// The types of the log: commands in, answers out.
    pub Types:
        D = Stamped,
        R = Option<Answer>,
        NodeId = u64,
        Node = EmptyNode,
        Entry = Entry<Types>,
        SnapshotData = Cursor<Vec<u8>>,
        AsyncRuntime = MemberRuntime,
);

type Id = LogId<u64>;
type Result<T> = std::result::Result<T, StorageError<u64>>;

/// The disk of one member.
pub struct Disk {
    vote: Option<Vote<u64>>,
    entries: BTreeMap<u64, Entry<Types>>,
    committed: Option<Id>,
    purged: Option<Id>,
    applied: Option<Id>,
    membership: StoredMembership<u64, EmptyNode>,
    machine: Machine,
    snapshot: Option<(SnapshotMeta<u64, EmptyNode>, Vec<u8>)>,
}

impl Disk {
    /// The disk of a member of a log that was formed before the run: its first entry says who its
    /// members are, and they have elected `leader`. A log without one would begin its life with
    /// every member that is asked first standing against the others.
    pub fn formed(leader: u64) -> Disk {
        let members = (0..u64::from(MEMBERS)).collect();
        let first = Entry { log_id: Id::default(), payload: EntryPayload::Membership(Membership::new(vec![members], ())) };
        Disk {
            vote: Some(Vote::new_committed(1, leader)),
            entries: BTreeMap::from([(0, first)]),
            committed: None,
            purged: None,
            applied: None,
            membership: StoredMembership::default(),
            machine: Machine::default(),
            snapshot: None,
        }
    }

    /// Applies an entry: what to answer to whoever sent it, and what there is to tell.
    fn apply(&mut self, entry: Entry<Types>) -> (Option<Answer>, Option<Event>) {
        let place = Place { index: entry.log_id.index, through: HostId::Log(entry.log_id.leader_id.node_id as u8) };
        self.applied = Some(entry.log_id);
        match entry.payload {
            EntryPayload::Blank => (None, None),
            EntryPayload::Membership(members) => {
                self.membership = StoredMembership::new(Some(entry.log_id), members);
                (None, None)
            }
            EntryPayload::Normal(command) => {
                let (answer, told) = self.machine.apply(place, command);
                (Some(answer), told)
            }
        }
    }

    /// Writes entries down; the terms in which `member` begins to lead with them: a new leader writes a blank first.
    fn append(&mut self, member: HostId, entries: impl IntoIterator<Item = Entry<Types>>) -> Vec<u64> {
        let mut terms = Vec::new();
        for entry in entries {
            let leader = entry.log_id.leader_id;
            if matches!(entry.payload, EntryPayload::Blank) && HostId::Log(leader.node_id as u8) == member {
                terms.push(leader.term);
            }
            self.entries.insert(entry.log_id.index, entry);
        }
        terms
    }

    #[expect(clippy::result_large_err, reason = "it is the crate's own error, and its traits want it as it is")]
    fn snapshot(&self) -> Result<(SnapshotMeta<u64, EmptyNode>, Vec<u8>)> {
        let bytes = serde_json::to_vec(&self.machine).map_err(|why| StorageIOError::write_state_machine(&why))?;
        let id = self.applied.map_or_else(|| "empty".to_owned(), |applied| applied.to_string());
        Ok((SnapshotMeta { last_log_id: self.applied, last_membership: self.membership.clone(), snapshot_id: id }, bytes))
    }
}

/// A member's disk, as its present process holds it.
#[derive(Clone)]
pub struct Open {
    pub host: Rc<dyn Host>,
    pub disk: Rc<RefCell<Disk>>,
    /// The next entry of which the history has not been told: it is told when the first member applies it.
    pub untold: Rc<Cell<u64>>,
}

impl RaftLogReader<Types> for Open {
    async fn try_get_log_entries<R: RangeBounds<u64> + Clone + Debug + OptionalSend>(&mut self, range: R) -> Result<Vec<Entry<Types>>> {
        Ok(self.disk.borrow().entries.range(range).map(|(_, entry)| entry.clone()).collect())
    }
}

impl RaftLogStorage<Types> for Open {
    type LogReader = Open;

    async fn get_log_state(&mut self) -> Result<LogState<Types>> {
        let disk = self.disk.borrow();
        let last = disk.entries.last_key_value().map(|(_, entry)| entry.log_id).or(disk.purged);
        Ok(LogState { last_purged_log_id: disk.purged, last_log_id: last })
    }

    async fn get_log_reader(&mut self) -> Open {
        self.clone()
    }

    async fn save_vote(&mut self, vote: &Vote<u64>) -> Result<()> {
        self.disk.borrow_mut().vote = Some(*vote);
        Ok(())
    }

    async fn read_vote(&mut self) -> Result<Option<Vote<u64>>> {
        Ok(self.disk.borrow().vote)
    }

    async fn save_committed(&mut self, committed: Option<Id>) -> Result<()> {
        self.disk.borrow_mut().committed = committed;
        Ok(())
    }

    async fn read_committed(&mut self) -> Result<Option<Id>> {
        Ok(self.disk.borrow().committed)
    }

    async fn append<I>(&mut self, entries: I, callback: LogFlushed<Types>) -> Result<()>
    where
        I: IntoIterator<Item = Entry<Types>> + OptionalSend,
        I::IntoIter: OptionalSend,
    {
        let host = self.host.id();
        let terms = self.disk.borrow_mut().append(host, entries);
        for term in terms {
            self.host.record(Event::LogLeads { host, term });
        }
        callback.log_io_completed(Ok(()));
        Ok(())
    }

    async fn truncate(&mut self, from: Id) -> Result<()> {
        self.disk.borrow_mut().entries.split_off(&from.index);
        Ok(())
    }

    async fn purge(&mut self, upto: Id) -> Result<()> {
        let mut disk = self.disk.borrow_mut();
        disk.entries = disk.entries.split_off(&(upto.index + 1));
        disk.purged = Some(upto);
        Ok(())
    }
}

impl RaftSnapshotBuilder<Types> for Open {
    async fn build_snapshot(&mut self) -> Result<Snapshot<Types>> {
        let mut disk = self.disk.borrow_mut();
        let (meta, bytes) = disk.snapshot()?;
        disk.snapshot = Some((meta.clone(), bytes.clone()));
        Ok(Snapshot { meta, snapshot: Box::new(Cursor::new(bytes)) })
    }
}

impl RaftStateMachine<Types> for Open {
    type SnapshotBuilder = Open;

    async fn applied_state(&mut self) -> Result<(Option<Id>, StoredMembership<u64, EmptyNode>)> {
        let disk = self.disk.borrow();
        Ok((disk.applied, disk.membership.clone()))
    }

    async fn apply<I>(&mut self, entries: I) -> Result<Vec<Option<Answer>>>
    where
        I: IntoIterator<Item = Entry<Types>> + OptionalSend,
        I::IntoIter: OptionalSend,
    {
        let mut answers = Vec::new();
        for entry in entries {
            let index = entry.log_id.index;
            let (answer, told) = self.disk.borrow_mut().apply(entry);
            if self.untold.get() <= index {
                self.untold.set(index + 1);
                if let Some(told) = told {
                    self.host.record(told);
                }
            }
            answers.push(answer);
        }
        Ok(answers)
    }

    async fn get_snapshot_builder(&mut self) -> Open {
        self.clone()
    }

    async fn begin_receiving_snapshot(&mut self) -> Result<Box<Cursor<Vec<u8>>>> {
        Ok(Box::default())
    }

    async fn install_snapshot(&mut self, meta: &SnapshotMeta<u64, EmptyNode>, snapshot: Box<Cursor<Vec<u8>>>) -> Result<()> {
        let bytes = snapshot.into_inner();
        let machine = serde_json::from_slice(&bytes).map_err(|why| StorageIOError::read_snapshot(Some(meta.signature()), &why))?;
        let mut disk = self.disk.borrow_mut();
        disk.machine = machine;
        disk.applied = meta.last_log_id;
        disk.membership = meta.last_membership.clone();
        disk.snapshot = Some((meta.clone(), bytes));
        Ok(())
    }

    async fn get_current_snapshot(&mut self) -> Result<Option<Snapshot<Types>>> {
        let snapshot = self.disk.borrow().snapshot.clone();
        Ok(snapshot.map(|(meta, bytes)| Snapshot { meta, snapshot: Box::new(Cursor::new(bytes)) }))
    }
}
