//! An enumeration of faults, for people and for programs: for each kind how many runs, how many
//! of them felt it, and what broke; and what was not tried.

use crate::class::Kind;
use crate::explore::cell::{Apart, Surprise};
use crate::explore::exhaust::{Enumeration, Exhausted, Faults, point};
use crate::explore::{Cell, Mark};
use crate::plan::Fault;
use crate::report::paint::{ALARM, BROKEN, FAINT, GOOD, Painted, STRONG, UNSURE, paint};
use crate::report::words::{count, thousands, wrap};
use crate::scenario::Rules;
use serde::Serialize;
use std::fmt::Write;

/// Where the enumeration is, in the reports folder.
pub const EXHAUST: &str = "exhaust.json";

/// Version of the schema; changes when a reader of the last one would be misled.
pub const FORMAT: u32 = 1;

/// One strategy's enumeration.
pub struct Page<'a> {
    /// The strategy's name.
    pub name: &'static str,
    /// The rules of its database.
    pub rules: Rules,
    /// What was to be tried.
    pub enumeration: Enumeration<'a>,
    /// What was seen.
    pub exhausted: Exhausted,
}

impl Page<'_> {
    /// What people call the strategy: its name, and its rules if they are not the default.
    pub fn label(&self) -> String {
        self.rules.label(self.name)
    }

    /// Where the witness of a kind of fault is, in the reports folder.
    pub fn witness_name(&self, kind: &Kind) -> String {
        witness_name(&self.label(), self.enumeration.faults(), kind)
    }
}

/// Where the witness of a kind of (first) fault is, in the reports folder.
fn witness_name(label: &str, faults: Faults, kind: &Kind) -> String {
    format!("witnesses/{label}--{}-{}.toml", word(faults), kind.name)
}

fn word(faults: Faults) -> &'static str {
    match faults {
        Faults::Single => "single",
        Faults::Pairs => "pairs",
    }
}

/// The text about one strategy.
pub fn render(page: &Page<'_>, width: usize) -> String {
    let (enumeration, exhausted) = (&page.enumeration, &page.exhausted);
    let what = match enumeration.faults() {
        Faults::Single => "every single fault",
        Faults::Pairs => "every pair of faults, the second after the first,",
    };
    let head =
        format!("{}: {what} at the {} of a calm period, seed {}", page.label(), count(enumeration.places(), "step"), enumeration.seed());
    let mut out: String = wrap(&head, width).iter().map(|line| paint(STRONG, line) + "\n").collect();
    let first = if enumeration.faults() == Faults::Pairs { "first fault" } else { "fault" };
    let names = exhausted.kinds.iter().map(|(kind, _)| kind.name.len()).chain([first.len()]).max().unwrap_or(0);
    let _ = writeln!(out, "  {}", paint(FAINT, &format!("{first:names$}  {:>9}  {:>9}  broke", "runs", "felt")));
    for (kind, cell) in &exhausted.kinds {
        let Apart { runs, felt } = cell.tally.apart;
        let _ = writeln!(out, "  {:names$}  {:>9}  {:>9}  {}", kind.name, thousands(runs), thousands(felt), broke(cell));
    }
    let Apart { runs, felt } = exhausted.runs();
    let verdict = match (exhausted.as_expected(), exhausted.kinds.iter().any(|(_, cell)| cell.own().next().is_some())) {
        (false, _) => Painted::default().and(ALARM, "not as expected"),
        (true, true) => Painted::default().and(GOOD, "as expected"),
        (true, false) => Painted::default().and(GOOD, "nothing broke"),
    };
    let kinds = if enumeration.has_all_kinds() { String::new() } else { format!(" of {}", these(enumeration.kinds().len())) };
    let complete = format!(
        "complete for {}{kinds}: {}, {} felt",
        match enumeration.faults() {
            Faults::Single => "single faults",
            Faults::Pairs => "pairs of faults",
        },
        count(runs as usize, "run"),
        thousands(felt)
    );
    let gap = if complete.len() + 2 + verdict.width() > width { "\n" } else { " " };
    let _ = writeln!(out, "{complete};{gap}{verdict}");
    let mut rest = Vec::new();
    if exhausted.pruned > 0 {
        let all_of = match exhausted.left_out.as_slice() {
            [] => String::new(),
            kinds => format!(" (all that begin with {})", kinds.join(", ")),
        };
        let plans = count(exhausted.pruned as usize, "plan");
        rest.push(format!("{plans} left out{all_of}: before a step, directly after one at which the same was tried"));
    }
    if exhausted.later > 0 {
        let plans = count(exhausted.later as usize, "plan");
        rest.push(format!("{plans} not tried: the second fault at a step that its node had made {} times since the first", point::SOON));
    }
    if !exhausted.unreached.is_empty() {
        let made = |step: &&&str| !enumeration.unmade().contains(step);
        let tried: Vec<&str> = exhausted.unreached.iter().filter(made).copied().collect();
        let never: Vec<&str> = exhausted.unreached.iter().filter(|step| !made(step)).copied().collect();
        if !never.is_empty() {
            let hint = if enumeration.faults() == Faults::Single { "; with --faults 2 a second fault may" } else { "" };
            rest.push(format!("steps that no fault reached, because a calm period does not come there{hint}: {}", never.join(", ")));
        }
        if !tried.is_empty() {
            rest.push(format!("steps at which no fault was felt: {}", tried.join(", ")));
        }
    }
    if !exhausted.calm.is_empty() {
        let letters: Vec<String> = exhausted.calm.iter().map(ToString::to_string).collect();
        rest.push(format!("in parentheses: broken without any fault already ({})", letters.join(" ")));
    }
    out.extend(rest.iter().flat_map(|line| wrap(line, width)).map(|line| line + "\n"));
    for (kind, cell) in &exhausted.kinds {
        for surprise in &cell.surprises {
            out.extend(wrap(&told(kind, cell, surprise), width).into_iter().map(|line| paint(ALARM, &line) + "\n"));
        }
    }
    out
}

