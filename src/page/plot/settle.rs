//! How long it takes until a period is settled, and how bad that gets.

mod by_class;
mod worst;

pub use by_class::by_class;
pub use worst::worst;

use crate::page::plot::axis::{Axis, coarse, ms};
use crate::page::plot::chart::Chart;
use crate::page::plot::ink::Ink;
use crate::page::plot::panel::{Area, Drawn, Shape, mark, path};
use crate::page::source::verdicts::{Cell, Spread, Strategy};

/// Width of a panel.
const WIDTH: u32 = 380;
/// What takes no longer, in milliseconds, stands at the beginning of the axis.
const LEAST: u64 = 100;
const CALM: Ink = Ink::Hue(0);
const FAULTS: Ink = Ink::Hue(1);

/// How long a strategy takes under one class of faults.
#[derive(Clone, Copy)]
struct Class<'a> {
    faults: &'a str,
    due: u64,
    /// Periods that were not settled before their run ended.
    never: u64,
    spread: &'a Spread,
    recovery: Option<&'a Spread>,
}

impl<'a> Class<'a> {
    /// Of a cell that knows its costs.
    fn of(cell: &'a Cell) -> Option<Self> {
        let cost = cell.cost.as_ref().filter(|cost| cost.due > 0)?;
        let recovery = cost.recovery.as_ref().filter(|spread| spread.n > 0);
        let never = cost.due.saturating_sub(cost.settled);
        Some(Class { faults: &cell.faults, due: cost.due, never, spread: &cost.to_settle, recovery })
    }

    /// All of a strategy.
    fn all(strategy: &'a Strategy) -> impl DoubleEndedIterator<Item = Self> {
        strategy.cells.iter().filter_map(Class::of)
    }

    fn is_calm(&self) -> bool {
        self.faults == "calm"
    }

    /// What was never settled took longest.
    fn slowness(&self) -> (bool, u64, u64) {
        (self.never > self.due / 20, self.spread.p95_ms, self.spread.max_ms)
    }

    /// Median, 95 in 100, and the longest; in words.
    fn times(&self) -> [String; 3] {
        let Spread { n, p50_ms, p95_ms, max_ms, .. } = *self.spread;
        [p50_ms, p95_ms, max_ms].map(|at| if n == 0 { "–".to_owned() } else { ms(coarse(at)) })
    }

    /// How many were never settled, if any were.
    fn unsettled(&self) -> String {
        if self.never == 0 { String::new() } else { format!("{} of {} never", self.never, self.due) }
    }

    /// From the median over 95 in 100 to the longest.
    fn range(&self, area: &Area<'_>, chart: &Chart<'_>, y: i32, ink: Ink) -> Drawn {
        let Spread { n, p50_ms, p95_ms, max_ms, .. } = *self.spread;
        if n == 0 {
            return Ok(());
        }
        let [median, most_of, longest] = [p50_ms, p95_ms, max_ms].map(|at| chart.spot(at as f64, 0.0).0);
        path(area, &[(median, y), (most_of, y)], ink, 4)?;
        path(area, &[(most_of, y), (longest, y)], ink, 1)?;
        mark(area, Shape::Circle, (median, y), 4, ink, true)?;
        mark(area, Shape::Cross, (longest, y), 3, ink, false)
    }
}

fn survives(strategy: &Strategy) -> bool {
    !strategy.cells.is_empty() && strategy.cells.iter().all(|cell| cell.verdict != "breaks")
}

/// The axis on which all of them lie, from the first that is drawn: of calm runs every bucket is, of others what is from the median on.
fn axis<'a>(all: impl Iterator<Item = Class<'a>>) -> Axis {
    let all: Vec<Class<'_>> = all.filter(|class| class.spread.n > 0).collect();
    let first = |class: &Class<'_>| {
        let bucket = class.spread.buckets.first().filter(|_| class.is_calm());
        bucket.map_or(class.spread.p50_ms, |(to, _)| class.spread.p50_ms.min(*to))
    };
    let longest = all.iter().map(|class| class.spread.max_ms).max();
    // Some room before it.
    let least = all.iter().map(first).min().unwrap_or_default() / 8 * 7;
    Axis::log_time(least.max(LEAST), longest.unwrap_or_default())
}
