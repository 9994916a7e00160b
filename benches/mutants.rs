//! What the harness can see: how many runs each search needs until it finds a defect.
//!
//! Every defect of `sims/mutants` is looked for at random (one class of faults after the other, as
//! `verify` draws them), with swarms, and by enumeration of every single fault. Nothing here is a
//! time: the table is counted, and the same on every machine.
//!
//! `cargo bench --bench mutants > reports/example/mutants.md`; with `--test`, a small part of it.

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

use defects::{DEFECTS, Defect};
use hunt::Search;
use mutant::Pair;
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

/// How many runs a search needs, and what it sees then.
fn needed(defect: &'static Defect, search: Search, effort: &Effort) -> String {
    let pair = Pair::of(defect, search.periods());
    let hunt = |n: u64, most: u64| {
        let trials = search.trials(&pair.spoiled, Seed(1 + n), most);
        (hunt::until_killed(&pair.spoiled, &trials), trials.len())
    };
    if search == Search::Enumeration {
        return match hunt(0, effort.points) {
            (Some((runs, mark)), points) => format!("{runs} of {points} {mark}"),
            (None, points) => format!("– of {points}"),
        };
    }
    let mut hunts: Vec<_> = (0..effort.hunts).map(|n| hunt(n, effort.most).0).collect();
    hunts.sort_unstable_by_key(|killed| killed.map_or(u64::MAX, |(runs, _)| runs));
    hunts[hunts.len() / 2].map_or_else(|| "–".to_owned(), |(runs, mark)| format!("{runs} {mark}"))
}

fn main() {
    let test = std::env::args().any(|arg| arg == "--test");
    let effort = match test {
        true => Effort { defects: 3, most: 5, hunts: 1, points: 5 },
        false => Effort { defects: DEFECTS.len(), most: MOST, hunts: HUNTS, points: u64::MAX },
    };
    println!("# What the harness can see\n");
    println!("Small defects in strategies that are right without them, and how many runs each search needs until it finds them.");
    println!("Made by `cargo bench --bench mutants`; every number is counted, and the same on every machine.\n");
    let shown: Vec<Shown> = DEFECTS.iter().take(effort.defects).map(score::shown).collect();
    println!("{}\n", score::sentence(&shown));
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
    for (defect, shown) in DEFECTS.iter().zip(&shown) {
        let searches = Search::ALL.map(|search| format!(" {} |", needed(defect, search, &effort)));
        println!("| `{}` | {} | {} |{}", defect.name, defect.mistake, score::told(defect, shown), searches.concat());
    }
}
