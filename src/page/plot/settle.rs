//! How long it takes until a period is settled, and how bad that gets.

use crate::page::plot::axis::{Axis, coarse, ms};
use crate::page::plot::chart::{Around, Chart};
use crate::page::plot::ink::Ink;
use crate::page::plot::panel::{Area, At, Drawn, Panel, SMALL, Shape, Spot, TEXT, fill, mark, path, say};
use crate::page::plot::{Figure, Layout, heads, panels};
use crate::page::source::Verdicts;
use crate::page::source::verdicts::{Cell, Spread, Strategy};
use crate::report::words::{count, fit, thousands};

const WIDTH: u32 = 380;
/// Rows of a panel.
const ROWS: usize = 14;
const ROW: u32 = 46;
/// Pixels of a step of a distribution.
const STEP: i32 = 4;
/// What takes no longer, in milliseconds, stands at the beginning of the axis.
const LEAST: u64 = 100;
/// Panels of the second plot.
const PANELS: usize = 9;
const CALM: Ink = Ink::Hue(0);
const WORST: Ink = Ink::Hue(1);

/// What is told of a strategy.
struct Told<'a> {
    label: String,
    survives: bool,
    calm: &'a Spread,
    worst: Option<(&'a str, &'a Spread)>,
}

fn to_settle(cell: &Cell) -> Option<&Spread> {
    cell.cost.as_ref().map(|cost| &cost.to_settle).filter(|spread| spread.n > 0)
}

fn survives(strategy: &Strategy) -> bool {
    !strategy.cells.is_empty() && strategy.cells.iter().all(|cell| cell.verdict != "breaks")
}

fn told(strategy: &Strategy) -> Option<Told<'_>> {
    let calm = strategy.cells.iter().find(|cell| cell.faults == "calm").and_then(to_settle)?;
    let others = strategy.cells.iter().filter(|cell| cell.faults != "calm");
    let worst = others.filter_map(|cell| Some((cell.faults.as_str(), to_settle(cell)?)));
    // Of equals the first.
    let worst = worst.rev().max_by_key(|(_, spread)| (spread.p95_ms, spread.max_ms));
    Some(Told { label: strategy.label(), survives: survives(strategy), calm, worst })
}

/// The axis on which all of them lie.
fn axis<'a>(all: impl Iterator<Item = &'a Spread> + Clone) -> Axis {
    let least = all.clone().map(|spread| spread.buckets.first().map_or(spread.p50_ms, |(to, _)| *to).min(spread.p50_ms)).min();
    Axis::log_time(least.unwrap_or_default().max(LEAST), all.map(|spread| spread.max_ms).max().unwrap_or_default())
}

/// Calm, and under the worst class, a row for each strategy.
pub fn worst(verdicts: &Verdicts) -> Option<Figure> {
    let all: Vec<Told<'_>> = verdicts.strategies.iter().filter_map(told).collect();
    if all.is_empty() {
        return None;
    }
    let x = axis(all.iter().flat_map(|of| [Some(of.calm), of.worst.map(|(_, spread)| spread)]).flatten());
    let title = "How long until a period is settled";
    let size = all.len().div_ceil(all.len().div_ceil(ROWS));
    let drawn: Vec<String> = all.chunks(size).enumerate().map(|(n, part)| strips(n, part, &x)).collect();
    let cells = |spread: &Spread| [spread.p50_ms, spread.p95_ms, spread.max_ms].map(|at| ms(coarse(at)));
    let rows = all.iter().map(|of| {
        let (class, worst) = of.worst.map_or(("–", ["–", "–", "–"].map(str::to_owned)), |(class, spread)| (class, cells(spread)));
        let survives = if of.survives { "yes" } else { "no" }.to_owned();
        [vec![of.label.clone(), survives], cells(of.calm).to_vec(), vec![class.to_owned()], worst.to_vec()].concat()
    });
    let heads =
        heads(["strategy", "nothing breaks it", "calm: median", "calm: 95 %", "calm: most", "slowest under", "median", "95 %", "most"]);
    Some(Figure {
        id: "time-to-settle".to_owned(),
        title: title.to_owned(),
        caption: told_of_all(&all),
        svg: panels(Layout::Beside, &drawn),
        table: (heads, rows.collect()),
    })
}

