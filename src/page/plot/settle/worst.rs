//! Calm, and under the class of faults that makes a strategy slowest.

use super::{CALM, Class, FAULTS, WIDTH, axis, survives};
use crate::page::plot::axis::{Axis, coarse, ms};
use crate::page::plot::chart::{Around, Chart};
use crate::page::plot::ink::Ink;
use crate::page::plot::panel::{Area, At, Drawn, Panel, SMALL, Shape, Spot, TEXT, fill, mark, path, say};
use crate::page::plot::{Figure, Layout, heads, panels};
use crate::page::source::verdicts::{Spread, Strategy};
use crate::page::source::{Verdicts, sum};
use crate::report::words::{count, fit, thousands};
use std::collections::BTreeMap;

/// Rows of a panel.
const ROWS: usize = 14;
const ROW: u32 = 46;
/// Pixels of a step of a distribution.
const STEP: i32 = 4;

/// What is told of a strategy.
struct Told<'a> {
    label: String,
    survives: bool,
    calm: Class<'a>,
    worst: Option<Class<'a>>,
}

impl<'a> Told<'a> {
    fn of(strategy: &'a Strategy) -> Option<Self> {
        let calm = Class::all(strategy).find(Class::is_calm).filter(|calm| calm.spread.n > 0)?;
        // Of equals the first.
        let worst = Class::all(strategy).filter(|class| !class.is_calm()).rev().max_by_key(Class::slowness);
        Some(Told { label: strategy.label(), survives: survives(strategy), calm, worst })
    }

    fn cells(&self) -> Vec<String> {
        let survives = if self.survives { "yes" } else { "no" }.to_owned();
        let worst = self.worst.as_ref().map_or(vec!["–".to_owned(); 5], |class| {
            [vec![class.faults.to_owned()], class.times().to_vec(), vec![class.never.to_string()]].concat()
        });
        [vec![self.label.clone(), survives], self.calm.times().to_vec(), worst].concat()
    }
}

/// The plot, a row for each strategy.
pub fn worst(verdicts: &Verdicts) -> Option<Figure> {
    let all: Vec<Told<'_>> = verdicts.strategies.iter().filter_map(Told::of).collect();
    if all.is_empty() {
        return None;
    }
    let x = axis(all.iter().flat_map(|of| [Some(of.calm), of.worst]).flatten());
    let size = all.len().div_ceil(all.len().div_ceil(ROWS));
    let drawn: Vec<String> = all.chunks(size).enumerate().map(|(n, part)| strips(n, part, &x)).collect();
    let heads = [
        "strategy",
        "nothing breaks it",
        "calm: median",
        "calm: 95 in 100",
        "calm: longest",
        "slowest under",
        "median",
        "95 in 100",
        "longest",
        "never",
    ];
    Some(Figure {
        id: "time-to-settle".to_owned(),
        title: "How long until a period is settled".to_owned(),
        caption: caption(&all),
        svg: panels(Layout::Beside, &drawn),
        table: (self::heads(heads), all.iter().map(Told::cells).collect()),
    })
}

fn caption(all: &[Told<'_>]) -> String {
    let periods: u64 = sum(all.iter().map(|of| of.calm.spread.n));
    let calm = || all.iter().map(|of| of.calm.spread.p50_ms);
    let (quick, slow) = (calm().min().unwrap_or_default(), calm().max().unwrap_or_default());
    let sound = all.iter().filter(|of| of.survives).filter_map(|of| Some((of, of.worst?)));
    let worst = sound.rev().max_by_key(|(_, class)| class.slowness()).map_or(String::new(), |(of, class)| {
        let long = ms(coarse(class.spread.p95_ms));
        match class.slowness().0 {
            true => format!(" Of those that nothing breaks, {} is slowest: under {} {}.", of.label, class.faults, class.unsettled()),
            false => {
                format!(
                    " Of those that nothing breaks, {} is slowest: under {} one period in twenty takes {long} or longer.",
                    of.label, class.faults
                )
            }
        }
    });
    format!(
        "From the end of a period to the commit that settles it, on a logarithmic axis. Upper half of a row: {} \
         settled in calm runs, the hill as high as they are many, the bar at their median, which is {}. Lower half: the class of \
         faults under which it is slowest, from the median (dot) over 95 in 100 (thick line, and the time written there) to the longest (cross); \
         “never” counts periods that were not settled before their run ended. ✓ nothing breaks it, ✗ something does: settled soon is then no \
         merit.{worst}",
        format_args!("{} periods", thousands(periods)),
        match [quick, slow].map(|at| ms(coarse(at))) {
            [quick, slow] if quick == slow => quick,
            [quick, slow] => format!("between {quick} and {slow}"),
        }
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
    path(area, &[(96, 10), (116, 10)], FAULTS, 4)?;
    mark(area, Shape::Circle, (96, 10), 4, FAULTS, true)?;
    say(area, "slowest class of faults", (124, 10), SMALL, Ink::Text, At::Start)
}

fn strip(area: &Area<'_>, chart: &Chart<'_>, n: usize, of: &Told<'_>) -> Drawn {
    let top = chart.spot(0.0, -(n as f64)).1;
    let (left, right) = (chart.spot(f64::NEG_INFINITY, 0.0).0, chart.spot(f64::INFINITY, 0.0).0);
    path(area, &[(left, top), (right, top)], Ink::Line, 1)?;
    let base = top + 31;
    fill(area, hill(chart, of.calm.spread, base, 16), CALM, 0.55)?;
    let median = chart.spot(of.calm.spread.p50_ms as f64, 0.0).0;
    path(area, &[(median, base - 17), (median, base + 1)], CALM, 3)?;
    let (sign, ink) = if of.survives { ("✓", Ink::Text) } else { ("✗", Ink::Soft) };
    say(area, &format!("{sign} {}", fit(&of.label, 32)), (left + 4, top + 10), TEXT, ink, At::Start)?;
    if let Some(class) = &of.worst {
        let [_, long, _] = class.times();
        say(area, &format!("{} {long}", fit(class.faults, 12)), (right - 2, top + 10), SMALL, Ink::Soft, At::End)?;
        class.range(area, chart, base + 8, FAULTS)?;
        say(area, &class.unsettled(), (right - 2, top + 24), SMALL - 1.0, Ink::Bad, At::End)?;
    }
    Ok(())
}

/// How many took how long: steps that stand on `base`, the highest `height` above it.
fn hill(chart: &Chart<'_>, spread: &Spread, base: i32, height: i32) -> Vec<Spot> {
    let mut steps: BTreeMap<i32, u64> = BTreeMap::new();
    for (to, n) in &spread.buckets {
        let step = steps.entry(chart.spot(*to as f64, 0.0).0.div_euclid(STEP)).or_default();
        *step = step.saturating_add(*n);
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
