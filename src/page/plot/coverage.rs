//! Where faults were felt, and where none ever was.

use crate::page::plot::axis::Axis;
use crate::page::plot::chart::{Around, Chart};
use crate::page::plot::ink::Ink;
use crate::page::plot::panel::{Area, At, Drawn, Panel, SMALL, fill, path, say, say_upwards};
use crate::page::plot::{Figure, Layout, heads, panels};
use crate::page::source::verdicts::Coverage;
use crate::page::source::{Verdicts, sum as added};
use crate::report::words::{count, fit, percent, thousands};
use std::collections::{BTreeMap, BTreeSet};

const WIDTH: u32 = 380;
const ROW: u32 = 32;
/// Rows of a panel of the first plot.
const ROWS: usize = 14;
/// Rows of a panel of the map.
const STEPS: usize = 56;
const PHASES: [&str; 3] = ["before", "sent", "after"];
const BY_CHANCE: Ink = Ink::Hue(0);
const STEERED: Ink = Ink::Hue(4);

/// The cells that know their coverage, with the row's name.
fn covered(verdicts: &Verdicts) -> impl Iterator<Item = (String, &Coverage)> {
    verdicts.strategies.iter().flat_map(|strategy| {
        let known = strategy.cells.iter().filter_map(|cell| cell.coverage.as_ref().filter(|of| of.possible > 0));
        known.map(|coverage| (strategy.label(), coverage))
    })
}

/// The classes whose coverage is known, in words.
fn classes(verdicts: &Verdicts) -> String {
    let cells = verdicts.strategies.iter().flat_map(|strategy| &strategy.cells);
    let known = cells.filter(|cell| cell.coverage.as_ref().is_some_and(|of| of.possible > 0));
    known.map(|cell| cell.faults.as_str()).collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(", ")
}

/// How many places were felt by chance, only when steered, and never; a row for each strategy.
pub fn by_strategy(verdicts: &Verdicts) -> Option<Figure> {
    let all: Vec<(String, &Coverage)> = covered(verdicts).collect();
    if all.is_empty() {
        return None;
    }
    let title = "Which places faults have reached";
    let size = all.len().div_ceil(all.len().div_ceil(ROWS));
    let drawn: Vec<String> = all.chunks(size).enumerate().map(|(n, part)| bars(n, part)).collect();
    let sum = |of: fn(&Coverage) -> u64| added(all.iter().map(|(_, coverage)| of(coverage)));
    let (possible, drawn_by_chance, steered) = (sum(|of| of.possible), sum(|of| of.drawn), sum(|of| of.steered));
    let never = sum(|of| of.never.len() as u64);
    let rows = all.iter().map(|(label, of)| {
        let unmade: Vec<&str> = of.never_made.iter().map(String::as_str).collect();
        let numbers = [of.possible, of.drawn, of.steered, of.never.len() as u64].map(thousands);
        [vec![label.clone()], numbers.to_vec(), vec![if unmade.is_empty() { "–".to_owned() } else { unmade.join(", ") }]].concat()
    });
    let heads = heads(["strategy", "places", "by chance", "only steered", "never", "steps never made"]);
    Some(Figure {
        id: "coverage".to_owned(),
        title: title.to_owned(),
        caption: format!(
            "A place is one kind of fault in one phase of one step of a strategy. Of {} places where faults of the class {} can strike, drawn \
             runs felt {} by chance, {} more only by runs steered there, and {} ({}) never, which the hatched end of each bar shows.",
            thousands(possible),
            classes(verdicts),
            thousands(drawn_by_chance),
            thousands(steered),
            thousands(never),
            percent(never as f64 / possible.max(1) as f64)
        ),
        svg: panels(Layout::Beside, &drawn),
        table: (heads, rows.collect()),
    })
}

