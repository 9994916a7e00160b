//! D: no period has two committed settlement transactions, as the database server recorded them.

use crate::id::Letter;
use crate::invariant::settlements::settlements;
use crate::invariant::{History, Invariant, Verdict, Violation};

/// The judge of *settled-once*.
pub struct SettledOnce;

impl Invariant for SettledOnce {
    fn name(&self) -> &'static str {
        "settled-once"
    }

    fn letter(&self) -> Letter {
        Letter::D
    }

    fn about(&self) -> &'static str {
        "no period has two committed settlement transactions"
    }

    fn judge(&self, history: &History<'_>) -> Verdict {
        let all = settlements(history.trace);
        for (n, again) in all.iter().enumerate() {
            let (period, by, at) = (again.period, again.tx.by, again.tx.at);
            let shows = |at| history.calendar.shows(at);
            let what = if again.times > 1 {
                format!("{period} settled {} times by {by} in one transaction at {}", again.times, shows(at))
            } else if let Some(first) = all[..n].iter().find(|s| s.period == period) {
                format!("{period} settled by {} at {}, then again by {by} at {}", first.tx.by, shows(first.tx.at), shows(at))
            } else {
                continue;
            };
            return Verdict::Broken(Violation { at, period: Some(period), what });
        }
        Verdict::Holds
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariant::script::{N0, N1, N2, P1, P2, Script, Settles};
    use crate::time::Span;
    use crate::trace::Event;

    #[test]
    fn each_period_once_holds() {
        let mut told = Script::new();
        told.after(P1, 2.minutes()).settle(N0, P1, &Settles::default());
        told.after(P2, 2.minutes()).settle(N0, P2, &Settles::default());
        told.holds(&SettledOnce);
    }

    /// Control: the dirty data of the original complaint, in two transactions.
    #[test]
    fn a_second_settlement_is_caught() {
        let mut told = Script::new();
        told.after(P1, 2.minutes()).settle(N0, P1, &Settles::default());
        told.after(P1, 4.minutes()).settle(N2, P1, &Settles::default());
        assert_eq!(
            told.breaks(&SettledOnce),
            "2026-01-10 settled by n0 at 2026-01-10 00:02:00.000, then again by n2 at 2026-01-10 00:04:00.000"
        );
    }

    /// Control: one transaction that inserts two settlement rows of a period.
    #[test]
    fn twice_in_one_transaction_is_caught() {
        let mut told = Script::new();
        let tx = told.next_tx();
        let settled = |attempt| Event::Settled { tx, period: P1, node: crate::id::NodeId(1), attempt };
        told.after(P1, 2.minutes()).commit(N1, [settled(1), settled(2)]);
        assert_eq!(told.breaks(&SettledOnce), "2026-01-10 settled 2 times by n1 in one transaction at 2026-01-10 00:02:00.000");
    }
}
