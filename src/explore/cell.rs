//! One cell of the table: what a strategy showed under a fault class, weighed against what it
//! declares ([`Expectation`]).

use crate::class::FaultClass;
use crate::explore::{Case, Cost, Coverage, Finding, Mark, Observed, RunKey, bound};
use crate::strategy::Expectation;
use crate::world::Receipt;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// A run that felt nothing proves nothing: a cell needs this many felt runs before "it holds"
/// means something. Thirty put the 95 % bound just under one in ten.
pub const NEEDED_FELT: u64 = 30;

/// How often a kind of damage was seen, and where first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Broken {
    /// Sampled runs that show it; pinned plans are not counted, they are no sample.
    pub runs: u64,
    /// Steered and enumerated runs that show it.
    pub apart: u64,
    /// The first run that shows it.
    pub case: Case,
    /// What happened in it.
    pub finding: Finding,
}

/// Runs that were chosen, not drawn: no sample, so nothing can be concluded from their number
/// about those that were not made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Apart {
    /// How many were made.
    pub runs: u64,
    /// In how many of them the faults struck and were noticed.
    pub felt: u64,
}

/// What became of faults: planned, struck, noticed, and what showed that.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipts {
    /// Faults in the plans.
    pub planned: u64,
    /// Faults that struck.
    pub fired: u64,
    /// Faults that were noticed.
    pub felt: u64,
    /// How many were noticed by which kind of event ([`crate::trace::Proof::kind`]).
    pub proofs: BTreeMap<Cow<'static, str>, u64>,
}

impl Receipts {
    fn add(&mut self, run: &[Receipt]) {
        for receipt in run {
            self.planned += 1;
            self.fired += u64::from(receipt.fired.is_some());
            if let Some(felt) = receipt.felt {
                self.felt += 1;
                *self.proofs.entry(felt.proof.kind().into()).or_default() += 1;
            }
        }
    }

    fn merge(&mut self, other: Receipts) {
        self.planned += other.planned;
        self.fired += other.fired;
        self.felt += other.felt;
        for (kind, n) in other.proofs {
            *self.proofs.entry(kind).or_default() += n;
        }
    }
}

/// What was seen in the runs of one cell. Tallies of disjoint sets of runs merge in any order
/// to the same tally, so it does not matter which thread saw what.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// Sampled runs.
    pub runs: u64,
    /// Sampled runs whose faults struck and were noticed.
    pub felt: u64,
    /// Steered and enumerated runs.
    pub apart: Apart,
    /// Sampled runs in which something did not come right that nobody could have done better.
    pub excused: u64,
    /// What became of the faults of all runs but the pinned.
    pub receipts: Receipts,
    /// What each pinned plan showed, by the number of its claim.
    pub pinned: BTreeMap<usize, BTreeSet<Mark>>,
    /// What broke.
    pub broken: BTreeMap<Mark, Broken>,
    /// Where faults were felt; kept for the class swarm.
    #[serde(default)]
    pub coverage: Coverage,
    /// What the sampled runs cost.
    #[serde(default)]
    pub cost: Cost,
}

impl Tally {
    /// Counts one run in.
    ///
    /// # Panics
    /// Never: a mark without its finding cannot be.
    pub fn add(&mut self, case: &Case, seen: &Observed) {
        let marks: BTreeSet<Mark> = seen.findings.iter().map(|f| f.mark).collect();
        let (sampled, apart) = match case.key {
            RunKey::Sampled(_) => (1, 0),
            RunKey::Pinned(_) => (0, 0),
            RunKey::Steered(_) | RunKey::Enumerated(_) => (0, 1),
        };
        self.apart.runs += apart;
        self.apart.felt += apart * u64::from(seen.felt);
        self.runs += sampled;
        self.felt += sampled * u64::from(seen.felt);
        self.excused += sampled * u64::from(!seen.excuses.is_empty());
        if sampled + apart == 1 {
            self.receipts.add(&seen.run.receipts);
        }
        for mark in &marks {
            let finding = seen.findings.iter().find(|f| f.mark == *mark).expect("the mark came from a finding");
            self.note(*mark, sampled, apart, case, finding);
        }
        if let RunKey::Pinned(claim) = case.key {
            self.pinned.insert(claim, marks);
        }
    }

