//! Times in which something was wrong with a host.

use crate::id::{AttemptId, HostId};
use crate::report::twin::{Band, Wrong};
use crate::report::twins::most;
use crate::report::twins::view::View;
use crate::time::SimTime;
use crate::trace::{Event, Proof};
use std::collections::{BTreeMap, BTreeSet};

/// What a band is about, so that its end finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Of {
    Process(HostId),
    Busy(HostId),
    Step(AttemptId, &'static str),
    Link(HostId, HostId),
}

/// All bands, in the order of their beginnings.
pub fn bands(view: &View<'_>) -> Vec<Band> {
    let mut watch = Watch { open: BTreeMap::new(), bands: Vec::new(), told: BTreeSet::new() };
    for (n, record) in view.records.iter().enumerate() {
        if let Event::Lags { .. } = record.event {
            watch.lags(view, n);
        } else {
            watch.see(record.at, record.event);
        }
    }
    for (_, n) in watch.open {
        watch.bands[n].to_ms = view.ends.0;
    }
    let mut shown: Vec<Band> = watch.bands.into_iter().filter(|band| view.hosts.iter().any(|lane| lane.to_string() == band.host)).collect();
    shown.sort_by_key(|band| band.from_ms);
    most::of(shown, most::BANDS, view, |band| band.from_ms)
}

struct Watch {
    open: BTreeMap<Of, usize>,
    bands: Vec<Band>,
    /// Links whose delay is told with another's.
    told: BTreeSet<usize>,
}

impl Watch {
    fn begin(&mut self, of: Of, host: HostId, kind: Wrong, at: SimTime, what: String) {
        self.end(of, at);
        self.open.insert(of, self.bands.len());
        self.bands.push(Band { host: host.to_string(), kind, from_ms: at.0, to_ms: at.0, what });
    }

    fn end(&mut self, of: Of, at: SimTime) {
        if let Some(n) = self.open.remove(&of) {
            self.bands[n].to_ms = at.0;
        }
    }

    /// What a process was at when it died is over.
    fn dies(&mut self, host: HostId, at: SimTime) {
        self.over(at, |of| match *of {
            Of::Busy(busy) => busy == host,
            Of::Step(attempt, _) => HostId::Node(attempt.node) == host,
            Of::Process(_) | Of::Link(..) => false,
        });
    }

    fn over(&mut self, at: SimTime, which: impl Fn(&Of) -> bool) {
        for of in self.open.keys().filter(|of| which(of)).copied().collect::<Vec<_>>() {
            self.end(of, at);
        }
    }

    fn see(&mut self, at: SimTime, event: Event) {
        match event {
            Event::Paused { host } => self.begin(Of::Process(host), host, Wrong::Paused, at, "stopped".to_owned()),
            Event::Crashed { host } => {
                self.dies(host, at);
                self.begin(Of::Process(host), host, Wrong::Down, at, "crashed".to_owned());
            }
            Event::PoweredOff { host } => {
                self.dies(host, at);
                self.begin(Of::Process(host), host, Wrong::Down, at, "lost power".to_owned());
            }
            Event::Resumed { host } | Event::Booted { host, .. } => self.end(Of::Process(host), at),
            Event::Blocked { host } => self.begin(Of::Busy(host), host, Wrong::Busy, at, "busy with a slow command".to_owned()),
            Event::Unblocked { host } => self.end(Of::Busy(host), at),
            Event::Felt { proof: Proof::Slowed { attempt, step }, .. } => self.slow(attempt, step, at),
            Event::GoesOn { attempt, step } => self.end(Of::Step(attempt, step), at),
            // A step that was given up never goes on.
            Event::AttemptEnded { attempt, .. } => self.over(at, |of| matches!(of, Of::Step(its, _) if *its == attempt)),
            Event::Prompt { from, to } => self.end(Of::Link(from, to), at),
            _ => {}
        }
    }

    fn slow(&mut self, attempt: AttemptId, step: &'static str, at: SimTime) {
        self.begin(Of::Step(attempt, step), HostId::Node(attempt.node), Wrong::Slow, at, format!("`{step}` of {attempt} takes longer"));
    }

    /// Links that become slow at the same instant, told of whoever has most of them, a node if there is a choice.
    fn lags(&mut self, view: &View<'_>, n: usize) {
        if self.told.contains(&n) {
            return;
        }
        let at = view.records[n].at;
        let lags = |m: &usize| match view.records[*m].event {
            Event::Lags { from, to } if view.records[*m].at == at => Some((*m, from, to)),
            _ => None,
        };
        let links: Vec<(usize, HostId, HostId)> = (n..view.records.len()).map_while(|m| lags(&m)).collect();
        let ends = || links.iter().flat_map(|(_, from, to)| [*from, *to]);
        let weight = |host: HostId| (ends().filter(|end| *end == host).count(), host.as_node().is_some(), std::cmp::Reverse(host));
        let Some(host) = ends().max_by_key(|host| weight(*host)) else { return };
        let others: BTreeSet<String> = ends().filter(|end| *end != host && view.shows(*end)).map(|end| end.to_string()).collect();
        let whom = others.into_iter().collect::<Vec<_>>().join(", ");
        self.told.extend(links.iter().map(|(m, ..)| *m));
        let (_, from, to) = links[0];
        self.begin(Of::Link(from, to), host, Wrong::Lagging, at, format!("slow network to {whom}"));
    }
}
