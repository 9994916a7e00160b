//! What the harness can see: how many runs each search needs until it finds a defect.
//!
//! Every defect of `sims/mutants` is looked for at random (one class of faults after the other, as
//! `verify` draws them), with swarms, and by enumeration of every single fault. Nothing here is a
//! time: the table is counted, and the same on every machine.
//!
//! `cargo bench --bench mutants > reports/example/mutants.md`; with `--test`, a small part of it.
//! `cargo bench --bench mutants -- --json > reports/kills.json` writes the same for the front page.

#[path = "../sims/mutants/bend.rs"]
mod bend;
#[path = "../sims/mutants/defects.rs"]
mod defects;
#[path = "../sims/mutants/hunt.rs"]
mod hunt;
#[path = "../sims/mutants/mutant.rs"]
mod mutant;
#[path = "../sims/mutants/score.rs"]
mod score;
#[path = "../sims/mutants/waste.rs"]
mod waste;

use defects::{DEFECTS, Defect, Fate};
use hunt::Search;
use mutant::Pair;
use onceproof::explore::Mark;
use onceproof::page::source::{Kills, kills};
use onceproof::seed::Seed;
use score::Shown;

/// The allocator of the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Runs after which a search gives up, but for enumeration, which comes to its end.
const MOST: u64 = 400;

/// Hunts of a search that draws, each from a base of its own: their median is told.
const HUNTS: u64 = 3;

/// How much is done.
struct Effort {
    defects: usize,
    most: u64,
    hunts: u64,
    points: u64,
}

/// What a search needed.
struct Needed {
    /// Runs until it found the defect, and what it saw then.
    found: Option<(u64, Mark)>,
    /// How many it would have made.
    of: u64,
}

/// How many runs a search needs: of one that draws, the median of its hunts.
fn needed(defect: &'static Defect, search: Search, effort: &Effort) -> Needed {
    let pair = Pair::of(defect, search.periods());
    let hunt = |n: u64, most: u64| {
        let trials = search.trials(&pair.spoiled, Seed(1 + n), most);
        Needed { found: hunt::until_killed(&pair.spoiled, &trials), of: trials.len() as u64 }
    };
    if search == Search::Enumeration {
        return hunt(0, effort.points);
    }
    let mut hunts: Vec<_> = (0..effort.hunts).map(|n| hunt(n, effort.most)).collect();
    hunts.sort_by_key(|needed| needed.found.map_or(u64::MAX, |(runs, _)| runs));
    hunts.swap_remove(hunts.len() / 2)
}

/// A cell of the table.
fn cell(search: Search, needed: &Needed) -> String {
    match (needed.found, search) {
        (Some((runs, mark)), Search::Enumeration) => format!("{runs} of {} {mark}", needed.of),
        (None, Search::Enumeration) => format!("– of {}", needed.of),
        (Some((runs, mark)), _) => format!("{runs} {mark}"),
        (None, _) => "–".to_owned(),
    }
}

/// The table, a row as soon as it is known.
fn markdown(shown: &[Shown], effort: &Effort) {
    println!("# What the harness can see\n");
    println!("Small defects in strategies that are right without them, and how many runs each search needs until it finds them.");
    println!("Made by `cargo bench --bench mutants`; every number is counted, and the same on every machine.\n");
    println!("{}\n", score::sentence(shown));
    println!(
        "- *random*: one class of faults after the other, as `onceproof verify` draws them; *swarm*: mixed faults. The median of {HUNTS} hunts, each of at most {MOST} runs; – if it found nothing."
    );
    println!(
        "- *enumeration*: every single fault at every step of a calm run of one period, in the order of the steps: the first that kills, of all."
    );
    println!(
        "- What is told of a defect is seen in the run that its catalogue names: a drawn one, or a plan made for it; costs are those of fifteen runs.\n"
    );
    println!("| defect | what went wrong | what becomes of it |{}", Search::ALL.map(|search| format!(" {} |", search.name())).concat());
    println!("|---|---|---|{}", "--:|".repeat(Search::ALL.len()));
    for (defect, shown) in DEFECTS.iter().zip(shown) {
        let searches = Search::ALL.map(|search| format!(" {} |", cell(search, &needed(defect, search, effort))));
        println!("| `{}` | {} | {} |{}", defect.name, defect.mistake, score::told(defect, shown), searches.concat());
    }
}

/// The same as data.
fn json(shown: &[Shown], effort: &Effort) -> Kills {
    let defect = |(defect, shown): (&'static Defect, &Shown)| {
        let [random, swarm, enumeration] = Search::ALL.map(|search| needed(defect, search, effort));
        let fate = match defect.fate {
            Fate::Killed(_) => "killed",
            Fate::Wasteful(..) => "wasteful",
            Fate::Equivalent(..) => "equivalent",
        };
        let runs = |needed: &Needed| needed.found.map(|(runs, _)| runs);
        kills::Defect {
            name: defect.name.to_owned(),
            what: defect.mistake.to_owned(),
            fate: fate.to_owned(),
            told: score::told(defect, shown),
            random: runs(&random),
            swarm: runs(&swarm),
            enumeration: runs(&enumeration),
            enumerated: enumeration.of,
        }
    };
    Kills {
        format: 1,
        onceproof: env!("CARGO_PKG_VERSION").to_owned(),
        most: effort.most,
        score: score::sentence(shown),
        defects: DEFECTS.iter().zip(shown).map(defect).collect(),
    }
}

fn main() {
    let asked = |name: &str| std::env::args().any(|arg| arg == name);
    let effort = match asked("--test") {
        true => Effort { defects: 3, most: 5, hunts: 1, points: 5 },
        false => Effort { defects: DEFECTS.len(), most: MOST, hunts: HUNTS, points: u64::MAX },
    };
    let shown: Vec<Shown> = DEFECTS.iter().take(effort.defects).map(score::shown).collect();
    match asked("--json") {
        true => println!("{}", serde_json::to_string_pretty(&json(&shown, &effort)).expect("strings and numbers can be written as JSON")),
        false => markdown(&shown, &effort),
    }
}
