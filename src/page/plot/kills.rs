//! How many runs each search needs until it finds a defect.

use crate::page::plot::axis::Axis;
use crate::page::plot::chart::{Around, Chart};
use crate::page::plot::ink::Ink;
use crate::page::plot::panel::{Area, At, Drawn, Panel, SMALL, Shape, TEXT, mark, path, say};
use crate::page::plot::throughput::apart;
use crate::page::plot::{Figure, Layout, heads, panels};
use crate::page::source::Kills;
use crate::page::source::kills::Defect;
use crate::report::words::{count, fit, thousands};

const WIDTH: u32 = 380;
const ROW: u32 = 32;

/// A search: its name, what it needed, its colour and shape.
type Search = (&'static str, fn(&Defect) -> Option<u64>, Ink, Shape);

const SEARCHES: [Search; 3] = [
    ("random", |defect| defect.random, Ink::Hue(0), Shape::Circle),
    ("swarm", |defect| defect.swarm, Ink::Hue(1), Shape::Triangle),
    ("enumeration", |defect| defect.enumeration, Ink::Hue(2), Shape::Square),
];

/// Those that break something.
fn harmful(kills: &Kills) -> Vec<&Defect> {
    kills.defects.iter().filter(|defect| defect.fate == "killed").collect()
}

fn needed(defect: &Defect) -> impl Iterator<Item = u64> {
    SEARCHES.into_iter().filter_map(move |(_, of, ..)| of(defect))
}

fn most(defects: &[&Defect]) -> f64 {
    defects.iter().flat_map(|defect| needed(defect)).max().unwrap_or(10).max(10) as f64
}

/// Which share of the defects is found within so many runs.
pub fn curve(kills: &Kills) -> Option<Figure> {
    let defects = harmful(kills);
    if defects.is_empty() {
        return None;
    }
    let title = "How soon each search finds a defect";
    let (x, y) = (Axis::log_count(0.8, most(&defects)), Axis::share());
    let panel = Panel {
        id: "kills-0".to_owned(),
        title,
        about: "The share of defects found, against the number of runs on a logarithmic axis; a rising line for each search.",
        size: (420, 340),
    };
    let found: Vec<Vec<u64>> = SEARCHES.iter().map(|(_, of, ..)| sorted(defects.iter().filter_map(|defect| of(defect)))).collect();
    let svg = panel.draw(|area| {
        let around = Around { top: 30, right: 124, below: 40, left: 52 };
        let chart = Chart::new(area, (&x, &y), around, ("runs", &format!("of {} found", count(defects.len(), "defect"))))?;
        for ((_, _, ink, shape), found) in SEARCHES.iter().zip(&found) {
            steps(area, &chart, found, (defects.len(), most(&defects)), (*ink, *shape))?;
        }
        let right = chart.spot(f64::INFINITY, 0.0).0;
        let ends: Vec<i32> = found.iter().map(|found| chart.spot(0.0, share(found.len(), defects.len())).1).collect();
        for (((name, _, ink, shape), found), y) in SEARCHES.iter().zip(&found).zip(apart(&ends)) {
            mark(area, *shape, (right + 12, y), 4, *ink, true)?;
            say(area, &format!("{name} {}", found.len()), (right + 22, y), SMALL, Ink::Text, At::Start)?;
        }
        Ok(())
    });
    let within = |found: &[u64], runs: u64| found.iter().filter(|n| **n <= runs).count().to_string();
    let rows = SEARCHES.iter().zip(&found).map(|((name, ..), found)| {
        let by_runs = [1, 10, 100, u64::MAX].map(|runs| within(found, runs));
        let median = found.get(found.len() / 2).map_or("–".to_owned(), |n| thousands(*n));
        [vec![(*name).to_owned()], by_runs.to_vec(), vec![defects.len().to_string(), median]].concat()
    });
    Some(Figure {
        id: "kills".to_owned(),
        title: title.to_owned(),
        caption: caption(kills, &defects, &found),
        svg: panels(Layout::Single, &[svg]),
        table: (heads(["search", "first run", "10 runs", "100 runs", "in the end", "of", "median of what it found"]), rows.collect()),
    })
}

fn caption(kills: &Kills, defects: &[&Defect], found: &[Vec<u64>]) -> String {
    let first = |found: &[u64]| found.iter().filter(|n| **n == 1).count();
    let each: Vec<String> = SEARCHES
        .iter()
        .zip(found)
        .map(|((name, ..), found)| format!("{name} {} of {} ({} in its first run)", found.len(), defects.len(), first(found)))
        .collect();
    let missed = defects.iter().filter(|defect| needed(defect).next().is_none()).count();
    let missed = match missed {
        0 => "Each is found by one of them at least.".to_owned(),
        n => format!("{} found by none of them, only by a plan made for it.", if n == 1 { "1 is".to_owned() } else { format!("{n} are") }),
    };
    format!(
        "{} that break something were planted in strategies that are right without them. Found by {}. {missed} Random and swarm give up after {} runs; \
         enumeration tries every single fault in the order of the steps.",
        count(defects.len(), "defect"),
        each.join(", "),
        thousands(kills.most)
    )
}

fn sorted(all: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut all: Vec<u64> = all.collect();
    all.sort_unstable();
    all
}

fn share(n: usize, of: usize) -> f64 {
    n as f64 / of.max(1) as f64
}

/// A step up for each defect, and on to the end.
fn steps(area: &Area<'_>, chart: &Chart<'_>, found: &[u64], (of, longest): (usize, f64), (ink, shape): (Ink, Shape)) -> Drawn {
    let mut values = vec![(0.0, 0.0)];
    for (n, runs) in found.iter().enumerate() {
        values.extend([(*runs as f64, share(n, of)), (*runs as f64, share(n + 1, of))]);
    }
    values.push((f64::INFINITY, share(found.len(), of)));
    let mut spots = chart.spots(values);
    spots.dedup();
    path(area, &spots, ink, 2)?;
    // Marks tell the lines apart; each line has them somewhere else.
    let first = if shape == Shape::Circle {
        1.5
    } else if shape == Shape::Square {
        6.0
    } else {
        3.0
    };
    let at = [1.0, 10.0, 100.0, 1_000.0].map(|decade| first * decade);
    let within = |runs: f64| found.iter().filter(|n| **n as f64 <= runs).count();
    let seen = at.into_iter().filter(|runs| *runs <= longest);
    seen.map(|runs| chart.spot(runs, share(within(runs), of))).try_for_each(|spot| mark(area, shape, spot, 4, ink, true))
}

/// Defect by defect, the quickest first, in a panel for each strategy.
pub fn dots(kills: &Kills) -> Option<Figure> {
    let defects = harmful(kills);
    if defects.is_empty() {
        return None;
    }
    let title = "How many runs each defect takes";
    let x = Axis::log_count(0.8, most(&defects));
    let strategy = |defect: &Defect| defect.name.split_once('.').map_or(String::new(), |(strategy, _)| strategy.to_owned());
    let mut names: Vec<String> = Vec::new();
    for defect in &defects {
        if !names.contains(&strategy(defect)) {
            names.push(strategy(defect));
        }
    }
    let panel = |(n, name): (usize, &String)| {
        let mut of: Vec<&Defect> = defects.iter().copied().filter(|defect| strategy(defect) == *name).collect();
        of.sort_by_key(|defect| (needed(defect).min().unwrap_or(u64::MAX), needed(defect).max().unwrap_or(u64::MAX)));
        rows(n, name, &of, &x)
    };
    let drawn: Vec<String> = names.iter().enumerate().map(panel).collect();
    let runs = |needed: Option<u64>| needed.map_or("–".to_owned(), thousands);
    let table = kills.defects.iter().map(|defect| {
        let needed = [defect.random, defect.swarm, defect.enumeration].map(runs);
        [vec![defect.name.clone(), defect.what.clone(), defect.told.clone()], needed.to_vec(), vec![thousands(defect.enumerated)]].concat()
    });
    Some(Figure {
        id: "kills-by-defect".to_owned(),
        title: title.to_owned(),
        caption: "A row for each defect that breaks something, the one found soonest at the top; a mark for each search that finds it, and where several need as many runs, their marks beside each other. \
                  A search without a mark never does: it is named at the end of the row. The table has all defects, also those that only waste work."
            .to_owned(),
        svg: panels(Layout::Beside, &drawn),
        table: (heads(["defect", "what went wrong", "what becomes of it", "random", "swarm", "enumeration", "of"]), table.collect()),
    })
}

fn rows(n: usize, name: &str, defects: &[&Defect], x: &Axis) -> String {
    let y = Axis::rows(defects.len());
    let title = if name.is_empty() { "defects" } else { name };
    let panel = Panel {
        id: format!("kills-by-defect-{n}"),
        title,
        about: "A row for each defect, a mark for each search that finds it, at the number of runs it needs.",
        size: (WIDTH, 54 + 40 + ROW * defects.len() as u32),
    };
    panel.draw(|area| {
        say(area, &fit(title, 48), (2, 10), TEXT, Ink::Text, At::Start)?;
        for (n, (name, _, ink, shape)) in (0..).zip(SEARCHES) {
            mark(area, shape, (12 + n * 86, 34), 5, ink, true)?;
            say(area, name, (24 + n * 86, 34), SMALL, Ink::Text, At::Start)?;
        }
        let around = Around { top: 52, right: 14, below: 40, left: 14 };
        let chart = Chart::new(area, (x, &y), around, ("runs", ""))?;
        for (n, defect) in defects.iter().enumerate() {
            row(area, &chart, n, defect)?;
        }
        Ok(())
    })
}

fn row(area: &Area<'_>, chart: &Chart<'_>, n: usize, defect: &Defect) -> Drawn {
    let top = chart.spot(0.0, -(n as f64)).1;
    let (left, right) = (chart.spot(0.0, 0.0).0, chart.spot(f64::INFINITY, 0.0).0);
    path(area, &[(left, top), (right, top)], Ink::Line, 1)?;
    let short = defect.name.split_once('.').map_or(defect.name.as_str(), |(_, name)| name);
    say(area, &fit(short, 34), (left + 4, top + 9), SMALL, Ink::Text, At::Start)?;
    let never: Vec<&str> = SEARCHES.iter().filter(|(_, of, ..)| of(defect).is_none()).map(|(name, ..)| *name).collect();
    if !never.is_empty() {
        say(area, &format!("not {}", never.join(", ")), (right - 2, top + 9), SMALL, Ink::Soft, At::End)?;
    }
    let mut taken: Vec<i32> = Vec::new();
    for (_, of, ink, shape) in SEARCHES {
        if let Some(runs) = of(defect) {
            // Marks of the same run stand beside each other.
            let mut spot = chart.spot(runs as f64, 0.0).0;
            while taken.iter().any(|other| (other - spot).abs() < 11) {
                spot += 1;
            }
            taken.push(spot);
            mark(area, shape, (spot, top + 23), 4, ink, true)?;
        }
    }
    Ok(())
}