    /// Counts the runs of another tally in.
    pub fn merge(&mut self, other: Tally) {
        self.runs += other.runs;
        self.felt += other.felt;
        self.excused += other.excused;
        self.apart.runs += other.apart.runs;
        self.apart.felt += other.apart.felt;
        self.receipts.merge(other.receipts);
        self.pinned.extend(other.pinned);
        self.coverage.merge(other.coverage);
        self.cost.merge(other.cost);
        for (mark, seen) in other.broken {
            self.note(mark, seen.runs, seen.apart, &seen.case, &seen.finding);
        }
    }

    fn note(&mut self, mark: Mark, runs: u64, apart: u64, case: &Case, finding: &Finding) {
        let first = |runs, apart| Broken { runs, apart, case: case.clone(), finding: finding.clone() };
        match self.broken.get_mut(&mark) {
            None => drop(self.broken.insert(mark, first(runs, apart))),
            Some(known) if case.key < known.case.key => *known = first(known.runs + runs, known.apart + apart),
            Some(known) => {
                known.runs += runs;
                known.apart += apart;
            }
        }
    }
}

/// Why a cell is not as expected.
#[expect(missing_docs, reason = "the fields are named after what they are")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Surprise {
    /// It broke, and must never.
    NeverBroke { mark: Mark, because: &'static str },
    /// It had to break in its pinned plan, and did not.
    MustHeld { claim: usize, marks: Vec<Mark>, because: &'static str },
    /// The strategy panicked or never ended, which nobody expects of any.
    WentWrong { mark: Mark },
    /// It must never break, and too few runs felt the fault to say so.
    Undecided { because: &'static str },
}

/// How often something breaks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// Share of the drawn runs that show it.
    pub seen: f64,
    /// It breaks at least so often.
    pub lower: f64,
    /// And at most so often.
    pub upper: f64,
    /// Seeds without a break after which a fix may be believed; `None` if no drawn run shows it.
    pub to_believe_a_fix: Option<u64>,
}

/// A cell, weighed.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The column.
    pub class: FaultClass,
    /// Why the class cannot strike the strategy at all, if it cannot: then nothing was run, and nothing is said.
    pub misses: Option<&'static str>,
    /// What the strategy declares about the class; nothing where it cannot strike.
    pub claims: Vec<Expectation>,
    /// What was seen.
    pub tally: Tally,
    /// What is broken here only because it is broken in calm already.
    pub inherited: BTreeSet<Mark>,
    /// Felt runs that this cell needs.
    pub needed: u64,
    /// Why it is not as expected; empty when it is.
    pub surprises: Vec<Surprise>,
}

impl Cell {
    /// A cell whose class cannot strike its strategy.
    pub fn missed(class: FaultClass, why: &'static str) -> Cell {
        Cell { misses: Some(why), ..Cell::empty(class) }
    }

    /// A cell in which nothing was run, and of which nothing is asked.
    fn empty(class: FaultClass) -> Cell {
        let (claims, tally, inherited) = (Vec::new(), Tally::default(), BTreeSet::new());
        Cell { class, misses: None, claims, tally, inherited, needed: 0, surprises: Vec::new() }
    }

    /// Weighs enumerated runs, none of which shows a pinned plan: only what must never break is asked for.
    pub fn enumerated(claims: &[Expectation], class: FaultClass, tally: Tally, calm: &BTreeSet<Mark>) -> Cell {
        let never: Vec<Expectation> = claims.iter().filter(|claim| matches!(claim, Expectation::Never { .. })).copied().collect();
        Cell::weigh(&never, class, tally, calm)
    }

    /// What several classes showed, as one cell.
    pub fn together(class: FaultClass, cells: impl IntoIterator<Item = Cell>) -> Cell {
        let mut whole = Cell::empty(class);
        for cell in cells {
            whole.tally.merge(cell.tally);
            whole.inherited.extend(cell.inherited);
            for claim in cell.claims {
                if whole.claims.iter().all(|known| known.told() != claim.told()) {
                    whole.claims.push(claim);
                }
            }
            for surprise in cell.surprises {
                if !whole.surprises.contains(&surprise) {
                    whole.surprises.push(surprise);
                }
            }
        }
        whole
    }

    /// Weighs a tally against the claims of its strategy. `calm` is what broke in the strategy's calm cell.
    pub fn weigh(claims: &[Expectation], class: FaultClass, tally: Tally, calm: &BTreeSet<Mark>) -> Cell {
        let inherited = match class {
            FaultClass::Calm => BTreeSet::new(),
            _ => tally.broken.keys().copied().filter(|mark| calm.contains(mark)).collect(),
        };
        // A short sweep cannot have thirty felt runs; a quarter of what it has must do. The bound that is told with it says how little that is.
        // An enumeration has no sample, and needs none: what it felt is all there is.
        let needed = if tally.runs == 0 && tally.apart.runs > 0 { 0 } else { NEEDED_FELT.min(tally.runs.div_ceil(4)).max(1) };
        let claims: Vec<Expectation> = claims.iter().filter(|claim| claim.covers(class)).copied().collect();
        let mut cell = Cell { class, misses: None, claims, tally, inherited, needed, surprises: Vec::new() };
        cell.surprises = cell.compare(calm);
        cell
    }

