//! Grants of the replicated log. What it grants is over by the log's own time, which renewals move on.

use crate::id::{AttemptId, HostId, PeriodId};
use crate::report::twin::LeaseEnd;
use crate::report::twins::leases::Held;
use crate::report::twins::view::{Lane, View};
use crate::time::SimTime;
use crate::trace::{Event, Phase};

/// A grant that is not over.
struct Open {
    through: HostId,
    holder: HostId,
    period: Option<PeriodId>,
    token: i64,
    ttl_ms: u64,
    from: SimTime,
    until: SimTime,
}

impl Open {
    fn ends(&self, to: SimTime, ended: LeaseEnd) -> Held {
        Held { store: Lane::Host(self.through), holder: self.holder, period: self.period, from: self.from, to, ended }
    }
}

/// All grants, in the order of their ends.
pub fn grants(view: &View<'_>) -> Vec<Held> {
    let (mut open, mut over): (Vec<Open>, Vec<Held>) = (Vec::new(), Vec::new());
    for record in view.records {
        match record.event {
            Event::LogGranted { through, to, period, token, ttl_ms } => {
                // It grants the same again only when the last grant is over.
                if let Some(n) = open.iter().position(|open| open.period == period) {
                    let last = open.remove(n);
                    over.push(last.ends(last.until.min(record.at), LeaseEnd::Expired));
                }
                let until = view.clocks.later(through, record.at, ttl_ms);
                open.push(Open { through, holder: to, period, token, ttl_ms, from: record.at, until });
            }
            Event::LogReleased { token, .. } | Event::LogDecided { token, .. } => {
                if let Some(n) = open.iter().position(|open| open.token == token) {
                    over.push(open.remove(n).ends(record.at, LeaseEnd::Released));
                }
            }
            Event::Step { attempt, step, phase: Phase::After } if renews(view, step) => renewed(view, &mut open, attempt, record.at),
            _ => {}
        }
    }
    let last = |open: Open| {
        let (to, ended) = if open.until <= view.ends { (open.until, LeaseEnd::Expired) } else { (view.ends, LeaseEnd::Held) };
        open.ends(to, ended)
    };
    over.extend(open.into_iter().map(last));
    over
}

/// Whether a step renews a grant of the log.
fn renews(view: &View<'_>, step: &str) -> bool {
    step.rsplit('.').next() == Some("renew") && matches!(view.peer(step), Some(HostId::Log(_)))
}

/// A renewal tells no event of its own: what shows it is that its answer was seen in time.
fn renewed(view: &View<'_>, open: &mut [Open], attempt: AttemptId, at: SimTime) {
    let holder = HostId::Node(attempt.node);
    if let Some(open) = open.iter_mut().rfind(|open| open.holder == holder && open.until > at) {
        open.until = view.clocks.later(open.through, at, open.ttl_ms);
    }
}
