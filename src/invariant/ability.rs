//! What excuses a deployment that did not get something done: for how long, at most, was any
//! node up, scheduled, and connected to the stores that it needed?

use crate::id::{HostId, NodeId};
use crate::invariant::History;
use crate::time::SimTime;
use crate::trace::Event;
use std::time::Duration;

/// Servers of which so many have to be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// The servers.
    pub of: Vec<HostId>,
    /// How many of them have to be reached.
    pub at_least: usize,
}

impl Need {
    /// More than half of these.
    pub fn majority(of: Vec<HostId>) -> Need {
        let at_least = of.len() / 2 + 1;
        Need { of, at_least }
    }
}

/// What a node may have to get done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Settling needs the servers that the guard asks.
    Settle,
    /// Paying needs the payout service too.
    Pay,
}

/// The longest time on end, between `from` and `to`, during which one and the same node could
/// do this work. Read from what the world recorded, never from what nodes believed.
pub fn longest(history: &History<'_>, from: SimTime, to: SimTime, work: Work) -> Duration {
    let payout = Need::majority(vec![HostId::Payout]);
    let needs: Vec<&Need> = history.needs.iter().chain((work == Work::Pay).then_some(&payout)).collect();
    let mut state = State::new();
    let mut able_since: Vec<Option<SimTime>> = vec![None; usize::from(history.nodes)];
    let mut longest = Duration::ZERO;
    let mut note = |at: SimTime, state: &State| {
        for (node, since) in (0..).zip(&mut able_since) {
            let able = !history.elsewhere.contains(&NodeId(node)) && state.able(HostId::node(node), &needs);
            if let Some(began) = *since {
                longest = longest.max(at.min(to).since(began.max(from)));
            }
            *since = if able { since.or(Some(at)) } else { None };
        }
    };
    note(SimTime::ZERO, &state);
    for record in history.trace.records() {
        if state.learn(&record.event) {
            note(record.at, &state);
        }
    }
    note(history.ended.max(to), &state);
    longest
}

/// The excuse, if there is one: nobody was able to work for as long as the work takes.
pub fn excuse(history: &History<'_>, from: SimTime, to: SimTime, work: Work) -> Option<String> {
    use crate::plan::duration::text;
    let longest = longest(history, from, to, work);
    (longest < history.effort).then(|| {
        format!(
            "between {} and {} no node was up and connected for {} on end, which the work may take (at most {})",
            history.calendar.shows(from),
            history.calendar.shows(to),
            text(history.effort),
            text(longest)
        )
    })
}

/// Who is up, who is scheduled, and which links are cut. At the beginning everything works.
struct State {
    hosts: usize,
    down: Vec<bool>,
    paused: Vec<bool>,
    /// How many slow commands keep a server busy.
    blocked: Vec<u16>,
    /// How many cuts lie on the link from a host (row) to another (column).
    cuts: Vec<u16>,
}

impl State {
    fn new() -> State {
        let hosts = HostId::LIMIT;
        State { hosts, down: vec![false; hosts], paused: vec![false; hosts], blocked: vec![0; hosts], cuts: vec![0; hosts * hosts] }
    }

    /// Takes an event in; tells whether it changed anything.
    fn learn(&mut self, event: &Event) -> bool {
        match *event {
            Event::Booted { host, .. } => {
                self.down[host.index()] = false;
                self.paused[host.index()] = false;
                self.blocked[host.index()] = 0;
            }
            Event::Blocked { host } => self.blocked[host.index()] += 1,
            Event::Unblocked { host } => {
                let blocked = &mut self.blocked[host.index()];
                *blocked = blocked.saturating_sub(1);
            }
            // Who was told to stop begins nothing any more.
            Event::Crashed { host } | Event::PoweredOff { host } | Event::Panicked { host } | Event::ToldToStop { host } => {
                self.down[host.index()] = true;
            }
            Event::Paused { host } => self.paused[host.index()] = true,
            Event::Resumed { host } => self.paused[host.index()] = false,
            Event::Cut { from, to } => self.cuts[from.index() * self.hosts + to.index()] += 1,
            Event::Healed { from, to } => {
                let cuts = &mut self.cuts[from.index() * self.hosts + to.index()];
                *cuts = cuts.saturating_sub(1);
            }
            _ => return false,
        }
        true
    }

