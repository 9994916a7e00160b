//! Settlements a second against contending nodes.

use crate::page::plot::axis::Axis;
use crate::page::plot::chart::{Around, Chart};
use crate::page::plot::ink::Ink;
use crate::page::plot::panel::{Area, At, Drawn, Panel, SMALL, Shape, Spot, fill, mark, path, say};
use crate::page::plot::{Figure, Layout, panels};
use crate::page::source::throughput::{Point, Strategy};
use crate::page::source::{Throughput, Verdicts};
use crate::report::words::{count, fit, thousands};
use std::collections::BTreeSet;

/// How many strategies are drawn in colour.
const SHOWN: usize = 8;
/// Least distance of two names, in pixels.
const APART: i32 = 15;

/// Settlements a second.
fn a_second(ns: f64) -> Option<f64> {
    let rate = 1e9 / ns;
    (rate.is_finite() && rate > 0.0).then_some(rate)
}

/// Settlements a second with so many nodes: in the middle, at least and at most.
#[derive(Clone, Copy, Debug)]
struct Rate {
    nodes: u32,
    mean: f64,
    least: f64,
    most: f64,
}

impl Rate {
    /// What can be drawn of a measurement, if anything can.
    fn of(point: &Point) -> Option<Self> {
        let mean = a_second(point.mean_ns)?;
        // Who takes longest settles least.
        let [least, most] = [point.upper_ns, point.lower_ns].map(|ns| a_second(ns).unwrap_or(mean));
        (point.nodes > 0).then_some(Rate { nodes: point.nodes, mean, least, most })
    }

    fn text(self) -> String {
        let told = |rate: f64| if rate < 10.0 { format!("{rate:.1}") } else { thousands(rate.round() as u64) };
        format!("{} ({} to {})", told(self.mean), told(self.least), told(self.most))
    }
}

/// A strategy, measured.
struct Line<'a> {
    name: &'a str,
    rates: Vec<Rate>,
}

impl<'a> Line<'a> {
    fn of(strategy: &'a Strategy) -> Option<Self> {
        let rates: Vec<Rate> = strategy.points.iter().filter_map(Rate::of).collect();
        (!rates.is_empty()).then_some(Line { name: &strategy.name, rates })
    }

    /// What it comes to with the most nodes.
    fn end(&self) -> Rate {
        *self.rates.last().expect("a line has a point at least")
    }

    fn spots(&self, chart: &Chart<'_>, rate: fn(&Rate) -> f64) -> Vec<Spot> {
        chart.spots(self.rates.iter().map(|of| (f64::from(of.nodes), rate(of))))
    }
}

/// The plot, if anything was measured. Strategies that nothing breaks stand out, where that is known.
pub fn figure(throughput: &Throughput, verdicts: Option<&Verdicts>) -> Option<Figure> {
    let all: Vec<Line<'_>> = throughput.strategies.iter().filter_map(Line::of).collect();
    if all.is_empty() {
        return None;
    }
    let (shown, others): (Vec<&Line<'_>>, Vec<&Line<'_>>) = {
        let shown = shown(&all, verdicts);
        all.iter().partition(|line| shown.contains(line.name))
    };
    let title = "What contention costs";
    let nodes: BTreeSet<u32> = all.iter().flat_map(|line| line.rates.iter().map(|rate| rate.nodes)).collect();
    let row = |line: &Line<'_>| {
        let of = |nodes: &u32| line.rates.iter().find(|rate| rate.nodes == *nodes).map_or("–".to_owned(), |rate| rate.text());
        [vec![line.name.to_owned()], nodes.iter().map(of).collect()].concat()
    };
    let heads = [vec!["strategy".to_owned()], nodes.iter().map(|nodes| count(*nodes as usize, "node")).collect()].concat();
    Some(Figure {
        id: "throughput".to_owned(),
        title: title.to_owned(),
        caption: caption(&all, shown.len(), verdicts.is_some()),
        svg: panels(Layout::Single, &[draw(title, &nodes, &shown, &others)]),
        table: (heads, all.iter().map(row).collect()),
    })
}

fn draw(title: &str, nodes: &BTreeSet<u32>, shown: &[&Line<'_>], others: &[&Line<'_>]) -> String {
    let rates = || shown.iter().chain(others).flat_map(|line| &line.rates);
    let least = rates().map(|rate| rate.least).fold(f64::INFINITY, f64::min);
    let most = rates().map(|rate| rate.most).fold(0.0, f64::max);
    let nodes: Vec<f64> = nodes.iter().copied().map(f64::from).collect();
    let (x, y) = (Axis::log_chosen(&nodes), Axis::log_count(least * 0.9, most));
    let panel = Panel {
        id: "throughput-0".to_owned(),
        title,
        about: "Settlements a second against contending nodes, both axes logarithmic; a line for each strategy.",
        size: (420, 420),
    };
    panel.draw(|area| {
        let around = Around { top: 30, right: 140, below: 40, left: 48 };
        let chart = Chart::new(area, (&x, &y), around, ("contending nodes", "settlements a second"))?;
        others.iter().try_for_each(|line| path(area, &line.spots(&chart, |rate| rate.mean), Ink::Line, 1))?;
        shown.iter().enumerate().try_for_each(|(n, line)| coloured(area, &chart, n, line))?;
        names(area, &chart, shown)
    })
}

