//! What all plots have in common.

use super::*;
use crate::page::source::frontier::{Found, Given};
use crate::page::source::throughput::Point;
use crate::page::source::verdicts::{Cell, Cost, Coverage, Place, Spread};
use crate::page::source::{Exhaust, Frontier, Kills, Throughput, Verdicts, exhaust, frontier, kills, throughput, verdicts};

const RUDE: &str = "<script>alert('x')</script>&\"";

fn spread(p50_ms: u64, p95_ms: u64, max_ms: u64) -> Spread {
    Spread { n: 10, p50_ms, p95_ms, max_ms, buckets: vec![(p50_ms, 6), (p95_ms, 3), (max_ms, 1)] }
}

fn cell(faults: &str, verdict: &str, to_settle: Spread) -> Cell {
    let cost = Some(Cost { due: 10, settled: 10, to_settle, ..Cost::default() });
    Cell { faults: faults.to_owned(), verdict: verdict.to_owned(), cost, ..Cell::default() }
}

fn coverage() -> Coverage {
    let place = |kind: &str, step: &str, phase: &str, drawn, steered| Place {
        kind: kind.to_owned(),
        step: step.to_owned(),
        phase: phase.to_owned(),
        drawn,
        steered,
    };
    Coverage {
        possible: 4,
        drawn: 1,
        steered: 1,
        never: ["crash × lease.renew × sent", "pause × tx.commit × before"].map(str::to_owned).to_vec(),
        never_made: ["lease.expire".to_owned()].into(),
        places: vec![
            place("crash", "lease.renew", "before", 12, 0),
            place("crash", "lease.renew", "sent", 0, 0),
            place("crash", "lease.renew", "after", 0, 1),
            place("pause", "tx.commit", "before", 0, 0),
        ],
        ..Coverage::default()
    }
}

fn some_verdicts() -> Verdicts {
    let sound = vec![
        cell("calm", "holds", spread(1_200, 2_000, 3_000)),
        cell("pause", "holds", spread(5_000, 2_400_500, 3_600_000)),
        Cell { coverage: Some(coverage()), ..cell("swarm", "holds", spread(2_000, 90_000, 95_000)) },
    ];
    let mut lost = cell("pause", "breaks", spread(800, 1_000, 1_100));
    lost.cost.iter_mut().for_each(|cost| cost.settled = 7);
    let broken = vec![cell("calm", "holds", spread(700, 900, 901)), cell("crash", "breaks", spread(900, 1_000_000, 1_000_000)), lost];
    let row = |name: &str, cells| verdicts::Strategy { name: name.to_owned(), cells, ..verdicts::Strategy::default() };
    Verdicts { strategies: vec![row("lease-fenced", sound), row("no-guard", broken)], ..Verdicts::default() }
}

fn between(holds: u64, line: u64) -> Found {
    Found {
        line: "from".to_owned(),
        line_ms: Some(line),
        measured: "between".to_owned(),
        holds_at_ms: Some(holds),
        breaks_at_ms: Some(holds + 1_000),
        seen: 3,
        of: 20,
        differs_ms: Some((holds + 1_000) as i64 - line as i64),
        as_expected: true,
    }
}

fn some_frontier() -> Frontier {
    let point = |job_ms, store_drift_ppm, overlap: Found| frontier::Point {
        strategy: "lease-set-px".to_owned(),
        ttl_ms: Some(1_800_000),
        along: "stall".to_owned(),
        stops: "after `work.2`".to_owned(),
        given: Given { job_ms, store_drift_ppm, ..Given::default() },
        runs: 100,
        settled_twice: overlap.clone(),
        overlap,
    };
    let never =
        Found { line: "never".to_owned(), measured: "never".to_owned(), holds_at_ms: Some(118_470), as_expected: true, ..Found::default() };
    let points = vec![
        point(120_000, 0, between(1_680_000, 1_680_000)),
        point(600_000, 0, between(1_200_000, 1_200_000)),
        point(1_200_000, 0, between(600_000, 600_000)),
        point(120_000, -20_000, between(1_719_000, 1_716_000)),
        point(120_000, 20_000, never),
    ];
    Frontier { seeds: 20, resolution_ms: 1_000, as_expected: true, points, ..Frontier::default() }
}

