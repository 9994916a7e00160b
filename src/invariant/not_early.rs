//! E: no settlement commits before the period has truly ended.

use crate::id::Letter;
use crate::invariant::settlements::settlements;
use crate::invariant::{History, Invariant, Verdict, Violation};
use crate::plan::duration;

/// The judge of *not-early*.
pub struct NotEarly;

impl Invariant for NotEarly {
    fn name(&self) -> &'static str {
        "not-early"
    }

    fn letter(&self) -> Letter {
        Letter::E
    }

    fn about(&self) -> &'static str {
        "no settlement commits before its period has truly ended"
    }

    fn judge(&self, history: &History<'_>) -> Verdict {
        for settlement in settlements(history.trace) {
            let (period, by, at) = (settlement.period, settlement.tx.by, settlement.tx.at);
            let shown = || history.calendar.shows(at);
            let what = match settlement.ending(history.calendar) {
                Some(known) if history.calendar.due(known) <= at => continue,
                Some(known) => {
                    let early = duration::text(history.calendar.due(known).since(at));
                    format!("{period} settled by {by} at {}, {early} before it ended", shown())
                }
                None => format!("{period} settled by {by} at {}, but the schedule has no such period", shown()),
            };
            return Verdict::Broken(Violation { at, period: Some(period), what });
        }
        Verdict::Holds
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::PeriodId;
    use crate::invariant::script::{N0, P1, Script, Settles};
    use crate::time::Span;

    /// The period is half-open: at its very end it has ended.
    #[test]
    fn at_the_boundary_holds() {
        let mut told = Script::new();
        told.after(P1, 0.ms()).settle(N0, P1, &Settles::default());
        told.holds(&NotEarly);
    }

    /// Control: the clock of n0 is 200 s fast and nobody asks the database's.
    #[test]
    fn a_fast_clock_is_caught() {
        let mut told = Script::new();
        told.before(P1, 80.seconds()).settle(N0, P1, &Settles::default());
        assert_eq!(told.breaks(&NotEarly), "2026-01-10 settled by n0 at 2026-01-09 23:58:40.000, 1m 20s before it ended");
    }

    /// Control: a settlement of a date that no boundary has.
    #[test]
    fn an_invented_period_is_caught() {
        let mut told = Script::new();
        told.after(P1, 1.minutes()).settle(N0, PeriodId(20_260_111), &Settles::default());
        assert!(told.breaks(&NotEarly).ends_with("the schedule has no such period"));
    }
}
