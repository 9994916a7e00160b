//! The truth table for the terminal: rows strategies, columns fault classes, a cell the
//! letters that broke. Beneath it what the letters mean, every cell that is not as expected,
//! and what "ok" is worth.
//!
//! A cell's letters stand apart if all columns then fit, else close together; where even that
//! is too wide for the terminal the table is cut into pieces, and where those would be too
//! narrow each row becomes a short list. Everything can be read without colours: what colour
//! says is also said by a sign.

use crate::class::FaultClass;
use crate::explore::cell::Surprise;
use crate::explore::sweep::Quota;
use crate::explore::{Cell, Mark, Row, RunKey, Survey, bound};
use crate::report::files;
use crate::report::paint::{ALARM, BROKEN, FAINT, GOOD, Painted, STRONG, UNSURE, paint};
use crate::report::words::{self, count, percent, thousands, wrap};
use crate::scenario::Rules;
use crate::seed::Seed;
use std::fmt::Write;
use std::ops::Range;
use std::time::Duration;

/// Between two columns.
const GAP: usize = 2;

/// What only the caller knows.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Columns of the terminal.
    pub width: usize,
    /// How the runs were made.
    pub made: Made,
    /// By how much the durations of the deployments were divided; 1 = not at all.
    pub time_scale: u32,
    /// The folder of the reports, as the user would write it.
    pub reports: String,
}

/// How the runs of a survey were made.
#[derive(Clone, Copy, Debug)]
pub enum Made {
    /// In one go, in this time on the caller's clock, on so many threads.
    Here {
        /// How long it took.
        took: Duration,
        /// On how many threads.
        threads: usize,
    },
    /// Elsewhere, in so many shards.
    Merged {
        /// How many.
        shards: u32,
    },
}

/// The whole report.
pub fn render(survey: &Survey, setting: &Setting) -> String {
    let mut out = String::new();
    out.push_str(&grid(survey, setting.width));
    out.push('\n');
    out.push_str(&legend(survey, setting.width));
    out.push_str(&unexpected(survey, setting.width, |row, cell| Some(look(row, cell, survey.base.nth(0), setting))));
    out.push('\n');
    out.push_str(&summary(survey, setting));
    out
}

/// The report without what only a command line can say: the table, its legend, what is not as
/// expected, and what "ok" is worth.
pub fn brief(survey: &Survey, width: usize) -> String {
    let mut out = grid(survey, width);
    out.push('\n');
    out.push_str(&legend(survey, width));
    out.push_str(&unexpected(survey, width, |_, _| None));
    if let Some(worth) = worth(survey) {
        out.push('\n');
        out.extend(wrap(&worth, width).into_iter().map(|line| line + "\n"));
    }
    out
}

/// Fewer columns than this beside the names are no table any more.
const NARROWEST: usize = 4;

/// The table alone: in one piece with air in its cells, in one piece without, or in several.
fn grid(survey: &Survey, width: usize) -> String {
    let pieces = |between| Columns::of(survey, between).pieces(width);
    let airy = pieces(" ");
    let chosen = match (airy.len(), pieces("")) {
        (1, _) => (" ", airy),
        (_, close) if close.len() == 1 => ("", close),
        _ => (" ", airy),
    };
    let (between, pieces) = chosen;
    if pieces.len() > 1 && pieces.iter().any(|piece| piece.len() < NARROWEST) {
        return lists(survey, width);
    }
    let columns = Columns::of(survey, between);
    pieces.into_iter().map(|piece| columns.render(survey, piece)).collect::<Vec<_>>().join("\n")
}

/// The cells as text, and how wide each column is.
struct Columns {
    names: usize,
    cells: Vec<Vec<Painted>>,
    widths: Vec<usize>,
}

impl Columns {
    fn of(survey: &Survey, between: &str) -> Columns {
        let cells: Vec<Vec<Painted>> = survey.rows.iter().map(|row| row.cells.iter().map(|c| cell(c, between)).collect()).collect();
        let names = survey.rows.iter().map(|row| row.label().len()).max().unwrap_or(0);
        let widest = |column: usize| cells.iter().map(|row| row[column].width()).max().unwrap_or(0);
        let head = |class: &FaultClass| heads(*class).map(str::len).into_iter().max().unwrap_or(0);
        let widths = survey.classes.iter().enumerate().map(|(n, class)| head(class).max(widest(n))).collect();
        Columns { names, cells, widths }
    }

