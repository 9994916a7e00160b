//! True time on paper. A run lasts from minutes to days and acts in bursts of milliseconds, so the
//! axis is made of stretches, each with a scale of its own, and of folds between them.
//!
//! Instants of interest begin as one stretch. While a stretch would be wider than [`WIDEST`] with
//! its closest neighbours [`APART`] from each other, its longest gap becomes a fold.

/// Pixels between neighbouring instants of a stretch, at least, before the picture is fitted.
const APART: f64 = 14.0;
/// How much narrower a picture may become so that it fits.
const SQUEEZE: f64 = 0.8;
/// Pixels of a stretch, before the picture is filled.
const WIDEST: f64 = 260.0;
/// Pixels of a fold.
const FOLD: f64 = 34.0;
/// Pixels before the first instant of a stretch, and after its last.
const MARGIN: f64 = 22.0;
/// Pixels of the whole picture that are there on a usual screen.
const TARGET: f64 = 1120.0;
/// Pixels of the whole picture, at most.
const LIMIT: f64 = 2600.0;

/// Instants that may have a place of their own.
const MOST: usize = 200;

/// A part of the axis; its scale is even.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    /// From when, in milliseconds of true time.
    pub from: f64,
    /// Until when.
    pub to: f64,
    /// From where, in pixels.
    pub x: f64,
    /// How wide.
    pub wide: f64,
    /// The first instant of interest, and the last; none in a fold.
    pub instants: Option<(u64, u64)>,
}

/// The axis.
#[derive(Clone, Debug)]
pub struct Axis {
    /// From left to right, without a gap.
    pub pieces: Vec<Piece>,
    /// In pixels.
    pub width: f64,
}

impl Axis {
    /// The axis of a run that ends at `end`. Instants come with a rank; where there are too many,
    /// those of the highest rank go without a place of their own.
    pub fn new(ranked: &[(u64, u8)], end: u64) -> Axis {
        let mut ranked = ranked.to_vec();
        ranked.sort_unstable_by_key(|&(at, rank)| (rank, at));
        ranked.truncate(MOST);
        loop {
            let mut instants: Vec<u64> = ranked.iter().map(|&(at, _)| at.min(end)).collect();
            instants.sort_unstable();
            instants.dedup();
            let axis = Axis::of(&instants, end);
            if axis.width <= LIMIT || ranked.len() < 2 {
                return axis;
            }
            ranked.truncate(ranked.len() * 9 / 10);
        }
    }

    fn of(instants: &[u64], end: u64) -> Axis {
        let mut pieces = Vec::new();
        let groups = if instants.is_empty() { Vec::new() } else { groups(instants) };
        let mut at = 0.0;
        for (i, group) in groups.iter().enumerate() {
            let before = if i == 0 { group[0] } else { group[0] - last(groups[i - 1]) };
            let after = groups.get(i + 1).map_or(end, |next| next[0]) - last(group);
            let piece = stretch(group, before as f64, after as f64);
            fold(&mut pieces, at, piece.from);
            at = piece.to;
            pieces.push(piece);
        }
        let end = if pieces.is_empty() { end.max(1) } else { end };
        fold(&mut pieces, at, end as f64);
        laid_out(pieces)
    }

    /// Where an instant is.
    pub fn x(&self, at: u64) -> f64 {
        self.x_of(at as f64)
    }

    /// Where a time between two instants is.
    pub fn x_of(&self, at: f64) -> f64 {
        let piece = self.pieces.iter().find(|piece| at <= piece.to).or(self.pieces.last());
        piece.map_or(0.0, |piece| {
            let share = (at - piece.from) / (piece.to - piece.from);
            piece.x + share.clamp(0.0, 1.0) * piece.wide
        })
    }

    /// Stretches, from left to right.
    pub fn stretches(&self) -> impl Iterator<Item = (&Piece, (u64, u64))> {
        self.pieces.iter().filter_map(|piece| piece.instants.map(|instants| (piece, instants)))
    }

    /// Folds, from left to right.
    pub fn folds(&self) -> impl Iterator<Item = &Piece> {
        self.pieces.iter().filter(|piece| piece.instants.is_none())
    }

    /// Whether two instants are in the same fold.
    pub fn in_one_fold(&self, a: u64, b: u64) -> bool {
        let (a, b) = (a.min(b) as f64, a.max(b) as f64);
        self.folds().any(|fold| fold.from < a && b < fold.to)
    }

    /// Whether an instant is in a fold.
    pub fn folded(&self, at: u64) -> bool {
        self.in_one_fold(at, at)
    }
}

fn last(group: &[u64]) -> u64 {
    group[group.len() - 1]
}