/// Those drawn in colour: that nothing breaks, else the first.
fn shown<'a>(all: &[Line<'a>], verdicts: Option<&Verdicts>) -> BTreeSet<&'a str> {
    let unbroken = |name: &&str| {
        let mut rows = verdicts.iter().flat_map(|verdicts| &verdicts.strategies).filter(|strategy| strategy.name == **name).peekable();
        rows.peek().is_some() && rows.all(|strategy| strategy.cells.iter().all(|cell| cell.verdict != "breaks"))
    };
    let names = || all.iter().map(|line| line.name);
    let found: BTreeSet<&str> = names().filter(unbroken).take(SHOWN).collect();
    if found.is_empty() { names().take(SHOWN).collect() } else { found }
}

fn coloured(area: &Area<'_>, chart: &Chart<'_>, n: usize, line: &Line<'_>) -> Drawn {
    let (ink, shape) = (Ink::Hue(n), Shape::ALL[n % Shape::ALL.len()]);
    let most = line.spots(chart, |rate| rate.most).into_iter().rev();
    fill(area, line.spots(chart, |rate| rate.least).into_iter().chain(most).collect(), ink, 0.25)?;
    let spots = line.spots(chart, |rate| rate.mean);
    path(area, &spots, ink, 2)?;
    spots.into_iter().try_for_each(|spot| mark(area, shape, spot, 4, ink, true))
}

/// Each name beside the end of its line, none upon another.
fn names(area: &Area<'_>, chart: &Chart<'_>, shown: &[&Line<'_>]) -> Drawn {
    let ends: Vec<Spot> = shown.iter().map(|line| chart.spot(f64::from(line.end().nodes), line.end().mean)).collect();
    let right = chart.spot(f64::INFINITY, 0.0).0;
    for (n, y) in apart(&ends.iter().map(|(_, y)| *y).collect::<Vec<_>>()).into_iter().enumerate() {
        let ink = Ink::Hue(n);
        path(area, &[(ends[n].0 + 6, ends[n].1), (right + 8, y)], ink, 1)?;
        mark(area, Shape::ALL[n % Shape::ALL.len()], (right + 14, y), 4, ink, true)?;
        say(area, &fit(shown[n].name, 17), (right + 24, y), SMALL, Ink::Text, At::Start)?;
    }
    Ok(())
}

/// The same heights, in the same order, at least [`APART`] from each other.
pub fn apart(heights: &[i32]) -> Vec<i32> {
    let mut order: Vec<usize> = (0..heights.len()).collect();
    order.sort_by_key(|n| heights[*n]);
    let mut placed = heights.to_vec();
    let mut groups: Vec<(i32, Vec<usize>)> = Vec::new();
    for n in order {
        let mut group = (heights[n], vec![n]);
        // A group that would stand upon the one before it is joined with it, around the middle of both.
        while let Some((centre, above)) = groups.last() {
            let reach = (above.len() + group.1.len()) as i32 * APART / 2;
            if group.0 - centre >= reach {
                break;
            }
            let (a, b) = (above.len() as i32, group.1.len() as i32);
            group = ((centre * a + group.0 * b) / (a + b), above.iter().copied().chain(group.1).collect());
            groups.pop();
        }
        groups.push(group);
    }
    for (centre, members) in groups {
        let first = centre - (members.len() as i32 - 1) * APART / 2;
        for (n, member) in (0..).zip(members) {
            placed[member] = first + n * APART;
        }
    }
    placed
}

fn caption(all: &[Line<'_>], shown: usize, known: bool) -> String {
    let best = all.iter().max_by(|one, other| one.end().mean.total_cmp(&other.end().mean));
    let best = best.map_or(String::new(), |line| {
        let Rate { nodes, mean, .. } = line.end();
        format!(" With {}, {} settles most: {} a second.", count(nodes as usize, "node"), line.name, thousands(mean.round() as u64))
    });
    let which = match (known, shown == all.len()) {
        (_, true) => String::new(),
        (true, false) => format!(" In colour: {shown} that nothing breaks; grey: the other {}.", all.len() - shown),
        (false, false) => format!(" In colour: the first {shown}; grey: the other {}.", all.len() - shown),
    };
    format!(
        "Settlements a second of one processor core, simulation included, against how many nodes want the same period; both axes are \
         logarithmic, and the band around a line is the 95 % confidence interval of its mean. The steeper a line falls, the more each further node costs. \
         These figures, unlike all others here, depend on the machine.{which}{best}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_their_order_and_their_distance() {
        assert_eq!(apart(&[]), Vec::<i32>::new());
        assert_eq!(apart(&[100]), [100]);
        assert_eq!(apart(&[100, 10]), [100, 10]);
        let crowded = apart(&[50, 52, 51, 200, 53]);
        assert_eq!(crowded[3], 200);
        let order = [crowded[0], crowded[2], crowded[1], crowded[4]];
        assert!(order.windows(2).all(|pair| pair[1] - pair[0] == APART), "{crowded:?}");
    }
}
