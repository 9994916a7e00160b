//! The verdicts as JSON, for programs and pages. `reports/README.md` documents every field. The text
//! depends on nothing but the sweep: no time, no machine, so that two files can be compared.

mod shallow;

use crate::class::FaultClass;
use crate::explore::cell::{Apart, Broken, Rate, Receipts, Surprise};
use crate::explore::cost::Durations;
use crate::explore::coverage::Place;
use crate::explore::sweep::Quota;
use crate::explore::{Cell, Cost, Coverage, Mark, Row, RunKey, Survey};
use crate::id::Letter;
use crate::invariant::InvariantId;
use crate::report::{files, words};
use crate::scenario::Rules;
use crate::trace::Phase;
use crate::world::servers::differences::{DIFFERENCES, Difference};
use serde::Serialize;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Version of the schema; changes when a reader of the last one would be misled. Since 2 it tells
/// what a strategy declares beside what was seen, and what that cost: a page that finds neither in
/// a file has to know whether there was nothing to tell, or nobody who told it.
pub const FORMAT: u32 = 2;

/// How deep the fields of a cell's fields stand: what is deeper, such as a bucket, takes no line for itself.
const CELLS: usize = 7;

#[derive(Serialize)]
struct Verdicts<'a> {
    format: u32,
    onceproof: &'static str,
    engine: &'static str,
    base_seed: String,
    seeds_per_cell: Option<u64>,
    felt_wanted: Option<u64>,
    as_expected: bool,
    runs: u64,
    pinned_runs: usize,
    apart: Apart,
    certified_runs: usize,
    letters: Vec<LetterRow>,
    strategies: Vec<StrategyRow<'a>>,
    differences: &'static [Difference],
}

#[derive(Serialize)]
struct LetterRow {
    letter: Mark,
    meaning: &'static str,
    rules: Vec<&'static str>,
}

#[derive(Serialize)]
struct StrategyRow<'a> {
    name: &'static str,
    rules: Rules,
    label: String,
    policy: &'static str,
    about: &'static str,
    cells: Vec<CellRow<'a>>,
}

#[derive(Serialize)]
struct CellRow<'a> {
    faults: FaultClass,
    verdict: &'static str,
    misses: Option<&'static str>,
    as_expected: bool,
    runs: u64,
    felt: u64,
    apart: Apart,
    felt_needed: u64,
    excused: u64,
    pinned_runs: usize,
    receipts: ReceiptsRow,
    upper_bound: Option<f64>,
    broken: Vec<BrokenRow>,
    surprises: Vec<SurpriseRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    coverage: Option<CoverageRow<'a>>,
    witness: Option<String>,
    expected: Vec<ExpectedRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<CostRow>,
}

/// What the strategy declares about the class.
#[derive(Serialize)]
struct ExpectedRow {
    kind: &'static str,
    letters: Vec<Mark>,
    because: &'static str,
}

#[derive(Serialize)]
struct CostRow {
    due: u64,
    settled: u64,
    attempts: u64,
    wasted: u64,
    to_settle: SpreadRow,
    #[serde(skip_serializing_if = "Option::is_none")]
    recovery: Option<SpreadRow>,
}

#[derive(Serialize)]
struct SpreadRow {
    n: u64,
    p50_ms: u64,
    p95_ms: u64,
    max_ms: u64,
    buckets: Vec<(u64, u64)>,
}

#[derive(Serialize)]
struct ReceiptsRow {
    planned: u64,
    fired: u64,
    felt: u64,
    proofs: BTreeMap<Cow<'static, str>, u64>,
}

#[derive(Serialize)]
struct BrokenRow {
    letter: Mark,
    runs: u64,
    apart: u64,
    inherited: bool,
    rate: Option<RateRow>,
    first: FirstRow,
}

#[derive(Serialize)]
struct RateRow {
    seen: f64,
    lower: f64,
    upper: f64,
    to_believe_a_fix: Option<u64>,
}

