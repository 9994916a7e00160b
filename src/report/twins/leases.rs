//! Leases, as their stores know them. An event says when a store noticed that a lease was over;
//! a lease that ran out is over when it did.

use crate::id::{HostId, PeriodId};
use crate::report::twin::{Lease, LeaseEnd};
use crate::report::twins::view::{Lane, View};
use crate::report::twins::{claims, log};
use crate::time::SimTime;
use crate::trace::{Event, Record, Vote};
use std::collections::BTreeMap;

/// A lease, from its grant to its end.
#[derive(Clone, Debug, PartialEq)]
pub struct Held {
    /// Who knows of it.
    pub store: Lane,
    /// Whose it is.
    pub holder: HostId,
    /// For which period, if for one.
    pub period: Option<PeriodId>,
    /// From when.
    pub from: SimTime,
    /// Until when.
    pub to: SimTime,
    /// How it ended.
    pub ended: LeaseEnd,
}

impl Held {
    /// As a twin holds it.
    pub fn told(&self) -> Lease {
        Lease { store: self.store.to_string(), holder: self.holder.to_string(), from_ms: self.from.0, to_ms: self.to.0, ended: self.ended }
    }
}

/// All leases of a run, those of the lease stores, the log, and the database, in the order of their beginnings.
pub fn held(view: &View<'_>) -> Vec<Held> {
    let mut held = of_stores(view);
    held.extend(log::grants(view));
    held.extend(claims::claims(view));
    held.sort_by_key(|held| (held.from, held.store));
    held
}

/// What the lease stores granted: with several of them, what each voted, and what most of them came to.
fn of_stores(view: &View<'_>) -> Vec<Held> {
    let decides = if view.votes() { Lane::Majority } else { Lane::Host(HostId::Lease) };
    let mut shelves: BTreeMap<Lane, Shelf<'_>> = BTreeMap::new();
    for (n, record) in view.records.iter().enumerate() {
        let (lane, event) = match record.event {
            Event::Voted { store, vote } => (Lane::Host(store), vote.decides()),
            event if Vote::of(&event).is_some() => (decides, event),
            _ => continue,
        };
        let shelf = shelves.entry(lane).or_insert_with(|| Shelf { view, store: lane, open: Vec::new(), over: Vec::new() });
        shelf.see(n, record.at, event);
    }
    shelves.into_values().flat_map(Shelf::closed).collect()
}

/// A lease that is not over.
#[derive(Clone, Debug)]
struct Open {
    holder: HostId,
    from: SimTime,
    /// When its store's clock shows that it is over; `None`: never.
    until: Option<SimTime>,
}

/// The leases of one store.
struct Shelf<'a> {
    view: &'a View<'a>,
    store: Lane,
    open: Vec<Open>,
    over: Vec<Held>,
}

impl Shelf<'_> {
    fn see(&mut self, n: usize, at: SimTime, event: Event) {
        let extended = if let Event::LeaseExtended { holder, .. } = event { Some(holder) } else { None };
        self.run_out(at, extended);
        match event {
            Event::LeaseGranted { to, ttl_ms } => {
                let until = self.until(at, ttl_ms);
                self.open.push(Open { holder: to, from: at, until });
            }
            Event::LeaseExtended { holder, ttl_ms, .. } => {
                let until = self.until(at, ttl_ms);
                if let Some(open) = self.open.iter_mut().rfind(|open| open.holder == holder) {
                    open.until = until;
                }
            }
            Event::LeaseReleased { by, holder } if by == holder => self.close(holder, at, LeaseEnd::Released),
            Event::LeaseReleased { by, holder } => {
                let next = self.view.records.get(n + 1);
                let taken = next.is_some_and(|next| next.at == at && self.grants(next, by));
                self.close(holder, at, if taken { LeaseEnd::Replaced } else { LeaseEnd::Deleted });
            }
            Event::LeaseExpired { holder } => self.close(holder, at, LeaseEnd::Expired),
            Event::LeaseLost { holder } => self.close(holder, at, LeaseEnd::Lost),
            Event::LeaseReturned { holder } => self.returns(holder, at),
            _ => {}
        }
    }

    fn grants(&self, record: &Record, by: HostId) -> bool {
        match record.event {
            Event::LeaseGranted { to, .. } => to == by,
            Event::Voted { store, vote: Vote::Granted { to, .. } } => to == by && Lane::Host(store) == self.store,
            _ => false,
        }
    }

    /// When the store's clock shows that a lease is over.
    fn until(&self, at: SimTime, ttl_ms: u64) -> Option<SimTime> {
        let until = match self.store {
            Lane::Host(host) => self.view.clocks.later(host, at, ttl_ms),
            Lane::Majority => SimTime(at.0.saturating_add(ttl_ms)),
        };
        (ttl_ms > 0).then_some(until)
    }

    /// Ends the leases that have run out by `now`, each when it did.
    fn run_out(&mut self, now: SimTime, but: Option<HostId>) {
        let over = |open: &Open| Some(open.holder) != but && open.until.is_some_and(|until| until <= now);
        while let Some(n) = self.open.iter().position(over) {
            let open = self.open.remove(n);
            let to = open.until.unwrap_or(now);
            self.ends(&open, to, LeaseEnd::Expired);
        }
    }

    /// Ends the lease that a host got last.
    fn close(&mut self, holder: HostId, at: SimTime, ended: LeaseEnd) {
        if let Some(n) = self.open.iter().rposition(|open| open.holder == holder) {
            let open = self.open.remove(n);
            self.ends(&open, at, ended);
        }
    }

    fn ends(&mut self, open: &Open, to: SimTime, ended: LeaseEnd) {
        self.over.push(Held { store: self.store, holder: open.holder, period: None, from: open.from, to, ended });
    }

    /// A lease that was over is there again; when it runs out was told when it was granted.
    fn returns(&mut self, holder: HostId, at: SimTime) {
        let granted = self.view.records.iter().take_while(|record| record.at <= at).filter_map(|record| match record.event {
            Event::LeaseGranted { to, ttl_ms } if to == holder => Some((record.at, ttl_ms)),
            Event::LeaseExtended { holder: of, ttl_ms, .. } if of == holder => Some((record.at, ttl_ms)),
            _ => None,
        });
        let until = granted.last().and_then(|(at, ttl_ms)| self.until(at, ttl_ms)).filter(|until| *until > at);
        self.open.push(Open { holder, from: at, until });
    }

    fn closed(mut self) -> Vec<Held> {
        let ends = self.view.ends;
        self.run_out(ends, None);
        for open in std::mem::take(&mut self.open) {
            self.ends(&open, ends, LeaseEnd::Held);
        }
        self.over
    }
}
