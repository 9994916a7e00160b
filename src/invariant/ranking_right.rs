//! C: the ranking that a settlement stored equals the oracle's ranking of what it counted
//! ([`Ledger`] says what that is), and it counted what it had to count.

use crate::id::Letter;
use crate::invariant::ledger::{Count, Ledger, points};
use crate::invariant::{History, Invariant, Verdict, Violation};
use crate::settlement::{Board, RANKED, Standing};

/// The judge of *ranking-right*.
pub struct RankingRight;

impl Invariant for RankingRight {
    fn name(&self) -> &'static str {
        "ranking-right"
    }

    fn letter(&self) -> Letter {
        Letter::C
    }

    fn about(&self) -> &'static str {
        "the stored ranking equals the oracle's"
    }

    fn judge(&self, history: &History<'_>) -> Verdict {
        let ledger = Ledger::read(history);
        for (n, settlement) in ledger.settlements.iter().enumerate() {
            if let Some(error) = wrong_count(history, &ledger.counts[n]).or_else(|| wrong_ranking(&ledger, n)) {
                let (period, by, at) = (settlement.period, settlement.tx.by, settlement.tx.at);
                let what = format!("{period} settled by {by} at {}: {error}", history.calendar.shows(at));
                return Verdict::Broken(Violation { at, period: Some(period), what });
            }
        }
        Verdict::Holds
    }
}

fn wrong_count(history: &History<'_>, count: &Count) -> Option<String> {
    if let Some(e) = count.left_out {
        return Some(format!(
            "earning {} ({} of {}, committed at {}) was left out",
            e.id,
            points(e.amount),
            e.player,
            history.calendar.shows(e.committed)
        ));
    }
    let e = count.too_late?;
    Some(format!(
        "earning {} ({} of {}, committed at {}) belongs to a later period",
        e.id,
        points(e.amount),
        e.player,
        history.calendar.shows(e.committed)
    ))
}

fn wrong_ranking(ledger: &Ledger<'_>, n: usize) -> Option<String> {
    let mut board = Board::default();
    ledger.counted(n).for_each(|e| board.add(e.player, e.amount));
    let right = board.ranking(RANKED);
    let mut stored: Vec<Standing> = ledger.settlements[n].ranked().collect();
    stored.sort_by_key(|s| s.rank);
    let place = (0..right.len().max(stored.len())).find(|&n| right.get(n) != stored.get(n))?;
    Some(match (stored.get(place), right.get(place)) {
        (Some(s), Some(r)) => format!("stored {}, should be {}", words(s), words(r)),
        (None, Some(r)) => format!("nothing stored where {} should be", words(r)),
        (Some(s), None) => format!("stored {}, should be nobody", words(s)),
        (None, None) => unreachable!("the place of a difference is within one of the two rankings"),
    })
}

