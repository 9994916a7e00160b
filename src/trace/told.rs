//! Events in words: one plain sentence each, with everything that the event says, so that two
//! that differ never read the same. [`fmt::Debug`] keeps the fields by their names.

use crate::time::WallTime;
use crate::trace::{Belief, Event, Record, TaskStatus};
use std::fmt;

/// What a node believes about its attempt.
impl fmt::Display for Belief {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Belief::Settled => "it has settled",
            Belief::AlreadySettled => "somebody has settled already",
            Belief::Busy => "somebody else is at it",
            Belief::Failed => "it has failed",
        })
    }
}

/// What a task row says.
impl fmt::Display for TaskStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TaskStatus::Pending => "pending",
            TaskStatus::Executing => "executing",
            TaskStatus::Completed => "completed",
            TaskStatus::Failed => "failed",
            TaskStatus::Dead => "given up",
        })
    }
}

/// What a clock shows, in UTC.
struct Shown(WallTime);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0.0) {
            Ok(shown) => write!(f, "{shown}"),
            // A clock may be wrong by more than there are years.
            Err(_) => write!(f, "{} ms", self.0.0),
        }
    }
}

/// A sentence about what happened.
impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Event::Booted { host, incarnation: 0 } => write!(f, "{host} started"),
            Event::Booted { host, incarnation } => write!(f, "{host} started again (restart {incarnation})"),
            Event::Crashed { host } => write!(f, "{host} crashed"),
            Event::PoweredOff { host } => write!(f, "{host} lost power"),
            Event::Paused { host } => write!(f, "{host} stopped"),
            Event::Resumed { host } => write!(f, "{host} went on"),
            Event::Cut { from, to } => write!(f, "segments from {from} to {to} stopped getting through"),
            Event::Healed { from, to } => write!(f, "segments from {from} to {to} get through again"),
            Event::ReplyLost { from, to } => write!(f, "a reply of {from} to {to} was lost"),
            Event::ClockSet { host, by } => write!(f, "the clock of {host} jumped by {by} ms"),
            Event::ClockDrifts { host, ppm } => write!(f, "the clock of {host} runs {ppm:+} ppm from now on"),
            Event::Panicked { host } => write!(f, "the code of {host} panicked"),
            Event::Fired { fault } => write!(f, "{fault} struck"),
            Event::Felt { fault, proof } => write!(f, "{fault} was felt: {proof}"),
            Event::Looked { node, wall } => write!(f, "{node} looked for what is due, its clock at {}", Shown(wall)),
            Event::AttemptBegan { attempt, period, wall } => {
                write!(f, "{attempt} began to settle {period}, its clock at {}", Shown(wall))
            }
            Event::AttemptEnded { attempt, period, belief } => write!(f, "{attempt} at {period} ended, believing that {belief}"),
            Event::Step { attempt, step, phase } => write!(f, "{attempt} in `{step}` ({phase})"),
            Event::LeaseGranted { to, ttl_ms: 0 } => write!(f, "{to} was granted the lease for ever"),
            Event::LeaseGranted { to, ttl_ms } => write!(f, "{to} was granted the lease for {ttl_ms} ms"),
            Event::LeaseRefused { to, holder } => write!(f, "{to} was refused the lease that {holder} holds"),
            Event::LeaseExtended { by, holder, ttl_ms } => write!(f, "{by} made the lease of {holder} last {ttl_ms} ms from now"),
            Event::LeaseReleased { by, holder } => write!(f, "{by} deleted the lease of {holder}"),
            Event::LeaseExpired { holder } => write!(f, "the lease of {holder} had run out"),
            Event::Committed { tx, by, began } => write!(f, "{by} committed {tx}, begun at {began}"),
            Event::Earned { tx, earning, player, amount, at } => {
                write!(f, "{player} earned {amount} at {} (earning {earning}, {tx})", Shown(at))
            }
            Event::Marked { tx, earning, period } => write!(f, "earning {earning} was marked as settled in {period} ({tx})"),
            Event::Taken { tx, player, points } => write!(f, "{points} points were taken from {player} ({tx})"),
            Event::Ranked { tx, period, rank, player, points } => {
                write!(f, "{player} was ranked {rank} in {period} with {points} points ({tx})")
            }
            Event::Settled { tx, period, node, attempt } => write!(f, "{period} was settled by attempt {attempt} of {node} ({tx})"),
            Event::TaskSet { tx, period, status, version, attempt } => {
                write!(f, "the task of {period} became {status}, version {version}, attempt {attempt} ({tx})")
            }
            Event::FenceSet { tx, token } => write!(f, "the fence was set to {token} ({tx})"),
            Event::Alerted { tx, period } => write!(f, "a human was called for {period} ({tx})"),
            Event::AlertHandled { tx, period } => write!(f, "the human has seen to {period} ({tx})"),
            Event::LeaseRowSet { tx, owner, until, granted } => {
                let what = if granted { "was granted to" } else { "was kept for" };
                write!(f, "the lease row {what} {owner} until {} ({tx})", Shown(until))
            }
            Event::Queued { tx, row } => write!(f, "row {row} was put into the outbox ({tx})"),
            Event::Delivered { tx, row } => write!(f, "row {row} of the outbox was marked as delivered ({tx})"),
            Event::IdleInTransaction { by } => write!(f, "a transaction of {by} was ended for being idle"),
            Event::Paid { period, rank, player, amount, keyed } => {
                let key = if keyed { "with a key" } else { "without a key" };
                write!(f, "{player} was paid {amount} for rank {rank} in {period}, {key}")
            }
            Event::PaymentRepeated { period, rank, player } => {
                write!(f, "the payment of {player} for rank {rank} in {period} was asked for again, and not made")
            }
            Event::LeaseLost { holder } => write!(f, "the lease of {holder} was lost"),
            Event::LeaseReturned { holder } => write!(f, "a lease of {holder} that was over was there again"),
            Event::Blocked { host } => write!(f, "{host} is busy with a slow command"),
            Event::Unblocked { host } => write!(f, "{host} is done with the slow command"),
            Event::Waited { by } => write!(f, "a request of {by} waits for the lease store"),
            Event::CommitRefused { by } => write!(f, "a commit of {by} was refused"),
            Event::SessionEnded { by } => write!(f, "a session of {by} was ended"),
            Event::ClientGone { by } => write!(f, "the database found that a client of {by} is gone, and ended its session"),
            Event::GoesOn { attempt, step } => write!(f, "`{step}` of attempt {attempt} goes on"),
            Event::Lags { from, to } => write!(f, "everything from {from} to {to} takes longer from now on"),
            Event::ToldToStop { host } => write!(f, "{host} was told to stop"),
            Event::Prompt { from, to } => write!(f, "everything from {from} to {to} takes as long as usual again"),
            Event::Pushed { by, message } => write!(f, "{by} put message {message} into a list"),
            Event::Moved { by, message } => write!(f, "{by} moved message {message}"),
            Event::Popped { by, message } => write!(f, "message {message} was taken out for {by}"),
            Event::MessageLost { message } => write!(f, "message {message} was lost"),
            Event::Redelivered { to, message, fault } => write!(f, "{to} got message {message} once more ({fault})"),
            Event::Voted { store, vote } => write!(f, "{store} {vote}"),
            Event::MessageReturned { message } => write!(f, "message {message}, which had been taken, was there again"),
            Event::LogLeads { host, term } => write!(f, "{host} leads the log in term {term}"),
            Event::LogGranted { through, to, period, token, ttl_ms } => {
                let what = period.map_or_else(|| "the job".to_owned(), |period| period.to_string());
                write!(f, "the log granted {what} to {to} through {through} for {ttl_ms} ms, token {token}")
            }
            Event::Dispatched { to, period } => write!(f, "the centre gave the run of {period} to {to}"),
            Event::LogReleased { by, token } => write!(f, "{by} gave the log's grant {token} back"),
            Event::LogDecided { period, to, token } => write!(f, "the log decided that {to} settles {period}, token {token}"),
            Event::Prepared { tx, by } => write!(f, "{by} prepared {tx}"),
            Event::PreparedEnded { tx, by, committed } => write!(f, "{by} {} the prepared {tx}", ended(committed)),
            Event::PaymentsPrepared { number, period, by } => write!(f, "{by} prepared payments {number} for {period}"),
            Event::PaymentsEnded { number, by, committed } => write!(f, "{by} {} the prepared payments {number}", ended(committed)),
        }
    }
}

