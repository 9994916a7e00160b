//! Who earned what, and which settlement counted it: the judges' own bookkeeping, from what
//! the database committed, in the order of its commits.
//!
//! What a settlement *counted* is what it marked. One that marked nothing (it does not know
//! how, or there was nothing to mark) counted what it must have seen: all earnings before the
//! period's end that had been committed when it began and that no earlier settlement had
//! counted. What changed between its beginning and its commit it may have seen either way:
//! for each player, what it stored and took decides.

use crate::id::PlayerId;
use crate::invariant::History;
use crate::invariant::settlements::{Settlement, settlements};
use crate::time::{SimTime, WallTime};
use crate::trace::Event;

/// More earnings of one player than these are tried all or none, not in every combination.
const TRIED_IN_ALL_WAYS: usize = 8;

/// `1 point`, `2 points`.
pub fn points(n: i64) -> String {
    format!("{n} point{}", if n == 1 { "" } else { "s" })
}

/// An earning as the database committed it.
#[derive(Clone, Copy, Debug)]
pub struct Earning {
    pub id: i64,
    pub player: PlayerId,
    pub amount: i64,
    /// The time that its row carries.
    pub dated: WallTime,
    pub committed: SimTime,
    position: usize,
    /// The settlement that counted it first, by its place in the ledger.
    pub counted_by: Option<usize>,
}

/// What one settlement counted.
#[derive(Clone, Debug, Default)]
pub struct Count {
    /// Its earnings, by their places in the ledger.
    pub places: Vec<usize>,
    /// What it had to count and did not mark.
    pub left_out: Option<Earning>,
    /// What it marked although it was earned after the period's end.
    pub too_late: Option<Earning>,
    /// What an earlier settlement had counted.
    pub again: Option<Earning>,
}

/// All earnings, all settlements, and what each counted.
#[derive(Debug)]
pub struct Ledger<'a> {
    pub earnings: Vec<Earning>,
    pub settlements: Vec<Settlement<'a>>,
    /// In step with `settlements`.
    pub counts: Vec<Count>,
}

impl<'a> Ledger<'a> {
    /// Reads a history.
    pub fn read(history: &History<'a>) -> Ledger<'a> {
        let mut earnings = earnings(history);
        let settlements = settlements(history.trace);
        let mut counts = Vec::with_capacity(settlements.len());
        for (n, settlement) in settlements.iter().enumerate() {
            // An invented period has no end and counts nothing; *not-early* says so.
            let due = settlement.ending(history.calendar).map_or(WallTime(i64::MIN), |p| p.due);
            let seen = Seen::of(settlement, due, &earnings, &settlements);
            let counted =
                if settlement.marked().next().is_some() { marked(settlement, &earnings) } else { assumed(settlement, &seen, &earnings) };
            counts.push(count(n, due, counted, &seen, &mut earnings));
        }
        Ledger { earnings, settlements, counts }
    }

    /// What the `n`th settlement counted.
    pub fn counted(&self, n: usize) -> impl Iterator<Item = &Earning> {
        self.counts[n].places.iter().map(|&place| &self.earnings[place])
    }
}

/// Everything earned, by id.
fn earnings(history: &History<'_>) -> Vec<Earning> {
    let mut found = Vec::with_capacity(64);
    let mut commit = 0;
    for (position, record) in history.trace.records().iter().enumerate() {
        match record.event {
            Event::Committed { .. } => commit = position,
            Event::Earned { earning: id, player, amount, at: dated, .. } => {
                found.push(Earning { id, player, amount, dated, committed: record.at, position: commit, counted_by: None });
            }
            _ => {}
        }
    }
    found.sort_by_key(|e| e.id);
    found
}

/// The earnings that a settlement could have seen, by their places in the ledger.
#[derive(Default)]
struct Seen {
    /// What it must have seen.
    surely: Vec<usize>,
    /// What it may have seen: committed while it ran; then, counted by another while it ran.
    perhaps: Vec<usize>,
}

impl Seen {
    fn of(settlement: &Settlement<'_>, due: WallTime, earnings: &[Earning], settlements: &[Settlement<'_>]) -> Seen {
        let (began, position) = (settlement.tx.began, settlement.tx.position);
        let mut seen = Seen::default();
        let mut counted_meanwhile = Vec::new();
        for (n, earning) in earnings.iter().enumerate().filter(|(_, e)| e.dated < due && e.position < position) {
            match earning.counted_by.map(|by| settlements[by].tx.at) {
                Some(counted) if counted < began => {}
                Some(_) => counted_meanwhile.push(n),
                None if earning.committed < began => seen.surely.push(n),
                None => seen.perhaps.push(n),
            }
        }
        seen.perhaps.append(&mut counted_meanwhile);
        seen
    }
}

