//! What the drawn runs of a cell cost: how many attempts it took, how long a period waited for its
//! settlement, and how long recovery took.
//!
//! A period counts as *due* if it ended before watching did, and as *settled* from the first commit
//! that stores its ranking or inserts its settlement row, whether or not another one follows.
//! Times are true times, and only of periods that were settled: [`Cost::due`] says how many more there were.

mod durations;

pub use durations::Durations;

use crate::explore::Subject;
use crate::id::PeriodId;
use crate::plan::FaultPlan;
use crate::time::SimTime;
use crate::trace::{Event, Trace};
use crate::world::{Receipt, Run};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What some runs cost. Costs of disjoint sets of runs merge in any order to the same cost.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// Watched periods that ended before watching did.
    pub due: u64,
    /// Those of them that were settled.
    pub settled: u64,
    /// Attempts that began; not those of another environment, which settle nothing here.
    pub attempts: u64,
    /// Attempts without which as much would have been settled: all but one for each settled period.
    pub wasted: u64,
    /// From the end of a period to its settlement; zero if it was settled too early.
    pub to_settle: Durations,
    /// From the first fault that held while the period waited for its settlement, to that settlement. A fault holds from
    /// when it struck until it is healed; what struck before the period ended counts from that end on, and what
    /// stays for good, such as a wrong clock, holds only when it strikes. Whatever nobody had noticed by the settlement
    /// held nothing up. Periods without such a fault are not counted.
    pub recovery: Durations,
}

/// A period whose settlement a run waits for.
struct Due {
    id: PeriodId,
    ended: SimTime,
    settled: Option<SimTime>,
}

impl Cost {
    /// Counts one run in, which `subject` made under `plan`.
    pub fn add(&mut self, subject: &dyn Subject, plan: &FaultPlan, run: &Run) {
        let calendar = subject.calendar();
        let periods = calendar.periods.iter().map(|period| Due { id: period.id, ended: calendar.due(*period), settled: None });
        let mut due: Vec<Due> = periods.filter(|period| period.ended <= run.ended_at).collect();
        let attempts = look_through(&run.trace, &mut due, |node| subject.scenario().is_elsewhere(node));
        let mut settled = 0;
        for Due { ended, settled: at, .. } in &due {
            let Some(at) = *at else { continue };
            settled += 1;
            self.to_settle.add(millis_between(*ended, at));
            if let Some(struck) = first_fault(plan, &run.receipts, *ended, at) {
                self.recovery.add(millis_between(struck, at));
            }
        }
        self.due += due.len() as u64;
        self.settled += settled;
        self.attempts += attempts;
        self.wasted += attempts.saturating_sub(settled);
    }

    /// Counts the runs of another cell's share in.
    pub fn merge(&mut self, other: Cost) {
        self.due += other.due;
        self.settled += other.settled;
        self.attempts += other.attempts;
        self.wasted += other.wasted;
        self.to_settle.merge(other.to_settle);
        self.recovery.merge(other.recovery);
    }
}

/// Notes when each period was settled first, and says how many attempts began.
fn look_through(trace: &Trace, due: &mut [Due], is_elsewhere: impl Fn(u8) -> bool) -> u64 {
    let mut attempts = 0;
    for record in trace.records() {
        match record.event {
            Event::AttemptBegan { attempt, .. } => attempts += u64::from(!is_elsewhere(attempt.node.0)),
            Event::Settled { period, .. } | Event::Ranked { period, .. } => {
                // A calendar's periods are in the order of their names.
                if let Ok(known) = due.binary_search_by_key(&period, |due| due.id) {
                    due[known].settled.get_or_insert(record.at);
                }
            }
            _ => {}
        }
    }
    attempts
}

/// From when on the first fault held that did so between the end of a period and its settlement.
fn first_fault(plan: &FaultPlan, receipts: &[Receipt], ended: SimTime, settled: SimTime) -> Option<SimTime> {
    let faults = plan.faults.iter().zip(receipts);
    let held = faults.filter_map(|(fault, receipt)| {
        let struck = receipt.fired?;
        receipt.felt.filter(|felt| felt.at < settled)?;
        let healed = struck + fault.harm.heals_after().unwrap_or(Duration::ZERO);
        (struck >= ended || healed > ended).then_some(struck.max(ended))
    });
    held.filter(|from| *from < settled).min()
}

fn millis_between(from: SimTime, to: SimTime) -> u64 {
    to.0.saturating_sub(from.0)
}

#[cfg(test)]
mod tests;
