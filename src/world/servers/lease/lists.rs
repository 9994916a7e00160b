//! Lists: queues of messages. The history is told who put a message into the store, who moved
//! it, and who took it out. An emptied list is no key any more.
//!
//! A message keeps its number for as long as it is in the store, whichever list it is in. A list
//! that is overwritten by `SET`, or that runs out, takes its messages along untold.

use super::store::{Caller, Entry, LeaseStore, Value, WrongType};
use crate::host::Host;
use crate::id::FaultId;
use crate::trace::Event;
use bytes::Bytes;
use std::collections::VecDeque;

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    /// Which of all that were pushed, from 1.
    pub message: u64,
    pub text: Bytes,
    /// The fault that has put it in again after it was handed out.
    pub again: Option<FaultId>,
}

impl Item {
    /// Tells the history that somebody gets it; whether that is not the first time is told before.
    fn handed_out(&mut self, caller: Caller<'_>) {
        if let Some(fault) = self.again.take() {
            caller.host.record(Event::Redelivered { to: caller.by, message: self.message, fault });
        }
    }

    /// Tells the history that it is in the store no longer.
    pub(super) fn taken(&self, caller: Caller<'_>) {
        caller.host.record(Event::Popped { by: caller.by, message: self.message });
    }
}

/// An end of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Left,
    Right,
}

/// From one end of a list to an end of a list.
#[derive(Clone, Debug)]
pub(super) struct Way {
    pub from: (Bytes, End),
    pub to: (Bytes, End),
}

impl LeaseStore {
    fn list(&mut self, caller: Caller<'_>, key: &Bytes) -> Result<Option<&mut VecDeque<Item>>, WrongType> {
        match self.live(caller, key).map(|entry| &mut entry.value) {
            None => Ok(None),
            Some(Value::List(list)) => Ok(Some(list)),
            Some(Value::Text(_)) => Err(WrongType),
        }
    }

    /// `LPUSH` and `RPUSH`: the new length. Whoever waits for the key is served afterwards ([`LeaseStore::serve`]).
    pub(super) fn push(&mut self, caller: Caller<'_>, key: &Bytes, end: End, texts: &[Bytes]) -> Result<usize, WrongType> {
        self.list(caller, key)?;
        self.writes(caller, key);
        for text in texts {
            self.messages += 1;
            let item = Item { message: self.messages, text: text.clone(), again: None };
            caller.host.record(Event::Pushed { by: caller.by, message: item.message });
            self.put(key, end, item);
        }
        self.length(caller, key)
    }

    /// Puts a message into a list, which is made if there is none. The key holds nothing else.
    fn put(&mut self, key: &Bytes, end: End, item: Item) {
        if !self.entries.contains_key(key) {
            self.grants += 1;
            let mut entry = Entry::data(Value::List(VecDeque::new()));
            entry.granted = self.grants;
            self.entries.insert(key.clone(), entry);
        }
        if let Some(Entry { value: Value::List(list), .. }) = self.entries.get_mut(key) {
            match end {
                End::Left => list.push_front(item),
                End::Right => list.push_back(item),
            }
        }
    }

    /// Takes a message out of a list; `None` if there is no such list. The store's replica is told by the caller.
    fn take(&mut self, caller: Caller<'_>, key: &Bytes, end: End) -> Result<Option<Item>, WrongType> {
        let Some(list) = self.list(caller, key)? else { return Ok(None) };
        let item = match end {
            End::Left => list.pop_front(),
            End::Right => list.pop_back(),
        };
        if list.is_empty() {
            self.entries.remove(key);
        }
        let Some(mut item) = item else { return Ok(None) };
        item.handed_out(caller);
        self.handed_out = Some((key.clone(), end, item.clone()));
        Ok(Some(item))
    }

    /// Puts what was handed out last where it was handed out, to be handed out next. Nothing, if nothing was.
    pub fn redeliver(&mut self, host: &dyn Host, fault: FaultId) {
        let Some((key, end, item)) = self.handed_out.clone() else { return };
        let caller = Caller { host, by: host.id() };
        if self.list(caller, &key).is_ok() {
            self.writes(caller, &key);
            self.put(&key, end, Item { again: Some(fault), ..item });
            self.serve(host, &key);
        }
    }

    /// `LPOP` and `RPOP`: up to `count` messages; `None` if there is no such list.
    pub(super) fn pop(&mut self, caller: Caller<'_>, key: &Bytes, end: End, count: usize) -> Result<Option<Vec<Bytes>>, WrongType> {
        if self.list(caller, key)?.is_none() {
            return Ok(None);
        }
        self.writes(caller, key);
        let mut texts = Vec::new();
        while texts.len() < count {
            let Some(item) = self.take(caller, key, end)? else { break };
            item.taken(caller);
            texts.push(item.text);
        }
        Ok(Some(texts))
    }

    /// `LMOVE`: the message; `None` if there is no such list. Where both are one list, it is turned.
    pub(super) fn shift(&mut self, caller: Caller<'_>, Way { from, to }: &Way) -> Result<Option<Bytes>, WrongType> {
        if self.list(caller, &from.0)?.is_none() {
            return Ok(None);
        }
        self.list(caller, &to.0)?;
        self.writes(caller, &from.0);
        self.writes(caller, &to.0);
        let Some(item) = self.take(caller, &from.0, from.1)? else { return Ok(None) };
        let Item { message, text, .. } = item.clone();
        caller.host.record(Event::Moved { by: caller.by, message });
        self.put(&to.0, to.1, item);
        Ok(Some(text))
    }

    pub(super) fn length(&mut self, caller: Caller<'_>, key: &Bytes) -> Result<usize, WrongType> {
        Ok(self.list(caller, key)?.map_or(0, |list| list.len()))
    }

    /// `LRANGE`: from one place to another, both included; negative ones count from the end.
    pub(super) fn range(&mut self, caller: Caller<'_>, key: &Bytes, first: i64, last: i64) -> Result<Vec<Bytes>, WrongType> {
        let Some(list) = self.list(caller, key)? else { return Ok(Vec::new()) };
        let length = i64::try_from(list.len()).unwrap_or(i64::MAX);
        let place = |n: i64| if n < 0 { n.saturating_add(length) } else { n };
        let (first, last) = (place(first).max(0), place(last).min(length - 1));
        let within = (0..).zip(list.iter()).filter(|(n, _)| (first..=last).contains(n));
        Ok(within.map(|(_, item)| item.text.clone()).collect())
    }

    /// `LREM`: takes out the first `count` that are equal, of a negative number the last ones, of 0 all; how many there were.
    pub(super) fn remove(&mut self, caller: Caller<'_>, key: &Bytes, count: i64, text: &Bytes) -> Result<usize, WrongType> {
        let Some(list) = self.list(caller, key)? else { return Ok(0) };
        let most = if count == 0 { usize::MAX } else { usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX) };
        let mut places: Vec<usize> = (0..list.len()).filter(|n| list[*n].text == *text).collect();
        if count < 0 {
            places.reverse();
        }
        places.truncate(most);
        places.sort_unstable();
        if places.is_empty() {
            return Ok(0);
        }
        self.writes(caller, key);
        let Some(list) = self.list(caller, key)? else { return Ok(0) };
        let gone: Vec<Item> = places.iter().rev().filter_map(|n| list.remove(*n)).collect();
        if list.is_empty() {
            self.entries.remove(key);
        }
        gone.iter().rev().for_each(|item| item.taken(caller));
        Ok(gone.len())
    }
}
