//! The mutation score: small defects in hardened strategies, and whether anybody notices.
//!
//! A table that cannot be disappointed proves nothing, and neither does a judge who cannot be.
//! Each defect of the catalogue (`mutants/defects.rs`) is put into a strategy whose code stays as
//! it is, and has to show: by a letter that its strategy never may, or, where it spoils a part that
//! only saves work, by what it costs. `cargo bench --bench mutants` says how long each search takes
//! to find it.

mod bend;
mod defects;
mod hunt;
mod mutant;
mod score;
mod waste;

use bend::Bend;
use defects::{DEFECTS, Defect, Fate};
use hunt::Search;
use mutant::Pair;
use onceproof::class::FaultClass;
use onceproof::explore::{Case, Mark, Subject, observe};
use onceproof::id::Letter;
use onceproof::invariant::{InvariantId, Verdict};
use onceproof::plan::FaultPlan;
use onceproof::scenario::Scenario;
use onceproof::seed::Seed;
use onceproof::settlement::Calendar;
use onceproof::strategy::Strategy;
use onceproof::world::{Refused, Run};
use score::Shown;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use waste::{Costs, chance};

/// Runs of a class or a swarm before a defect counts as not found.
const ENOUGH: u64 = 60;

/// Every strategy that promises everything and is spoiled, without a defect: asked in the same way, and nothing is bent.
static UNSPOILED: [Defect; 4] = [unspoiled("table-key"), unspoiled("lease-fenced"), unspoiled("version-reclaim"), unspoiled("dual-guard")];

const fn unspoiled(of: &'static str) -> Defect {
    Defect { name: of, of, mistake: "none", bends: &[], fate: Fate::Equivalent(onceproof::strategy::pinned::calm, "nothing is bent") }
}

#[test]
fn the_catalogue_is_in_order() {
    assert!(DEFECTS.len() >= 25);
    let names: BTreeSet<&str> = DEFECTS.iter().map(|defect| defect.name).collect();
    assert_eq!(names.len(), DEFECTS.len(), "two defects have one name");
    let of = |strategy: &str| DEFECTS.iter().filter(|defect| defect.of == strategy).count();
    for defect in DEFECTS {
        assert_eq!(defect.name.split_once('.').map(|(of, _)| of), Some(defect.of), "{}", defect.name);
        assert!(!defect.bends.is_empty(), "{} bends nothing", defect.name);
    }
    for strategy in &UNSPOILED {
        assert!(of(strategy.of) >= 5, "{} is hardly spoiled", strategy.of);
    }
}

