//! C: everything earned is in exactly one settlement, or still open on its player's account.
//!
//! For each settlement transaction and player, what was taken from the account is what the
//! settlement counted ([`Ledger`]); nothing is counted twice; and in the end each account
//! holds what was earned and not taken.

use crate::id::{Letter, PlayerId};
use crate::invariant::ledger::{Earning, Ledger, points};
use crate::invariant::settlements::Settlement;
use crate::invariant::{History, Invariant, Verdict, Violation};

/// The judge of *points-conserved*.
pub struct PointsConserved;

impl Invariant for PointsConserved {
    fn name(&self) -> &'static str {
        "points-conserved"
    }

    fn letter(&self) -> Letter {
        Letter::C
    }

    fn about(&self) -> &'static str {
        "everything earned is in exactly one settlement, or still open"
    }

    fn judge(&self, history: &History<'_>) -> Verdict {
        let ledger = Ledger::read(history);
        for (n, settlement) in ledger.settlements.iter().enumerate() {
            if let Some(what) = counted_again(history, &ledger, n).or_else(|| mistaken(history, &ledger, n)) {
                return Verdict::Broken(Violation { at: settlement.tx.at, period: Some(settlement.period), what });
            }
        }
        match unaccounted(history, &ledger) {
            Some(what) => Verdict::Broken(Violation { at: history.ended, period: None, what }),
            None => Verdict::Holds,
        }
    }
}

fn counted_again(history: &History<'_>, ledger: &Ledger<'_>, n: usize) -> Option<String> {
    let (again, settlement) = (ledger.counts[n].again?, &ledger.settlements[n]);
    let first = &ledger.settlements[again.counted_by.expect("counted again, so counted before")];
    Some(format!(
        "earning {} ({} of {}) counted in {} by {} at {}, then again in {} by {} at {}",
        again.id,
        points(again.amount),
        again.player,
        first.period,
        first.tx.by,
        history.calendar.shows(first.tx.at),
        settlement.period,
        settlement.tx.by,
        history.calendar.shows(settlement.tx.at)
    ))
}

/// A player from whom the transaction of the `n`th settlement took more, or less, than it counted.
fn mistaken(history: &History<'_>, ledger: &Ledger<'_>, n: usize) -> Option<String> {
    let settlement = &ledger.settlements[n];
    let same_tx = |other: &Settlement<'_>| other.tx.position == settlement.tx.position;
    if ledger.settlements[..n].iter().any(same_tx) {
        return None; // Judged with the first settlement of its transaction.
    }
    let together = (n..ledger.settlements.len()).take_while(|&m| same_tx(&ledger.settlements[m]));
    let counted = together.flat_map(|m| ledger.counted(m)).map(|e| (e.player, -e.amount));
    let (player, more) = first_difference(settlement.taken().chain(counted).collect())?;
    let taken: i64 = settlement.taken().filter(|(p, _)| *p == player).map(|(_, points)| points).sum();
    let start = format!(
        "the settlement of {} by {} took {} from {player} but counted {}",
        settlement.period,
        settlement.tx.by,
        points(taken),
        taken - more
    );
    Some(match vanished(ledger, n, player).filter(|_| more > 0) {
        Some(e) => {
            format!("{start}: earning {} ({}, committed at {}) vanished", e.id, points(e.amount), history.calendar.shows(e.committed))
        }
        None => start,
    })
}

/// The newest earning of a player that had been committed and that no settlement up to the `n`th counted.
fn vanished<'l>(ledger: &'l Ledger<'_>, n: usize, player: PlayerId) -> Option<&'l Earning> {
    let at = ledger.settlements[n].tx.at;
    let open = |e: &&Earning| e.player == player && e.committed <= at && e.counted_by.is_none_or(|by| by > n);
    ledger.earnings.iter().filter(open).max_by_key(|e| e.committed)
}

/// A player whose account does not hold what was earned and not taken.
fn unaccounted(history: &History<'_>, ledger: &Ledger<'_>) -> Option<String> {
    let mut open: Vec<(PlayerId, i64)> = ledger.earnings.iter().map(|e| (e.player, e.amount)).collect();
    for (n, settlement) in ledger.settlements.iter().enumerate() {
        // Settlements of one transaction share what it took.
        if n == 0 || ledger.settlements[n - 1].tx.position != settlement.tx.position {
            open.extend(settlement.taken().map(|(player, points)| (player, -points)));
        }
    }
    open.extend(history.end.points.iter().map(|&(player, points)| (player, -points)));
    let (player, missing) = first_difference(open)?;
    let has = history.end.points.iter().find(|(p, _)| *p == player).map_or(0, |(_, points)| *points);
    Some(format!("in the end {player} has {has} points, but {} were earned and not settled", has + missing))
}

