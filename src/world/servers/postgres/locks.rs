//! Who holds which lock: rows, values of unique keys, and the gaps of whole tables.

use super::isolation::SessionId;
use super::tables::Key;
use std::collections::{BTreeMap, BTreeSet};

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

/// All locks that are held.
#[derive(Debug, Default)]
pub(super) struct Locks {
    keys: BTreeMap<Key, Holders>,
    /// Sessions that let nobody insert into a table.
    gaps: BTreeMap<usize, BTreeSet<SessionId>>,
}

/// What a session holds, so that it can be released.
#[derive(Debug, Default)]
pub(super) struct Held {
    keys: Vec<Key>,
    gaps: Vec<usize>,
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
            others(self.gaps.get(&key.table), session)?;
        }
        if hold != Hold::Shared {
            others(holders.map(|holders| &holders.shared), session)?;
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
            held.keys.push(key.clone());
        }
        Ok(())
    }

    /// Lets nobody else insert into a table.
    pub(super) fn close(&mut self, session: SessionId, held: &mut Held, table: usize) {
        if self.gaps.entry(table).or_default().insert(session) {
            held.gaps.push(table);
        }
    }

    /// Who holds a key exclusively.
    pub(super) fn holder(&self, key: &Key) -> Option<SessionId> {
        self.keys.get(key).and_then(|holders| holders.exclusive)
    }

    /// Whether a session holds a key shared.
    pub(super) fn shares(&self, session: SessionId, key: &Key) -> bool {
        self.keys.get(key).is_some_and(|holders| holders.shared.contains(&session))
    }

    /// Gives back everything that a session holds.
    pub(super) fn release(&mut self, session: SessionId, held: Held) {
        for key in held.keys {
            let Some(holders) = self.keys.get_mut(&key) else { continue };
            if holders.exclusive == Some(session) {
                holders.exclusive = None;
            }
            holders.shared.remove(&session);
            if holders.exclusive.is_none() && holders.shared.is_empty() {
                self.keys.remove(&key);
            }
        }
        for table in held.gaps {
            if let Some(sessions) = self.gaps.get_mut(&table) {
                sessions.remove(&session);
            }
        }
    }
}

fn others(holders: Option<&BTreeSet<SessionId>>, session: SessionId) -> Result<(), Vec<SessionId>> {
    let others: Vec<SessionId> = holders.into_iter().flatten().copied().filter(|holder| *holder != session).collect();
    if others.is_empty() { Ok(()) } else { Err(others) }
}