fn these(kinds: usize) -> String {
    if kinds == 1 { "this 1 kind".to_owned() } else { format!("these {kinds} kinds") }
}

/// What broke by a kind of fault, and in how many runs.
fn broke(cell: &Cell) -> Painted {
    let mut told = Painted::default();
    for (mark, broken) in &cell.tally.broken {
        let inherited = cell.inherited.contains(mark);
        let gap = if told.width() == 0 { "" } else { "  " };
        let text = if inherited { format!("{gap}({mark})") } else { format!("{gap}{mark} {}", thousands(broken.apart)) };
        let style = match (inherited, cell.is_surprising(*mark)) {
            (true, _) => FAINT,
            (false, true) => ALARM,
            (false, false) => BROKEN,
        };
        told = told.and(style, &text);
    }
    match (cell.tally.broken.is_empty(), cell.tally.apart.felt) {
        (true, 0) => told.and(UNSURE, "? nobody noticed"),
        (false, 0) => told.and(UNSURE, "  ? nobody noticed"),
        (true, _) => told.and(GOOD, "–"),
        (false, _) => told,
    }
}

fn told(kind: &Kind, cell: &Cell, surprise: &Surprise) -> String {
    match surprise {
        Surprise::NeverBroke { mark, because } => {
            let first = cell.tally.broken.get(mark).map_or("", |broken| broken.finding.what.as_str());
            format!("✗ {}: {mark} ({}) broke although it never may, because {because}; first: {first}", kind.name, mark.meaning())
        }
        Surprise::WentWrong { mark } => format!("✗ {}: the strategy {}", kind.name, mark.meaning()),
        Surprise::MustHeld { because, .. } | Surprise::Undecided { because } => format!("✗ {}: {because}", kind.name),
    }
}

#[derive(Serialize)]
struct File {
    format: u32,
    onceproof: &'static str,
    faults: &'static str,
    all_kinds: bool,
    as_expected: bool,
    strategies: Vec<StrategyRow>,
}

#[derive(Serialize)]
struct StrategyRow {
    name: &'static str,
    rules: Rules,
    seed: String,
    as_expected: bool,
    steps: usize,
    runs: u64,
    felt: u64,
    pruned: u64,
    later: u64,
    calm: Vec<Mark>,
    unmade: Vec<&'static str>,
    unreached: Vec<&'static str>,
    kinds: Vec<KindRow>,
}

#[derive(Serialize)]
struct KindRow {
    kind: &'static str,
    class: &'static str,
    phase: String,
    runs: u64,
    felt: u64,
    as_expected: bool,
    broken: Vec<BrokenRow>,
    witness: Option<String>,
}

#[derive(Serialize)]
struct BrokenRow {
    letter: Mark,
    runs: u64,
    inherited: bool,
    surprising: bool,
    first: FirstRow,
}

#[derive(Serialize)]
struct FirstRow {
    rule: String,
    at_ms: u64,
    what: String,
    plan: Vec<Fault>,
}

/// The text of `exhaust.json`. `reports/README.md` documents every field.
///
/// # Panics
/// Never: everything in an enumeration can be written as JSON.
pub fn json(pages: &[Page<'_>], faults: Faults) -> String {
    let file = File {
        format: FORMAT,
        onceproof: env!("CARGO_PKG_VERSION"),
        faults: word(faults),
        all_kinds: pages.iter().all(|page| page.enumeration.has_all_kinds()),
        as_expected: pages.iter().all(|page| page.exhausted.as_expected()),
        strategies: pages.iter().map(strategy).collect(),
    };
    serde_json::to_string_pretty(&file).expect("an enumeration has only values that JSON knows") + "\n"
}

fn strategy(page: &Page<'_>) -> StrategyRow {
    let (enumeration, exhausted) = (&page.enumeration, &page.exhausted);
    let Apart { runs, felt } = exhausted.runs();
    StrategyRow {
        name: page.name,
        rules: page.rules,
        seed: enumeration.seed().to_string(),
        as_expected: exhausted.as_expected(),
        steps: enumeration.places(),
        runs,
        felt,
        pruned: exhausted.pruned,
        later: exhausted.later,
        calm: exhausted.calm.iter().copied().collect(),
        unmade: enumeration.unmade().to_vec(),
        unreached: exhausted.unreached.clone(),
        kinds: exhausted.kinds.iter().map(|(kind, cell)| row(page, kind, cell)).collect(),
    }
}

fn row(page: &Page<'_>, kind: &Kind, cell: &Cell) -> KindRow {
    let broken = cell.tally.broken.iter().map(|(mark, broken)| BrokenRow {
        letter: *mark,
        runs: broken.apart,
        inherited: cell.inherited.contains(mark),
        surprising: cell.is_surprising(*mark),
        first: FirstRow {
            rule: broken.finding.rule.to_string(),
            at_ms: broken.finding.at.0,
            what: broken.finding.what.clone(),
            plan: broken.case.plan.faults.clone(),
        },
    });
    KindRow {
        kind: kind.name,
        class: kind.class.name(),
        phase: kind.phase.to_string(),
        runs: cell.tally.apart.runs,
        felt: cell.tally.apart.felt,
        as_expected: cell.as_expected(),
        broken: broken.collect(),
        witness: cell.witness().map(|_| page.witness_name(kind)),
    }
}
