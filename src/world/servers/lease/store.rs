//! The keys of the lease store, and what it tells the history about them.
//!
//! A key that a client *set* is a lease, held by that client's host. Counters made by `INCR`
//! are data, of which nothing is told. Lists hold messages (`lists`). A key runs out by the
//! store's own clock, and that is noticed when somebody next looks at it.

use crate::host::Host;
use crate::id::HostId;
use crate::settlement::LeaseKey;
use crate::time::WallTime;
use crate::trace::Event;
use bytes::Bytes;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use super::asked::{ExpireIf, Presence, SetOptions};
use super::busy::Busy;
use super::lists::{End, Item};
use super::loss::Replication;
use super::script::Script;
use super::waiting::Waiting;

/// Who asks, and the store's own host: its clock and its pen.
#[derive(Clone, Copy)]
pub(super) struct Caller<'a> {
    pub host: &'a dyn Host,
    pub by: HostId,
}

/// The key holds something else than the command is for.
#[derive(Debug)]
pub(super) struct WrongType;

#[derive(Clone, Debug)]
pub(super) enum Value {
    Text(Bytes),
    List(VecDeque<Item>),
}

#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub value: Value,
    /// The host that was granted this key, if it is a lease.
    pub holder: Option<HostId>,
    /// When it runs out, on the store's clock.
    expires: Option<WallTime>,
    /// Which of the grants it was, or of the lists that were made; 0 for other data.
    pub granted: u64,
}

impl Entry {
    pub(super) fn data(value: Value) -> Entry {
        Entry { value, holder: None, expires: None, granted: 0 }
    }

    /// Whether it has not run out when the store's clock shows `wall`.
    pub(super) fn is_live(&self, wall: WallTime) -> bool {
        self.expires.is_none_or(|at| wall < at)
    }
}

/// When a key runs out, as `PTTL` tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ttl {
    NoKey,
    Forever,
    Ms(i64),
}

/// The state of the lease store. It survives the store's process.
#[derive(Debug, Default)]
pub struct LeaseStore {
    pub(super) entries: BTreeMap<Bytes, Entry>,
    scripts: BTreeMap<String, Rc<Script>>,
    pub(super) grants: u64,
    /// How many messages were pushed so far.
    pub(super) messages: u64,
    pub(super) waiting: Waiting,
    /// The message that was handed out last, and from where.
    pub(super) handed_out: Option<(Bytes, End, Item)>,
    pub(super) replication: Replication,
    busy: Rc<Busy>,
}

impl LeaseStore {
    /// The leases that have not been deleted. One that ran out since the store last looked at it is still among them.
    #[must_use]
    pub fn keys(&self) -> Vec<LeaseKey> {
        self.entries.values().filter_map(|entry| entry.holder.map(|holder| LeaseKey { holder, expires: entry.expires.is_some() })).collect()
    }

    /// What keeps the store from answering.
    #[must_use]
    pub fn busy(&self) -> Rc<Busy> {
        Rc::clone(&self.busy)
    }

    /// Every change of a key is told here first: a replica hears of it later.
    pub(super) fn writes(&mut self, caller: Caller<'_>, key: &Bytes) {
        if self.replication.is_kept() {
            self.replication.note(caller.host.now(), key, self.entries.get(key).cloned());
        }
    }

    /// A new process has no scripts loaded, no slow command, and nobody who waits.
    pub(super) fn new_process(&mut self) {
        self.forget_scripts();
        self.busy.clear();
        self.waiting = Waiting::default();
    }

    pub(super) fn forget_scripts(&mut self) {
        self.scripts.clear();
    }

    pub(super) fn load_script(&mut self, script: Rc<Script>) {
        self.scripts.insert(script.hash.clone(), script);
    }

    pub(super) fn script(&self, hash: &str) -> Option<Rc<Script>> {
        self.scripts.get(hash).cloned()
    }

    /// The entry of a key that has not run out.
    pub(super) fn live(&mut self, caller: Caller<'_>, key: &Bytes) -> Option<&mut Entry> {
        let run_out = !self.entries.get(key)?.is_live(caller.host.wall());
        if run_out {
            self.writes(caller, key);
        }
        if run_out && let Some(Entry { holder: Some(holder), .. }) = self.entries.remove(key) {
            caller.host.record(Event::LeaseExpired { holder });
        }
        self.entries.get_mut(key)
    }

    pub(super) fn exists(&mut self, caller: Caller<'_>, key: &Bytes) -> bool {
        self.live(caller, key).is_some()
    }

