use super::sample::{breaks, costing, five, folder, holds, misses, row, surprising, undecided, verdicts};
use super::{advice, answer, order, page, sentence};
use crate::page::front::letters::Letters;
use crate::page::front::row::Row;
use crate::page::source::exhaust::{Broken, Kind, Strategy};
use crate::page::source::throughput::{Point, Strategy as Measured};
use crate::page::source::verdicts::Difference;
use crate::page::source::{Exhaust, Sources, Throughput, Verdicts};

const DEAR: &str = "A second settlement or payment would cost money";
const ALONE: &str = "Nothing to operate besides the database: no lease store, queue or log";
const COMPETE: &str = "Nodes compete for each period, and some of them die";
const LATE: &str = "A period that is late or lost is worse than one settled twice";

/// The text of a page, a line for each element that has some.
fn text(html: &str) -> String {
    let html = html.split_once("<body>").map_or(html, |(_, body)| body);
    let html = html.split_once("<script>").map_or(html, |(body, _)| body);
    let mut lines = vec![String::new()];
    for piece in html.split('<').skip(1) {
        let (tag, text) = piece.split_once('>').unwrap();
        let name = tag.trim_start_matches('/').split(' ').next().unwrap();
        if !["a", "b", "i", "small", "span", "code"].contains(&name) {
            lines.push(String::new());
        }
        lines.last_mut().unwrap().push_str(text);
    }
    let lines: Vec<&str> = lines.iter().map(|line| line.trim()).filter(|line| !line.is_empty()).collect();
    lines.join("\n").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&").replace("&quot;", "\"")
}

fn of(verdicts: Verdicts) -> Sources {
    Sources { verdicts: Some(verdicts), ..Sources::default() }
}

fn taken_with(verdicts: &Verdicts, need: &str, sources: &Sources) -> Vec<String> {
    let all = advice::all(&Row::all(verdicts), sources);
    let advice = all.iter().find(|a| a.need.what == need).unwrap();
    advice.best.iter().map(|choice| choice.label.clone()).collect()
}

fn taken(verdicts: &Verdicts, need: &str) -> Vec<String> {
    taken_with(verdicts, need, &Sources::default())
}

/// The same with three fault classes more, under which every row holds.
fn widened(verdicts: &Verdicts) -> Verdicts {
    let mut verdicts = verdicts.clone();
    for strategy in &mut verdicts.strategies {
        strategy.cells.extend(["skew", "drift", "step"].map(holds));
    }
    verdicts
}

#[test]
fn the_whole_page_in_words() {
    let html = page(&folder()).into_string();
    let (before, rest) = html.split_once("<section aria-labelledby=\"plots\">").unwrap();
    let (_, after) = rest.split_once("</section>").unwrap();
    insta::assert_snapshot!(text(&format!("{before}{after}")));
}

