//! Where leases stop protecting: what was measured, beside the line that can be worked out on paper.

use crate::page::plot::axis::{Axis, coarse, ms};
use crate::page::plot::chart::{Around, Chart};
use crate::page::plot::ink::Ink;
use crate::page::plot::panel::{Area, At, Drawn, Panel, SMALL, Shape, TEXT, fill, mark, path, say};
use crate::page::plot::{Figure, Layout, Table, heads, panels};
use crate::page::source::Frontier;
use crate::page::source::frontier::{Found, Given, Point};
use crate::report::words::{count, signed, thousands};

const WIDTH: u32 = 380;
const ROW: u32 = 42;
/// Two at work.
const OVERLAP: Ink = Ink::Hue(0);
/// Settled twice.
const TWICE: Ink = Ink::Hue(1);

/// One strategy, one way to hurt it.
struct Block<'a> {
    name: String,
    title: String,
    points: Vec<&'a Point>,
}

/// The plot, if anything was measured.
pub fn figure(frontier: &Frontier) -> Option<Figure> {
    let blocks = blocks(frontier);
    if blocks.is_empty() {
        return None;
    }
    let title = "Where a lease stops protecting";
    let all: Vec<String> = blocks.iter().enumerate().flat_map(|(n, block)| [thresholds(n, block), differences(n, block)]).collect();
    Some(Figure {
        id: "frontier".to_owned(),
        title: title.to_owned(),
        caption: caption(frontier, blocks.len()),
        svg: panels(Layout::Pairs, &all),
        table: table(frontier),
    })
}

fn blocks(frontier: &Frontier) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    for point in &frontier.points {
        let title = title(point);
        match blocks.last_mut() {
            Some(block) if block.title == title => block.points.push(point),
            _ => blocks.push(Block { name: point.strategy.clone(), title, points: vec![point] }),
        }
    }
    blocks
}

fn title(point: &Point) -> String {
    let lease = point.ttl_ms.map_or(String::new(), |ttl| format!(", lease of {}", ms(ttl)));
    match point.along.as_str() {
        "lateness" => format!("{}{lease}: how late another node may come", point.strategy),
        _ => format!("{}{lease}: how long its holder may stop {}", point.strategy, point.stops),
    }
}