fn bars(n: usize, part: &[(String, &Coverage)]) -> String {
    let (x, y) = (Axis::share(), Axis::rows(part.len()));
    let panel = Panel {
        id: format!("coverage-{n}"),
        title: "Places that faults have reached",
        about: "A bar for each strategy: the share of places felt by chance, felt only by steering, and never felt.",
        size: (WIDTH, 30 + 40 + ROW * part.len() as u32),
    };
    panel.draw(|area| {
        let mut at = 4;
        for (name, width, which) in [("by chance", 100, 0), ("only steered", 118, 1), ("never", 60, 2)] {
            piece(area, (at, at + 14), (5, 15), which)?;
            say(area, name, (at + 20, 10), SMALL, Ink::Text, At::Start)?;
            at += width;
        }
        let around = Around { top: 28, right: 22, below: 40, left: 14 };
        let chart = Chart::new(area, (&x, &y), around, ("of all places", ""))?;
        part.iter().enumerate().try_for_each(|(n, (label, of))| bar(area, &chart, n, (label, of)))
    })
}

fn bar(area: &Area<'_>, chart: &Chart<'_>, n: usize, (label, of): (&str, &Coverage)) -> Drawn {
    let top = chart.spot(0.0, -(n as f64)).1;
    let right = chart.spot(1.0, 0.0).0;
    say(area, &fit(label, 32), (chart.spot(0.0, 0.0).0 + 2, top + 9), SMALL, Ink::Text, At::Start)?;
    let never = of.never.len() as u64;
    say(area, &format!("never: {} of {}", thousands(never), thousands(of.possible)), (right, top + 9), SMALL, Ink::Soft, At::End)?;
    let mut from = 0_u64;
    for (which, n) in [of.drawn, of.steered, never].into_iter().enumerate() {
        let ends = [from, from.saturating_add(n)].map(|n| chart.spot((n as f64 / of.possible.max(1) as f64).min(1.0), 0.0).0);
        piece(area, (ends[0], ends[1]), (top + 17, top + 28), which)?;
        from = from.saturating_add(n);
    }
    Ok(())
}

/// A part of a bar: full, less high in another colour, or hatched.
fn piece(area: &Area<'_>, (left, right): (i32, i32), (top, bottom): (i32, i32), which: usize) -> Drawn {
    if right <= left {
        return Ok(());
    }
    let corners = vec![(left, top), (right, top), (right, bottom), (left, bottom)];
    match which {
        0 => fill(area, corners, BY_CHANCE, 1.0),
        1 => fill(area, vec![(left, top + 3), (right, top + 3), (right, bottom - 3), (left, bottom - 3)], STEERED, 1.0),
        _ => {
            fill(area, corners.clone(), Ink::Panel, 1.0)?;
            hatch(area, (left, right), (top, bottom))?;
            path(area, &[corners, vec![(left, top)]].concat(), Ink::Bad, 1)
        }
    }
}

/// One line to and fro, along the edges between its strokes.
fn hatch(area: &Area<'_>, (left, right): (i32, i32), (top, bottom): (i32, i32)) -> Drawn {
    let tall = bottom - top;
    let strokes = (left..right - tall).step_by(6).enumerate().flat_map(|(n, x)| {
        let stroke = [(x, bottom), (x + tall, top)];
        if n % 2 == 0 { stroke } else { [stroke[1], stroke[0]] }
    });
    path(area, &strokes.collect::<Vec<_>>(), Ink::Bad, 1)
}

/// What became of a place, over all strategies that have it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Felt {
    /// Runs that felt it.
    runs: u64,
    /// Strategies whose runs never did.
    never: u64,
}

/// The map: by step, kind and phase.
#[derive(Default)]
struct Map {
    places: BTreeMap<(String, String), BTreeMap<String, Felt>>,
    /// Whether the runs are known, or only where none was.
    counted: bool,
}