#[test]
fn each_strategy_has_its_sentence() {
    let verdicts = five();
    let rows = Row::all(&verdicts);
    let told: Vec<String> = order::best_first(&rows)
        .iter()
        .map(|row| {
            format!("{}: {} {}", row.label, sentence::fate(row, Letters(&verdicts.letters)), sentence::cost(row).unwrap_or_default())
        })
        .collect();
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn many_classes_are_cut_short_and_few_are_not() {
    let names = ["skew", "drift", "step", "crash", "power", "pause"];
    let broken = names.map(|name| breaks(name, "L"));
    let verdicts = verdicts(vec![row("a", "", broken.into()), row("b", "", vec![undecided("calm")]), row("c", "", Vec::new())]);
    let rows = Row::all(&verdicts);
    let told: Vec<String> = rows.iter().map(|row| sentence::fate(row, Letters(&verdicts.letters))).collect();
    let lost = "Survives nothing that was tried; breaks: lost (L) under skew, drift, step, crash and 2 more.";
    assert_eq!(told, [lost, "Is undecided under calm.", "Nothing was tried."]);
}

#[test]
fn the_answer_is_counted() {
    let verdicts = five();
    let rows = Row::all(&verdicts);
    assert_eq!(answer::yes_or_no(&rows), "With 2 of 5 strategies, as far as this was tried: fenced and keyed.");
    assert_eq!(
        answer::failures(&rows, Letters(&verdicts.letters)),
        "2 strategies break; most common are “settled twice” (D) and “lost: not settled or not paid” (L), each in 2 of them. One did not break, but was not tried enough."
    );
    let bound = answer::bound(&rows);
    assert!(bound.contains("at most 7.6 % of runs"), "{bound}");
    assert_eq!(answer::yes_or_no(&rows[2..4]), "Yes, as far as this was tried, with every strategy here: fenced and keyed.");
    assert_eq!(answer::yes_or_no(&rows[..2]), "Not with any of these 2 strategies: none held under everything that was tried.");
    assert_eq!(answer::yes_or_no(&[]), "No strategy was tried.");
}

#[test]
fn of_letters_that_are_as_common_all_are_named() {
    let tied = verdicts(vec![row("a", "", vec![breaks("crash", "D2")]), row("b", "", vec![breaks("crash", "2D")])]);
    let told = answer::failures(&Row::all(&tied), Letters(&tied.letters));
    assert_eq!(told, "2 strategies break; most common are “paid twice” (2) and “settled twice” (D), each in 2 of them.");
}

#[test]
fn the_best_come_first() {
    let verdicts = five();
    let labels = |v: &Verdicts| order::best_first(&Row::all(v)).into_iter().map(|row| row.label).collect::<Vec<_>>();
    assert_eq!(labels(&verdicts), ["fenced", "keyed", "seldom", "leased", "bare"]);
    let mut dearer = verdicts;
    dearer.strategies[2].cells[0] = costing(holds("calm"), 300, 4_000);
    assert_eq!(labels(&dearer)[..2], ["keyed", "fenced"], "of two that hold, the one that wastes less");
}

#[test]
fn a_recommendation_follows_the_cells() {
    let mut verdicts = five();
    assert_eq!(taken(&widened(&verdicts), DEAR), ["fenced", "keyed"], "cheapest first");
    verdicts.strategies[2].cells[1] = breaks("crash", "D");
    assert_eq!(taken(&widened(&verdicts), DEAR), ["keyed"]);
    verdicts.strategies[2].cells[1] = costing(breaks("crash", "L"), 40, 360_000);
    assert_eq!(taken(&widened(&verdicts), DEAR), ["fenced", "keyed"], "lost is not settled twice");
    verdicts.strategies[1].cells[2] = costing(breaks("pause", "E"), 1, 1_000);
    assert_eq!(taken(&widened(&verdicts), DEAR), ["leased", "fenced", "keyed"]);
    verdicts.strategies[1].cells[2] = breaks("pause", "!");
    assert_eq!(taken(&widened(&verdicts), DEAR), ["fenced", "keyed"], "a run that panics helps nobody");
}

#[test]
fn inherited_letters_count_against_a_strategy() {
    let verdicts = widened(&verdicts(vec![row("a", "", vec![breaks("pause", "-D")])]));
    assert!(taken(&verdicts, DEAR).is_empty());
    let html = page(&of(verdicts)).into_string();
    assert!(text(&html).contains("None of these."));
}

#[test]
fn too_few_runs_recommend_nothing() {
    let mut verdicts = verdicts(vec![row("a", "", vec![undecided("crash")]), row("b", "", vec![breaks("crash", "L")])]);
    assert_eq!(taken(&widened(&verdicts), DEAR), ["b"]);
    verdicts.strategies[1].cells[0].felt = 3;
    assert!(taken(&widened(&verdicts), DEAR).is_empty(), "what breaks in 3 felt runs says little of what does not");
    verdicts.strategies[1].cells.clear();
    assert!(taken(&widened(&verdicts), DEAR).is_empty(), "nor does what was not tried");
    verdicts.strategies[0].cells[0] = misses("crash");
    assert!(taken(&verdicts, DEAR).is_empty(), "nor what cannot strike");
}

/// A few runs of a class or two say nothing of any class, and each that was not tried is named.
#[test]
fn who_was_hardly_tried_is_not_recommended_for_any_fault_class() {
    let few = verdicts(vec![row("a", "", vec![holds("calm"), holds("crash"), holds("pause"), misses("lease-cut")])]);
    assert!(taken(&few, DEAR).is_empty());
    let told = text(&page(&of(few)).into_string());
    let untried =
        "All of this at once nothing may break under any fault class (not tried: skew, drift, step, power, partition, db-cut, slow,";
    assert!(told.contains(untried), "{told}");
}

#[test]
fn what_broke_when_every_single_fault_was_tried_counts() {
    const STOP: &str = "A process may stop for longer than any timeout";
    let verdicts = five();
    let with = |name: &str, rules: &str, class: &str, faults: &str| {
        let kinds = vec![Kind { class: class.to_owned(), ..kind("pause-before", 11) }];
        let strategy = Strategy { name: name.to_owned(), rules: rules.to_owned(), kinds, ..Strategy::default() };
        let exhaust = Exhaust { faults: faults.to_owned(), strategies: vec![strategy], ..Exhaust::default() };
        Sources { exhaust: Some(exhaust), ..Sources::default() }
    };
    let usual = "postgres-read-committed";
    let all = taken(&verdicts, STOP);
    assert_eq!(
        (taken(&verdicts, DEAR), all.clone()),
        (vec!["fenced".to_owned()], ["fenced", "keyed", "seldom"].map(str::to_owned).to_vec())
    );
    let broke = with("fenced", usual, "pause", "single");
    assert!(taken_with(&verdicts, DEAR, &broke).is_empty());
    assert_eq!(taken_with(&verdicts, STOP, &broke), all[1..]);
    assert_eq!(taken_with(&verdicts, STOP, &with("fenced", usual, "crash", "single")), all, "of another class");
    assert_eq!(taken_with(&verdicts, STOP, &with("fenced", usual, "pause", "pairs")), all, "with a second fault");
    assert!(taken_with(&verdicts, DEAR, &with("fenced", usual, "pause", "pairs")).is_empty());
    assert_eq!(taken_with(&verdicts, DEAR, &with("fenced", "innodb-repeatable-read", "pause", "single")), ["fenced"], "another row");
}

#[test]
fn a_strategy_that_asks_another_server_does_not_stand_alone() {
    let others = ["lease-cut", "lease-loss", "log-fault", "redelivery"];
    let cells = |first| vec![holds("calm"), first, misses(others[1]), misses(others[2]), misses(others[3])];
    let mut verdicts = verdicts(vec![row("keyed", "", cells(misses(others[0]))), row("leased", "", cells(holds(others[0])))]);
    assert_eq!(taken(&widened(&verdicts), ALONE), ["keyed"]);
    verdicts.strategies[0].cells.pop();
    assert!(taken(&widened(&verdicts), ALONE).is_empty(), "a column that was not tried does not tell");
}

#[test]
fn at_most_three_are_named() {
    let rows = ["a", "b", "c", "d", "e"].map(|name| row(name, "", vec![holds("calm")]));
    let verdicts = widened(&verdicts(rows.into()));
    assert_eq!(taken(&verdicts, DEAR), ["a", "b", "c"]);
    let html = page(&of(verdicts)).into_string();
    let (_, more) = html.split_once("and 2 more</summary>").unwrap();
    assert!(more.starts_with("<a href=\"#s3-d\">d</a>, <a href=\"#s4-e\">e</a></details>"), "{more}");
}

#[test]
fn who_must_not_be_late_gets_the_soonest() {
    let verdicts = verdicts(vec![
        row("cheap", "", vec![costing(holds("pause"), 1, 9_000)]),
        row("soon", "", vec![costing(breaks("pause", "D"), 100, 2_000)]),
    ]);
    let verdicts = widened(&verdicts);
    assert_eq!(taken(&verdicts, LATE), ["soon", "cheap"]);
    assert_eq!(taken(&verdicts, DEAR), ["cheap"]);
}

#[test]
fn with_many_nodes_what_was_measured_of_contention_decides() {
    let verdicts = five();
    let point = |nodes, mean_ns| Point { nodes, mean_ns, lower_ns: mean_ns, upper_ns: mean_ns };
    let measured = |name: &str, few, many| Measured { name: name.to_owned(), points: vec![point(2, few), point(16, many)] };
    let throughput = Throughput { format: 1, strategies: vec![measured("fenced", 1e5, 9e5), measured("keyed", 2e5, 3e5)] };
    assert_eq!(taken(&verdicts, COMPETE), ["fenced", "keyed"]);
    let sources = Sources { throughput: Some(throughput), ..of(verdicts.clone()) };
    assert_eq!(taken_with(&verdicts, COMPETE, &sources), ["keyed", "fenced"]);
    assert!(text(&page(&sources).into_string()).contains("Many nodes, up to 16, compete for each period, and some of them die"));
    let unmeasured = text(&page(&of(verdicts)).into_string());
    assert!(!unmeasured.contains("Many nodes") && unmeasured.contains(COMPETE), "{unmeasured}");
}

#[test]
fn a_need_of_which_only_calm_was_tried_is_left_out() {
    let all = |v: &Verdicts| advice::all(&Row::all(v), &Sources::default()).iter().filter(|a| a.need.what.starts_with("Long jobs")).count();
    let with = |faults: &str| verdicts(vec![row("a", "", vec![holds("calm"), holds(faults)])]);
    assert_eq!((all(&with("crash")), all(&with("slow"))), (0, 1));
}

#[test]
fn what_a_need_speaks_of_and_nobody_tried_is_said() {
    let told = text(&page(&of(five())).into_string());
    assert!(
        told.contains("A node may die at any moment nothing may break under calm, crash, power and single (not tried: power and single)"),
        "{told}"
    );
}

#[test]
fn a_cell_that_is_not_as_declared_stands_out() {
    let mut verdicts = five();
    verdicts.strategies[2].cells[2] = surprising(breaks("pause", "D"), "never-broke", "D");
    verdicts.strategies[1].cells[3] = surprising(holds("lease-cut"), "must-held", "L");
    let html = page(&of(verdicts)).into_string();
    assert_eq!(html.matches("\" data-declared=\"no\"").count(), 2);
    let told = text(&html);
    for said in ["2 cells not as declared", "✗D≠ breaks: settled twice (D); not as declared", "∅L≠ holds; not as declared"] {
        assert!(told.contains(said), "{said} is not in\n{told}");
    }
    assert!(told.contains("It declares never to break so, and did: settled twice (D) (its reason: of its fence)."));
    assert!(!text(&page(&of(five())).into_string()).contains('≠'));
}

#[test]
fn a_cell_links_to_the_page_of_its_run_if_that_is_there() {
    let html = page(&folder()).into_string();
    assert!(html.contains("href=\"witnesses/leased--pause.html\""));
    assert!(!html.contains("leased--crash"), "no page, no link");
}

#[test]
fn every_cell_has_its_hooks_and_its_details() {
    let html = page(&folder()).into_string();
    let cells = html.matches("<td data-strategy=").count();
    assert_eq!(cells, 20);
    let ids: Vec<&str> = html.split("data-at=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    assert_eq!(ids.len(), cells);
    for id in ids {
        assert_eq!(html.matches(&format!("id=\"{id}\"")).count(), 1, "{id}");
    }
    assert!(html.contains("<td data-strategy=\"leased\" data-faults=\"pause\" data-verdict=\"breaks\""));
}

#[test]
fn text_from_elsewhere_is_shown_and_not_run() {
    const EVIL: &str = "<script>alert(1)</script>";
    let mut verdicts = five();
    verdicts.strategies[1].name = format!("{EVIL}\"'");
    verdicts.strategies[1].about = EVIL.to_owned();
    verdicts.strategies[1].cells[2].broken[0].first.what = format!("</script></style>{EVIL}");
    verdicts.strategies[2].cells[1].faults = EVIL.to_owned();
    verdicts.letters[0].meaning = EVIL.to_owned();
    verdicts.differences.push(Difference { what: EVIL.to_owned(), ..Difference::default() });
    let strategy = Strategy { name: EVIL.to_owned(), kinds: vec![kind(EVIL, 4)], ..Strategy::default() };
    let sources = Sources {
        exhaust: Some(Exhaust { strategies: vec![strategy], ..Exhaust::default() }),
        unreadable: vec![(EVIL.to_owned(), EVIL.to_owned())],
        ..of(verdicts)
    };
    let html = page(&sources).into_string();
    assert!(!html.contains("<script>alert"));
    assert_eq!((html.matches("<script").count(), html.matches("</script").count()), (1, 1), "the page's own");
    assert_eq!(html.matches("</style").count(), html.matches("<style").count());
    assert!(html.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
}

fn kind(name: &str, runs: u64) -> Kind {
    let broken = Broken { letter: "D".to_owned(), runs, ..Broken::default() };
    Kind { kind: name.to_owned(), runs: 32, felt: 30, as_expected: true, broken: vec![broken], ..Kind::default() }
}

#[test]
fn every_single_fault_in_words() {
    let lists = |unreached: &[&str]| unreached.iter().map(|&step| step.to_owned()).collect::<Vec<_>>();
    let strategy = |name: &str, kinds, unreached: &[&str]| Strategy {
        name: name.to_owned(),
        as_expected: true,
        runs: 1_212,
        felt: 1_038,
        kinds,
        unreached: lists(unreached),
        ..Strategy::default()
    };
    let exhaust = Exhaust {
        faults: "single".to_owned(),
        as_expected: true,
        strategies: vec![
            strategy("keyed", Vec::new(), &[]),
            strategy("leased", vec![kind("pause-after", 2)], &["tx.rollback"]),
            strategy("bare", ["a", "b", "c", "d"].map(|name| kind(name, 1)).into(), &[]),
        ],
        ..Exhaust::default()
    };
    let sources = Sources { exhaust: Some(exhaust), ..Sources::default() };
    insta::assert_snapshot!(text(&page(&sources).into_string()));
}

#[test]
fn kinds_that_were_not_asked_for_are_not_claimed() {
    let kinds = vec![kind("pause-before", 2), kind("crash-after", 0)];
    let strategy = Strategy { name: "bare".to_owned(), runs: 27, kinds, ..Strategy::default() };
    let told = |all_kinds, faults: &str| {
        let exhaust = Exhaust { faults: faults.to_owned(), all_kinds, strategies: vec![strategy.clone()], ..Exhaust::default() };
        text(&page(&Sources { exhaust: Some(exhaust), ..Sources::default() }).into_string())
    };
    assert!(told(true, "single").contains("every kind of fault that can strike"));
    let some = told(false, "single");
    assert!(some.contains("Complete for single faults of these 2 kinds (pause-before, crash-after) at every step"), "{some}");
    assert!(some.contains("onceproof exhaust --kinds pause-before,crash-after") && !some.contains("every kind"), "{some}");
    assert!(told(false, "pairs").contains("After each single fault of these 2 kinds (pause-before, crash-after) a second one"));
    let old: Exhaust = serde_json::from_str(r#"{"format": 1}"#).unwrap();
    assert!(old.all_kinds);
}

#[test]
fn every_page_of_a_run_can_be_reached() {
    let replayed = "witnesses/replay--leased--pause--1.html";
    let mut sources = folder();
    assert!(!text(&page(&sources).into_string()).contains("Other runs"), "the cell leads there");
    sources.pages.insert(replayed.to_owned());
    let html = page(&sources).into_string();
    assert_eq!(html.matches(&format!("href=\"{replayed}\"")).count(), 1);
    assert!(text(&html).contains("Other runs"), "{html}");
    let alone = Sources { pages: [replayed.to_owned()].into(), ..Sources::default() };
    let html = page(&alone).into_string();
    let told = text(&html);
    assert!(
        html.contains(&format!("href=\"{replayed}\"")) && told.contains("On this page: runs. Which strategies hold is not told"),
        "{told}"
    );
    assert!(!told.contains("no answer yet"), "{told}");
}

/// What a file does not say is not told with a gap in it.
#[test]
fn what_is_not_there_is_no_sentence() {
    let empty: Verdicts = serde_json::from_str(r#"{"format": 2}"#).unwrap();
    let html = page(&of(empty.clone())).into_string();
    let told = text(&html);
    assert!(told.contains("No strategy was tried."), "{told}");
    for claim in ["not as declared", "as its strategy declares", "base seed", "engine", "drawn runs", "--seed"] {
        assert!(!told.contains(claim), "{claim} is in\n{told}");
    }
    assert_eq!(answer::made(&Verdicts { runs: 7, ..empty.clone() }).unwrap(), "7 drawn runs.");
    assert_eq!(answer::made(&Verdicts { runs: 7, engine: "event".to_owned(), ..empty }).unwrap(), "7 drawn runs, on the event engine.");
    let off = text(&page(&of(Verdicts { as_expected: false, ..five() })).into_string());
    assert!(off.contains("≠ Not all is as declared. The file says so, but not of which cell."), "{off}");
}

#[test]
fn an_empty_folder_has_a_page() {
    let told = text(&page(&Sources::default()).into_string());
    assert!(told.contains("no readable verdicts.json"), "{told}");
}

#[test]
fn the_largest_table_is_small_enough() {
    let what = "2026-01-10 settled by n2 at 2026-01-10 00:02:00.526, then again by n1 at 2026-01-10 00:02:00.850".repeat(2);
    let mut cell = breaks("swarm", "D2LKES");
    cell.broken.iter_mut().for_each(|broken| broken.first.what.clone_from(&what));
    let cells: Vec<_> = (0..23)
        .map(|n| {
            let mut cell = cell.clone();
            cell.faults = format!("class-{n}");
            if n % 2 == 0 { holds(&cell.faults) } else { cell }
        })
        .collect();
    let rows = (0..42).map(|n| row(&format!("strategy-{n}"), "as long as it usually is, in one line of text", cells.clone())).collect();
    let size = page(&of(verdicts(rows))).into_string().len();
    assert!(size < 2_000_000, "{size} bytes");
    assert!(size > 500_000, "{size} bytes: that was not the whole table");
}

#[test]
fn nothing_is_loaded_from_elsewhere() {
    let html = page(&folder()).into_string().replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
    for elsewhere in ["http:", "https:", "src=", "@import", "url("] {
        assert!(!html.contains(elsewhere), "{elsewhere}");
    }
}