    pub(super) fn text(&mut self, caller: Caller<'_>, key: &Bytes) -> Result<Option<Bytes>, WrongType> {
        match self.live(caller, key).map(|entry| &entry.value) {
            None => Ok(None),
            Some(Value::Text(text)) => Ok(Some(text.clone())),
            Some(Value::List(_)) => Err(WrongType),
        }
    }

    /// `SET`: tells whether the value was stored.
    pub(super) fn set(&mut self, caller: Caller<'_>, key: &Bytes, value: &Bytes, options: SetOptions) -> bool {
        let by = caller.by;
        let old = self.live(caller, key).map(|entry| (entry.holder, entry.expires));
        match (options.only_if, old) {
            (Some(Presence::Absent), Some((holder, _))) => {
                if let Some(holder) = holder {
                    caller.host.record(Event::LeaseRefused { to: by, holder });
                }
                return false;
            }
            (Some(Presence::Present), None) => return false,
            _ => {}
        }
        let now = caller.host.wall();
        let expires = match options.expires {
            Some(at) => Some(at),
            None if options.keep_ttl => old.and_then(|(_, expires)| expires),
            None => None,
        };
        let ttl_ms = remaining(now, expires);
        match old.and_then(|(holder, _)| holder) {
            Some(holder) if holder == by => caller.host.record(Event::LeaseExtended { by, holder, ttl_ms }),
            Some(holder) => {
                caller.host.record(Event::LeaseReleased { by, holder });
                caller.host.record(Event::LeaseGranted { to: by, ttl_ms });
            }
            None => caller.host.record(Event::LeaseGranted { to: by, ttl_ms }),
        }
        self.writes(caller, key);
        self.grants += 1;
        self.entries.insert(key.clone(), Entry { value: Value::Text(value.clone()), holder: Some(by), expires, granted: self.grants });
        true
    }

    /// Replaces a counter's text. A new key made this way is data, not a lease.
    pub(super) fn set_counter(&mut self, caller: Caller<'_>, key: &Bytes, value: i64) {
        let value = Value::Text(Bytes::from(value.to_string()));
        self.writes(caller, key);
        match self.live(caller, key) {
            Some(entry) => entry.value = value,
            None => {
                self.entries.insert(key.clone(), Entry::data(value));
            }
        }
    }

    /// `DEL` of one key: tells whether there was one.
    pub(super) fn delete(&mut self, caller: Caller<'_>, key: &Bytes) -> bool {
        if !self.exists(caller, key) {
            return false;
        }
        self.writes(caller, key);
        match self.entries.remove(key) {
            Some(Entry { holder: Some(holder), .. }) => caller.host.record(Event::LeaseReleased { by: caller.by, holder }),
            Some(Entry { value: Value::List(items), .. }) => items.iter().for_each(|item| item.taken(caller)),
            Some(_) | None => {}
        }
        true
    }

    /// `PEXPIRE`: tells whether there was such a key and it was allowed. A time that is not in the future deletes it.
    pub(super) fn expire(&mut self, caller: Caller<'_>, key: &Bytes, ttl_ms: i64, only_if: ExpireIf) -> bool {
        let at = WallTime(caller.host.wall().0 + ttl_ms);
        if !self.live(caller, key).is_some_and(|entry| only_if.allows(entry.expires, at)) {
            return false;
        }
        let Some(ttl_ms) = u64::try_from(ttl_ms).ok().filter(|ms| *ms > 0) else { return self.delete(caller, key) };
        self.writes(caller, key);
        let Some(entry) = self.live(caller, key) else { return false };
        entry.expires = Some(at);
        if let Some(holder) = entry.holder {
            caller.host.record(Event::LeaseExtended { by: caller.by, holder, ttl_ms });
        }
        true
    }

    pub(super) fn ttl(&mut self, caller: Caller<'_>, key: &Bytes) -> Ttl {
        match self.live(caller, key).map(|entry| entry.expires) {
            None => Ttl::NoKey,
            Some(None) => Ttl::Forever,
            Some(Some(at)) => Ttl::Ms(at.0 - caller.host.wall().0),
        }
    }
}

/// Milliseconds until then, as events tell it: 0 = never. What is over already ends within one.
fn remaining(now: WallTime, expires: Option<WallTime>) -> u64 {
    expires.map_or(0, |at| u64::try_from(at.0.saturating_sub(now.0)).unwrap_or(0).max(1))
}
