//! A transaction in one line: what its rows mean together.

use crate::id::{HostId, PeriodId};
use crate::report::words::count;
use crate::trace::{Event, TaskStatus};
use std::collections::BTreeMap;

/// What a transaction came to.
#[derive(Debug, PartialEq, Eq)]
pub enum Came {
    /// It read, or planned what everybody expects.
    ToNothing,
    /// A player earned points.
    ToAnEarning,
    /// A claim was renewed.
    ToAHeartbeat,
    /// This.
    To(String),
}

/// Remembers the task rows, to tell a heartbeat from a claim.
#[derive(Debug, Default)]
pub struct Ledger(BTreeMap<PeriodId, (TaskStatus, i64, i64)>);

impl Ledger {
    /// Reads the rows of a transaction of a client on `by`.
    pub fn read(&mut self, by: HostId, rows: &[Event]) -> Came {
        if rows.is_empty() {
            return Came::ToNothing;
        }
        if rows.iter().all(|row| matches!(row, Event::Earned { .. })) {
            return Came::ToAnEarning;
        }
        let (mut said, mut heartbeats) = (Vec::new(), 0);
        for row in rows {
            match row {
                Event::Settled { period, node, attempt, .. } if HostId::Node(*node) == by => {
                    said.push(format!("settles {period} (its attempt {attempt})"));
                }
                Event::Settled { period, node, attempt, .. } => {
                    said.push(format!("settles {period} (in the name of {node}, attempt {attempt})"));
                }
                Event::TaskSet { period, status, version, attempt, .. } => {
                    let row = (*status, *version, *attempt);
                    if self.0.insert(*period, row) == Some(row) {
                        heartbeats += 1;
                    } else if *status != TaskStatus::Pending || 0 < *version + *attempt {
                        let status = word(*status);
                        said.push(format!("sets task {period} to {status} (version {version}, attempt {attempt})"));
                    }
                }
                Event::FenceSet { token, .. } => said.push(format!("takes fence token {token}")),
                Event::Alerted { period, .. } => said.push(format!("calls a human for {period}")),
                Event::AlertHandled { period, .. } => said.push(format!("closes the alert for {period}")),
                Event::LeaseRowSet { granted: true, .. } => said.push("takes the lease row".to_owned()),
                Event::LeaseRowSet { granted: false, .. } => said.push("sets the end of the lease row".to_owned()),
                Event::Delivered { row, .. } => said.push(format!("marks payment {row} as sent")),
                _ => {}
            }
        }
        let tally = |is: fn(&Event) -> bool| rows.iter().filter(|row| is(row)).count();
        let counted = [
            (tally(|e| matches!(e, Event::Marked { .. })), "marks", "earning"),
            (tally(|e| matches!(e, Event::Ranked { .. })), "ranks", "player"),
            (tally(|e| matches!(e, Event::Taken { .. })), "empties", "account"),
            (tally(|e| matches!(e, Event::Queued { .. })), "queues", "payment"),
        ];
        said.extend(counted.iter().filter(|(n, ..)| *n > 0).map(|(n, verb, noun)| format!("{verb} {}", count(*n, noun))));
        match (said.is_empty(), heartbeats) {
            (true, 0) => Came::ToNothing,
            (true, _) => Came::ToAHeartbeat,
            (false, _) => Came::To(said.join(", ")),
        }
    }
}

fn word(status: TaskStatus) -> &'static str {
    match status {
        TaskStatus::Pending => "pending",
        TaskStatus::Executing => "executing",
        TaskStatus::Completed => "completed",
        TaskStatus::Failed => "failed",
        TaskStatus::Dead => "dead letter",
    }
}
