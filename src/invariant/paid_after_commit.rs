//! E: nobody is paid before a ranking that he stands in has been committed. A payment cannot be
//! rolled back: what is paid for a settlement that then fails was paid too early.

use crate::id::Letter;
use crate::invariant::{History, Invariant, Verdict, Violation};
use crate::trace::Event;

/// The judge of *paid-after-commit*.
pub struct PaidAfterCommit;

impl Invariant for PaidAfterCommit {
    fn name(&self) -> &'static str {
        "paid-after-commit"
    }

    fn letter(&self) -> Letter {
        Letter::E
    }

    fn about(&self) -> &'static str {
        "nobody is paid before the ranking that says so has been committed"
    }

    fn judge(&self, history: &History<'_>) -> Verdict {
        let mut ranked = Vec::with_capacity(64);
        for record in history.trace.records() {
            match record.event {
                Event::Ranked { period, player, .. } => ranked.push((period, player)),
                Event::Paid { period, player, .. } if !ranked.contains(&(period, player)) => {
                    let at = history.calendar.shows(record.at);
                    let what = format!("{player} paid for {period} at {at}, before any ranking with {player} was committed");
                    return Verdict::Broken(Violation { at: record.at, period: Some(period), what });
                }
                _ => {}
            }
        }
        Verdict::Holds
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariant::script::{N0, P1, P2, Script, Settles};
    use crate::time::Span;

    fn ranked() -> Settles<'static> {
        Settles { ranks: &[(7, 40), (8, 30)], ..Settles::default() }
    }

    #[test]
    fn who_is_ranked_may_be_paid() {
        let mut told = Script::new();
        told.after(P1, 3.minutes()).settle(N0, P1, &ranked()).pay(P1, 1, 7).pay(P1, 2, 8);
        told.holds(&PaidAfterCommit);
    }

    /// Control: paid from inside the transaction, which commits a second later.
    #[test]
    fn a_payment_before_the_commit_is_caught() {
        let mut told = Script::new();
        told.after(P1, 2.minutes()).pay(P1, 1, 7);
        told.after(P1, 3.minutes()).settle(N0, P1, &ranked());
        assert_eq!(
            told.breaks(&PaidAfterCommit),
            "player 7 paid for 2026-01-10 at 2026-01-10 00:02:00.000, before any ranking with player 7 was committed"
        );
    }

    /// Control: ranked in another period is not ranked in this one.
    #[test]
    fn a_ranking_counts_for_its_own_period() {
        let mut told = Script::new();
        told.after(P1, 3.minutes()).settle(N0, P1, &ranked()).pay(P1, 1, 7);
        told.after(P2, 3.minutes()).pay(P2, 1, 7);
        assert!(told.breaks(&PaidAfterCommit).starts_with("player 7 paid for 2026-01-25"));
    }
}