/// Groups of which each becomes a stretch.
fn groups(instants: &[u64]) -> Vec<&[u64]> {
    let gaps = instants.windows(2).map(|pair| pair[1] - pair[0]);
    let (Some(closest), Some(longest)) = (gaps.clone().min(), gaps.clone().max()) else { return vec![instants] };
    let span = last(instants) - instants[0];
    if span as f64 / closest as f64 * APART <= WIDEST {
        return vec![instants];
    }
    let cut = gaps.clone().position(|gap| gap == longest).map_or(0, |i| i + 1);
    let (left, right) = instants.split_at(cut);
    [groups(left), groups(right)].concat()
}

/// A group with its margins, which take no more than a third of the time around it.
fn stretch(group: &[u64], before: f64, after: f64) -> Piece {
    let (first, end) = (group[0] as f64, last(group) as f64);
    let closest = group.windows(2).map(|pair| pair[1] - pair[0]).min();
    let alone = (before.min(after) / 3.0).clamp(1.0, 1000.0);
    let scale = closest.map_or(MARGIN / alone, |gap| APART / gap as f64);
    let from = first - (MARGIN / scale).min(before / 3.0);
    let to = end + (MARGIN / scale).min(after / 3.0);
    let to = if to > from { to } else { from + 1.0 };
    Piece { from, to, x: 0.0, wide: scale * (to - from), instants: Some((group[0], last(group))) }
}

fn fold(pieces: &mut Vec<Piece>, from: f64, to: f64) {
    if to > from {
        pieces.push(Piece { from, to, x: 0.0, wide: FOLD, instants: None });
    }
}

/// Pieces side by side. Stretches share what is left of the picture; if it is a little too wide,
/// all become narrower.
fn laid_out(mut pieces: Vec<Piece>) -> Axis {
    let folds: f64 = pieces.iter().filter(|piece| piece.instants.is_none()).map(|piece| piece.wide).sum();
    let all: f64 = pieces.iter().map(|piece| piece.wide).sum();
    let (of_folds, of_stretches) = match all {
        _ if all < TARGET && all > folds => (1.0, (TARGET - folds) / (all - folds)),
        _ if all * SQUEEZE <= TARGET => (TARGET / all, TARGET / all),
        _ => (1.0, 1.0),
    };
    let mut x = 0.0;
    for piece in &mut pieces {
        piece.wide *= if piece.instants.is_some() { of_stretches } else { of_folds };
        piece.x = x;
        x += piece.wide;
    }
    Axis { pieces, width: x }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that look random and are the same everywhere.
    fn drawn(seed: u64, n: usize) -> Vec<(u64, u8)> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state >> 33
        };
        (0..n).map(|_| (next() % [50, 5_000, 3_000_000, 1_300_000_000][(next() % 4) as usize], (next() % 4) as u8)).collect()
    }

    #[test]
    fn later_is_further_right_and_nothing_is_outside() {
        for seed in 0..200 {
            let axis = Axis::new(&drawn(seed, 1 + seed as usize % 60), 1_300_000_000);
            let mut previous = -1.0;
            let mut probes: Vec<u64> = (0..2000).map(|i| i * 650_000).chain(drawn(seed + 1, 200).iter().map(|i| i.0)).collect();
            probes.sort_unstable();
            probes.dedup();
            for at in probes {
                let x = axis.x(at);
                assert!(x > previous, "seed {seed}: {at} at {x} is not right of {previous}");
                assert!((0.0..=axis.width).contains(&x));
                previous = x;
            }
        }
    }

    #[test]
    fn instants_that_have_a_place_are_apart_and_the_picture_is_no_wider_than_its_limit() {
        for seed in 0..200 {
            let instants = drawn(seed, 1 + seed as usize % 16);
            let axis = Axis::new(&instants, 1_300_000_000);
            let mut all: Vec<u64> = instants.iter().map(|i| i.0).collect();
            all.sort_unstable();
            all.dedup();
            for pair in all.windows(2) {
                let apart = axis.x(pair[1]) - axis.x(pair[0]);
                assert!(apart > APART * SQUEEZE - 0.001, "seed {seed}: {pair:?} are {apart} apart");
            }
            assert!(axis.width >= TARGET - 0.001);
        }
        let many = Axis::new(&drawn(7, 5000), 1_300_000_000);
        assert!(many.width <= LIMIT, "{}", many.width);
    }

    #[test]
    fn the_longest_gap_is_folded_and_the_pieces_join() {
        let axis = Axis::new(&[(1000, 0), (1080, 0), (1_900_000, 0), (1_900_040, 0)], 2_000_000);
        assert_eq!(axis.folds().count(), 3, "{axis:?}");
        assert!(axis.folded(900_000) && !axis.folded(1040));
        for pair in axis.pieces.windows(2) {
            assert!((pair[0].to - pair[1].from).abs() < 1e-6 && (pair[0].x + pair[0].wide - pair[1].x).abs() < 1e-6);
        }
    }

    #[test]
    fn nothing_to_show_is_one_fold() {
        let axis = Axis::new(&[], 0);
        assert_eq!((axis.pieces.len(), axis.x(0)), (1, 0.0));
    }
}