fn some_kills() -> Kills {
    let defect = |name: &str, fate: &str, random, swarm, enumeration| kills::Defect {
        name: name.to_owned(),
        what: "forgets something".to_owned(),
        fate: fate.to_owned(),
        told: format!("{fate}: D, settled twice"),
        random,
        swarm,
        enumeration,
        enumerated: 1_213,
    };
    let defects = vec![
        defect("table-key.no-key", "killed", Some(26), Some(5), Some(770)),
        defect("table-key.points-reset", "killed", Some(1), Some(1), Some(1)),
        defect("lease-fenced.fence-ignored", "killed", None, None, Some(166)),
        defect("lease-fenced.same-owner", "wasteful", None, None, None),
    ];
    Kills { format: 1, most: 400, score: "4 defects.".to_owned(), defects, ..Kills::default() }
}

fn some_throughput() -> Throughput {
    let point = |nodes, ns: f64| Point { nodes, mean_ns: ns, lower_ns: ns * 0.9, upper_ns: ns * 1.1 };
    let row = |name: &str, all: &[f64]| throughput::Strategy {
        name: name.to_owned(),
        points: [1, 8].into_iter().zip(all).map(|(nodes, ns)| point(nodes, *ns)).collect(),
    };
    let strategies = vec![row("lease-fenced", &[1e6, 2e7]), row("no-guard", &[5e5, 4e6])];
    Throughput { format: 1, strategies }
}

fn everything() -> Sources {
    Sources {
        verdicts: Some(some_verdicts()),
        frontier: Some(some_frontier()),
        kills: Some(some_kills()),
        throughput: Some(some_throughput()),
        ..Sources::default()
    }
}

fn ids(sources: &Sources) -> Vec<String> {
    figures(sources).into_iter().map(|figure| figure.id).collect()
}

#[test]
fn captions_and_tables_say_what_the_plots_show() {
    let told = figures(&everything()).into_iter().map(|figure| {
        let (heads, rows) = figure.table;
        assert!(rows.iter().all(|row| row.len() == heads.len()), "{}: a row has other columns than the heads", figure.id);
        let lines: Vec<String> = std::iter::once(heads).chain(rows).map(|row| row.join(" | ")).collect();
        format!("# {} ({})\n{}\n\n{}\n", figure.title, figure.id, figure.caption, lines.join("\n"))
    });
    insta::assert_snapshot!(told.collect::<Vec<_>>().join("\n"));
}

#[test]
fn there_is_a_plot_for_what_is_there_and_for_nothing_else() {
    assert_eq!(ids(&Sources::default()), Vec::<String>::new());
    let of = |sources: Sources| ids(&sources);
    assert_eq!(of(Sources { frontier: Some(some_frontier()), ..Sources::default() }), ["frontier"]);
    assert_eq!(of(Sources { throughput: Some(some_throughput()), ..Sources::default() }), ["throughput"]);
    assert_eq!(of(Sources { kills: Some(some_kills()), ..Sources::default() }), ["kills", "kills-by-defect"]);
    let all = ["time-to-settle", "time-to-settle-by-class", "coverage", "coverage-map"];
    assert_eq!(of(Sources { verdicts: Some(some_verdicts()), ..Sources::default() }), all);
    // An older file knows no costs.
    let mut older = some_verdicts();
    older.strategies.iter_mut().flat_map(|strategy| &mut strategy.cells).for_each(|cell| cell.cost = None);
    assert_eq!(of(Sources { verdicts: Some(older), ..Sources::default() }), all[2..]);
}

#[test]
fn files_without_data_make_no_plots() {
    let empty = Sources {
        verdicts: Some(Verdicts::default()),
        frontier: Some(Frontier::default()),
        kills: Some(Kills::default()),
        throughput: Some(Throughput::default()),
        ..Sources::default()
    };
    assert_eq!(ids(&empty), Vec::<String>::new());
}