    fn compare(&self, calm: &BTreeSet<Mark>) -> Vec<Surprise> {
        let mut surprises: Vec<Surprise> = self
            .own()
            .filter_map(|mark| match mark {
                Mark::Panicked | Mark::NeverEnded => Some(Surprise::WentWrong { mark }),
                Mark::Letter(_) => None,
            })
            .collect();
        let mut claim_number = 0;
        for claim in &self.claims {
            match claim {
                Expectation::Never { letters, because, .. } => {
                    let broke = letters.iter().map(|l| Mark::Letter(*l)).filter(|mark| self.own().any(|own| own == *mark));
                    surprises.extend(broke.map(|mark| Surprise::NeverBroke { mark, because }));
                    if self.undecided() && !surprises.iter().any(|s| matches!(s, Surprise::Undecided { .. })) {
                        surprises.push(Surprise::Undecided { because });
                    }
                }
                Expectation::Must { letters, because, .. } => {
                    let claim = claim_number;
                    claim_number += 1;
                    let shown = self.tally.pinned.get(&claim);
                    let held = |mark: &Mark| !shown.is_some_and(|marks| marks.contains(mark));
                    let other_than_calm = |mark: &Mark| self.class == FaultClass::Calm || !calm.contains(mark);
                    let marks: Vec<Mark> = letters.iter().map(|l| Mark::Letter(*l)).filter(held).filter(other_than_calm).collect();
                    if !marks.is_empty() {
                        surprises.push(Surprise::MustHeld { claim, marks, because });
                    }
                }
            }
        }
        surprises
    }

    /// What broke here and not already in calm.
    pub fn own(&self) -> impl Iterator<Item = Mark> + '_ {
        self.tally.broken.keys().copied().filter(|mark| !self.inherited.contains(mark))
    }

    /// Whether nothing broke of its own, and too few runs felt the fault to call that holding.
    pub fn undecided(&self) -> bool {
        self.misses.is_none() && self.own().next().is_none() && self.tally.felt < self.needed
    }

    /// Whether the sweep was long enough to feel something, and felt nothing at all: then the harness is blind here.
    pub fn blind(&self) -> bool {
        let Tally { runs, felt, apart, .. } = &self.tally;
        felt + apart.felt == 0 && runs + apart.runs >= NEEDED_FELT
    }

    /// Whether all that the strategy declares about this class was met.
    pub fn as_expected(&self) -> bool {
        self.surprises.is_empty()
    }

    /// Whether this mark broke here although it never may.
    pub fn is_surprising(&self, mark: Mark) -> bool {
        self.surprises.iter().any(|s| match s {
            Surprise::NeverBroke { mark: m, .. } | Surprise::WentWrong { mark: m } => *m == mark,
            Surprise::MustHeld { .. } | Surprise::Undecided { .. } => false,
        })
    }

    /// The run to keep as the cell's witness: a surprising one before an expected one, then what is worst, then the first. None if all it shows is inherited.
    pub fn witness(&self) -> Option<&Broken> {
        let own = self.own().map(|mark| (mark, &self.tally.broken[&mark]));
        own.min_by_key(|(mark, broken)| (!self.is_surprising(*mark), *mark, broken.case.key)).map(|(_, broken)| broken)
    }

    /// How often drawn runs show a mark, and how often they may: 95 % bounds, each by itself. `None` if none was drawn.
    pub fn rate(&self, mark: Mark) -> Option<Rate> {
        let (broken, runs) = (self.tally.broken.get(&mark)?.runs, self.tally.runs);
        Some(Rate {
            seen: broken as f64 / runs as f64,
            lower: bound::lower(broken, runs)?,
            upper: bound::upper(broken, runs)?,
            to_believe_a_fix: bound::to_believe_a_fix(broken, runs),
        })
    }

    /// The 95 % upper bound on how often a run may still break, if nothing broke of its own; see [`bound::upper_bound`].
    pub fn upper_bound(&self) -> Option<f64> {
        self.own().next().is_none().then(|| bound::upper_bound(self.tally.felt)).flatten()
    }
}

#[cfg(test)]
mod tests;