/// What becomes of something prepared.
fn ended(committed: bool) -> &'static str {
    if committed { "committed" } else { "rolled back" }
}

/// What happened, and when.
impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.event, self.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{AttemptId, FaultId, HostId, NodeId, PeriodId, PlayerId, TxId};
    use crate::time::SimTime;
    use crate::trace::{Phase, Proof, Vote};
    use std::collections::BTreeMap;

    /// Every variant; each field also with another value, alone.
    fn events() -> Vec<Event> {
        let (host, other, holder) = (HostId::node(4), HostId::Database, HostId::node(1));
        let [at, later] = [1_768_000_000_000, 1_768_000_000_001].map(WallTime);
        let attempt = AttemptId { node: NodeId(2), number: 3 };
        let next = AttemptId { node: NodeId(2), number: 4 };
        let [period, after] = [20_260_110, 20_260_111].map(PeriodId);
        let ([tx, ty], [player, third]) = ([1, 2].map(TxId), [1, 3].map(PlayerId));
        let mut all = Vec::new();
        for host in [host, other] {
            all.extend([0, 1, 2].map(|incarnation| Event::Booted { host, incarnation }));
            all.extend([Event::Crashed { host }, Event::PoweredOff { host }, Event::Paused { host }, Event::Resumed { host }]);
            all.extend([-18_059, 7].map(|by| Event::ClockSet { host, by }));
            all.extend([-20_000, 0].map(|ppm| Event::ClockDrifts { host, ppm }));
            all.push(Event::ToldToStop { host });
            all.extend([Event::Panicked { host }, Event::Blocked { host }, Event::Unblocked { host }]);
            all.extend([period, after].map(|period| Event::Dispatched { to: host, period }));
            all.extend([1, 2].map(|term| Event::LogLeads { host, term }));
            all.extend([1, 2].map(|token| Event::LogReleased { by: host, token }));
            for (period, token) in [(period, 1), (after, 1), (period, 2)] {
                all.push(Event::LogDecided { period, to: host, token });
                all.push(Event::LogGranted { through: other, to: host, period: Some(period), token, ttl_ms: 9 });
            }
            all.push(Event::LogGranted { through: host, to: host, period: None, token: 1, ttl_ms: 9 });
            all.push(Event::LogGranted { through: host, to: host, period: None, token: 1, ttl_ms: 8 });
            all.extend([Event::LeaseExpired { holder: host }, Event::LeaseLost { holder: host }, Event::LeaseReturned { holder: host }]);
            let by = host;
            for message in [1, 2] {
                all.extend([Event::Pushed { by, message }, Event::Moved { by, message }, Event::Popped { by, message }]);
                all.extend([Event::MessageLost { message }, Event::MessageReturned { message }]);
            }
            all.extend([Event::IdleInTransaction { by }, Event::Waited { by }, Event::CommitRefused { by }, Event::SessionEnded { by }]);
            all.push(Event::ClientGone { by });
        }
        for (from, to) in [(host, other), (other, host), (host, holder)] {
            all.extend([Event::Cut { from, to }, Event::Healed { from, to }, Event::ReplyLost { from, to }]);
            all.push(Event::Prepared { tx, by: from });
            all.extend([false, true].map(|committed| Event::PreparedEnded { tx, by: from, committed }));
            all.extend([false, true].map(|committed| Event::PaymentsEnded { number: 1, by: from, committed }));
            all.push(Event::PaymentsPrepared { number: 1, period, by: from });
            all.extend([Event::LeaseRefused { to, holder: from }, Event::LeaseReleased { by: from, holder: to }]);
            all.extend([0, 30_000].map(|ttl_ms| Event::LeaseExtended { by: from, holder: to, ttl_ms }));
        }
        all.extend([Event::Prepared { tx: ty, by: host }, Event::PreparedEnded { tx: ty, by: host, committed: true }]);
        all.extend([(1, after), (2, period)].map(|(number, period)| Event::PaymentsPrepared { number, period, by: host }));
        all.push(Event::PaymentsEnded { number: 2, by: host, committed: true });
        let leases: Vec<Vote> = all.iter().filter_map(Vote::of).collect();
        let stores = [HostId::Lease, HostId::FurtherLease(1)];
        all.extend(leases.iter().flat_map(|vote| stores.map(|store| Event::Voted { store, vote: *vote })));
        all.extend([0, 1].map(|ttl_ms| Event::Voted { store: HostId::Lease, vote: Vote::Granted { to: host, ttl_ms } }));
        let refused = Vote::Refused { to: host, holder: other };
        assert_eq!(Vote::of(&refused.decides()), Some(refused));
        all.extend([0, 1, 30_000].map(|ttl_ms| Event::LeaseGranted { to: host, ttl_ms }));
        all.push(Event::LeaseGranted { to: other, ttl_ms: 1 });
        for fault in [FaultId(0), FaultId(1)] {
            all.extend([Event::Fired { fault }, Event::Felt { fault, proof: Proof::Waited { by: host } }]);
        }
        all.push(Event::Felt { fault: FaultId(0), proof: Proof::Ended { by: host } });
        for (to, message, fault) in [(host, 1, 0), (other, 1, 0), (host, 2, 0), (host, 1, 1)] {
            all.push(Event::Redelivered { to, message, fault: FaultId(fault) });
        }
        all.extend([(0, at), (1, at), (0, later)].map(|(n, wall)| Event::Looked { node: NodeId(n), wall }));
        for (attempt, period, wall) in [(attempt, period, at), (next, period, at), (attempt, after, at), (attempt, period, later)] {
            all.push(Event::AttemptBegan { attempt, period, wall });
        }
        let beliefs = [Belief::Settled, Belief::AlreadySettled, Belief::Busy, Belief::Failed];
        all.extend(beliefs.map(|belief| Event::AttemptEnded { attempt, period, belief }));
        all.extend([(next, period), (attempt, after)].map(|(attempt, period)| Event::AttemptEnded {
            attempt,
            period,
            belief: Belief::Busy,
        }));
        all.extend([Phase::Before, Phase::Sent, Phase::After].map(|phase| Event::Step { attempt, step: "work.3", phase }));
        all.push(Event::Step { attempt, step: "work.4", phase: Phase::Sent });
        all.push(Event::Step { attempt: next, step: "work.3", phase: Phase::Sent });
        for (tx, by, began) in [(tx, host, SimTime(1)), (ty, host, SimTime(1)), (tx, other, SimTime(1)), (tx, host, SimTime(2))] {
            all.push(Event::Committed { tx, by, began });
        }
        for n in 0..6 {
            let of = |field: usize, usual: i64| if n == field { usual + 1 } else { usual };
            let (tx, player) = (if n == 0 { ty } else { tx }, if n == 1 { third } else { player });
            all.push(Event::Earned { tx, player, earning: of(2, 5), amount: of(3, 9), at: if n == 4 { later } else { at } });
            all.push(Event::Taken { tx, player, points: of(2, 5) });
            let period = if n == 2 { after } else { period };
            all.push(Event::Marked { tx, earning: of(3, 5), period });
            all.push(Event::Ranked { tx, player, period, rank: of(3, 1), points: of(4, 9) });
            all.push(Event::Settled { tx, period, node: NodeId((n == 3).into()), attempt: of(4, 1) });
            let status = if n == 3 { TaskStatus::Failed } else { TaskStatus::Dead };
            all.push(Event::TaskSet { tx, period, status, version: of(4, 1), attempt: of(5, 1) });
            all.extend([
                Event::FenceSet { tx, token: of(1, 1) },
                Event::LeaseRowSet { tx, owner: NodeId((n == 1).into()), until: if n == 2 { later } else { at }, granted: n == 3 },
                Event::Queued { tx, row: of(1, 1) },
                Event::Delivered { tx, row: of(1, 1) },
            ]);
            all.push(Event::Paid { player, period, rank: of(3, 1), amount: of(4, 9), keyed: n == 5 });
            all.push(Event::PaymentRepeated { player, period, rank: of(3, 1) });
        }
        all
    }

    /// Else a comparison would say "here that is this, there this".
    #[test]
    fn events_that_differ_read_differently() {
        let mut read: BTreeMap<String, Event> = BTreeMap::new();
        for event in events() {
            let before = read.insert(event.to_string(), event);
            assert!(before.is_none_or(|before| before == event), "{event} is {event:?} and {before:?}");
        }
    }

    /// No field names, no braces, no numbers that nobody can read: words for people.
    #[test]
    fn events_are_told_in_words() {
        let mut kinds: BTreeMap<String, Event> = BTreeMap::new();
        for event in events() {
            let debug = format!("{event:?}");
            kinds.entry(debug.split(' ').next().unwrap().to_owned()).or_insert(event);
        }
        let told: Vec<String> = kinds.iter().map(|(kind, event)| format!("{kind:18} {event}")).collect();
        assert!(told.iter().all(|line| !line.contains(['{', '}'])), "{told:#?}");
        insta::assert_snapshot!(told.join("\n"));
    }
}