/// Names come from files: whatever is in them is shown, not run.
#[test]
fn text_is_escaped() {
    let mut sources = everything();
    let rude = |name: &mut String| *name = RUDE.to_owned();
    sources.verdicts.iter_mut().flat_map(|verdicts| &mut verdicts.strategies).for_each(|strategy| {
        rude(&mut strategy.name);
        strategy.cells.iter_mut().skip(1).for_each(|cell| rude(&mut cell.faults));
        strategy.cells.iter_mut().filter_map(|cell| cell.coverage.as_mut()).flat_map(|of| &mut of.places).for_each(|place| {
            rude(&mut place.kind);
            rude(&mut place.step);
        });
    });
    sources.frontier.iter_mut().flat_map(|frontier| &mut frontier.points).for_each(|point| {
        rude(&mut point.strategy);
        rude(&mut point.stops);
    });
    sources.kills.iter_mut().flat_map(|kills| &mut kills.defects).for_each(|defect| rude(&mut defect.name));
    sources.throughput.iter_mut().flat_map(|throughput| &mut throughput.strategies).for_each(|strategy| rude(&mut strategy.name));
    let figures = figures(&sources);
    assert_eq!(figures.len(), ids(&everything()).len());
    for figure in figures {
        assert!(!figure.svg.contains("<script"), "{}: {}", figure.id, figure.svg);
        // The curve of all defects names none.
        assert!(figure.id == "kills" || figure.svg.contains("&lt;script"), "{}: the name is not shown", figure.id);
    }
}

#[test]
fn the_same_data_is_the_same_plot() {
    let drawn = || figures(&everything()).into_iter().map(|figure| figure.svg).collect::<Vec<_>>();
    assert_eq!(drawn(), drawn());
}

#[test]
fn every_plot_has_a_name_and_colours_of_the_page_only() {
    for figure in figures(&everything()) {
        let panels = figure.svg.matches("<svg ").count();
        assert!(panels > 0, "{}", figure.id);
        for wanted in [" role=\"img\"", " aria-labelledby=\"", " aria-describedby=\"", "<title id=\"", "<desc id=\""] {
            assert_eq!(figure.svg.matches(wanted).count(), panels, "{}: {wanted}", figure.id);
        }
        for colour in figure.svg.split("=\"#").skip(1).map(|rest| &rest[..6]) {
            assert!(STYLE.contains(&format!("=\"#{colour}\"")), "{}: #{colour} is in no rule", figure.id);
        }
        let mut ids: Vec<&str> = figure.svg.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        let all = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), all, "{}: an id comes twice", figure.id);
    }
}

/// Zeros on logarithmic axes, single points, numbers that are none: something is drawn.
#[test]
fn extreme_values_are_drawn() {
    let mut sources = everything();
    for cell in sources.verdicts.iter_mut().flat_map(|verdicts| &mut verdicts.strategies).flat_map(|strategy| &mut strategy.cells) {
        cell.cost =
            Some(Cost { due: 1, settled: 1, to_settle: Spread { n: 1, buckets: vec![(0, 1)], ..Spread::default() }, ..Cost::default() });
        if cell.faults == "pause" {
            cell.cost = Some(Cost { due: 1, ..Cost::default() });
        }
    }
    if let Some(frontier) = &mut sources.frontier {
        frontier.points.truncate(1);
        frontier.points[0].overlap = Found::default();
        frontier.points[0].settled_twice = Found { line_ms: Some(0), breaks_at_ms: Some(0), ..Found::default() };
    }
    if let Some(kills) = &mut sources.kills {
        kills.defects.truncate(1);
        kills.defects[0].random = Some(0);
    }
    let points = [(0, 1.0), (1, 0.0), (2, f64::NAN), (4, f64::INFINITY), (8, 1e6)].map(|(nodes, mean_ns)| Point {
        nodes,
        mean_ns,
        ..Point::default()
    });
    let strategy = throughput::Strategy { name: "lease-fenced".to_owned(), points: points.to_vec() };
    sources.throughput = Some(Throughput { format: 1, strategies: vec![strategy] });
    let figures = figures(&sources);
    assert_eq!(figures.len(), ids(&everything()).len());
    for figure in &figures {
        assert!(!figure.svg.contains("NaN") && !figure.svg.contains("inf"), "{}", figure.id);
        // Nothing lies far outside: `i32::MAX` is what becomes of infinity.
        assert!(!figure.svg.contains("2147483"), "{}", figure.id);
    }
}