#[test]
fn every_defect_is_killed_or_costs_what_it_should() {
    let wrong: Vec<String> = DEFECTS.iter().filter_map(misjudged).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Why a defect is not what the catalogue says it is.
fn misjudged(defect: &'static Defect) -> Option<String> {
    let name = defect.name;
    match (&defect.fate, score::shown(defect)) {
        (Fate::Killed(_), Shown::Letter(_)) | (Fate::Wasteful(..), Shown::Costs(..)) | (Fate::Equivalent(..), Shown::Nothing) => None,
        (Fate::Killed(_), _) => Some(match found(defect) {
            Some((class, n)) => format!("{name}: its hint kills it no longer; write `Hint::Drawn(FaultClass::{class:?}, {n})`"),
            None => format!("{name} survives: a fault or an invariant is missing"),
        }),
        (Fate::Wasteful(measure, _), shown) => Some(format!("{name} should cost {}, and shows {shown:?}", measure.name())),
        (Fate::Equivalent(..), shown) => Some(format!("{name} is no equivalent: it shows {shown:?}")),
    }
}

/// A drawn run that kills: its class, and its number.
fn found(defect: &'static Defect) -> Option<(FaultClass, u64)> {
    let pair = Pair::of(defect, 3);
    let strikes = |class: &FaultClass| class.misses(pair.sound.strategy().steps()).is_none();
    let runs = |class: FaultClass| (0..ENOUGH).map(move |n| (class, n));
    let kills =
        |&(class, n): &(FaultClass, u64)| hunt::forbidden(&pair.spoiled, &hunt::drawn(&pair.spoiled, hunt::BASE, class, n)).is_some();
    FaultClass::ALL.into_iter().filter(strikes).flat_map(runs).find(kills)
}

/// The control: the runs in which mutants die, and a share of every search, kill no strategy that is as it should be.
#[test]
fn no_sound_strategy_is_killed() {
    for defect in DEFECTS {
        let Fate::Killed(hint) = defect.fate else { continue };
        let (pair, trial) = score::hinted(defect, hint);
        assert_eq!(hunt::forbidden(&pair.sound, &trial), None, "{} dies where {} does", defect.of, defect.name);
    }
    for unspoiled in &UNSPOILED {
        for search in Search::ALL {
            let pair = Pair::of(unspoiled, search.periods());
            let trials = search.trials(&pair.spoiled, hunt::BASE, ENOUGH);
            assert_eq!(hunt::until_killed(&pair.spoiled, &trials), None, "{} under {}", unspoiled.of, search.name());
        }
    }
}

/// What stands between a strategy and its stores, and bends nothing, changes nothing: the histories are the same to the byte.
#[test]
fn what_bends_nothing_changes_nothing() {
    for unspoiled in &UNSPOILED {
        let pair = Pair::of(unspoiled, 1);
        for (class, Case { seed, plan, .. }) in Search::Random.trials(&pair.sound, hunt::BASE, 20) {
            let digest = |subject: &dyn Subject| observe(subject, class, seed, &plan).expect("it can be simulated").run.trace.digest();
            assert_eq!(digest(&pair.sound), digest(&pair.spoiled), "{} under {class}, seed {seed}", unspoiled.of);
        }
    }
}

/// Every defect changes what happens where it is known to show most: none survives, or is
/// equivalent, because its bend was never reached. And none is no more than a statement that the
/// database cannot read.
#[test]
fn every_defect_is_reached_and_well_formed() {
    for defect in DEFECTS {
        let (pair, (class, Case { seed, plan, .. })) = match defect.fate {
            Fate::Killed(hint) => score::hinted(defect, hint),
            Fate::Wasteful(_, plan) | Fate::Equivalent(plan, _) => score::hinted(defect, defects::Hint::Plan(plan)),
        };
        let run = |subject: &dyn Subject| observe(subject, class, seed, &plan).expect("it can be simulated").run;
        let (sound, spoiled) = (run(&pair.sound), run(&pair.spoiled));
        assert_ne!(sound.trace.digest(), spoiled.trace.digest(), "{} changes nothing", defect.name);
        let unreadable = spoiled.complaints.iter().find(|(_, why)| why.contains("(42"));
        assert_eq!(unreadable, None, "{} is no SQL", defect.name);
    }
}

/// A mutant dies by its letter alone: before judges who do not know the letter it survives, and
/// before judges who know no other letter it does not.
#[test]
fn a_mutant_survives_when_its_invariant_is_switched_off() {
    for defect in DEFECTS {
        let Fate::Killed(hint) = defect.fate else { continue };
        let (pair, trial @ (class, Case { seed, plan, .. })) = &score::hinted(defect, hint);
        let seen = observe(&pair.spoiled, *class, *seed, plan).expect("it can be simulated");
        let letter = |mark: Mark| if let Mark::Letter(letter) = mark { Some(letter) } else { None };
        let broken: BTreeSet<Letter> = seen.findings.iter().filter_map(|finding| letter(finding.mark)).collect();
        let others = Letter::ALL.into_iter().filter(|letter| !broken.contains(letter)).collect();
        let blind = |to| Blind { of: &pair.spoiled, to };
        assert!(hunt::forbidden(&blind(others), trial).is_some(), "{} dies only if other letters are judged", defect.name);
        assert_eq!(hunt::forbidden(&blind(broken.clone()), trial), None, "{} dies without {broken:?}", defect.name);
    }
}

/// The example names exactly what the catalogue holds, with its mistake and what becomes of it.
#[test]
fn the_example_is_what_is_shown() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("reports/example/mutants.md");
    let text = fs::read_to_string(&path).expect("the example is committed");
    let cells = |line: &str| line.split('|').skip(1).take(3).map(|cell| cell.trim().to_owned()).collect::<Vec<String>>();
    let rows: Vec<Vec<String>> = text.lines().filter(|line| line.starts_with("| `")).map(cells).collect();
    let shown: Vec<Shown> = DEFECTS.iter().map(score::shown).collect();
    let row =
        |(defect, shown): (&Defect, &Shown)| vec![format!("`{}`", defect.name), defect.mistake.to_owned(), score::told(defect, shown)];
    let expected: Vec<Vec<String>> = DEFECTS.iter().zip(&shown).map(row).collect();
    assert_eq!(rows, expected, "make the example anew: cargo bench --bench mutants > {}", path.display());
    assert!(text.contains(&score::sentence(&shown)), "the example has no line `{}`", score::sentence(&shown));
}

