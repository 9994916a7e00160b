//! Class by class, for the strategies that nothing breaks.

use super::{CALM, Class, FAULTS, WIDTH, axis, survives};
use crate::page::plot::axis::{Axis, coarse, ms};
use crate::page::plot::chart::{Around, Chart};
use crate::page::plot::ink::Ink;
use crate::page::plot::panel::{At, Panel, SMALL, TEXT, say};
use crate::page::plot::{Figure, Layout, heads, panels};
use crate::page::source::Verdicts;
use crate::page::source::verdicts::Strategy;
use crate::report::words::{count, fit, thousands};

/// Panels at most.
const PANELS: usize = 9;
/// Panels where something breaks every strategy.
const FEW: usize = 6;

/// The plot: those that nothing breaks, or the fewest classes.
pub fn by_class(verdicts: &Verdicts) -> Option<Figure> {
    let mut all: Vec<&Strategy> = verdicts.strategies.iter().filter(|strategy| Class::all(strategy).next().is_some()).collect();
    if all.is_empty() {
        return None;
    }
    let unbroken = all.iter().filter(|strategy| survives(strategy)).count();
    all.sort_by_key(|strategy| strategy.cells.iter().filter(|cell| cell.verdict == "breaks").count());
    all.truncate(if unbroken == 0 { FEW } else { unbroken.min(PANELS) });
    let x = axis(all.iter().flat_map(|strategy| Class::all(strategy)));
    let drawn: Vec<String> = all.iter().enumerate().map(|(n, strategy)| classes(n, strategy, &x)).collect();
    let which = match unbroken {
        0 => format!("The {} that the fewest classes break.", count(all.len(), "row")),
        1 => "The row that nothing breaks.".to_owned(),
        n if n > all.len() => format!("The first {} of {n} rows that nothing breaks.", all.len()),
        n => format!("The {n} rows that nothing breaks."),
    };
    Some(Figure {
        id: "time-to-settle-by-class".to_owned(),
        title: "How long until a period is settled, class by class".to_owned(),
        caption: format!(
            "{which} From the median (dot) over 95 in 100 (thick line) to the longest (cross); the upright line is the median of calm runs, \
             so what lies to the right of it is what the faults cost. “Never” counts periods that were not settled before their run ended."
        ),
        svg: panels(Layout::Beside, &drawn),
        table: (
            heads(["strategy", "faults", "due", "never settled", "median", "95 in 100", "longest", "recovered: median"]),
            all.iter().flat_map(|strategy| Class::all(strategy).map(|class| row(strategy, class))).collect(),
        ),
    })
}

fn row(strategy: &Strategy, class: Class<'_>) -> Vec<String> {
    let recovered = class.recovery.map_or("–".to_owned(), |spread| ms(coarse(spread.p50_ms)));
    let counts = [class.due, class.never].map(thousands);
    [vec![strategy.label(), class.faults.to_owned()], counts.to_vec(), class.times().to_vec(), vec![recovered]].concat()
}

fn classes(n: usize, strategy: &Strategy, x: &Axis) -> String {
    let classes: Vec<Class<'_>> = Class::all(strategy).collect();
    let y = Axis::rows(classes.len());
    let label = strategy.label();
    let panel = Panel {
        id: format!("time-to-settle-by-class-{n}"),
        title: &label,
        about: "A row for each class of faults, from the median to the longest.",
        size: (WIDTH, 28 + 40 + 18 * classes.len() as u32),
    };
    panel.draw(|area| {
        say(area, &fit(&label, 48), (2, 10), TEXT, Ink::Text, At::Start)?;
        let around = Around { top: 28, right: 14, below: 40, left: 82 };
        let chart = Chart::new(area, (x, &y), around, ("until it is settled", ""))?;
        if let Some(calm) = classes.iter().find(|class| class.is_calm()) {
            chart.upright(area, calm.spread.p50_ms as f64, CALM, 1)?;
        }
        for (n, class) in classes.iter().enumerate() {
            let (left, y) = chart.spot(f64::NEG_INFINITY, -(n as f64) - 0.5);
            say(area, &fit(class.faults, 12), (left - 6, y), SMALL, Ink::Text, At::End)?;
            class.range(area, &chart, y, if class.is_calm() { CALM } else { FAULTS })?;
            let right = chart.spot(f64::INFINITY, 0.0).0;
            say(area, &class.unsettled(), (right - 2, y), SMALL - 1.0, Ink::Bad, At::End)?;
        }
        Ok(())
    })
}