    /// As few pieces as fit, about as wide as each other.
    fn pieces(&self, width: usize) -> Vec<Range<usize>> {
        let room = width.saturating_sub(self.names);
        let all: usize = self.widths.iter().map(|w| w + GAP).sum();
        let fill = |most: usize| {
            let (mut pieces, mut first, mut used) = (Vec::new(), 0, 0);
            for (n, w) in self.widths.iter().enumerate() {
                if used > 0 && used + w + GAP > most {
                    pieces.push(first..n);
                    (first, used) = (n, 0);
                }
                used += w + GAP;
            }
            pieces.push(first..self.widths.len());
            pieces
        };
        let fewest = fill(room).len();
        (all.div_ceil(fewest)..=room).map(fill).find(|pieces| pieces.len() == fewest).unwrap_or_else(|| fill(room))
    }

    fn render(&self, survey: &Survey, piece: Range<usize>) -> String {
        let gap = " ".repeat(GAP);
        let line = |first: String, rest: Vec<String>| {
            let line = rest.iter().fold(first, |line, cell| format!("{line}{gap}{cell}"));
            format!("{}\n", line.trim_end())
        };
        let widths = &self.widths[piece.clone()];
        let classes = &survey.classes[piece.clone()];
        let head = |half: usize| {
            let told = |(class, w): (&FaultClass, &usize)| Painted::default().and(STRONG, heads(*class)[half]).padded(*w);
            line(" ".repeat(self.names), classes.iter().zip(widths).map(told).collect())
        };
        let mut out = String::new();
        if classes.iter().any(|class| !heads(*class)[0].is_empty()) {
            out.push_str(&head(0));
        }
        out.push_str(&head(1));
        let total = self.names + widths.iter().map(|w| w + GAP).sum::<usize>();
        let _ = writeln!(out, "{}", paint(FAINT, &"─".repeat(total)));
        for (row, cells) in survey.rows.iter().zip(&self.cells) {
            let name = Painted::default().and(STRONG, &row.label()).padded(self.names);
            out.push_str(&line(name, cells[piece.clone()].iter().zip(widths).map(|(cell, w)| cell.padded(*w)).collect()));
        }
        out
    }
}

/// A class's name over its column, in two lines if it has two parts.
fn heads(class: FaultClass) -> [&'static str; 2] {
    let name = class.name();
    name.find('-').map_or(["", name], |hyphen| [&name[..=hyphen], &name[hyphen + 1..]])
}

/// For narrow terminals: under each strategy, the classes that came to the same.
fn lists(survey: &Survey, width: usize) -> String {
    let mut out = String::new();
    for row in &survey.rows {
        let _ = writeln!(out, "{}", paint(STRONG, &row.label()));
        let mut groups: Vec<(Painted, Vec<&str>)> = Vec::new();
        for c in &row.cells {
            let text = cell(c, " ");
            match groups.iter_mut().find(|(other, _)| *other == text) {
                Some((_, classes)) => classes.push(c.class.name()),
                None => groups.push((text, vec![c.class.name()])),
            }
        }
        let left = groups.iter().map(|(text, _)| text.width()).max().unwrap_or(0);
        for (text, classes) in groups {
            let room = width.saturating_sub(left + 4).max(12);
            for (n, classes) in wrap(&classes.join(" "), room).into_iter().enumerate() {
                let text = if n == 0 { text.padded(left) } else { " ".repeat(left) };
                let _ = writeln!(out, "  {text}  {classes}");
            }
        }
    }
    out
}

/// A cell: what broke here, then what was broken anyway, then what had to break and did not.
fn cell(cell: &Cell, between: &str) -> Painted {
    if cell.misses.is_some() {
        return Painted::default().and(FAINT, "–");
    }
    let mut parts: Vec<Painted> = Vec::new();
    for mark in cell.own() {
        parts.push(if cell.is_surprising(mark) {
            Painted::default().and(ALARM, &format!("✗{mark}"))
        } else {
            Painted::default().and(BROKEN, &mark.to_string())
        });
    }
    for mark in missing(cell) {
        parts.push(Painted::default().and(ALARM, &format!("∅{mark}")));
    }
    if cell.undecided() {
        let style = if cell.as_expected() { UNSURE } else { ALARM };
        parts.push(Painted::default().and(style, "?"));
    }
    if !cell.inherited.is_empty() {
        let letters: Vec<String> = cell.inherited.iter().map(ToString::to_string).collect();
        parts.push(Painted::default().and(FAINT, &format!("({})", letters.join(between))));
    }
    if parts.is_empty() {
        parts.push(Painted::default().and(GOOD, "ok"));
    }
    let mut whole = Painted::default();
    for (n, part) in parts.into_iter().enumerate() {
        let space = if n == 0 { "" } else { between };
        whole = whole.and(anstyle::Style::new(), space).join(part);
    }
    whole
}