/// What a settlement says that it counted.
fn marked(settlement: &Settlement<'_>, earnings: &[Earning]) -> Vec<usize> {
    settlement.marked().filter_map(|id| earnings.binary_search_by_key(&id, |e| e.id).ok()).collect()
}

/// What a settlement that marked nothing counted.
fn assumed(settlement: &Settlement<'_>, seen: &Seen, earnings: &[Earning]) -> Vec<usize> {
    let mut counted = seen.surely.clone();
    let mut players: Vec<PlayerId> = seen.perhaps.iter().map(|&n| earnings[n].player).collect();
    players.sort_unstable();
    players.dedup();
    for player in players {
        let stored = settlement.ranked().find(|s| s.player == player).map(|s| s.points);
        let wanted = stored.or_else(|| settlement.taken().find(|(p, _)| *p == player).map(|(_, points)| points));
        let sure: i64 = seen.surely.iter().map(|&n| &earnings[n]).filter(|e| e.player == player).map(|e| e.amount).sum();
        let options: Vec<usize> = seen.perhaps.iter().copied().filter(|&n| earnings[n].player == player).collect();
        counted.extend(chosen(&options, wanted.unwrap_or(sure) - sure, earnings));
    }
    counted
}

/// The options that add up to `wanted`, those in front preferred; none of them if it cannot be reached.
fn chosen(options: &[usize], wanted: i64, earnings: &[Earning]) -> Vec<usize> {
    let picked = |ways: u32| options.iter().enumerate().filter(move |(bit, _)| ways >> (*bit).min(31) & 1 == 1).map(|(_, &n)| n);
    let all = if options.len() <= TRIED_IN_ALL_WAYS { 1u32 << options.len() } else { 1 };
    let sum = |ways: u32| picked(ways).map(|n| earnings[n].amount).sum::<i64>();
    (0..all).chain([u32::MAX]).find(|&ways| sum(ways) == wanted).map_or_else(Vec::new, |ways| picked(ways).collect())
}

/// Enters what the `n`th settlement counted.
fn count(n: usize, due: WallTime, places: Vec<usize>, seen: &Seen, earnings: &mut [Earning]) -> Count {
    let mut count = Count::default();
    for &place in &places {
        let earning = &mut earnings[place];
        if earning.counted_by.is_some() {
            count.again = count.again.or(Some(*earning));
        }
        if earning.dated >= due {
            count.too_late = count.too_late.or(Some(*earning));
        }
        earning.counted_by = earning.counted_by.or(Some(n));
    }
    count.places = places;
    count.left_out = seen.surely.iter().map(|&place| earnings[place]).find(|e| e.counted_by.is_none());
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn earning(amount: i64) -> Earning {
        let (player, dated, committed) = (PlayerId(1), WallTime(0), SimTime::ZERO);
        Earning { id: amount, player, amount, dated, committed, position: 0, counted_by: None }
    }

    #[test]
    fn the_combination_that_adds_up_is_chosen() {
        let earnings: Vec<Earning> = [1, 2, 4, 8].map(earning).to_vec();
        assert_eq!(chosen(&[0, 1, 2, 3], 10, &earnings), [1, 3]);
        assert_eq!(chosen(&[0, 1, 2, 3], 0, &earnings), [0; 0]);
        assert_eq!(chosen(&[0, 1, 2, 3], 16, &earnings), [0; 0]);
    }

    /// Beyond eight, all or none.
    #[test]
    fn many_are_all_or_none() {
        let earnings: Vec<Earning> = (0..40).map(|_| earning(3)).collect();
        let options: Vec<usize> = (0..40).collect();
        assert_eq!(chosen(&options, 120, &earnings).len(), 40);
        assert_eq!(chosen(&options, 3, &earnings).len(), 0);
    }
}
