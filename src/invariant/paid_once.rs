//! 2: no winner is paid twice for a period, and no place in a ranking is.

use crate::id::Letter;
use crate::invariant::{History, Invariant, Verdict, Violation};
use crate::trace::Event;

/// The judge of *paid-once*.
pub struct PaidOnce;

impl Invariant for PaidOnce {
    fn name(&self) -> &'static str {
        "paid-once"
    }

    fn letter(&self) -> Letter {
        Letter::Two
    }

    fn about(&self) -> &'static str {
        "no winner is paid twice for a period"
    }

    fn judge(&self, history: &History<'_>) -> Verdict {
        let mut paid = Vec::with_capacity(16);
        for record in history.trace.records() {
            let Event::Paid { period, rank, player, .. } = record.event else { continue };
            let at = record.at;
            for &(earlier_period, earlier_rank, earlier_player, earlier) in &paid {
                if earlier_period != period {
                    continue;
                }
                let shows = |at| history.calendar.shows(at);
                let what = if earlier_player == player {
                    format!("{player} paid for {period} at {}, then again at {}", shows(earlier), shows(at))
                } else if earlier_rank == rank {
                    format!("rank {rank} of {period} paid to {earlier_player} at {}, then to {player} at {}", shows(earlier), shows(at))
                } else {
                    continue;
                };
                return Verdict::Broken(Violation { at, period: Some(period), what });
            }
            paid.push((period, rank, player, at));
        }
        Verdict::Holds
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::PlayerId;
    use crate::invariant::script::{P1, P2, Script};
    use crate::time::Span;

    /// A repeated request that the payout service recognised by its key pays nobody twice.
    #[test]
    fn one_payment_a_winner_and_a_recognised_repeat_hold() {
        let mut told = Script::new();
        told.after(P1, 3.minutes()).pay(P1, 1, 7).pay(P1, 2, 8);
        told.event(Event::PaymentRepeated { period: P1, rank: 1, player: PlayerId(7) });
        told.after(P2, 3.minutes()).pay(P2, 1, 7);
        told.holds(&PaidOnce);
    }

    /// Control: the reply was lost, the request is sent again without a key.
    #[test]
    fn a_winner_paid_twice_is_caught() {
        let mut told = Script::new();
        told.after(P1, 3.minutes()).pay(P1, 1, 7);
        told.after(P1, 4.minutes()).pay(P1, 1, 7);
        assert_eq!(
            told.breaks(&PaidOnce),
            "player 7 paid for 2026-01-10 at 2026-01-10 00:03:00.000, then again at 2026-01-10 00:04:00.000"
        );
    }

    /// Control: two settlements ranked differently and both paid their first.
    #[test]
    fn a_place_paid_twice_is_caught() {
        let mut told = Script::new();
        told.after(P1, 3.minutes()).pay(P1, 1, 7).pay(P1, 1, 9);
        assert!(told.breaks(&PaidOnce).starts_with("rank 1 of 2026-01-10 paid to player 7"));
    }
}
