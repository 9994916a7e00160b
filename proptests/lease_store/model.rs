//! What the store should do, written down from what Redis documents and from what the history
//! promises about leases. It shares no code with the store.

use super::command::{Call, Command, End, Lifetime, OnlyIf, Script, Unit};
use super::transition::Transition;
use onceproof::id::HostId;
use onceproof::settlement::LeaseKey;
use onceproof::trace::Event;
use onceproof::world::servers::lease::Loss;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// What every clock shows in the beginning: 2026-01-09 00:00:00 UTC.
pub const ORIGIN: i64 = 1_767_916_800_000;

/// An answer, without the prose of errors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    Done,
    Nil,
    Number(i64),
    Text(String),
    Texts(Vec<String>),
    /// The first word of an error.
    Refused(String),
}

/// What a transition comes to: the answer, if somebody asked, and what the history is told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    pub reply: Option<Reply>,
    pub events: Vec<Event>,
    /// Whose leases a fault took away, or brought back.
    pub loss: Loss,
}

/// A way to get it wrong: what the controls check the store against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// A key is still there in the millisecond in which it runs out.
    ExpiresLate,
    /// `SET … KEEPTTL` loses the expiry.
    KeepsNoExpiry,
    /// `SET … NX` looks whether there is a key, not whether it has run out.
    NxSeesTheDead,
    /// A time that is not in the future is taken as no expiry.
    ZeroIsForEver,
    /// An emptied list stays.
    EmptyListStays,
    /// Keys are gone when the process is.
    ForgetsKeys,
    /// Scripts are still known to the next process.
    RemembersScripts,
    /// Whoever is refused a lease is not told to the history.
    RefusesInSilence,
    /// A script releases whatever the key holds.
    ReleasesForAll,
    /// The lease granted first is evicted.
    EvictsTheFirst,
    /// A replica has seen everything.
    ReplicaHasAll,
    /// A replica has seen nothing.
    ReplicaHasNothing,
}