/// A bend that is named and never taken would be a defect that nobody can write.
#[test]
fn every_kind_of_bend_is_used() {
    let kinds: BTreeSet<_> = DEFECTS.iter().flat_map(|defect| defect.bends).map(kind).collect();
    assert_eq!(kinds.len(), 16, "{kinds:?}");
}

fn kind(bend: &Bend) -> &'static str {
    match bend {
        Bend::Words(..) => "words",
        Bend::Params(..) => "params",
        Bend::Count(..) => "count",
        Bend::Unasked(_) => "unasked",
        Bend::UnaskedIf(..) => "unasked-if",
        Bend::PassedOver(_) => "passed-over",
        Bend::First(..) => "first",
        Bend::Then(..) => "then",
        Bend::Anybodys(_) => "anybodys",
        Bend::Overwritten(_) => "overwritten",
        Bend::Believed(_) => "believed",
        Bend::Ttl(..) => "ttl",
        Bend::Owner(_) => "owner",
        Bend::Key(_) => "key",
        Bend::JobPassedOver => "job-passed-over",
        Bend::WakesEarly(_) => "wakes-early",
    }
}

/// Fifteen of fifteen is no chance; ten of fifteen is, and so is nothing at all.
#[test]
fn a_cost_has_to_be_regular_and_noticeable() {
    let costs = |of: fn(u64) -> (u64, u64)| Costs((0..15).map(of).collect());
    assert!(costs(|n| (100 + n, 110 + n)).more());
    assert!(!costs(|n| (1000 + n, 1001 + n)).more(), "one in a thousand");
    assert!(!costs(|n| (100, if n < 10 { 140 } else { 90 })).more(), "ten of fifteen");
    assert!(!costs(|n| (100, if n == 0 { 9_000 } else { 100 })).more(), "one run");
    assert!(!costs(|n| (n, n)).more());
    assert!(!costs(|n| (110 + n, 100 + n)).more(), "it saves");
    assert!((chance(15, 15) - 0.5_f64.powi(15)).abs() < 1e-12 && (chance(4, 3) - 5.0 / 16.0).abs() < 1e-12 && chance(0, 0) >= 1.0);
}

/// A subject before judges some of whom look away.
struct Blind<'s> {
    of: &'s dyn Subject,
    /// The letters that nobody judges.
    to: BTreeSet<Letter>,
}

impl Subject for Blind<'_> {
    fn strategy(&self) -> &'static dyn Strategy {
        self.of.strategy()
    }

    fn scenario(&self) -> &Scenario {
        self.of.scenario()
    }

    fn calendar(&self) -> &Calendar {
        self.of.calendar()
    }

    fn plan(&self, class: FaultClass, seed: Seed) -> FaultPlan {
        self.of.plan(class, seed)
    }

    fn run(&self, seed: Seed, plan: &FaultPlan) -> Result<Run, Refused> {
        self.of.run(seed, plan)
    }

    fn judge(&self, run: &Run) -> Vec<(InvariantId, Verdict)> {
        self.of.judge(run).into_iter().filter(|(id, _)| !self.to.contains(&id.letter())).collect()
    }
}