/// What had to break and did not.
fn missing(cell: &Cell) -> impl Iterator<Item = Mark> + '_ {
    cell.surprises.iter().flat_map(|s| match s {
        Surprise::MustHeld { marks, .. } => marks.clone(),
        Surprise::NeverBroke { .. } | Surprise::WentWrong { .. } | Surprise::Undecided { .. } => Vec::new(),
    })
}

/// What letters and signs mean: all letters, and those signs that the table shows.
fn legend(survey: &Survey, width: usize) -> String {
    let shows = |what: &dyn Fn(&Cell) -> bool| survey.cells().any(|(_, cell)| what(cell));
    let mut entries: Vec<(Painted, &str)> = vec![(Painted::default().and(GOOD, "ok"), "held in every run")];
    for mark in Mark::ALL {
        let usual = matches!(mark, Mark::Letter(_));
        if usual || shows(&|cell| cell.tally.broken.contains_key(&mark)) {
            entries.push((Painted::default().and(BROKEN, &mark.to_string()), mark.meaning()));
        }
    }
    if shows(&|cell| !cell.inherited.is_empty()) {
        entries.push((Painted::default().and(FAINT, "(D)"), "breaks without any fault already"));
    }
    if shows(&|cell| cell.own().any(|mark| cell.is_surprising(mark))) {
        entries.push((Painted::default().and(ALARM, "✗D"), "broke, and never may"));
    }
    if shows(&|cell| missing(cell).next().is_some()) {
        entries.push((Painted::default().and(ALARM, "∅D"), "held, and must break"));
    }
    if shows(&Cell::undecided) {
        entries.push((Painted::default().and(UNSURE, "?"), "undecided: too few runs felt the fault"));
    }
    if shows(&|cell| cell.misses.is_some()) {
        entries.push((Painted::default().and(FAINT, "–"), "cannot strike this strategy"));
    }
    let (mut out, mut used) = (String::new(), 0);
    for (sign, meaning) in entries {
        let wide = sign.width() + 1 + meaning.chars().count();
        if used > 0 && used + 3 + wide > width {
            out.push('\n');
            used = 0;
        } else if used > 0 {
            out.push_str("   ");
            used += 3;
        }
        let _ = write!(out, "{sign} {meaning}");
        used += wide;
    }
    out.push('\n');
    out
}

/// Every cell that is not as expected: what, why it matters, and, if there is a way, how to see it.
fn unexpected(survey: &Survey, width: usize, how: impl Fn(&Row, &Cell) -> Option<String>) -> String {
    let mut out = String::new();
    let surprising: Vec<(&Row, &Cell)> =
        survey.rows.iter().flat_map(|row| row.cells.iter().map(move |cell| (row, cell))).filter(|(_, cell)| !cell.as_expected()).collect();
    if surprising.is_empty() {
        return out;
    }
    let are = if surprising.len() == 1 { "is" } else { "are" };
    let _ = writeln!(out, "\n{}", paint(ALARM, &format!("{} {are} not as expected", count(surprising.len(), "cell"))));
    for (row, cell) in surprising {
        for surprise in &cell.surprises {
            let (sign, text) = tell(cell, surprise);
            let text = format!("{} under {}: {text}", row.label(), cell.class);
            for (n, line) in wrap(&text, width.saturating_sub(4).max(20)).into_iter().enumerate() {
                let sign = if n == 0 { paint(ALARM, sign) } else { " ".to_owned() };
                let _ = writeln!(out, "{sign} {line}");
            }
        }
        if let Some(how) = how(row, cell) {
            let _ = writeln!(out, "    {}", paint(FAINT, &how));
        }
    }
    out
}

