//! What the entries of the log come to: grants that run out by the log's own time, and decisions
//! that stay. The same entries give the same state on every member.

use crate::id::{HostId, PeriodId};
use crate::store::log::{Answer, Command, Key, WHOLE_JOB};
use crate::time::WallTime;
use crate::trace::Event;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// A command as it stands in the log: who sent it, and what the clock of the member showed that led then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamped {
    pub at: WallTime,
    pub by: HostId,
    pub command: Command,
}

impl fmt::Display for Stamped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} of {}", self.command, self.by)
    }
}

/// Where an entry stands, and through whom it came there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub index: u64,
    pub through: HostId,
}

/// A grant: for `key` to whoever knows the nonce.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Grant {
    by: HostId,
    nonce: u64,
    token: i64,
    until: WallTime,
}

/// A decision, and whether anything is left to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Decision {
    by: HostId,
    token: i64,
    over: bool,
}

impl Decision {
    fn told(self) -> Answer {
        if self.over { Answer::Over } else { Answer::Decided { by: self.by, token: self.token } }
    }
}

/// The state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// The log's own time: the latest stamp so far. A leader whose clock is behind stops it, none turns it back.
    time: WallTime,
    grants: BTreeMap<Key, Grant>,
    decided: BTreeMap<Key, Decision>,
}

impl Default for Machine {
    fn default() -> Machine {
        Machine { time: WallTime(i64::MIN), grants: BTreeMap::new(), decided: BTreeMap::new() }
    }
}

/// The period that a key stands for.
fn period(key: Key) -> Option<PeriodId> {
    (key != WHOLE_JOB).then_some(PeriodId(key))
}

impl Machine {
    /// Applies an entry: what to answer, and what there is to tell.
    pub fn apply(&mut self, place: Place, entry: Stamped) -> (Answer, Option<Event>) {
        self.time = self.time.max(entry.at);
        let by = entry.by;
        match entry.command {
            Command::Grant { key, nonce, ttl_ms } => self.grant(place, by, (key, nonce), ttl_ms),
            Command::Renew { key, nonce, ttl_ms } => {
                let (now, until) = (self.time, self.after(ttl_ms));
                let own = self.own(key, nonce).filter(|grant| now < grant.until);
                (yes_or_no(own.map(|grant| grant.until = until).is_some()), None)
            }
            Command::Release { key, nonce } => {
                let token = self.own(key, nonce).map(|grant| grant.token);
                if token.is_some() {
                    self.grants.remove(&key);
                }
                (yes_or_no(token.is_some()), token.map(|token| Event::LogReleased { by, token }))
            }
            Command::Decide { key, nonce } => self.decide(by, key, nonce),
            Command::Finish { key } => {
                let decision = self.decided.get_mut(&key);
                (yes_or_no(decision.map(|decision| decision.over = true).is_some()), None)
            }
            Command::Finished => {
                let over = self.decided.iter().filter(|(_, decision)| decision.over).map(|(key, _)| *key);
                (Answer::Finished(over.collect()), None)
            }
        }
    }

    fn after(&self, ttl_ms: u64) -> WallTime {
        WallTime(self.time.0.saturating_add_unsigned(ttl_ms))
    }

    fn own(&mut self, key: Key, nonce: u64) -> Option<&mut Grant> {
        self.grants.get_mut(&key).filter(|grant| grant.nonce == nonce)
    }

    fn grant(&mut self, place: Place, by: HostId, (key, nonce): (Key, u64), ttl_ms: u64) -> (Answer, Option<Event>) {
        if let Some(decision) = self.decided.get(&key) {
            return (decision.told(), None);
        }
        let until = self.after(ttl_ms);
        match self.grants.get_mut(&key) {
            // The answer was lost, and the question is repeated.
            Some(grant) if grant.nonce == nonce => {
                grant.until = until;
                (Answer::Granted { token: grant.token }, None)
            }
            Some(grant) if self.time < grant.until => (Answer::Held, None),
            Some(_) | None => {
                let token = place.index.cast_signed();
                self.grants.insert(key, Grant { by, nonce, token, until });
                let told = Event::LogGranted { through: place.through, to: by, period: period(key), token, ttl_ms };
                (Answer::Granted { token }, Some(told))
            }
        }
    }