fn words(s: &Standing) -> String {
    format!("rank {} {} with {}", s.rank, s.player, points(s.points))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::HostId;
    use crate::invariant::script::{N0, N1, P1, P2, Script, Settles};
    use crate::time::{SimTime, Span};

    /// Player 7 earns 40 and 3 points before the end, player 8 earns 41; player 8 earns 9 more just after the end.
    fn earned() -> Script {
        let mut told = Script::new();
        told.before(P1, 2.minutes()).earn(1, 7, 40).earn(2, 8, 41);
        told.before(P1, 1.ms()).earn(3, 7, 3);
        told.after(P1, 0.ms()).earn(4, 8, 9);
        told
    }

    const GOOD: Settles<'static> = Settles { marks: &[1, 2, 3], takes: &[(7, 43), (8, 41)], ranks: &[(7, 43), (8, 41)] };

    /// What is earned exactly at the boundary belongs to the next period, which settles it.
    #[test]
    fn the_right_ranking_holds() {
        let mut told = earned();
        told.after(P1, 2.minutes()).settle(N0, P1, &GOOD);
        told.after(P2, 2.minutes()).settle(N0, P2, &Settles { marks: &[4], takes: &[(8, 9)], ranks: &[(8, 9)] });
        told.holds(&RankingRight);
    }

    /// A body that marks nothing is judged by what it must have seen.
    #[test]
    fn an_unmarked_ranking_is_judged_too() {
        let mut told = earned();
        told.after(P1, 2.minutes()).settle(N0, P1, &Settles { marks: &[], ..GOOD });
        told.holds(&RankingRight);
    }

    /// Control: the published body leaves out whoever was active after the boundary.
    #[test]
    fn a_player_left_out_is_caught() {
        let mut told = earned();
        told.after(P1, 2.minutes()).settle(N0, P1, &Settles { marks: &[], takes: &[(7, 43), (8, 50)], ranks: &[(7, 43)] });
        let expected = "2026-01-10 settled by n0 at 2026-01-10 00:02:00.000: nothing stored where rank 2 player 8 with 41 points should be";
        assert_eq!(told.breaks(&RankingRight), expected);
    }

    /// Control: the wrong points, consistently marked.
    #[test]
    fn wrong_points_are_caught() {
        let mut told = earned();
        told.after(P1, 2.minutes()).settle(N0, P1, &Settles { ranks: &[(8, 50), (7, 43)], ..GOOD });
        assert!(told.breaks(&RankingRight).ends_with("stored rank 1 player 8 with 50 points, should be rank 1 player 7 with 43 points"));
    }

    /// Control: an earning that had been committed before the settlement began was not marked.
    #[test]
    fn an_earning_left_out_is_caught() {
        let mut told = earned();
        told.after(P1, 2.minutes()).settle(N0, P1, &Settles { marks: &[1, 2], takes: &[], ranks: &[(8, 41), (7, 40)] });
        assert!(
            told.breaks(&RankingRight).ends_with("earning 3 (3 points of player 7, committed at 2026-01-09 23:59:59.999) was left out")
        );
    }

    /// Control: an earning of the next period was marked.
    #[test]
    fn an_earning_of_the_next_period_is_caught() {
        let mut told = earned();
        told.after(P1, 2.minutes()).settle(N0, P1, &Settles { marks: &[1, 2, 3, 4], takes: &[], ranks: &[(8, 50), (7, 43)] });
        assert!(told.breaks(&RankingRight).ends_with("belongs to a later period"));
    }

    /// An earning that commits while a settlement runs may be in it or not; it counts in the next if not.
    #[test]
    fn what_commits_meanwhile_may_be_seen_or_not() {
        for seen in [true, false] {
            let mut told = earned();
            let (began, late) = (told.due(P1) + 2.minutes(), told.calendar.origin.wall(told.due(P1) - 1.seconds()));
            told.after(P1, 121.seconds()).earn_dated(5, 8, 6, late);
            let ranks: &[(i64, i64)] = if seen { &[(8, 47), (7, 43)] } else { &[(7, 43), (8, 41)] };
            told.after(P1, 122.seconds()).settle_begun(N0, P1, began, &Settles { ranks, ..Settles::default() });
            let rest: &[(i64, i64)] = if seen { &[(8, 9)] } else { &[(8, 15)] };
            told.after(P2, 2.minutes()).settle(N1, P2, &Settles { ranks: rest, ..Settles::default() });
            told.holds(&RankingRight);
        }
    }

    /// A second settlement by a good body finds nothing: that is dirty data of another kind, not a wrong ranking.
    /// Neither is one that overlapped the first and saw the same.
    #[test]
    fn an_empty_or_overlapping_second_settlement_is_no_wrong_ranking() {
        let mut told = earned();
        let began: SimTime = told.due(P1) + 1.minutes();
        told.after(P1, 2.minutes()).settle(N0, P1, &GOOD);
        told.after(P1, 3.minutes()).settle(N1, P1, &Settles::default());
        told.after(P1, 4.minutes()).settle_begun(HostId::node(2), P1, began, &Settles { marks: &[], ..GOOD });
        told.holds(&RankingRight);
    }
}