impl Map {
    fn of(verdicts: &Verdicts) -> Self {
        let mut map = Map::default();
        for (_, coverage) in covered(verdicts) {
            for place in &coverage.places {
                map.counted = true;
                let felt = map.felt(&place.kind, &place.step, &place.phase);
                let runs = place.drawn.saturating_add(place.steered);
                felt.runs = felt.runs.saturating_add(runs);
                felt.never += u64::from(runs == 0);
            }
            if coverage.places.is_empty() {
                for never in &coverage.never {
                    let words: Vec<&str> = never.split(" × ").collect();
                    if let [kind, step, phase] = words[..] {
                        map.felt(kind, step, phase).never += 1;
                    }
                }
            }
        }
        map
    }

    fn felt(&mut self, kind: &str, step: &str, phase: &str) -> &mut Felt {
        self.places.entry((step.to_owned(), kind.to_owned())).or_default().entry(phase.to_owned()).or_default()
    }

    fn steps(&self) -> Vec<&str> {
        self.places.keys().map(|(step, _)| step.as_str()).collect::<BTreeSet<_>>().into_iter().collect()
    }

    fn kinds(&self) -> Vec<&str> {
        self.places.keys().map(|(_, kind)| kind.as_str()).collect::<BTreeSet<_>>().into_iter().collect()
    }
}

/// How dark a cell is.
fn shade(runs: u64) -> f64 {
    match runs {
        0..10 => 0.35,
        10..100 => 0.65,
        _ => 1.0,
    }
}

/// Kind by step; in each cell the three phases.
pub fn map(verdicts: &Verdicts) -> Option<Figure> {
    let map = Map::of(verdicts);
    let (steps, kinds) = (map.steps(), map.kinds());
    if steps.is_empty() {
        return None;
    }
    let title = "Where faults were felt, and where never";
    let size = steps.len().div_ceil(steps.len().div_ceil(STEPS));
    let drawn: Vec<String> = steps.chunks(size).enumerate().map(|(n, part)| grid(n, &map, part, &kinds)).collect();
    Some(Figure {
        id: "coverage-map".to_owned(),
        title: title.to_owned(),
        caption: caption(&map, &classes(verdicts), (&steps, &kinds)),
        svg: panels(Layout::Map, &drawn),
        table: (heads(["fault", "places", "felt", "never felt", "where never"]), kinds.iter().map(|kind| row(&map, kind)).collect()),
    })
}

fn caption(map: &Map, classes: &str, (steps, kinds): (&[&str], &[&str])) -> String {
    let all = || map.places.values().flat_map(BTreeMap::values);
    let cells = "A row for each step, a column for each kind of fault, and in each cell the three phases of a step: before its request, while \
                 it is under way, after its reply";
    let size = format!("{} by {}", count(steps.len(), "step"), count(kinds.len(), "kind"));
    match map.counted {
        true => format!(
            "{cells}. {size}; runs of the class {classes}, of all strategies together: the darker, the more have felt a fault there. \
             Crossed out: {} of {} that no run of any strategy ever felt. Blank: nothing can strike there.",
            thousands(all().filter(|felt| felt.runs == 0).count() as u64),
            count(all().count(), "place")
        ),
        false => format!(
            "{cells}. {size}, under the class {classes}. This file tells only where some strategy never felt a fault: {} crossed out. What is blank was felt, or nothing \
             can strike there.",
            count(all().count(), "place")
        ),
    }
}

fn row(map: &Map, kind: &str) -> Vec<String> {
    let of = || map.places.iter().filter(|((_, of), _)| of == kind);
    let all = of().map(|(_, phases)| phases.len()).sum::<usize>();
    let never = |phases: &BTreeMap<String, Felt>| {
        PHASES.into_iter().filter(|phase| phases.get(*phase).is_some_and(|felt| felt.runs == 0)).collect::<Vec<_>>()
    };
    let steps = of().map(|((step, _), phases)| (step, never(phases))).filter(|(_, phases)| !phases.is_empty());
    let holes: Vec<(String, usize)> = steps.map(|(step, phases)| (format!("{step} ({})", phases.join(", ")), phases.len())).collect();
    let missing: usize = holes.iter().map(|(_, n)| n).sum();
    let told = holes.into_iter().map(|(text, _)| text).collect::<Vec<_>>().join("; ");
    let (places, felt) = match map.counted {
        true => (thousands(all as u64), thousands((all - missing) as u64)),
        false => ("unknown".to_owned(), "unknown".to_owned()),
    };
    vec![kind.to_owned(), places, felt, thousands(missing as u64), if told.is_empty() { "–".to_owned() } else { told }]
}