/// Before format 2 the counts are unknown, but not where nothing was felt.
#[test]
fn an_older_file_tells_where_nothing_was_felt() {
    let mut older = some_verdicts();
    older.strategies.iter_mut().flat_map(|of| &mut of.cells).filter_map(|cell| cell.coverage.as_mut()).for_each(|of| of.places.clear());
    let map = figures(&Sources { verdicts: Some(older), ..Sources::default() }).pop().unwrap();
    assert_eq!(map.id, "coverage-map");
    let rows: Vec<String> = map.table.1.iter().map(|row| row.join(" | ")).collect();
    assert_eq!(rows, ["crash | unknown | unknown | 1 | lease.renew (sent)", "pause | unknown | unknown | 1 | tx.commit (before)"]);
    assert!(map.caption.contains("This file tells only where some strategy never felt a fault"), "{}", map.caption);
}

/// Empty places are in plain sight: crossed out, one line for each run of them.
#[test]
fn what_was_never_felt_is_crossed_out() {
    let map = figures(&everything()).pop().unwrap();
    let crossed = format!("stroke=\"#{}\"", "B3261E");
    // One in the legend, and the two that no run felt.
    assert_eq!(map.svg.matches(&crossed).count(), 3);
}

/// Files may say anything: the largest numbers are no reason to panic.
#[test]
fn the_largest_numbers_are_drawn_and_told() {
    const MOST: u64 = u64::MAX;
    let most = || Spread { n: MOST, p50_ms: MOST, p95_ms: MOST, max_ms: MOST, buckets: vec![(MOST, MOST), (MOST, MOST)] };
    for settled in [0, MOST] {
        let mut sources = everything();
        let verdicts = sources.verdicts.as_mut().unwrap();
        let apart = verdicts::Apart { runs: MOST, felt: MOST };
        (verdicts.runs, verdicts.apart, verdicts.seeds_per_cell, verdicts.pinned_runs, verdicts.certified_runs) =
            (MOST, apart, Some(MOST), MOST, MOST);
        for cell in verdicts.strategies.iter_mut().flat_map(|strategy| &mut strategy.cells) {
            (cell.runs, cell.felt, cell.felt_needed, cell.pinned_runs, cell.apart) = (MOST, MOST, MOST, MOST, apart);
            let letter = verdicts::Broken { letter: "D".to_owned(), runs: MOST, apart: MOST, ..verdicts::Broken::default() };
            cell.broken.push(letter);
            let surprise = |kind: &str| verdicts::Surprise { kind: kind.to_owned(), ..verdicts::Surprise::default() };
            cell.surprises = ["never-broke", "must-held", "went-wrong", "undecided"].map(surprise).into();
            cell.cost = Some(Cost { due: MOST, settled, attempts: MOST, wasted: MOST, to_settle: most(), recovery: Some(most()) });
            if let Some(coverage) = &mut cell.coverage {
                (coverage.possible, coverage.drawn, coverage.steered) = (MOST, MOST, MOST);
                coverage.places.iter_mut().for_each(|place| (place.drawn, place.steered) = (MOST, MOST));
            }
        }
        for point in &mut sources.frontier.as_mut().unwrap().points {
            (point.runs, point.overlap.seen, point.overlap.of) = (MOST, MOST, MOST);
            (point.overlap.line_ms, point.overlap.holds_at_ms, point.overlap.breaks_at_ms) = (Some(MOST), Some(0), Some(MOST));
            point.settled_twice = point.overlap.clone();
        }
        let kind = exhaust::Kind { runs: MOST, felt: MOST, ..exhaust::Kind::default() };
        let row = exhaust::Strategy { runs: MOST, felt: MOST, kinds: vec![kind.clone(), kind], ..exhaust::Strategy::default() };
        sources.exhaust = Some(Exhaust { strategies: vec![row.clone(), row], ..Exhaust::default() });
        let page = crate::page::index(&sources);
        assert!(page.contains("18,446,744,073,709,551,615") && page.len() < 2_000_000, "{} bytes", page.len());
        let place = crate::page::surprise::Place { reports: "reports", sentence: &|_| None };
        let verdicts = sources.verdicts.as_ref().unwrap();
        assert!(crate::page::markdown::summary(verdicts, &place).contains("18,446,744,073,709,551,615"));
        crate::page::junit::xml(verdicts, &place);
    }
}
