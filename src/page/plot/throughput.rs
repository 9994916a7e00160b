//! Settlements a second against contending nodes.

use crate::page::plot::axis::Axis;
use crate::page::plot::chart::{Around, Chart};
use crate::page::plot::ink::Ink;
use crate::page::plot::panel::{Area, At, Drawn, Panel, SMALL, Shape, fill, mark, path, say};
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

/// What can be drawn of a strategy: nodes, and the rate in the middle, at least and at most.
fn rates(strategy: &Strategy) -> Vec<(f64, [f64; 3])> {
    let rate = |point: &Point| {
        let rate = a_second(point.mean_ns)?;
        // Who takes longest settles least.
        let [least, most] = [point.upper_ns, point.lower_ns].map(|ns| a_second(ns).unwrap_or(rate));
        (point.nodes > 0).then_some((f64::from(point.nodes), [rate, least, most]))
    };
    strategy.points.iter().filter_map(rate).collect()
}

/// The plot, if anything was measured. Strategies that nothing breaks stand out, where that is known.
pub fn figure(throughput: &Throughput, verdicts: Option<&Verdicts>) -> Option<Figure> {
    let all: Vec<(&str, Vec<(f64, [f64; 3])>)> =
        throughput.strategies.iter().map(|of| (of.name.as_str(), rates(of))).filter(|(_, rates)| !rates.is_empty()).collect();
    if all.is_empty() {
        return None;
    }
    let shown = shown(&all.iter().map(|(name, _)| *name).collect::<Vec<_>>(), verdicts);
    let title = "What contention costs";
    let mut nodes: Vec<f64> = all.iter().flat_map(|(_, rates)| rates.iter().map(|(nodes, _)| *nodes)).collect();
    nodes.sort_unstable_by(f64::total_cmp);
    nodes.dedup();
    let ends = all.iter().flat_map(|(_, rates)| rates.iter().flat_map(|(_, rates)| rates.iter().copied()));
    let (least, most) = ends.fold((f64::INFINITY, 0.0_f64), |(least, most), rate| (least.min(rate), most.max(rate)));
    let (x, y) = (Axis::log_chosen(&nodes), Axis::log_count(least * 0.9, most));
    let panel = Panel {
        id: "throughput-0".to_owned(),
        title,
        about: "Settlements a second against contending nodes, both axes logarithmic; a line for each strategy.",
        size: (420, 420),
    };
    let svg = panel.draw(|area| {
        let around = Around { top: 30, right: 140, below: 40, left: 48 };
        let chart = Chart::new(area, (&x, &y), around, ("contending nodes", "settlements a second"))?;
        for (_, rates) in all.iter().filter(|(name, _)| !shown.contains(name)) {
            path(area, &chart.spots(rates.iter().map(|(nodes, rate)| (*nodes, rate[0]))), Ink::Line, 1)?;
        }
        let coloured: Vec<_> = all.iter().filter(|(name, _)| shown.contains(name)).collect();
        coloured.iter().enumerate().try_for_each(|(n, (_, rates))| line(area, &chart, n, rates))?;
        names(area, &chart, &coloured)
    });
    let heads = [vec!["strategy".to_owned()], nodes.iter().map(|nodes| count(*nodes as usize, "node")).collect()].concat();
    let row = |(name, rates): &(&str, Vec<(f64, [f64; 3])>)| {
        let of = |nodes: &f64| rates.iter().find(|(at, _)| at == nodes).map_or("–".to_owned(), |(_, rate)| told(*rate));
        [vec![(*name).to_owned()], nodes.iter().map(of).collect()].concat()
    };
    Some(Figure {
        id: "throughput".to_owned(),
        title: title.to_owned(),
        caption: caption(&all, shown.len(), verdicts.is_some()),
        svg: panels(Layout::Single, title, &[svg]),
        table: (heads, all.iter().map(row).collect()),
    })
}

fn told([rate, least, most]: [f64; 3]) -> String {
    let told = |rate: f64| if rate < 10.0 { format!("{rate:.1}") } else { thousands(rate.round() as u64) };
    format!("{} ({} to {})", told(rate), told(least), told(most))
}

/// Those drawn in colour: that nothing breaks, else the first.
fn shown<'a>(all: &[&'a str], verdicts: Option<&Verdicts>) -> BTreeSet<&'a str> {
    let unbroken = |name: &&str| {
        let mut rows = verdicts.iter().flat_map(|verdicts| &verdicts.strategies).filter(|strategy| strategy.name == **name).peekable();
        rows.peek().is_some() && rows.all(|strategy| strategy.cells.iter().all(|cell| cell.verdict != "breaks"))
    };
    let found: BTreeSet<&str> = all.iter().copied().filter(unbroken).take(SHOWN).collect();
    if found.is_empty() { all.iter().copied().take(SHOWN).collect() } else { found }
}

fn line(area: &Area<'_>, chart: &Chart<'_>, n: usize, rates: &[(f64, [f64; 3])]) -> Drawn {
    let (ink, shape) = (Ink::Hue(n), Shape::ALL[n % Shape::ALL.len()]);
    let least = chart.spots(rates.iter().map(|(nodes, rate)| (*nodes, rate[1])));
    let most = chart.spots(rates.iter().rev().map(|(nodes, rate)| (*nodes, rate[2])));
    fill(area, [least, most].concat(), ink, 0.25)?;
    let spots = chart.spots(rates.iter().map(|(nodes, rate)| (*nodes, rate[0])));
    path(area, &spots, ink, 2)?;
    spots.into_iter().try_for_each(|spot| mark(area, shape, spot, 4, ink, true))
}

/// Each name beside the end of its line, none upon another.
fn names(area: &Area<'_>, chart: &Chart<'_>, coloured: &[&(&str, Vec<(f64, [f64; 3])>)]) -> Drawn {
    let end = |(_, rates): &&(&str, Vec<(f64, [f64; 3])>)| rates.last().map_or((0, 0), |(nodes, rate)| chart.spot(*nodes, rate[0]));
    let ends: Vec<(i32, i32)> = coloured.iter().map(end).collect();
    let right = chart.spot(f64::INFINITY, 0.0).0;
    for (n, y) in apart(&ends.iter().map(|(_, y)| *y).collect::<Vec<_>>()).into_iter().enumerate() {
        let ink = Ink::Hue(n);
        path(area, &[(ends[n].0 + 6, ends[n].1), (right + 8, y)], ink, 1)?;
        mark(area, Shape::ALL[n % Shape::ALL.len()], (right + 14, y), 4, ink, true)?;
        say(area, &fit(coloured[n].0, 17), (right + 24, y), SMALL, Ink::Ink, At::Start)?;
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

fn caption(all: &[(&str, Vec<(f64, [f64; 3])>)], shown: usize, known: bool) -> String {
    let last = |rates: &Vec<(f64, [f64; 3])>| rates.last().map_or(0.0, |(_, rate)| rate[0]);
    let best = all.iter().max_by(|one, other| last(&one.1).total_cmp(&last(&other.1)));
    let best = best.map_or(String::new(), |(name, rates)| {
        let (nodes, rate) = rates.last().map_or((0.0, 0.0), |(nodes, rate)| (*nodes, rate[0]));
        format!(" With {}, {name} settles most: {} a second.", count(nodes as usize, "node"), thousands(rate.round() as u64))
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