/// What is searched, as the name of an axis.
fn searched(block: &Block<'_>) -> &'static str {
    match block.points.first().map(|point| point.along.as_str()) {
        Some("lateness") => "lateness at which it begins",
        _ => "stop at which it begins",
    }
}

/// How long the holder is at work, with the stop that is given.
fn stay(point: &Point) -> u64 {
    point.given.job_ms.saturating_add(point.given.stall_ms)
}

/// What is unusual about the conditions decides the shape.
fn shape(given: &Given) -> Shape {
    match given {
        Given { store_set_ms: 1.., .. } => Shape::Plus,
        Given { store_set_ms: ..=-1, .. } => Shape::Cross,
        Given { store_drift_ppm: 1.., .. } => Shape::Triangle,
        Given { store_drift_ppm: ..=-1, .. } => Shape::Down,
        Given { holder_drift_ppm: 1.. | ..=-1, .. } => Shape::Diamond,
        Given { lateness_ms: 1.., .. } => Shape::Square,
        Given { .. } => Shape::Circle,
    }
}

/// The conditions, in words.
fn conditions(given: &Given) -> String {
    let mut words = vec![format!("job {}", ms(given.job_ms))];
    let drift = |ppm: i32| format!("{}{} %", if ppm < 0 { '−' } else { '+' }, f64::from(ppm.unsigned_abs()) / 10_000.0);
    if given.stall_ms > 0 {
        words.push(format!("stopped for {}", ms(given.stall_ms)));
    }
    if given.lateness_ms > 0 {
        words.push(format!("n0 late by {}", ms(given.lateness_ms)));
    }
    if given.store_drift_ppm != 0 {
        words.push(format!("store's clock {}", drift(given.store_drift_ppm)));
    }
    if given.holder_drift_ppm != 0 {
        words.push(format!("holder's clock {}", drift(given.holder_drift_ppm)));
    }
    if given.store_set_ms != 0 {
        words.push(format!("store's clock set {}", signed(given.store_set_ms)));
    }
    words.join(", ")
}

/// Both questions: of a point, what was found, its colour, and whether its mark is filled.
fn questions(point: &Point) -> [(&Found, Ink, bool); 2] {
    [(&point.overlap, OVERLAP, false), (&point.settled_twice, TWICE, true)]
}

fn set(area: &Area<'_>, shape: Shape, spot: (i32, i32), (ink, filled): (Ink, bool)) -> Drawn {
    mark(area, shape, spot, if filled { 3 } else { 6 }, ink, filled)
}

fn legend(area: &Area<'_>, y: i32) -> Drawn {
    set(area, Shape::Circle, (12, y), (OVERLAP, false))?;
    say(area, "two at work at once", (24, y), SMALL, Ink::Text, At::Start)?;
    set(area, Shape::Circle, (162, y), (TWICE, true))?;
    say(area, "settled twice", (172, y), SMALL, Ink::Text, At::Start)?;
    path(area, &[(262, y), (284, y)], Ink::Soft, 2)?;
    say(area, "worked out", (290, y), SMALL, Ink::Text, At::Start)
}

/// The first value that shows it, against the length of the job.
fn thresholds(n: usize, block: &Block<'_>) -> String {
    let found = || block.points.iter().flat_map(|point| [&point.overlap, &point.settled_twice]);
    let most = found().flat_map(|of| [of.line_ms, of.holds_at_ms, of.breaks_at_ms]).flatten().max().unwrap_or_default();
    let longest = block.points.iter().map(|point| stay(point)).max().unwrap_or_default();
    let (x, y) = (Axis::time(longest), Axis::time(most));
    let about = format!("{}; against how long the holder is at its job.", block.title);
    let panel = Panel { id: format!("frontier-{n}"), title: &block.name, about: &about, size: (WIDTH, 330) };
    panel.draw(|area| {
        say(area, &block.name, (2, 10), TEXT, Ink::Text, At::Start)?;
        legend(area, 32)?;
        let around = Around { top: 66, right: 14, below: 40, left: 46 };
        let holder = if block.points.iter().any(|point| point.given.stall_ms > 0) {
            "length of the job, with the stop that is given"
        } else {
            "length of the job"
        };
        let chart = Chart::new(area, (&x, &y), around, (holder, searched(block)))?;
        unsafe_side(area, &chart, block)?;
        line(area, &chart, block, |point| &point.overlap)?;
        line(area, &chart, block, |point| &point.settled_twice)?;
        block.points.iter().try_for_each(|point| measured(area, &chart, point))
    })
}

/// The points whose clocks are right, and what was worked out for them.
fn usual(block: &Block<'_>, pick: fn(&Point) -> &Found) -> Vec<(f64, f64)> {
    let usual = block.points.iter().filter(|point| shape(&point.given) == Shape::Circle);
    let mut known: Vec<(u64, u64)> = usual.filter_map(|point| pick(point).line_ms.map(|line| (stay(point), line))).collect();
    known.sort_unstable();
    known.dedup();
    known.into_iter().map(|(at, line)| (at as f64, line as f64)).collect()
}

/// What lies beyond the line, faintly.
fn unsafe_side(area: &Area<'_>, chart: &Chart<'_>, block: &Block<'_>) -> Drawn {
    let known = usual(block, |point| &point.settled_twice);
    let ([first, .., last], 3..) = (known.as_slice(), known.len()) else {
        return Ok(());
    };
    let above = [(last.0, f64::INFINITY), (first.0, f64::INFINITY)];
    fill(area, chart.spots(known.iter().copied().chain(above)), Ink::Bad, 0.1)?;
    let (x, y) = chart.spot(f64::midpoint(first.0, last.0), f64::INFINITY);
    say(area, "unsafe", (x, y + 14), SMALL, Ink::Bad, At::Middle)?;
    let (x, y) = chart.spot(f64::midpoint(first.0, last.0), 0.0);
    say(area, "safe", (x, y - 12), SMALL, Ink::Soft, At::Middle)
}

/// What was worked out, through the points whose clocks are right.
fn line(area: &Area<'_>, chart: &Chart<'_>, block: &Block<'_>, pick: fn(&Point) -> &Found) -> Drawn {
    let known = usual(block, pick);
    match known.len() {
        // Two points say nothing about what is between them.
        0..=2 => known.into_iter().try_for_each(|(at, line)| {
            let (x, y) = chart.spot(at, line);
            path(area, &[(x - 12, y), (x + 12, y)], Ink::Soft, 2)
        }),
        _ => path(area, &chart.spots(known), Ink::Soft, 2),
    }
}

fn measured(area: &Area<'_>, chart: &Chart<'_>, point: &Point) -> Drawn {
    let x = stay(point) as f64;
    for (found, ink, filled) in questions(point) {
        if let (Some(holds), Some(breaks)) = (found.holds_at_ms, found.breaks_at_ms) {
            path(area, &chart.spots([(x, holds as f64), (x, breaks as f64)]), ink, 2)?;
        }
        if let Some(breaks) = found.breaks_at_ms {
            set(area, shape(&point.given), chart.spot(x, breaks as f64), (ink, filled))?;
        }
    }
    Ok(())
}

/// By how much what was measured is beside the line, a row for each condition.
fn differences(n: usize, block: &Block<'_>) -> String {
    let differs: Vec<i64> = block.points.iter().flat_map(|point| [&point.overlap, &point.settled_twice]).flat_map(ends).flatten().collect();
    let x = Axis::seconds(differs.iter().copied().min().unwrap_or_default(), differs.iter().copied().max().unwrap_or_default());
    let y = Axis::rows(block.points.len());
    let height = 66 + 40 + ROW * block.points.len() as u32;
    let about = format!("{}; how far from the line it was measured, condition by condition.", block.title);
    let panel = Panel {
        id: format!("frontier-{n}-beside"),
        title: &format!("{}, beside the line", block.name),
        about: &about,
        size: (WIDTH, height),
    };
    panel.draw(|area| {
        say(area, &format!("{}, beside the line", block.name), (2, 10), TEXT, Ink::Text, At::Start)?;
        let around = Around { top: 40, right: 14, below: 40, left: 14 };
        let chart = Chart::new(area, (&x, &y), around, ("measured later than worked out", ""))?;
        chart.upright(area, 0.0, Ink::Soft, 2)?;
        block.points.iter().enumerate().try_for_each(|(n, point)| row(area, &chart, n, point))
    })
}

/// Further from the line nothing is drawn: milliseconds of thirty thousand years.
const FURTHEST: i128 = 1_000_000_000_000_000;

/// Both ends of what was bracketed, from the line.
fn ends(found: &Found) -> [Option<i64>; 2] {
    let apart = |at: u64, line: u64| (i128::from(at) - i128::from(line)).clamp(-FURTHEST, FURTHEST) as i64;
    let from = |at: Option<u64>| at.zip(found.line_ms).map(|(at, line)| apart(at, line));
    [found.breaks_at_ms.and(from(found.holds_at_ms)), from(found.breaks_at_ms)]
}

fn row(area: &Area<'_>, chart: &Chart<'_>, n: usize, point: &Point) -> Drawn {
    let (left, y) = chart.spot(f64::NEG_INFINITY, -(n as f64));
    let right = chart.spot(f64::INFINITY, 0.0).0;
    if n > 0 {
        path(area, &[(left, y), (right, y)], Ink::Line, 1)?;
    }
    let shape = shape(&point.given);
    mark(area, shape, (left + 10, y + 10), 4, Ink::Text, false)?;
    say(area, &conditions(&point.given), (left + 22, y + 10), SMALL, Ink::Text, At::Start)?;
    for ((found, ink, filled), (name, below)) in questions(point).into_iter().zip([("two at work", 23), ("settled twice", 34)]) {
        let at = |value: i64| (chart.spot(value as f64, 0.0).0, y + below);
        match ends(found) {
            [_, None] => say(area, &format!("{name}: {}", begins(found)), (right - 4, y + below), SMALL - 1.0, Ink::Soft, At::End)?,
            [holds, Some(breaks)] => {
                path(area, &[at(holds.unwrap_or(breaks)), at(breaks)], ink, 2)?;
                mark(area, shape, at(breaks), 4, ink, filled)?;
            }
        }
    }
    Ok(())
}

/// Where something begins, in words.
fn begins(found: &Found) -> String {
    match (found.measured.as_str(), found.holds_at_ms, found.breaks_at_ms) {
        ("at-once", ..) => "at once".to_owned(),
        ("not-monotone", Some(holds), Some(breaks)) => format!("at {}, and not at {}", ms(breaks), ms(holds)),
        (_, _, Some(breaks)) => ms(breaks),
        (_, Some(holds), None) => format!("never up to {}", ms(coarse(holds))),
        (_, None, None) => "not measured".to_owned(),
    }
}

fn worked_out(found: &Found) -> String {
    match (found.line.as_str(), found.line_ms) {
        (_, Some(0)) => "at once".to_owned(),
        (_, Some(line)) => ms(line),
        ("never", None) => "never".to_owned(),
        _ => "unknown".to_owned(),
    }
}

fn caption(frontier: &Frontier, blocks: usize) -> String {
    let found = || frontier.points.iter().flat_map(|point| [&point.overlap, &point.settled_twice]);
    let off = found().filter(|of| !of.as_expected).count();
    let furthest = found().filter_map(|of| of.differs_ms).max_by_key(|by| by.abs());
    let agrees = match (off, furthest) {
        (0, Some(by)) => format!("Everything begins where the line says; the furthest from it by {}.", signed(by)),
        (0, None) => "Nothing was found where the line says that there is nothing.".to_owned(),
        (n, _) => format!("{} not where the line says.", count(n, "threshold")),
    };
    format!(
        "{} in {}. A mark is the first value that any of {} seeds shows; its bar reaches back to the last value that none shows, {} before it. \
         The line is worked out on paper, and drawn for clocks that are right: two are at work once stop and job together outlast the lease. {agrees} \
         Shapes tell the conditions apart; the second plot of each pair names them.",
        count(frontier.points.len(), "condition"),
        count(blocks, "block"),
        thousands(frontier.seeds),
        ms(frontier.resolution_ms)
    )
}

fn table(frontier: &Frontier) -> Table {
    let heads = heads(["strategy", "searched", "given", "what", "line", "begins", "differs", "seen"]);
    let rows = frontier.points.iter().flat_map(|point| {
        [("two at work", &point.overlap), ("settled twice", &point.settled_twice)].map(|(what, of)| {
            let searched = if point.along == "lateness" { "late by".to_owned() } else { format!("stopped {}", point.stops) };
            let seen = if of.of == 0 { String::new() } else { format!("{} of {}", of.seen, of.of) };
            let differs = of.differs_ms.map_or("–".to_owned(), signed);
            let (given, line, begins) = (conditions(&point.given), worked_out(of), begins(of));
            vec![point.strategy.clone(), searched, given, what.to_owned(), line, begins, differs, seen]
        })
    });
    (heads, rows.collect())
}
