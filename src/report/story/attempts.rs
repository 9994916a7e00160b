//! Which attempts are worth telling. Most are not: a node polls, finds the lease taken or the
//! period settled, and goes back to sleep.

use crate::id::{AttemptId, HostId};
use crate::trace::{Belief, Event, Record};
use std::collections::{BTreeMap, BTreeSet};

/// What an attempt came to.
#[derive(Clone, Copy, Debug)]
pub struct Attempt {
    /// What the node believed in the end; `None` if there was no end.
    pub belief: Option<Belief>,
    /// It changed something, or never ended.
    pub eventful: bool,
    refused: bool,
    first: usize,
    last: usize,
}

impl Attempt {
    /// Why an uneventful attempt came to nothing.
    pub fn reason(&self) -> &'static str {
        match self.belief {
            _ if self.refused => "lease refused",
            Some(Belief::AlreadySettled) => "already settled",
            Some(Belief::Busy) => "busy",
            Some(Belief::Failed) => "failed",
            Some(Belief::Settled) | None => "no end",
        }
    }
}

/// All attempts of a run.
#[derive(Debug, Default)]
pub struct Attempts(BTreeMap<AttemptId, Attempt>);

impl Attempts {
    /// Weighs the attempts of a history.
    pub fn of(records: &[Record]) -> Attempts {
        let mut attempts: BTreeMap<AttemptId, Attempt> = BTreeMap::new();
        let mut running: BTreeMap<HostId, AttemptId> = BTreeMap::new();
        let mut leased = BTreeSet::new();
        for (n, record) in records.iter().enumerate() {
            match record.event {
                Event::AttemptBegan { attempt, .. } => {
                    let new = Attempt { belief: None, eventful: false, refused: false, first: n, last: usize::MAX };
                    attempts.insert(attempt, new);
                    running.insert(HostId::Node(attempt.node), attempt);
                    leased.remove(&attempt);
                }
                Event::AttemptEnded { attempt, belief, .. } => {
                    if let Some(known) = attempts.get_mut(&attempt) {
                        (known.belief, known.last) = (Some(belief), n);
                        known.eventful |= belief == Belief::Settled || (belief == Belief::Failed && leased.contains(&attempt));
                    }
                    running.remove(&HostId::Node(attempt.node));
                }
                Event::LeaseGranted { to, .. } => leased.extend(running.get(&to).copied()),
                Event::LeaseRefused { to, .. } => mark(&mut attempts, &running, to, |a| a.refused = true),
                Event::Committed { tx, by, .. } => {
                    // A commit that changed nothing is a read.
                    let changed = records.get(n + 1).is_some_and(|next| next.event.transaction() == Some(tx));
                    mark(&mut attempts, &running, by, |a| a.eventful |= changed);
                }
                _ => {}
            }
        }
        for attempt in attempts.values_mut() {
            attempt.eventful |= attempt.belief.is_none();
        }
        Attempts(attempts)
    }

    /// One of them.
    pub fn get(&self, id: AttemptId) -> Option<&Attempt> {
        self.0.get(&id)
    }

    /// The uneventful attempt of `host` in whose course record `n` falls.
    pub fn uneventful(&self, host: HostId, n: usize) -> bool {
        let of_host = |id: &AttemptId| HostId::Node(id.node) == host;
        self.0.iter().any(|(id, a)| of_host(id) && !a.eventful && a.first <= n && n <= a.last)
    }
}

fn mark(
    attempts: &mut BTreeMap<AttemptId, Attempt>,
    running: &BTreeMap<HostId, AttemptId>,
    host: HostId,
    change: impl FnOnce(&mut Attempt),
) {
    if let Some(attempt) = running.get(&host).and_then(|id| attempts.get_mut(id)) {
        change(attempt);
    }
}