/// The first player whose entries do not cancel out, and what is left of them.
fn first_difference(mut entries: Vec<(PlayerId, i64)>) -> Option<(PlayerId, i64)> {
    entries.sort_unstable_by_key(|(player, _)| *player);
    let sums = entries.chunk_by(|a, b| a.0 == b.0).map(|of_one| (of_one[0].0, of_one.iter().map(|(_, points)| points).sum()));
    sums.into_iter().find(|(_, sum)| *sum != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariant::script::{N0, N1, P1, P2, Script, Settles};
    use crate::time::{SimTime, Span};

    /// Players 7 and 8 earn 40 and 41 points before the end, player 8 earns 9 more half a minute after it.
    fn earned() -> Script {
        let mut told = Script::new();
        told.before(P1, 2.minutes()).earn(1, 7, 40).earn(2, 8, 41);
        told.after(P1, 30.seconds()).earn(4, 8, 9);
        told
    }

    const GOOD: Settles<'static> = Settles { marks: &[1, 2], takes: &[(7, 40), (8, 41)], ranks: &[(8, 41), (7, 40)] };

    /// What was earned after the boundary stays on the account.
    #[test]
    fn settled_or_open_holds() {
        let mut told = earned();
        told.after(P1, 2.minutes()).settle(N0, P1, &GOOD);
        told.left(8, 9).holds(&PointsConserved);
    }

    /// A second settlement that finds nothing takes nothing.
    #[test]
    fn an_empty_second_settlement_holds() {
        let mut told = earned();
        told.after(P1, 2.minutes()).settle(N0, P1, &GOOD);
        told.after(P1, 3.minutes()).settle(N1, P1, &Settles::default());
        told.left(8, 9).holds(&PointsConserved);
    }

    /// Control: the published body sets every account to zero, what was earned after the boundary included.
    #[test]
    fn a_reset_of_everything_is_caught() {
        let mut told = earned();
        told.after(P1, 2.minutes()).settle(N0, P1, &Settles { marks: &[], takes: &[(7, 40), (8, 50)], ranks: &[(7, 40)] });
        let expected = "the settlement of 2026-01-10 by n0 took 50 points from player 8 but counted 41: \
                        earning 4 (9 points, committed at 2026-01-10 00:00:30.000) vanished";
        assert_eq!(told.breaks(&PointsConserved), expected);
    }

    /// Control: marked, but not taken.
    #[test]
    fn taking_too_little_is_caught() {
        let mut told = earned();
        told.after(P1, 2.minutes()).settle(N0, P1, &Settles { takes: &[(7, 40)], ..GOOD });
        assert_eq!(told.breaks(&PointsConserved), "the settlement of 2026-01-10 by n0 took 0 points from player 8 but counted 41");
    }

    /// Control: two unguarded settlements overlap, both see and take the same points.
    #[test]
    fn counting_twice_is_caught() {
        let mut told = earned();
        let began: SimTime = told.due(P1) + 1.minutes();
        told.after(P1, 2.minutes()).settle(N0, P1, &GOOD);
        told.after(P1, 3.minutes()).settle_begun(N1, P1, began, &Settles { marks: &[], ..GOOD });
        let expected = "earning 1 (40 points of player 7) counted in 2026-01-10 by n0 at 2026-01-10 00:02:00.000, \
                        then again in 2026-01-10 by n1 at 2026-01-10 00:03:00.000";
        assert_eq!(told.breaks(&PointsConserved), expected);
    }

    /// Control: points vanish from an account outside of any settlement.
    #[test]
    fn a_wrong_account_in_the_end_is_caught() {
        let mut told = earned();
        told.after(P1, 2.minutes()).settle(N0, P1, &GOOD);
        told.after(P2, 2.minutes()).settle(N0, P2, &Settles { marks: &[4], takes: &[(8, 9)], ranks: &[(8, 9)] });
        told.holds(&PointsConserved);
        told.left(7, -3);
        assert_eq!(told.breaks(&PointsConserved), "in the end player 7 has -3 points, but 0 were earned and not settled");
    }
}