/// Where faults were felt, and where they could have been and were not.
#[derive(Serialize)]
struct CoverageRow<'a> {
    possible: usize,
    drawn: usize,
    steered: usize,
    never: Vec<String>,
    never_made: BTreeSet<&'a str>,
    at_a_time: &'a BTreeMap<Cow<'static, str>, u64>,
    pairs_possible: usize,
    pairs_never: Vec<String>,
    places: Vec<PlaceRow<'a>>,
}

#[derive(Serialize)]
struct PlaceRow<'a> {
    kind: &'a str,
    step: &'a str,
    phase: Phase,
    drawn: u64,
    steered: u64,
}

#[derive(Serialize)]
struct FirstRow {
    seed: String,
    pinned: bool,
    how: &'static str,
    rule: &'static str,
    at_ms: u64,
    period: Option<String>,
    what: String,
}

#[derive(Serialize)]
struct SurpriseRow {
    kind: &'static str,
    letters: Vec<Mark>,
    because: &'static str,
}

/// The text of `verdicts.json`.
///
/// # Panics
/// Never: everything in the verdicts can be written as JSON.
pub fn render(survey: &Survey) -> String {
    let verdicts = Verdicts {
        format: FORMAT,
        onceproof: env!("CARGO_PKG_VERSION"),
        engine: survey.engine.name(),
        base_seed: survey.base.to_string(),
        seeds_per_cell: match survey.quota {
            Quota::Seeds(n) => Some(n),
            Quota::Time | Quota::Felt(_) => None,
        },
        felt_wanted: match survey.quota {
            Quota::Felt(n) => Some(n),
            Quota::Seeds(_) | Quota::Time => None,
        },
        as_expected: survey.as_expected(),
        runs: survey.runs(),
        pinned_runs: survey.pinned_runs(),
        apart: survey.apart(),
        certified_runs: survey.certified,
        letters: Mark::ALL.into_iter().map(letter).collect(),
        strategies: survey.rows.iter().map(strategy).collect(),
        differences: &DIFFERENCES,
    };
    shallow::text(&verdicts, CELLS).expect("verdicts have only values that JSON knows") + "\n"
}

fn letter(mark: Mark) -> LetterRow {
    let rules = match mark {
        Mark::Letter(letter) => InvariantId::ALL.into_iter().filter(|id| id.letter() == letter).map(InvariantId::name).collect(),
        Mark::Panicked => vec!["no-panic"],
        Mark::NeverEnded => vec!["ends"],
    };
    LetterRow { letter: mark, meaning: mark.meaning(), rules }
}

fn strategy(row: &Row) -> StrategyRow<'_> {
    let cells = row.cells.iter().map(|c| cell_row(&row.label(), c)).collect();
    StrategyRow { name: row.name, rules: row.rules, label: row.label(), policy: words::policy(row.policy), about: row.about, cells }
}

/// A cell; its witness is named after `strategy`.
pub(super) fn cell<'a>(strategy: &str, cell: &'a Cell) -> impl Serialize + use<'a> {
    cell_row(strategy, cell)
}

fn cell_row<'a>(strategy: &str, cell: &'a Cell) -> CellRow<'a> {
    CellRow {
        faults: cell.class,
        verdict: match (cell.tally.broken.is_empty(), cell.undecided()) {
            _ if cell.misses.is_some() => "misses",
            (_, true) => "undecided",
            (true, false) => "holds",
            (false, false) => "breaks",
        },
        misses: cell.misses,
        as_expected: cell.as_expected(),
        runs: cell.tally.runs,
        felt: cell.tally.felt,
        apart: cell.tally.apart,
        felt_needed: cell.needed,
        excused: cell.tally.excused,
        pinned_runs: cell.tally.pinned.len(),
        receipts: receipts(&cell.tally.receipts),
        upper_bound: cell.upper_bound(),
        broken: cell.tally.broken.iter().map(|(mark, b)| broken(cell, *mark, b)).collect(),
        surprises: cell.surprises.iter().map(surprise).collect(),
        coverage: coverage(&cell.tally.coverage),
        witness: cell.witness().map(|_| files::witness_name(strategy, cell.class)),
        expected: cell.claims.iter().map(|claim| expected(claim.told())).collect(),
        cost: (cell.tally.runs > 0).then(|| cost(&cell.tally.cost)),
    }
}