const CELL: i32 = 17;
const LEFT: i32 = 128;
const TOP: i32 = 118;

fn grid(n: usize, map: &Map, steps: &[&str], kinds: &[&str]) -> String {
    let size = ((LEFT + CELL * kinds.len() as i32 + 12).max(240) as u32, (TOP + CELL * steps.len() as i32 + 8) as u32);
    let between = format!("{} to {}", steps[0], steps[steps.len() - 1]);
    let title = format!("Coverage of the steps {between}");
    let panel = Panel {
        id: format!("coverage-map-{n}"),
        title: &title,
        about: "Steps by kinds of fault; crossed out where none was ever felt.",
        size,
    };
    panel.draw(|area| {
        legend(area, map.counted)?;
        for (column, kind) in (0..).zip(kinds) {
            say_upwards(area, &fit(kind, 16), (LEFT + column * CELL + CELL / 2, TOP - 6), SMALL, Ink::Text)?;
        }
        for (line, step) in (0..).zip(steps) {
            let top = TOP + line * CELL;
            if line > 0 && family(step) != family(steps[line as usize - 1]) {
                path(area, &[(2, top), (LEFT + CELL * kinds.len() as i32, top)], Ink::Line, 1)?;
            }
            say(area, &fit(step, 19), (LEFT - 6, top + CELL / 2), SMALL, Ink::Text, At::End)?;
            for (column, kind) in (0..).zip(kinds) {
                if let Some(phases) = map.places.get(&((*step).to_owned(), (*kind).to_owned())) {
                    cell(area, (LEFT + column * CELL, top), phases)?;
                }
            }
        }
        Ok(())
    })
}

/// What a step belongs to: `lease` of `lease.renew`.
fn family(step: &str) -> &str {
    step.split_once('.').map_or(step, |(family, _)| family)
}

fn legend(area: &Area<'_>, counted: bool) -> Drawn {
    let known: &[(&str, u64)] =
        if counted { &[("never felt", 0), ("1 to 9 runs", 1), ("10 to 99", 10), ("100 or more", 100)] } else { &[("never felt", 0)] };
    for (n, (name, runs)) in (0..).zip(known) {
        let top = 8 + n * (CELL + 4);
        third(area, (4, 19), top, *runs)?;
        say(area, name, (26, top + CELL / 2), SMALL, Ink::Text, At::Start)?;
    }
    Ok(())
}

/// One cell: a third for each phase, wider where neighbours are alike.
fn cell(area: &Area<'_>, (left, top): (i32, i32), phases: &BTreeMap<String, Felt>) -> Drawn {
    let alike = |felt: &Felt| (felt.runs == 0, shade(felt.runs).to_bits());
    let thirds: Vec<(i32, &Felt)> = (0..).zip(PHASES).filter_map(|(n, phase)| phases.get(phase).map(|felt| (n, felt))).collect();
    for run in thirds.chunk_by(|(n, one), (next, other)| n + 1 == *next && alike(one) == alike(other)) {
        let (first, felt) = run[0];
        third(area, (left + first * 5, left + (first + run.len() as i32) * 5), top, felt.runs)?;
    }
    Ok(())
}

/// A phase, or several that are alike: a shade, or crossed out.
fn third(area: &Area<'_>, (from, to): (i32, i32), top: i32, runs: u64) -> Drawn {
    let (above, below) = (top + 1, top + CELL - 1);
    let corners = vec![(from, above), (to, above), (to, below), (from, below)];
    if runs > 0 {
        return fill(area, corners, BY_CHANCE, shade(runs));
    }
    path(area, &[(from, below), (to, above)], Ink::Bad, 1)
}