impl Flaw {
    pub const ALL: [Flaw; 12] = [
        Flaw::ExpiresLate,
        Flaw::KeepsNoExpiry,
        Flaw::NxSeesTheDead,
        Flaw::ZeroIsForEver,
        Flaw::EmptyListStays,
        Flaw::ForgetsKeys,
        Flaw::RemembersScripts,
        Flaw::RefusesInSilence,
        Flaw::ReleasesForAll,
        Flaw::EvictsTheFirst,
        Flaw::ReplicaHasAll,
        Flaw::ReplicaHasNothing,
    ];
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Value {
    Text(String),
    List(VecDeque<String>),
}

#[derive(Clone, Debug)]
struct Entry {
    value: Value,
    /// Whose lease it is, if it is one.
    holder: Option<HostId>,
    /// The first instant at which it is gone.
    expires: Option<i64>,
    /// Which grant it was; 0 for data.
    grant: usize,
}

/// The store as it should be.
#[derive(Clone, Debug)]
pub struct Model {
    flaw: Option<Flaw>,
    now: i64,
    /// Milliseconds that have passed, however the clock was set.
    elapsed: u64,
    entries: BTreeMap<String, Entry>,
    /// What there was before each request, and when that was made.
    past: Vec<(u64, BTreeMap<String, Entry>)>,
    grants: usize,
    scripts: BTreeSet<Script>,
    /// What the last transition came to.
    pub told: Told,
}

/// What a client is told that asked for nonsense, in one word.
struct Refusal(&'static str);

const NONSENSE: Refusal = Refusal("ERR");
const WRONG_TYPE: Refusal = Refusal("WRONGTYPE");

type Answer = Result<Reply, Refusal>;

impl Model {
    /// An empty store, right or wrong in one respect.
    pub fn new(flaw: Option<Flaw>) -> Model {
        Model {
            flaw,
            now: ORIGIN,
            elapsed: 0,
            entries: BTreeMap::new(),
            past: Vec::new(),
            grants: 0,
            scripts: BTreeSet::new(),
            told: Told::default(),
        }
    }

    /// The store after a transition.
    pub fn after(mut self, transition: &Transition) -> Model {
        self.told = Told::default();
        match transition {
            Transition::Wait { ms } => {
                self.now += ms.cast_signed();
                self.elapsed += ms;
            }
            Transition::Wipe => {
                self.scripts.clear();
                self.becomes(BTreeMap::new());
                self.past.clear();
            }
            Transition::Evict => {
                self.past.push((self.elapsed, self.entries.clone()));
                let held = self.entries.iter().filter(|(_, entry)| entry.grant > 0 && !self.is_over(entry));
                let victim = match self.flaw {
                    Some(Flaw::EvictsTheFirst) => held.min_by_key(|(_, entry)| entry.grant),
                    _ => held.max_by_key(|(_, entry)| entry.grant),
                };
                let victim = victim.map(|(key, _)| key.clone());
                let rest = self.entries.iter().filter(|(key, _)| Some(*key) != victim.as_ref());
                let rest = rest.map(|(key, entry)| (key.clone(), entry.clone())).collect();
                self.becomes(rest);
            }
            Transition::FailOver { lag } => {
                self.scripts.clear();
                let unseen = |at: u64| match self.flaw {
                    Some(Flaw::ReplicaHasAll) => false,
                    Some(Flaw::ReplicaHasNothing) => true,
                    _ => self.elapsed - at < *lag,
                };
                let seen = self.past.iter().find(|(at, _)| unseen(*at)).map(|(_, before)| before.clone());
                if let Some(seen) = seen {
                    self.becomes(seen);
                }
                self.past.clear();
            }
            Transition::SetBack { ms } => self.now -= ms.cast_signed(),
            Transition::Restart => {
                if self.flaw != Some(Flaw::RemembersScripts) {
                    self.scripts.clear();
                }
                if self.flaw == Some(Flaw::ForgetsKeys) {
                    self.entries.clear();
                }
            }
            Transition::Ask { by, command } => {
                self.past.push((self.elapsed, self.entries.clone()));
                let reply = self.answer(*by, command).unwrap_or_else(|Refusal(word)| Reply::Refused(word.to_owned()));
                self.told.reply = Some(reply);
            }
        }
        self
    }

    /// Other keys take the place of those there are; tells what that means for leases.
    fn becomes(&mut self, entries: BTreeMap<String, Entry>) {
        let before = std::mem::replace(&mut self.entries, entries);
        let held = |entries: &BTreeMap<String, Entry>| {
            let lease =
                |(key, entry): (&String, &Entry)| (!self.is_over(entry)).then_some((key.clone(), (entry.holder?, entry.value.clone())));
            entries.iter().filter_map(lease).collect::<BTreeMap<_, _>>()
        };
        let (before, after) = (held(&before), held(&self.entries));
        let only = |these: &BTreeMap<String, (HostId, Value)>, those: &BTreeMap<String, (HostId, Value)>| {
            these.iter().filter(|(key, lease)| those.get(*key) != Some(*lease)).map(|(_, (holder, _))| *holder).collect()
        };
        self.told.loss = Loss { lost: only(&before, &after), returned: only(&after, &before), ..Loss::default() };
    }

    /// What the store's clock shows.
    pub fn now(&self) -> i64 {
        self.now
    }

    /// The leases that are kept, run out or not, in the order of their keys.
    pub fn leases(&self) -> Vec<LeaseKey> {
        let lease = |entry: &Entry| entry.holder.map(|holder| LeaseKey { holder, expires: entry.expires.is_some() });
        self.entries.values().filter_map(lease).collect()
    }

    /// Instants at which a key runs out.
    pub fn expiries(&self) -> Vec<i64> {
        self.entries.values().filter_map(|entry| entry.expires).collect()
    }

    /// What a key holds, if it is a text.
    pub fn text_of(&self, key: &str) -> Option<&str> {
        match &self.entries.get(key)?.value {
            Value::Text(text) => Some(text),
            Value::List(_) => None,
        }
    }

    /// Requests that change nothing and tell nothing, with their answers: everything that can be
    /// known of a key. A key that has run out and that nobody has missed yet is left alone.
    pub fn audit(&self, keys: &[&str]) -> Vec<(Command, Reply)> {
        let mut requests = Vec::new();
        for key in keys.iter().map(|key| (*key).to_owned()) {
            match self.entries.get(&key) {
                None => requests.push((Command::Exists { keys: vec![key] }, Reply::Number(0))),
                Some(entry) if self.is_over(entry) => {}
                Some(entry) => {
                    requests.push(match &entry.value {
                        Value::Text(text) => (Command::Get { key: key.clone() }, Reply::Text(text.clone())),
                        Value::List(items) => (Command::Length { key: key.clone() }, Reply::Number(items.len() as i64)),
                    });
                    let left = entry.expires.map_or(-1, |at| at - self.now);
                    requests.push((Command::Remaining { key, unit: Unit::Milliseconds }, Reply::Number(left)));
                }
            }
        }
        requests
    }

    fn is_over(&self, entry: &Entry) -> bool {
        entry.expires.is_some_and(|at| if self.flaw == Some(Flaw::ExpiresLate) { at < self.now } else { at <= self.now })
    }

    fn tell(&mut self, event: Event) {
        self.told.events.push(event);
    }

    /// Somebody looks at a key: if it has run out, it is missed now.
    fn look(&mut self, key: &str) -> Option<&mut Entry> {
        if self.is_over(self.entries.get(key)?) {
            let over = self.entries.remove(key)?;
            if let Some(holder) = over.holder {
                self.tell(Event::LeaseExpired { holder });
            }
        }
        self.entries.get_mut(key)
    }

    fn answer(&mut self, by: HostId, command: &Command) -> Answer {
        Ok(match command {
            Command::Get { key } => self.text(key)?.map_or(Reply::Nil, Reply::Text),
            Command::Set { key, value, only_if, lifetime } => {
                let expires = self.expiry(*lifetime)?;
                if self.set(by, key, value, *only_if, expires) { Reply::Done } else { Reply::Nil }
            }
            Command::SetNx { key, value } => truth(self.set(by, key, value, Some(OnlyIf::Absent), Expiry::At(None))),
            Command::Delete { keys } => Reply::Number(keys.iter().map(|key| i64::from(self.delete(by, key))).sum()),
            Command::Exists { keys } => Reply::Number(keys.iter().map(|key| i64::from(self.look(key).is_some())).sum()),
            Command::Expire { key, unit, time } => {
                let ms = if *unit == Unit::Seconds { time.checked_mul(1000).ok_or(NONSENSE)? } else { *time };
                truth(self.expire(by, key, ms)?)
            }
            Command::Remaining { key, unit } => self.remaining(key, *unit),
            Command::Increment { key } => self.increment(key, 1)?,
            Command::IncrementBy { key, by } => self.increment(key, *by)?,
            Command::Push { key, end, items } => self.push(key, *end, items)?,
            Command::Pop { key, end, limit } => self.pop(key, *end, *limit)?,
            Command::Length { key } => Reply::Number(self.list(key)?.map_or(0, |items| items.len() as i64)),
            Command::Run { script, call, key, token, ms } => {
                match call {
                    Call::Text => {
                        self.scripts.insert(*script);
                    }
                    Call::Hash if !self.scripts.contains(script) => return Err(Refusal("NOSCRIPT")),
                    Call::Hash => {}
                }
                let owned = self.text(key)?.is_some_and(|held| held == *token || self.flaw == Some(Flaw::ReleasesForAll));
                truth(match script {
                    _ if !owned => false,
                    Script::Release => self.delete(by, key),
                    Script::Renew => self.expire(by, key, *ms)?,
                })
            }
        })
    }

    fn text(&mut self, key: &str) -> Result<Option<String>, Refusal> {
        match self.look(key).map(|entry| &entry.value) {
            None => Ok(None),
            Some(Value::Text(text)) => Ok(Some(text.clone())),
            Some(Value::List(_)) => Err(WRONG_TYPE),
        }
    }

    fn list(&mut self, key: &str) -> Result<Option<&mut VecDeque<String>>, Refusal> {
        match self.look(key).map(|entry| &mut entry.value) {
            None => Ok(None),
            Some(Value::List(items)) => Ok(Some(items)),
            Some(Value::Text(_)) => Err(WRONG_TYPE),
        }
    }

    /// An expiry has to be in the future, and within what 64 bits can count.
    fn expiry(&self, lifetime: Lifetime) -> Result<Expiry, Refusal> {
        let ms = match lifetime {
            Lifetime::Endless => return Ok(Expiry::At(None)),
            Lifetime::Kept => return Ok(Expiry::AsItWas),
            Lifetime::Milliseconds(ms) => ms,
            Lifetime::Seconds(s) => s.checked_mul(1000).ok_or(NONSENSE)?,
        };
        let at = self.now.checked_add(ms).filter(|_| ms > 0).ok_or(NONSENSE)?;
        Ok(Expiry::At(Some(at)))
    }

    /// Whether the value was stored. Whoever sets a key holds it as a lease.
    fn set(&mut self, by: HostId, key: &str, value: &str, only_if: Option<OnlyIf>, expiry: Expiry) -> bool {
        if self.flaw == Some(Flaw::NxSeesTheDead) && only_if == Some(OnlyIf::Absent) && self.entries.contains_key(key) {
            return false;
        }
        let old = self.look(key).map(|entry| (entry.holder, entry.expires));
        match (only_if, old) {
            (Some(OnlyIf::Absent), Some((holder, _))) => {
                if let Some(holder) = holder
                    && self.flaw != Some(Flaw::RefusesInSilence)
                {
                    self.tell(Event::LeaseRefused { to: by, holder });
                }
                return false;
            }
            (Some(OnlyIf::Present), None) => return false,
            (Some(OnlyIf::Absent), None) | (Some(OnlyIf::Present), Some(_)) | (None, _) => {}
        }
        let expires = match expiry {
            Expiry::At(at) => at,
            Expiry::AsItWas if self.flaw == Some(Flaw::KeepsNoExpiry) => None,
            Expiry::AsItWas => old.and_then(|(_, expires)| expires),
        };
        let ttl_ms = expires.map_or(0, |at| at.abs_diff(self.now));
        match old.and_then(|(holder, _)| holder) {
            Some(holder) if holder == by => self.tell(Event::LeaseExtended { by, holder, ttl_ms }),
            Some(holder) => {
                self.tell(Event::LeaseReleased { by, holder });
                self.tell(Event::LeaseGranted { to: by, ttl_ms });
            }
            None => self.tell(Event::LeaseGranted { to: by, ttl_ms }),
        }
        self.grants += 1;
        self.entries.insert(key.to_owned(), Entry { value: Value::Text(value.to_owned()), holder: Some(by), expires, grant: self.grants });
        true
    }

    fn delete(&mut self, by: HostId, key: &str) -> bool {
        if self.look(key).is_none() {
            return false;
        }
        if let Some(holder) = self.entries.remove(key).and_then(|entry| entry.holder) {
            self.tell(Event::LeaseReleased { by, holder });
        }
        true
    }

    fn expire(&mut self, by: HostId, key: &str, ms: i64) -> Result<bool, Refusal> {
        let at = self.now.checked_add(ms).ok_or(NONSENSE)?;
        if ms <= 0 {
            if self.flaw != Some(Flaw::ZeroIsForEver) {
                return Ok(self.delete(by, key));
            }
            return Ok(self.look(key).map(|entry| entry.expires = None).is_some());
        }
        let Some(entry) = self.look(key) else { return Ok(false) };
        entry.expires = Some(at);
        if let Some(holder) = entry.holder {
            self.tell(Event::LeaseExtended { by, holder, ttl_ms: ms.unsigned_abs() });
        }
        Ok(true)
    }

    fn remaining(&mut self, key: &str, unit: Unit) -> Reply {
        let now = self.now;
        Reply::Number(match (self.look(key).map(|entry| entry.expires), unit) {
            (None, _) => -2,
            (Some(None), _) => -1,
            (Some(Some(at)), Unit::Milliseconds) => at - now,
            // To the nearest second.
            (Some(Some(at)), Unit::Seconds) => (at - now + 500) / 1000,
        })
    }

    /// A counter that did not exist is data, not a lease; one that did stays what it is.
    fn increment(&mut self, key: &str, by: i64) -> Answer {
        let old = self.text(key)?.map_or(Some(0), |text| integer(&text)).ok_or(NONSENSE)?;
        let new = old.checked_add(by).ok_or(NONSENSE)?;
        let value = Value::Text(new.to_string());
        match self.entries.get_mut(key) {
            Some(entry) => entry.value = value,
            None => {
                self.entries.insert(key.to_owned(), Entry { value, holder: None, expires: None, grant: 0 });
            }
        }
        Ok(Reply::Number(new))
    }

    fn push(&mut self, key: &str, end: End, items: &[String]) -> Answer {
        if self.list(key)?.is_none() {
            self.grants += 1;
            self.entries
                .insert(key.to_owned(), Entry { value: Value::List(VecDeque::new()), holder: None, expires: None, grant: self.grants });
        }
        let Some(list) = self.list(key)? else { return Ok(Reply::Number(0)) };
        for item in items.iter().cloned() {
            match end {
                End::Left => list.push_front(item),
                End::Right => list.push_back(item),
            }
        }
        Ok(Reply::Number(list.len() as i64))
    }

    fn pop(&mut self, key: &str, end: End, limit: Option<i64>) -> Answer {
        let most = usize::try_from(limit.unwrap_or(1)).map_err(|_| NONSENSE)?;
        let stays = self.flaw == Some(Flaw::EmptyListStays);
        let Some(list) = self.list(key)? else { return Ok(Reply::Nil) };
        let mut popped = Vec::new();
        for _ in 0..most.min(list.len()) {
            popped.extend(match end {
                End::Left => list.pop_front(),
                End::Right => list.pop_back(),
            });
        }
        if list.is_empty() && !stays {
            self.entries.remove(key);
        }
        Ok(match limit {
            Some(_) => Reply::Texts(popped),
            None => popped.pop().map_or(Reply::Nil, Reply::Text),
        })
    }
}

/// When a key that is set runs out.
#[derive(Clone, Copy)]
enum Expiry {
    At(Option<i64>),
    AsItWas,
}

fn truth(is: bool) -> Reply {
    Reply::Number(i64::from(is))
}

/// Redis takes only the shortest way to write a number: no sign but a minus, no leading zero.
fn integer(text: &str) -> Option<i64> {
    text.parse::<i64>().ok().filter(|number| number.to_string() == text)
}
