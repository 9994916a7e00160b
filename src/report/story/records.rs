//! A run record by record, nothing gathered and nothing left out: for whoever looks for an
//! error in a strategy, or in onceproof.

use crate::report::story::local;
use crate::settlement::Calendar;
use crate::trace::Trace;

/// One line for each record: its number, true time, and the event with all its fields.
pub fn records(trace: &Trace, calendar: &Calendar) -> Vec<String> {
    let line = |(n, record): (usize, &crate::trace::Record)| format!("{n:>6}  {}  {:?}", local(calendar, record.at), record.event);
    trace.records().iter().enumerate().map(line).collect()
}
