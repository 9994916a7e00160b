//! Who holds which lock: rows, values of unique keys, and the gaps of whole tables.

use super::isolation::SessionId;
use super::tables::Key;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

/// How a key is to be locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hold {
    /// Against everybody.
    Exclusive,
    /// Against everybody, for a value of a unique key that appears.
    Insert,
    /// Against writers.
    Shared,
}

#[derive(Debug, Default)]
struct Holders {
    exclusive: Option<SessionId>,
    shared: BTreeSet<SessionId>,
}

/// A range of primary keys into which nobody else may insert.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Gap {
    pub table: usize,
    pub from: Bound<Key>,
    pub to: Bound<Key>,
}

impl Gap {
    /// The whole table.
    pub(super) fn everywhere(table: usize) -> Gap {
        Gap { table, from: Bound::Unbounded, to: Bound::Unbounded }
    }

    /// Values of other unique keys, and rows without a primary key, may fall anywhere.
    fn covers(&self, key: &Key) -> bool {
        use std::ops::RangeBounds;
        self.table == key.table && ((self.from.clone(), self.to.clone()).contains(key) || key.index != 0)
    }
}

/// All locks that are held.
#[derive(Debug, Default)]
pub(super) struct Locks {
    keys: BTreeMap<Key, Holders>,
    gaps: Vec<(SessionId, Gap)>,
}

/// What a session holds, so that it can be released.
#[derive(Debug, Default)]
pub(super) struct Held {
    keys: Vec<(Key, Hold)>,
    /// Tables in which something was to be locked, as bits.
    intended: u64,
}

impl Held {
    /// How many keys are locked.
    pub(super) fn count(&self) -> usize {
        self.keys.len()
    }

    /// Remembers a key that its session has locked already.
    pub(super) fn note(&mut self, key: &Key) {
        if !self.has(key) {
            self.keys.push((key.clone(), Hold::Exclusive));
        }
    }

    pub(super) fn has(&self, key: &Key) -> bool {
        self.keys.iter().any(|(held, _)| held == key)
    }

    /// All but some.
    pub(super) fn without(mut self, keeps: impl Fn(&Key) -> bool) -> Held {
        self.keys.retain(|(key, _)| !keeps(key));
        self
    }

    /// Takes out what was locked after the first `count`.
    pub(super) fn since(&mut self, count: usize) -> Held {
        Held { keys: self.keys.split_off(count.min(self.keys.len())), intended: 0 }
    }

    /// A statement means to lock something in these tables, given as bits.
    pub(super) fn intend(&mut self, tables: u64) {
        self.intended |= tables;
    }

    /// Takes out what was locked after the first `count` by inserting it.
    pub(super) fn inserted_since(&mut self, count: usize) -> Held {
        let since = self.since(count).keys;
        let (inserted, others) = since.into_iter().partition(|(_, hold)| *hold == Hold::Insert);
        self.keys.extend::<Vec<_>>(others);
        Held { keys: inserted, intended: 0 }
    }

    /// How many lock structures InnoDB would need: an intention for each table, and one for each
    /// index and mode. What was inserted is locked without one.
    pub(super) fn structures(&self) -> usize {
        let explicit = self.keys.iter().filter(|(_, hold)| *hold != Hold::Insert);
        let indices: BTreeSet<(usize, usize, bool)> = explicit.map(|(key, hold)| (key.table, key.index, *hold == Hold::Shared)).collect();
        self.intended.count_ones() as usize + indices.len()
    }
}

impl Locks {
    /// Takes a lock.
    ///
    /// # Errors
    /// Who is in the way.
    pub(super) fn take(&mut self, session: SessionId, held: &mut Held, key: &Key, hold: Hold) -> Result<(), Vec<SessionId>> {
        let holders = self.keys.get(key);
        match holders.and_then(|holders| holders.exclusive) {
            Some(holder) if holder == session => return Ok(()),
            Some(holder) => return Err(vec![holder]),
            None => {}
        }
        if hold == Hold::Insert {
            others(self.gaps.iter().filter(|(_, gap)| gap.covers(key)).map(|(holder, _)| holder), session)?;
        }
        if hold != Hold::Shared {
            others(holders.iter().flat_map(|holders| &holders.shared), session)?;
        }
        let holders = self.keys.entry(key.clone()).or_default();
        let new = match hold {
            Hold::Shared => holders.shared.insert(session),
            Hold::Exclusive | Hold::Insert => {
                holders.exclusive = Some(session);
                true
            }
        };
        if new {
            held.keys.push((key.clone(), hold));
        }
        Ok(())
    }

    /// Lets nobody else insert there.
    pub(super) fn close(&mut self, session: SessionId, gap: Gap) {
        if !self.gaps.iter().any(|(holder, known)| *holder == session && *known == gap) {
            self.gaps.push((session, gap));
        }
    }

    /// Who holds a key exclusively.
    pub(super) fn holder(&self, key: &Key) -> Option<SessionId> {
        self.keys.get(key).and_then(|holders| holders.exclusive)
    }

    /// Whether a session holds a key shared, and only that.
    pub(super) fn shares(&self, session: SessionId, key: &Key) -> bool {
        self.keys.get(key).is_some_and(|holders| holders.exclusive != Some(session) && holders.shared.contains(&session))
    }

    /// What one session holds another holds from now on, but for the keys that it `keeps`.
    pub(super) fn hand_over(&mut self, from: SessionId, to: SessionId, keeps: impl Fn(&Key) -> bool) {
        for (_, holders) in self.keys.iter_mut().filter(|(key, _)| !keeps(key)) {
            if holders.exclusive == Some(from) {
                holders.exclusive = Some(to);
            }
            if holders.shared.remove(&from) {
                holders.shared.insert(to);
            }
        }
        self.gaps.iter_mut().filter(|(holder, _)| *holder == from).for_each(|(holder, _)| *holder = to);
    }

    /// Gives back what is held by nobody who is `kept`.
    pub(super) fn retain(&mut self, kept: impl Fn(&SessionId) -> bool) {
        self.keys.retain(|_, holders| {
            holders.exclusive = holders.exclusive.filter(&kept);
            holders.shared.retain(&kept);
            holders.exclusive.is_some() || !holders.shared.is_empty()
        });
        self.gaps.retain(|(holder, _)| kept(holder));
    }

    /// Gives back everything that a session holds.
    pub(super) fn release(&mut self, session: SessionId, held: Held) {
        for (key, _) in held.keys {
            self.unlock(session, &key);
        }
        self.gaps.retain(|(holder, _)| *holder != session);
    }

    /// Gives one key back.
    pub(super) fn unlock(&mut self, session: SessionId, key: &Key) {
        let Some(holders) = self.keys.get_mut(key) else { return };
        if holders.exclusive == Some(session) {
            holders.exclusive = None;
        }
        holders.shared.remove(&session);
        if holders.exclusive.is_none() && holders.shared.is_empty() {
            self.keys.remove(key);
        }
    }
}

fn others<'s>(holders: impl Iterator<Item = &'s SessionId>, session: SessionId) -> Result<(), Vec<SessionId>> {
    let others: Vec<SessionId> = holders.copied().filter(|holder| *holder != session).collect();
    if others.is_empty() { Ok(()) } else { Err(others) }
}
