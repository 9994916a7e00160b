//! How the store loses what it was told: all of it, one key, or the latest writes.
//!
//! A lease is lost to its holder. A message is lost to nobody in particular: it is one in any
//! list of the store, whether it still waits for somebody or stands for something, and whoever
//! needed it will miss it.

use super::store::{Entry, LeaseStore, Value};
use crate::id::HostId;
use crate::time::{SimTime, WallTime};
use bytes::Bytes;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

/// What a loss changed for those who hold leases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loss {
    /// Who held a lease and does so no longer, in the order of the keys.
    pub lost: Vec<HostId>,
    /// Whose lease was over and is there again.
    pub returned: Vec<HostId>,
    /// Messages that were in a list and are in none.
    pub messages_lost: Vec<u64>,
    /// Messages that had been taken and are there again.
    pub messages_returned: Vec<u64>,
}

/// The writes that a replica may not have seen yet, kept only where a plan has a failover.
#[derive(Debug, Default)]
pub(super) struct Replication {
    /// How far a replica may be behind; `None`: there is no replica.
    most: Option<Duration>,
    writes: VecDeque<Write>,
}

/// What a key held before it was written to.
#[derive(Debug)]
struct Write {
    at: SimTime,
    key: Bytes,
    before: Option<Entry>,
}

impl Replication {
    /// Whether writes have to be noted at all.
    pub(super) fn is_kept(&self) -> bool {
        self.most.is_some()
    }

    /// Notes what `key` held before a write. The time is true time: a replica is behind by what
    /// a network did, whatever the clocks show.
    pub(super) fn note(&mut self, at: SimTime, key: &Bytes, before: Option<Entry>) {
        let Some(most) = self.most else { return };
        while self.writes.front().is_some_and(|oldest| at.since(oldest.at) >= most) {
            self.writes.pop_front();
        }
        self.writes.push_back(Write { at, key: key.clone(), before });
    }
}

impl LeaseStore {
    /// A store with a replica that is never more than `most` behind; `None`: without one.
    #[must_use]
    pub fn replicated(most: Option<Duration>) -> LeaseStore {
        let mut store = LeaseStore::default();
        store.replication.most = most;
        store
    }

    /// Forgets everything, its clock showing `wall`.
    pub fn wipe(&mut self, wall: WallTime) -> Loss {
        self.changed(wall, |store| {
            store.entries.clear();
            store.replication.writes.clear();
        })
    }

    /// Evicts what was granted or made last of the leases and lists that have not run out. A replica hears of it as of any deletion.
    pub fn evict(&mut self, now: SimTime, wall: WallTime) -> Loss {
        self.changed(wall, |store| {
            let there = store.entries.iter().filter(|(_, entry)| entry.granted > 0 && entry.is_live(wall));
            let newest = there.max_by_key(|(_, entry)| entry.granted).map(|(key, _)| key.clone());
            if let Some(key) = newest {
                let before = store.entries.remove(&key);
                store.replication.note(now, &key, before);
            }
        })
    }

    /// Goes on as a replica that has not seen the writes of the last `lag` before `now`.
    pub fn fail_over(&mut self, lag: Duration, now: SimTime, wall: WallTime) -> Loss {
        self.changed(wall, |store| {
            while store.replication.writes.back().is_some_and(|newest| now.since(newest.at) < lag) {
                let Some(Write { key, before, .. }) = store.replication.writes.pop_back() else { break };
                match before {
                    Some(entry) => store.entries.insert(key, entry),
                    None => store.entries.remove(&key),
                };
            }
            store.replication.writes.clear();
        })
    }

    /// What a change does to the leases that have not run out.
    fn changed(&mut self, wall: WallTime, change: impl FnOnce(&mut LeaseStore)) -> Loss {
        let (before, messages) = (self.held(wall), self.queued(wall));
        change(self);
        let (after, messages_after) = (self.held(wall), self.queued(wall));
        let gone = |these: &Held, those: &Held| {
            these.iter().filter(|(key, lease)| those.get(*key) != Some(*lease)).map(|(_, (holder, _))| *holder).collect()
        };
        Loss {
            lost: gone(&before, &after),
            returned: gone(&after, &before),
            messages_lost: messages.difference(&messages_after).copied().collect(),
            messages_returned: messages_after.difference(&messages).copied().collect(),
        }
    }

    /// The messages of all lists that have not run out.
    fn queued(&self, wall: WallTime) -> BTreeSet<u64> {
        let messages = |entry: &Entry| match &entry.value {
            Value::List(items) => items.iter().map(|item| item.message).collect(),
            Value::Text(_) => Vec::new(),
        };
        self.entries.values().filter(|entry| entry.is_live(wall)).flat_map(messages).collect()
    }

    fn held(&self, wall: WallTime) -> Held {
        let lease = |(key, entry): (&Bytes, &Entry)| match (&entry.value, entry.holder) {
            (Value::Text(token), Some(holder)) if entry.is_live(wall) => Some((key.clone(), (holder, token.clone()))),
            (Value::Text(_) | Value::List(_), _) => None,
        };
        self.entries.iter().filter_map(lease).collect()
    }
}

/// Who holds which lease, and under which token.
type Held = BTreeMap<Bytes, (HostId, Bytes)>;