fn expected((kind, letters, because): (&'static str, &[Letter], &'static str)) -> ExpectedRow {
    ExpectedRow { kind, letters: letters.iter().map(|letter| Mark::Letter(*letter)).collect(), because }
}

fn cost(of: &Cost) -> CostRow {
    let Cost { due, settled, attempts, wasted, .. } = *of;
    let recovery = (of.recovery.count() > 0).then(|| spread(&of.recovery));
    CostRow { due, settled, attempts, wasted, to_settle: spread(&of.to_settle), recovery }
}

/// Zeros, where nothing lasted.
fn spread(of: &Durations) -> SpreadRow {
    let at = |percent| of.percentile(percent).unwrap_or(0);
    let buckets = of.buckets.iter().map(|(end, n)| (*end, *n)).collect();
    SpreadRow { n: of.count(), p50_ms: at(50), p95_ms: at(95), max_ms: of.max_ms, buckets }
}

fn receipts(of: &Receipts) -> ReceiptsRow {
    ReceiptsRow { planned: of.planned, fired: of.fired, felt: of.felt, proofs: of.proofs.clone() }
}

fn broken(cell: &Cell, mark: Mark, seen: &Broken) -> BrokenRow {
    let first = FirstRow {
        seed: seen.case.seed.to_string(),
        pinned: matches!(seen.case.key, RunKey::Pinned(_)),
        how: match seen.case.key {
            RunKey::Pinned(_) => "pinned",
            RunKey::Sampled(_) => "drawn",
            RunKey::Steered(_) => "steered",
            RunKey::Enumerated(_) => "enumerated",
        },
        rule: seen.finding.rule,
        at_ms: seen.finding.at.0,
        period: seen.finding.period.map(|p| p.to_string()),
        what: seen.finding.what.clone(),
    };
    let rate = cell.rate(mark).map(|Rate { seen, lower, upper, to_believe_a_fix }| RateRow { seen, lower, upper, to_believe_a_fix });
    BrokenRow { letter: mark, runs: seen.runs, apart: seen.apart, inherited: cell.inherited.contains(&mark), rate, first }
}

/// Nothing, where nobody has asked what is possible.
fn coverage(of: &Coverage) -> Option<CoverageRow<'_>> {
    (!of.possible.is_empty()).then(|| CoverageRow {
        possible: of.possible.len(),
        drawn: of.by_chance(),
        steered: of.by_steering(),
        never: of.never().map(ToString::to_string).collect(),
        never_made: of.never_made(),
        at_a_time: &of.at_a_time,
        pairs_possible: of.possible_pairs.len(),
        pairs_never: of.pairs_never().map(|(one, other)| format!("{one} + {other}")).collect(),
        places: of.possible.iter().map(|at| place(of, at)).collect(),
    })
}

fn place<'a>(of: &Coverage, at: &'a Place) -> PlaceRow<'a> {
    let felt = |in_runs: &BTreeMap<Place, u64>| in_runs.get(at).copied().unwrap_or(0);
    PlaceRow { kind: &at.kind, step: &at.step, phase: at.phase, drawn: felt(&of.drawn), steered: felt(&of.steered) }
}

fn surprise(surprise: &Surprise) -> SurpriseRow {
    match surprise {
        Surprise::NeverBroke { mark, because } => SurpriseRow { kind: "never-broke", letters: vec![*mark], because },
        Surprise::MustHeld { marks, because, .. } => SurpriseRow { kind: "must-held", letters: marks.clone(), because },
        Surprise::WentWrong { mark } => SurpriseRow { kind: "went-wrong", letters: vec![*mark], because: "no strategy may panic or spin" },
        Surprise::Undecided { because } => SurpriseRow { kind: "undecided", letters: Vec::new(), because },
    }
}

#[cfg(test)]
mod tests;
