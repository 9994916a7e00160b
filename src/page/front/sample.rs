//! Made-up verdicts, for tests.

use crate::page::source::verdicts::{Broken, Cell, Cost, Expected, First, Letter, Rate, Spread, Strategy, Surprise};
use crate::page::source::{Sources, Verdicts};

/// A cell that held in 38 of 40 runs.
pub fn holds(faults: &str) -> Cell {
    Cell {
        faults: faults.to_owned(),
        verdict: "holds".to_owned(),
        as_expected: true,
        runs: 40,
        felt: 38,
        felt_needed: 10,
        upper_bound: Some(0.0758),
        ..Cell::default()
    }
}

/// A cell in which these letters broke; those behind a `-` break in calm already.
pub fn breaks(faults: &str, letters: &str) -> Cell {
    let (own, calm) = letters.split_once('-').unwrap_or((letters, ""));
    let broken = own.chars().map(|letter| broken(letter, false)).chain(calm.chars().map(|letter| broken(letter, true))).collect();
    Cell { verdict: "breaks".to_owned(), upper_bound: None, broken, ..holds(faults) }
}

fn broken(letter: char, inherited: bool) -> Broken {
    Broken {
        letter: letter.to_string(),
        runs: 4,
        inherited,
        rate: Some(Rate { seen: 0.1, lower: 0.035, upper: 0.21, to_believe_a_fix: Some(84) }),
        first: First { how: "drawn".to_owned(), what: format!("it broke by {letter}"), ..First::default() },
        ..Broken::default()
    }
}

/// A cell whose fault cannot strike.
pub fn misses(faults: &str) -> Cell {
    let why = Some("it never asks the lease store anything".to_owned());
    Cell { faults: faults.to_owned(), verdict: "misses".to_owned(), misses: why, as_expected: true, ..Cell::default() }
}

/// A cell with too few felt runs.
pub fn undecided(faults: &str) -> Cell {
    Cell { verdict: "undecided".to_owned(), felt: 3, upper_bound: None, ..holds(faults) }
}

/// What a cell cost: wasted attempts in 100 periods, and the 95th percentile of the time to settle.
pub fn costing(cell: Cell, wasted: u64, p95_ms: u64) -> Cell {
    let spread = |n: u64| Spread { n, p50_ms: p95_ms / 2, p95_ms, max_ms: p95_ms, buckets: vec![(p95_ms, n)] };
    let recovery = (cell.faults != "calm").then(|| spread(90));
    let cost = Cost { due: 100, settled: 100, attempts: 100 + wasted, wasted, to_settle: spread(100), recovery };
    Cell { cost: Some(cost), ..cell }
}

/// A row.
pub fn row(name: &str, about: &str, cells: Vec<Cell>) -> Strategy {
    Strategy { name: name.to_owned(), about: about.to_owned(), rules: "postgres-read-committed".to_owned(), cells, ..Strategy::default() }
}

/// A table of these rows.
pub fn verdicts(strategies: Vec<Strategy>) -> Verdicts {
    let letter = |(letter, meaning): (&str, &str)| Letter { letter: letter.to_owned(), meaning: meaning.to_owned(), rules: Vec::new() };
    let letters = [("D", "settled twice"), ("2", "paid twice"), ("L", "lost: not settled or not paid"), ("K", "stuck"), ("E", "too early")];
    let runs = strategies.iter().flat_map(|s| &s.cells).map(|c| c.runs).sum();
    Verdicts {
        format: 2,
        onceproof: "0.1.0".to_owned(),
        engine: "event".to_owned(),
        base_seed: "1".to_owned(),
        seeds_per_cell: Some(40),
        as_expected: strategies.iter().flat_map(|s| &s.cells).all(|c| c.as_expected),
        runs,
        letters: letters.map(letter).into(),
        strategies,
        ..Verdicts::default()
    }
}

/// Five strategies: two hold, one breaks, one breaks in calm already, one was not tried enough.
pub fn five() -> Verdicts {
    let kept = Expected { kind: "never".to_owned(), letters: vec!["D".to_owned()], because: "the marker is unique".to_owned() };
    let fenced = Cell { expected: vec![kept], ..costing(holds("pause"), 90, 4_000_000) };
    verdicts(vec![
        row("bare", "no guard", vec![breaks("calm", "D"), breaks("crash", "L-D"), breaks("pause", "-D"), misses("lease-cut")]),
        row(
            "leased",
            "a lease",
            vec![
                costing(holds("calm"), 10, 4_000),
                costing(breaks("crash", "L"), 20, 90_000),
                costing(breaks("pause", "D2"), 130, 3_600_000),
                costing(holds("lease-cut"), 10, 2_400_000),
            ],
        ),
        row(
            "fenced",
            "a lease and a fence",
            vec![
                costing(holds("calm"), 10, 4_000),
                costing(holds("crash"), 40, 360_000),
                fenced,
                costing(holds("lease-cut"), 30, 2_400_000),
            ],
        ),
        row(
            "keyed",
            "a unique marker",
            vec![
                costing(holds("calm"), 200, 2_000),
                costing(holds("crash"), 210, 300_000),
                costing(holds("pause"), 220, 2_400_000),
                misses("lease-cut"),
            ],
        ),
        row("seldom", "rarely tried", vec![holds("calm"), undecided("crash"), holds("pause"), misses("lease-cut")]),
    ])
}

/// The same as a folder, with the page of one witness and a file that nobody can read.
pub fn folder() -> Sources {
    let mut verdicts = five();
    verdicts.strategies[1].cells[2].witness = Some("witnesses/leased--pause.toml".to_owned());
    verdicts.strategies[1].cells[1].witness = Some("witnesses/leased--crash.toml".to_owned());
    Sources {
        verdicts: Some(verdicts),
        pages: ["witnesses/leased--pause.html".to_owned()].into(),
        unreadable: vec![("frontier.json".to_owned(), "line 3: expected a number".to_owned())],
        ..Sources::default()
    }
}

/// A cell that is not as its strategy declares.
pub fn surprising(cell: Cell, kind: &str, letter: &str) -> Cell {
    let surprise = Surprise { kind: kind.to_owned(), letters: vec![letter.to_owned()], because: "of its fence".to_owned() };
    Cell { as_expected: false, surprises: vec![surprise], ..cell }
}
