//! Why a cell is not as expected, in sentences, and the command that shows it.

use crate::page::source::Verdicts;
use crate::page::source::verdicts::{Broken, Cell, Strategy, Surprise};
use crate::report::words::{count, quoted, thousands};
use crate::seed::Seed;

/// The rules of a database unless a row says otherwise.
const USUAL_RULES: &str = "postgres-read-committed";

/// What a text knows of its reports folder, beside the verdicts.
pub struct Place<'a> {
    /// The folder, as the user writes it.
    pub reports: &'a str,
    /// The sentence to which the witness with this path in the folder comes down, if it is known.
    pub sentence: &'a dyn Fn(&str) -> Option<String>,
}

impl Place<'_> {
    /// Where the witness of a cell is, as the user writes it.
    pub fn witness(&self, cell: &Cell) -> Option<String> {
        cell.witness.as_deref().map(|witness| format!("{}/{witness}", self.reports))
    }

    /// Its sentence, if it is known.
    pub fn sentence(&self, cell: &Cell) -> Option<String> {
        cell.witness.as_deref().and_then(self.sentence).filter(|sentence| !sentence.is_empty())
    }
}

/// A surprise in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// What is not as expected.
    pub what: String,
    /// Why it should be otherwise, and what was seen.
    pub because: Vec<String>,
}

/// All surprises of a cell.
pub fn told(verdicts: &Verdicts, cell: &Cell) -> Vec<Told> {
    cell.surprises.iter().map(|surprise| tell(verdicts, cell, surprise)).collect()
}

/// `D (settled twice)`.
pub fn named(verdicts: &Verdicts, letter: &str) -> String {
    meaning(verdicts, letter).map_or_else(|| letter.to_owned(), |meaning| format!("{letter} ({meaning})"))
}

fn meaning<'a>(verdicts: &'a Verdicts, letter: &str) -> Option<&'a str> {
    verdicts.letters.iter().find(|l| l.letter == letter).map(|l| l.meaning.as_str())
}

fn tell(verdicts: &Verdicts, cell: &Cell, surprise: &Surprise) -> Told {
    let letters = surprise.letters.iter().map(|letter| named(verdicts, letter)).collect::<Vec<_>>().join(", ");
    let reason = &surprise.because;
    let seen = || broken(cell, surprise).flat_map(|b| seen(cell, b));
    match surprise.kind.as_str() {
        "never-broke" => Told {
            what: format!("{letters} broke although it never may"),
            because: [format!("it is declared so because {reason}")].into_iter().chain(seen()).collect(),
        },
        "went-wrong" => {
            let letter = surprise.letters.first().map(String::as_str).unwrap_or_default();
            Told { what: format!("the strategy {}", meaning(verdicts, letter).unwrap_or("went wrong")), because: seen().collect() }
        }
        "must-held" => {
            let luck = match broken(cell, surprise).map(|b| b.runs).max().unwrap_or(0) {
                0 => "it held in all runs".to_owned(),
                n => format!("only {} of {} drawn runs show it", thousands(n), thousands(cell.runs)),
            };
            Told {
                what: format!("{letters} had to break in the pinned plan and did not"),
                because: vec![format!("it is declared so because {reason}"), luck],
            }
        }
        "undecided" => Told { what: undecided(cell), because: Vec::new() },
        other => Told { what: format!("{other}: {letters}"), because: vec![reason.clone()] },
    }
}

/// How far a cell is from a verdict.
pub fn undecided(cell: &Cell) -> String {
    format!("undecided: {} of {} runs felt the fault, {} are needed", cell.felt, cell.runs, cell.felt_needed)
}

fn broken<'a>(cell: &'a Cell, surprise: &'a Surprise) -> impl Iterator<Item = &'a Broken> {
    cell.broken.iter().filter(|b| surprise.letters.contains(&b.letter))
}

fn seen(cell: &Cell, broken: &Broken) -> Vec<String> {
    let how_often = match (broken.first.how.as_str(), broken.runs) {
        ("pinned", 0) => "in the pinned plan".to_owned(),
        (_, 0) => format!("in {} of {} that were chosen, not drawn", thousands(broken.apart), count(cell.apart.runs as usize, "run")),
        (_, n) => format!("in {} of {} runs", thousands(n), thousands(cell.runs)),
    };
    let believe = broken.rate.and_then(|rate| rate.to_believe_a_fix);
    let believe = believe.map(|n| format!("to believe a fix: {}", count(n as usize, "clean seed")));
    [format!("{how_often}, first: {}", broken.first.what)].into_iter().chain(believe).collect()
}