fn told_of_all(all: &[Told<'_>]) -> String {
    let periods: u64 = all.iter().map(|of| of.calm.n).sum();
    let calm = || all.iter().map(|of| of.calm.p50_ms);
    let (quick, slow) = (calm().min().unwrap_or_default(), calm().max().unwrap_or_default());
    let worst = all.iter().filter(|of| of.survives).filter_map(|of| Some((of, of.worst?)));
    let worst = worst.max_by_key(|(_, (_, spread))| spread.p95_ms);
    let worst = worst.map_or(String::new(), |(of, (class, spread))| {
        format!(
            " Of those that nothing breaks, {} is slowest: under {class} one period in twenty takes longer than {}.",
            of.label,
            ms(coarse(spread.p95_ms))
        )
    });
    format!(
        "From the end of a period to the commit that settles it, on a logarithmic axis. Upper half of a row: {} \
         settled in calm runs, the hill as high as they are many, the bar at their median, which is between {} and {}. Lower half: the class of \
         faults under which it is slowest, from the median (dot) over 95 in 100 (thick line) to the longest (cross). ✓ nothing breaks it, \
         ✗ something does: settled soon is then no merit.{worst}",
        format_args!("{} periods", thousands(periods)),
        ms(coarse(quick)),
        ms(coarse(slow))
    )
}

fn strips(n: usize, part: &[Told<'_>], x: &Axis) -> String {
    let y = Axis::rows(part.len());
    let about = format!("{}, calm and under the class of faults that makes each slowest.", count(part.len(), "row"));
    let panel = Panel {
        id: format!("time-to-settle-{n}"),
        title: "Time until a period is settled",
        about: &about,
        size: (WIDTH, 28 + 40 + ROW * part.len() as u32),
    };
    panel.draw(|area| {
        legend(area)?;
        let around = Around { top: 28, right: 16, below: 40, left: 26 };
        let chart = Chart::new(area, (x, &y), around, ("until it is settled", ""))?;
        part.iter().enumerate().try_for_each(|(n, of)| strip(area, &chart, n, of))
    })
}

fn legend(area: &Area<'_>) -> Drawn {
    fill(area, vec![(26, 15), (30, 9), (36, 5), (40, 9), (46, 15)], CALM, 0.55)?;
    say(area, "calm", (52, 10), SMALL, Ink::Text, At::Start)?;
    path(area, &[(96, 10), (116, 10)], WORST, 4)?;
    mark(area, Shape::Circle, (96, 10), 4, WORST, true)?;
    say(area, "slowest class of faults", (124, 10), SMALL, Ink::Text, At::Start)
}

fn strip(area: &Area<'_>, chart: &Chart<'_>, n: usize, of: &Told<'_>) -> Drawn {
    let top = chart.spot(0.0, -(n as f64)).1;
    let (left, right) = (chart.spot(f64::NEG_INFINITY, 0.0).0, chart.spot(f64::INFINITY, 0.0).0);
    path(area, &[(left, top), (right, top)], Ink::Line, 1)?;
    let base = top + 31;
    fill(area, hill(chart, of.calm, base, 16), CALM, 0.55)?;
    let median = chart.spot(of.calm.p50_ms as f64, 0.0).0;
    path(area, &[(median, base - 17), (median, base + 1)], CALM, 3)?;
    let (sign, ink) = if of.survives { ("✓", Ink::Text) } else { ("✗", Ink::Soft) };
    say(area, &format!("{sign} {}", fit(&of.label, 32)), (left + 4, top + 10), TEXT, ink, At::Start)?;
    if let Some((class, spread)) = of.worst {
        say(area, &format!("{class} {}", ms(coarse(spread.p95_ms))), (right - 2, top + 10), SMALL, Ink::Soft, At::End)?;
        range(area, chart, spread, base + 8, WORST)?;
    }
    Ok(())
}

/// From the median over 95 in 100 to the longest.
fn range(area: &Area<'_>, chart: &Chart<'_>, spread: &Spread, y: i32, ink: Ink) -> Drawn {
    let [median, most_of, longest] = [spread.p50_ms, spread.p95_ms, spread.max_ms].map(|at| chart.spot(at as f64, 0.0).0);
    path(area, &[(median, y), (most_of, y)], ink, 4)?;
    path(area, &[(most_of, y), (longest, y)], ink, 1)?;
    mark(area, Shape::Circle, (median, y), 4, ink, true)?;
    mark(area, Shape::Cross, (longest, y), 3, ink, false)
}

/// How many took how long: steps that stand on `base`, the highest `height` above it.
fn hill(chart: &Chart<'_>, spread: &Spread, base: i32, height: i32) -> Vec<Spot> {
    let mut steps: std::collections::BTreeMap<i32, u64> = std::collections::BTreeMap::new();
    for (to, n) in &spread.buckets {
        *steps.entry(chart.spot(*to as f64, 0.0).0.div_euclid(STEP)).or_default() += n;
    }
    let most = steps.values().copied().max().unwrap_or_default().max(1);
    let mut spots = Vec::new();
    let mut last = None;
    for (step, n) in &steps {
        let (x, y) = (step * STEP, base - (*n as f64 / most as f64 * f64::from(height)).round() as i32);
        if last != Some(*step) {
            spots.extend(last.map(|last| (last * STEP, base)));
            spots.push((x, base));
        }
        spots.extend([(x, y), (x + STEP, y)]);
        last = Some(step + 1);
    }
    spots.extend(last.map(|last| (last * STEP, base)));
    spots
}

/// Class by class, for the strategies that nothing breaks, or the fewest classes.
pub fn by_class(verdicts: &Verdicts) -> Option<Figure> {
    let has = |strategy: &&Strategy| strategy.cells.iter().any(|cell| to_settle(cell).is_some());
    let mut all: Vec<&Strategy> = verdicts.strategies.iter().filter(has).collect();
    let broken = |strategy: &&Strategy| strategy.cells.iter().filter(|cell| cell.verdict == "breaks").count();
    let unbroken = all.iter().filter(|strategy| survives(strategy)).count();
    all.sort_by_key(broken);
    all.truncate(if unbroken == 0 { 6 } else { unbroken.min(PANELS) });
    let x = axis(all.iter().flat_map(|strategy| &strategy.cells).filter_map(to_settle));
    if all.is_empty() {
        return None;
    }
    let title = "How long until a period is settled, class by class";
    let drawn: Vec<String> = all.iter().enumerate().map(|(n, strategy)| classes(n, strategy, &x)).collect();
    let rows = all.iter().flat_map(|strategy| {
        strategy.cells.iter().filter_map(|cell| {
            let spread = to_settle(cell)?;
            let recovery = cell.cost.as_ref().and_then(|cost| cost.recovery.as_ref()).filter(|spread| spread.n > 0);
            let times = [spread.p50_ms, spread.p95_ms, spread.max_ms].map(|at| ms(coarse(at)));
            let recovered = recovery.map_or("–".to_owned(), |spread| ms(coarse(spread.p50_ms)));
            Some([vec![strategy.label(), cell.faults.clone(), thousands(spread.n)], times.to_vec(), vec![recovered]].concat())
        })
    });
    let which = match unbroken {
        0 => format!("The {} that the fewest classes break.", count(all.len(), "row")),
        n if n > all.len() => format!("The first {} of {n} rows that nothing breaks.", all.len()),
        1 => "The row that nothing breaks.".to_owned(),
        n => format!("The {n} rows that nothing breaks."),
    };
    Some(Figure {
        id: "time-to-settle-by-class".to_owned(),
        title: title.to_owned(),
        caption: format!(
            "{which} From the median (dot) over 95 in 100 (thick line) to the longest (cross); the upright line is the median of calm runs, \
             so what lies to the right of it is what the faults cost."
        ),
        svg: panels(Layout::Beside, &drawn),
        table: (heads(["strategy", "faults", "periods", "median", "95 %", "most", "recovered: median"]), rows.collect()),
    })
}

fn classes(n: usize, strategy: &Strategy, x: &Axis) -> String {
    let cells: Vec<(&str, &Spread)> = strategy.cells.iter().filter_map(|cell| Some((cell.faults.as_str(), to_settle(cell)?))).collect();
    let y = Axis::rows(cells.len());
    let label = strategy.label();
    let panel = Panel {
        id: format!("time-to-settle-by-class-{n}"),
        title: &label,
        about: "A row for each class of faults, from the median to the longest.",
        size: (WIDTH, 28 + 40 + 18 * cells.len() as u32),
    };
    panel.draw(|area| {
        say(area, &fit(&label, 48), (2, 10), TEXT, Ink::Text, At::Start)?;
        let around = Around { top: 28, right: 14, below: 40, left: 82 };
        let chart = Chart::new(area, (x, &y), around, ("until it is settled", ""))?;
        if let Some((_, calm)) = cells.iter().find(|(class, _)| *class == "calm") {
            chart.upright(area, calm.p50_ms as f64, CALM, 1)?;
        }
        for (n, (class, spread)) in cells.iter().enumerate() {
            let (left, y) = chart.spot(f64::NEG_INFINITY, -(n as f64) - 0.5);
            say(area, &fit(class, 12), (left - 6, y), SMALL, Ink::Text, At::End)?;
            range(area, &chart, spread, y, if *class == "calm" { CALM } else { WORST })?;
        }
        Ok(())
    })
}