    /// A grant that has run out may still be decided: nobody was granted the key since.
    fn decide(&mut self, by: HostId, key: Key, nonce: u64) -> (Answer, Option<Event>) {
        if let Some(decision) = self.decided.get(&key) {
            return (decision.told(), None);
        }
        let Some(&mut Grant { token, .. }) = self.own(key, nonce) else { return (Answer::No, None) };
        self.grants.remove(&key);
        self.decided.insert(key, Decision { by, token, over: false });
        let told = period(key).map(|period| Event::LogDecided { period, to: by, token });
        (Answer::Decided { by, token }, told)
    }
}

fn yes_or_no(done: bool) -> Answer {
    if done { Answer::Yes } else { Answer::No }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: HostId = HostId::Node(crate::id::NodeId(0));
    const B: HostId = HostId::Node(crate::id::NodeId(1));
    const P: Key = 20_260_110;

    /// A log in which entries are written by hand: `say(second, who, what)`.
    #[derive(Default)]
    struct Told {
        machine: Machine,
        index: u64,
    }

    impl Told {
        fn say(&mut self, second: i64, by: HostId, command: Command) -> Answer {
            self.index += 1;
            let place = Place { index: self.index, through: HostId::Log(0) };
            self.machine.apply(place, Stamped { at: WallTime(second * 1000), by, command }).0
        }
    }

    fn grant(nonce: u64) -> Command {
        Command::Grant { key: P, nonce, ttl_ms: 90_000 }
    }

    /// The second client is kept out until the grant has run out by the log's time, and a clock that goes back brings no time back.
    #[test]
    fn a_grant_excludes_until_it_has_run_out() {
        let mut log = Told::default();
        assert_eq!(log.say(0, A, grant(1)), Answer::Granted { token: 1 });
        assert_eq!(log.say(89, B, grant(2)), Answer::Held);
        assert_eq!(log.say(30, A, Command::Renew { key: P, nonce: 1, ttl_ms: 90_000 }), Answer::Yes, "renewed at 89: until 179");
        assert_eq!(log.say(178, B, grant(2)), Answer::Held);
        assert_eq!(log.say(179, B, grant(2)), Answer::Granted { token: 5 });
        assert_eq!(log.say(180, A, Command::Renew { key: P, nonce: 1, ttl_ms: 90_000 }), Answer::No);
        assert_eq!(log.say(180, A, Command::Release { key: P, nonce: 1 }), Answer::No, "not his any more");
        assert_eq!(log.say(181, B, Command::Release { key: P, nonce: 2 }), Answer::Yes);
        assert_eq!(log.say(181, A, grant(3)), Answer::Granted { token: 9 });
    }

    /// Whoever repeats a command because its answer was lost hears the same again.
    #[test]
    fn a_repeated_command_changes_nothing() {
        let mut log = Told::default();
        assert_eq!(log.say(0, A, grant(1)), log.say(1, A, grant(1)));
        let decide = Command::Decide { key: P, nonce: 1 };
        assert_eq!(log.say(2, A, decide), Answer::Decided { by: A, token: 1 });
        assert_eq!(log.say(3, A, decide), Answer::Decided { by: A, token: 1 });
    }

    /// Only the newest grant decides, once and for all.
    #[test]
    fn a_decision_stays() {
        let mut log = Told::default();
        log.say(0, A, grant(1));
        assert_eq!(log.say(91, B, grant(2)), Answer::Granted { token: 2 });
        assert_eq!(log.say(92, A, Command::Decide { key: P, nonce: 1 }), Answer::No, "his grant is stale");
        assert_eq!(log.say(300, B, Command::Decide { key: P, nonce: 2 }), Answer::Decided { by: B, token: 2 }, "nobody came between");
        assert_eq!(log.say(301, A, grant(3)), Answer::Decided { by: B, token: 2 });
        assert_eq!(log.say(302, A, Command::Finished), Answer::Finished(vec![]));
        log.say(303, A, Command::Finish { key: P });
        assert_eq!((log.say(304, A, Command::Finished), log.say(305, A, grant(4))), (Answer::Finished(vec![P]), Answer::Over));
    }
}
