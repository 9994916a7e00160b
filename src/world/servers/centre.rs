//! The dispatch centre: when a period ends by its clock it makes a run of it, gives the run to one
//! worker, and calls it failed when the worker has said nothing for too long.
//!
//! All of it is in memory, as published: runs, and since when they are somebody's. A boundary that
//! passes while its process is down never becomes a run.
//!
//! Until the timeout nobody is given a run again, not even the worker that has it and asks anew
//! because it has died in between: as with a visibility timeout (Celery on Redis, SQS), where a
//! message that was handed out is nobody's until then, whoever asks.

use crate::host::Host;
use crate::id::HostId;
use crate::scenario::CentreKnobs;
use crate::settlement::{Calendar, Period};
use crate::store::centre::{Ask, Told};
use crate::store::wire::Wire;
use crate::time::WallTime;
use crate::trace::Event;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// What has become of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Run {
    /// Nobody has it.
    Open,
    /// It is some worker's, since the centre's clock had counted so much.
    Assigned { since: Duration },
    /// It is done.
    Done,
}

/// The memory of a process.
struct Centre {
    timeout: Duration,
    runs: BTreeMap<i64, Run>,
    /// Boundaries up to here have been made runs, or passed before this process started.
    reached: WallTime,
    calendar: Arc<Calendar>,
}

/// The process of the centre: watches the clock and answers workers for as long as it lives.
pub async fn serve(host: Rc<dyn Host>, knobs: CentreKnobs, calendar: Arc<Calendar>) {
    let centre = Centre { timeout: knobs.timeout, runs: BTreeMap::new(), reached: host.wall(), calendar };
    let centre = Rc::new(RefCell::new(centre));
    host.spawn("centre-clock", Box::pin(watch(Rc::clone(&host), Rc::clone(&centre)))).detach();
    let Ok(mut listener) = host.listen().await else { return };
    while let Ok((stream, by)) = listener.accept().await {
        host.spawn("centre-connection", Box::pin(connection(Rc::clone(&host), Rc::clone(&centre), Wire::new(stream), by))).detach();
    }
}

/// Makes runs of boundaries, one after the other, as its clock reaches them.
async fn watch(host: Rc<dyn Host>, centre: Rc<RefCell<Centre>>) {
    loop {
        let Some(next) = centre.borrow().next() else { return };
        let left = next.due.since(host.wall());
        if left.is_zero() {
            let mut centre = centre.borrow_mut();
            centre.runs.insert(next.id.0, Run::Open);
            centre.reached = next.due;
            continue;
        }
        tokio::select! {
            biased;
            () = host.sleep(left) => {}
            () = host.clock_changed() => {}
        }
    }
}

async fn connection(host: Rc<dyn Host>, centre: Rc<RefCell<Centre>>, mut wire: Wire, by: HostId) {
    while let Ok(Some(ask)) = wire.receive().await {
        let (told, event) = centre.borrow_mut().answer(ask, by, host.counts());
        if let Some(event) = event {
            host.record(event);
        }
        if wire.send(&told).await.is_err() {
            return;
        }
    }
}

impl Centre {
    /// The first boundary that has not been reached.
    fn next(&self) -> Option<Period> {
        self.calendar.periods.iter().copied().find(|period| self.reached < period.due)
    }

    fn answer(&mut self, ask: Ask, by: HostId, now: Duration) -> (Told, Option<Event>) {
        match ask {
            Ask::Runs => {
                let open = self.runs.iter().filter(|(_, run)| **run != Run::Done).map(|(period, _)| *period).collect();
                (Told::Runs { open, reached: self.reached }, None)
            }
            Ask::Take(period) => self.take(period, by, now),
            Ask::Done(period) => (self.set(period, Run::Done), None),
            Ask::Failed(period) => (self.set(period, Run::Open), None),
        }
    }

    fn take(&mut self, period: i64, by: HostId, now: Duration) -> (Told, Option<Event>) {
        let next = self.next();
        let Some(run) = self.runs.get_mut(&period) else {
            let will_come = self.calendar.periods.iter().any(|p| p.id.0 == period && next.is_some_and(|next| next.due <= p.due));
            return (if will_come { Told::Wait } else { Told::Nothing }, None);
        };
        match *run {
            Run::Done => return (Told::Nothing, None),
            // Also whoever has it: he has lost his memory, and may have a twin that still works.
            Run::Assigned { since, .. } if now.saturating_sub(since) < self.timeout => return (Told::Wait, None),
            Run::Open | Run::Assigned { .. } => {}
        }
        *run = Run::Assigned { since: now };
        (Told::Assigned, Some(Event::Dispatched { to: by, period: crate::id::PeriodId(period) }))
    }

    /// What a worker says of a run is believed, whoever it is. Of runs that were forgotten there is nothing to note.
    fn set(&mut self, period: i64, what: Run) -> Told {
        if let Some(run) = self.runs.get_mut(&period).filter(|run| **run != Run::Done) {
            *run = what;
        }
        Told::Nothing
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::NodeId;
    use crate::settlement::Schedule;
    use crate::time::Span;

    const A: HostId = HostId::Node(NodeId(0));
    const B: HostId = HostId::Node(NodeId(1));

    /// A centre with one run that is open and one boundary that has not been reached.
    fn centre() -> (Centre, i64, i64) {
        let calendar = Schedule::default().calendar().expect("a good schedule");
        let [first, second] = [0, 1].map(|n| calendar.periods[n]);
        let runs = BTreeMap::from([(first.id.0, Run::Open)]);
        let centre = Centre { timeout: 10.minutes(), runs, reached: first.due, calendar: Arc::new(calendar) };
        (centre, first.id.0, second.id.0)
    }

    #[test]
    fn a_run_is_one_workers_until_it_is_called_failed() {
        let (mut centre, run, _) = centre();
        let mut take = |by, minute: u64| centre.answer(Ask::Take(run), by, minute.minutes()).0;
        assert_eq!([take(A, 0), take(B, 9), take(B, 10), take(A, 11)], [Told::Assigned, Told::Wait, Told::Assigned, Told::Wait]);
        assert_eq!([take(B, 19), take(B, 20)], [Told::Wait, Told::Assigned], "whoever has it waits for the timeout as well");
        assert_eq!(centre.answer(Ask::Done(run), A, 21.minutes()).0, Told::Nothing);
        assert_eq!(centre.answer(Ask::Take(run), B, 40.minutes()).0, Told::Nothing, "done, whoever said so");
    }

    #[test]
    fn what_failed_is_open_and_what_was_missed_is_nothing() {
        let (mut centre, run, later) = centre();
        centre.answer(Ask::Take(run), A, Duration::ZERO);
        centre.answer(Ask::Failed(run), A, 1.minutes());
        assert_eq!(centre.answer(Ask::Take(run), B, 1.minutes()).0, Told::Assigned);
        assert_eq!(centre.answer(Ask::Take(later), B, 1.minutes()).0, Told::Wait, "its boundary will come");
        centre.runs.clear();
        assert_eq!(centre.answer(Ask::Take(run), B, 1.minutes()).0, Told::Nothing, "a restart forgets it");
    }
}
