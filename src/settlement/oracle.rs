//! What a ranking and an account must be, computed from what was earned, in plain Rust: it
//! shares no code and no SQL with any strategy.

use crate::id::PlayerId;
use std::collections::BTreeMap;

/// One player's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// From 1.
    pub rank: i64,
    /// Who.
    pub player: PlayerId,
    /// With how many points.
    pub points: i64,
}

/// Points by player.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Board(BTreeMap<PlayerId, i64>);

impl Board {
    /// Adds what a player earned.
    pub fn add(&mut self, player: PlayerId, amount: i64) {
        *self.0.entry(player).or_default() += amount;
    }

    /// What a player has.
    pub fn points(&self, player: PlayerId) -> i64 {
        self.0.get(&player).copied().unwrap_or(0)
    }

    /// All players that were ever on the board, by player.
    pub fn iter(&self) -> impl Iterator<Item = (PlayerId, i64)> + '_ {
        self.0.iter().map(|(p, n)| (*p, *n))
    }

    /// The best `n` players with more than no points: most points first, ties by player.
    pub fn ranking(&self, n: usize) -> Vec<Standing> {
        let mut players: Vec<(PlayerId, i64)> = self.iter().filter(|(_, points)| *points > 0).collect();
        players.sort_by_key(|(player, points)| (std::cmp::Reverse(*points), *player));
        players.truncate(n);
        (1..).zip(players).map(|(rank, (player, points))| Standing { rank, player, points }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_points_first_ties_by_player_nobody_without_points() {
        let mut board = Board::default();
        for (player, amount) in [(3, 5), (1, 7), (2, 5), (4, 0), (3, 0)] {
            board.add(PlayerId(player), amount);
        }
        let places: Vec<_> = board.ranking(30).iter().map(|s| (s.rank, s.player.0, s.points)).collect();
        assert_eq!(places, [(1, 1, 7), (2, 2, 5), (3, 3, 5)]);
        assert_eq!(board.ranking(1).len(), 1);
    }
}