    fn able(&self, node: HostId, needs: &[&Need]) -> bool {
        let runs = |host: HostId| !self.down[host.index()] && !self.paused[host.index()] && self.blocked[host.index()] == 0;
        let open = |from: HostId, to: HostId| self.cuts[from.index() * self.hosts + to.index()] == 0;
        let reached = |need: &Need| need.of.iter().filter(|&&store| runs(store) && open(node, store) && open(store, node)).count();
        runs(node) && needs.iter().all(|need| reached(need) >= need.at_least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariant::script::{N0, N1, N2, P1, Script};
    use crate::time::Span;

    fn longest_of(told: &Script, minutes: u64) -> Duration {
        let history = History {
            calendar: &told.calendar,
            decides: told.decides,
            nodes: 3,
            elsewhere: &[],
            needs: &told.needs,
            liveness_bound: 2.hours(),
            effort: 10.minutes(),
            trace: &told.trace,
            ended: told.ended,
            end: &told.end,
        };
        longest(&history, told.due(P1), told.due(P1) + minutes.minutes(), Work::Settle)
    }

    #[test]
    fn an_undisturbed_node_is_able_all_the_time() {
        assert_eq!(longest_of(&Script::new(), 60), 60.minutes());
    }

    /// n1 and n2 are dead. n0 is cut from the database for minutes 5 to 20 in one direction,
    /// and twice over from minute 10; the second cut heals at minute 30. It pauses at minute 38.
    #[test]
    fn cuts_nest_and_pauses_end_an_able_time() {
        let mut told = Script::new();
        told.before(P1, 1.minutes()).event(Event::Crashed { host: N1 }).event(Event::PoweredOff { host: N2 });
        told.after(P1, 5.minutes()).event(Event::Cut { from: HostId::Database, to: N0 });
        told.after(P1, 10.minutes()).event(Event::Cut { from: HostId::Database, to: N0 });
        told.after(P1, 20.minutes()).event(Event::Healed { from: HostId::Database, to: N0 });
        told.after(P1, 30.minutes()).event(Event::Healed { from: HostId::Database, to: N0 });
        told.after(P1, 38.minutes()).event(Event::Paused { host: N0 });
        assert_eq!(longest_of(&told, 60), 8.minutes());
    }

    /// Two slow commands at once: the store serves again when both are over.
    #[test]
    fn a_busy_lease_store_serves_nobody() {
        let mut told = Script::new();
        for (minute, event) in [
            (5, Event::Blocked { host: HostId::Lease }),
            (10, Event::Blocked { host: HostId::Lease }),
            (20, Event::Unblocked { host: HostId::Lease }),
            (57, Event::Unblocked { host: HostId::Lease }),
        ] {
            told.after(P1, minute.minutes()).event(event);
        }
        told.needs = vec![Need::majority(vec![HostId::Lease])];
        assert_eq!(longest_of(&told, 60), 5.minutes());
    }

    #[test]
    fn without_the_lease_store_nobody_is_able() {
        let mut told = Script::new();
        told.before(P1, 1.minutes()).event(Event::PoweredOff { host: HostId::Lease });
        told.after(P1, 57.minutes()).event(Event::Booted { host: HostId::Lease, incarnation: 1 });
        assert_eq!(longest_of(&told, 60), 3.minutes());
        told.needs = vec![Need::majority(vec![HostId::Database])];
        assert_eq!(longest_of(&told, 60), 60.minutes(), "a guard without a lease does not miss its store");
        told.needs = vec![Need::majority(vec![HostId::Lease, HostId::FurtherLease(1), HostId::FurtherLease(2)])];
        assert_eq!(longest_of(&told, 60), 60.minutes(), "two of three are a majority");
    }
}