fn tell(cell: &Cell, surprise: &Surprise) -> (&'static str, String) {
    let seen = |mark: &Mark| {
        let broken = &cell.tally.broken[mark];
        let how_often = match (broken.case.key, broken.runs) {
            (RunKey::Pinned(_), 0) => "in the pinned plan".to_owned(),
            (_, 0) => {
                format!("in {} of {} that were chosen, not drawn", thousands(broken.apart), count(cell.tally.apart.runs as usize, "run"))
            }
            (_, n) => format!("in {} of {} runs", thousands(n), thousands(cell.tally.runs)),
        };
        format!("{how_often}, first: {}", broken.finding.what)
    };
    let believe = |mark: &Mark| {
        let seeds = cell.rate(*mark).and_then(|rate| rate.to_believe_a_fix);
        seeds.map(|n| format!("; to believe a fix: {} clean seeds", thousands(n))).unwrap_or_default()
    };
    match surprise {
        Surprise::NeverBroke { mark, because } => {
            ("✗", format!("{mark} ({}) broke although it never may, because {because}; {}{}", mark.meaning(), seen(mark), believe(mark)))
        }
        Surprise::WentWrong { mark } => ("✗", format!("the strategy {} {}{}", mark.meaning(), seen(mark), believe(mark))),
        Surprise::MustHeld { marks, because, .. } => {
            let letters: Vec<String> = marks.iter().map(|m| format!("{m} ({})", m.meaning())).collect();
            let by_luck = marks.iter().filter_map(|m| cell.tally.broken.get(m)).map(|b| b.runs).max().unwrap_or(0);
            let luck = match by_luck {
                0 => "it held in all runs".to_owned(),
                n => format!("only {} of {} drawn runs show it", thousands(n), thousands(cell.tally.runs)),
            };
            ("∅", format!("{} had to break in the pinned plan and did not; {luck}. It must, because {because}", letters.join(", ")))
        }
        Surprise::Undecided { .. } => {
            ("?", format!("undecided: {} of {} runs felt the fault, {} are needed", cell.tally.felt, cell.tally.runs, cell.needed))
        }
    }
}

/// The command that shows an unexpected cell. Pinned plans were run with the sweep's `first` seed.
fn look(row: &Row, cell: &Cell, first: Seed, setting: &Setting) -> String {
    let (class, strategy) = (cell.class, row.name);
    let rules = if row.rules == Rules::default() { String::new() } else { format!(" --rules {}", row.rules.short()) };
    if cell.own().any(|mark| cell.is_surprising(mark)) {
        let witness = format!("{}/{}", setting.reports, super::files::witness_name(&row.label(), class));
        return format!("replay: onceproof replay {}", super::words::quoted(&witness));
    }
    if missing(cell).next().is_some() {
        return format!("look: onceproof replay --strategy {strategy}{rules} --faults {class} --pinned --seed {first}");
    }
    if class == FaultClass::Single {
        return format!("look: onceproof exhaust --strategy {strategy}{rules} --kinds core --seed {first}");
    }
    format!("look: onceproof verify --strategy {strategy}{rules} --faults {class} --seeds {}", (cell.tally.runs * 4).max(1000))
}

/// Seeds, rate, time, and what "ok" is worth.
fn summary(survey: &Survey, setting: &Setting) -> String {
    let (cells, good) = (survey.cells().count(), survey.cells().filter(|(_, cell)| cell.as_expected()).count());
    let verdict = match (cells, good) {
        (1, 1) => paint(GOOD, "the one cell is as expected"),
        (1, _) => paint(ALARM, "the one cell is not as expected"),
        _ if cells == good => paint(GOOD, &format!("all {} as expected", count(cells, "cell"))),
        _ => paint(ALARM, &format!("{good} of {} as expected", count(cells, "cell"))),
    };
    let (least, most) = survey.spread();
    let per_cell = match survey.quota {
        Quota::Seeds(n) => format!("{} a cell", count(n as usize, "seed")),
        Quota::Time if most == 0 => "not one seed fit in the time".to_owned(),
        Quota::Time if least == most => format!("{} a cell", count(least as usize, "seed")),
        Quota::Time | Quota::Felt(_) => format!("{} to {} seeds a cell", thousands(least), thousands(most)),
    };
    let mut lines = vec![
        format!(
            "{verdict}: {per_cell}, {}, {} made twice with equal digests",
            count(survey.pinned_runs(), "pinned plan"),
            count(survey.certified, "run")
        ),
        format!(
            "{} {}; base seed {}, {}",
            count(survey.runs() as usize, "run"),
            how(survey, setting.made),
            survey.base,
            words::engine(survey.engine, setting.time_scale)
        ),
    ];
    if survey.classes.contains(&FaultClass::Single) {
        let singles = survey.cells().filter(|(_, cell)| cell.class == FaultClass::Single).map(|(_, cell)| cell.tally.apart);
        let (runs, felt) = singles.fold((0, 0), |sum, apart| (sum.0 + apart.runs, sum.1 + apart.felt));
        let more = if survey.rows.len() == 1 { "" } else { ", all rows together" };
        lines.push(format!(
            "single: complete for seven kinds of single faults, {} of which {} felt{more}",
            count(runs as usize, "run"),
            thousands(felt)
        ));
    }
    lines.extend(worth(survey));
    lines.extend(short_of_the_bound(survey));
    lines.extend(reached(survey));
    lines.push(format!("{}, witnesses in {}/witnesses", files::written(&setting.reports, files::VERDICTS), setting.reports));
    // The first line is painted, and paint has no width.
    let painted = lines.remove(0);
    let rest = lines.iter().flat_map(|line| wrap(line, setting.width));
    std::iter::once(painted).chain(rest).map(|line| line + "\n").collect()
}