/// The command that shows a cell which is not as expected.
pub fn command(verdicts: &Verdicts, strategy: &Strategy, cell: &Cell, place: &Place) -> String {
    let is = |kind: &str| cell.surprises.iter().any(|surprise| surprise.kind == kind);
    if let (false, Some(witness)) = (cell.surprises.iter().all(|s| s.kind == "must-held" || s.kind == "undecided"), place.witness(cell)) {
        return format!("onceproof replay {}", quoted(&witness));
    }
    let rules = match strategy.rules.as_str() {
        "" | USUAL_RULES => String::new(),
        rules => format!(" --rules {}", quoted(rules)),
    };
    let (name, faults) = (quoted(&strategy.name), quoted(&cell.faults));
    // Pinned plans, and every single fault, are run with the sweep's first seed.
    let seed = || verdicts.base_seed.parse().map(|base| format!(" --seed {}", Seed(base).nth(0))).unwrap_or_default();
    if is("must-held") {
        return format!("onceproof replay --strategy {name}{rules} --faults {faults} --pinned{}", seed());
    }
    if cell.faults == "single" {
        return format!("onceproof exhaust --strategy {name}{rules} --kinds core{}", seed());
    }
    format!("onceproof verify --strategy {name}{rules} --faults {faults} --seeds {}", cell.runs.saturating_mul(4).max(1000))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn surprising(kind: &str, witness: Option<&str>) -> Cell {
        let surprise = Surprise { kind: kind.to_owned(), letters: vec!["D".to_owned()], because: "it says so".to_owned() };
        Cell { faults: "crash".to_owned(), runs: 40, surprises: vec![surprise], witness: witness.map(str::to_owned), ..Cell::default() }
    }

    fn shown(cell: &Cell, reports: &str, rules: &str) -> String {
        let verdicts = Verdicts { base_seed: "1".to_owned(), ..Verdicts::default() };
        let strategy = Strategy { name: "my guard".to_owned(), rules: rules.to_owned(), ..Strategy::default() };
        command(&verdicts, &strategy, cell, &Place { reports, sentence: &|_| None })
    }

    #[test]
    fn the_command_shows_what_is_not_as_expected() {
        let broke = surprising("never-broke", Some("witnesses/my guard--crash.toml"));
        assert_eq!(shown(&broke, "reports", USUAL_RULES), "onceproof replay 'reports/witnesses/my guard--crash.toml'");
        let held = surprising("must-held", Some("witnesses/my guard--crash.toml"));
        assert_eq!(
            shown(&held, "reports", "innodb-repeatable-read"),
            format!(
                "onceproof replay --strategy 'my guard' --rules innodb-repeatable-read --faults crash --pinned --seed {}",
                Seed(1).nth(0)
            )
        );
        let mut open = surprising("undecided", None);
        assert_eq!(shown(&open, "reports", ""), "onceproof verify --strategy 'my guard' --faults crash --seeds 1000");
        // The column tries the core kinds with the first seed; other kinds or another seed would not show it.
        "single".clone_into(&mut open.faults);
        let first = Seed(1).nth(0);
        assert_eq!(shown(&open, "reports", ""), format!("onceproof exhaust --strategy 'my guard' --kinds core --seed {first}"));
    }

    /// Nothing in a file may become a command of its own.
    #[test]
    fn whatever_a_file_says_stays_one_word_of_the_command() {
        let mut cell = surprising("undecided", None);
        "crash; reboot".clone_into(&mut cell.faults);
        assert!(shown(&cell, "reports", "$(reboot)").contains("--rules '$(reboot)' --faults 'crash; reboot' "));
        let cell = surprising("never-broke", Some("witnesses/x';reboot.toml"));
        assert_eq!(shown(&cell, "reports", ""), r"onceproof replay 'reports/witnesses/x'\'';reboot.toml'");
    }
}