/// In what time, or in how many shards.
fn how(survey: &Survey, made: Made) -> String {
    match made {
        Made::Here { took, threads } => {
            let seconds = took.as_secs_f64();
            let rate = (survey.runs() as f64 / seconds.max(0.001)) as u64;
            format!("in {seconds:.1} s, {} seeds/s on {}", thousands(rate), count(threads, "thread"))
        }
        Made::Merged { shards } => format!("from {}", count(shards as usize, "shard")),
    }
}

/// How many names of a list are told; files hold all of them.
const TOLD: usize = 3;

/// The first few of a list, and how many more there are.
fn few(mut all: impl ExactSizeIterator<Item = String>) -> String {
    let more = all.len().saturating_sub(TOLD);
    let told = all.by_ref().take(TOLD).collect::<Vec<_>>().join(", ");
    if more == 0 { told } else { format!("{told} and {} more (all in verdicts.json)", thousands(more as u64)) }
}

/// Cells that a sweep until a bound has given up: they hold, but for less than was asked for.
fn short_of_the_bound(survey: &Survey) -> Option<String> {
    let Quota::Felt(wanted) = survey.quota else { return None };
    let short = |(_, cell): &(&Row, &Cell)| {
        cell.misses.is_none() && cell.class != FaultClass::Single && cell.own().next().is_none() && cell.tally.felt < wanted
    };
    let short: Vec<String> = survey
        .cells()
        .filter(short)
        .map(|(row, cell)| format!("{} under {} ({} felt)", row.label(), cell.class, thousands(cell.tally.felt)))
        .collect();
    let cap = survey.quota.cap().unwrap_or_default();
    (!short.is_empty()).then(|| {
        format!(
            "the bound was not reached in {}, which felt too little in {}: {}",
            count(short.len(), "cell"),
            count(cap as usize, "run"),
            few(short.into_iter())
        )
    })
}

/// Where the faults of the class swarm were felt, all rows together.
fn reached(survey: &Survey) -> Option<String> {
    let covered = || survey.cells().map(|(row, cell)| (row, &cell.tally.coverage)).filter(|(_, c)| !c.possible.is_empty());
    let possible: usize = covered().map(|(_, c)| c.possible.len()).sum();
    let (chance, steered) = covered().fold((0, 0), |(a, b), (_, c)| (a + c.by_chance(), b + c.by_steering()));
    let never: Vec<String> = covered().flat_map(|(row, c)| c.never().map(move |place| format!("{place} of {}", row.label()))).collect();
    (possible > 0).then(|| {
        let only = if steered == 0 { String::new() } else { format!(", {} of them only when steered to", thousands(steered as u64)) };
        let unmade: usize = covered().map(|(_, c)| c.never().filter(|place| !c.made.contains(&place.step)).count()).sum();
        let unmade = if unmade == 0 { String::new() } else { format!(" ({} of them in steps that no run made)", thousands(unmade as u64)) };
        let rest = if never.is_empty() { String::new() } else { format!("; never{unmade}: {}", few(never.into_iter())) };
        let (reached, possible) = (thousands((chance + steered) as u64), thousands(possible as u64));
        format!("swarm reached {reached} of {possible} (fault kind × step × phase){only}{rest}")
    })
}

/// How sure "ok" is, for the cell that was felt least.
fn worth(survey: &Survey) -> Option<String> {
    let holding =
        survey.cells().filter(|(_, cell)| cell.misses.is_none() && cell.own().next().is_none() && cell.tally.felt > 0 && !cell.undecided());
    let (row, weakest) = holding.min_by_key(|(_, cell)| cell.tally.felt)?;
    let felt = weakest.tally.felt;
    Some(format!(
        "ok = held in all of at least {} (fewest: {} under {}): with 95 % confidence fewer than {} of runs break it (1 − 0.05^(1/{felt}))",
        count(felt as usize, "felt run"),
        row.label(),
        weakest.class,
        percent(bound::upper_bound(felt)?)
    ))
}

#[cfg(test)]
pub(super) mod tests;
