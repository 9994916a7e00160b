use super::*;
use crate::explore::Cost;
use crate::page::source::verdicts;
use crate::report::table;
use crate::strategy::Expectation;

/// What some runs cost: 18 periods, one of which nobody settled.
fn some_cost(recovery: &[u64]) -> Cost {
    let mut cost = Cost { due: 18, settled: 17, attempts: 53, wasted: 36, ..Cost::default() };
    for n in 0..17 {
        cost.to_settle.add(1900 + 20 * n);
    }
    for ms in recovery {
        cost.recovery.add(*ms);
    }
    cost
}

/// One cell of each verdict, as a program sees them; the rest of the file is the same again.
#[test]
fn the_schema_is_pinned() {
    let mut survey = table::tests::surprising();
    survey.classes = vec![FaultClass::Calm, FaultClass::Crash, FaultClass::Swarm];
    for row in &mut survey.rows {
        row.cells.retain(|cell| survey.classes.contains(&cell.class));
    }
    survey.rows.remove(1);
    for row in &mut survey.rows {
        row.cells[0].tally.cost = some_cost(&[]);
        row.cells[1].tally.cost = some_cost(&[61_234, 4_000]);
    }
    insta::assert_snapshot!(render(&survey));
}

#[test]
fn every_cell_of_the_whole_table_is_there() {
    let verdicts: serde_json::Value = serde_json::from_str(&render(&table::tests::foreseen())).unwrap();
    let rows = verdicts["strategies"].as_array().unwrap();
    assert!(rows.iter().all(|row| row["cells"].as_array().unwrap().len() == 11));
    assert_eq!((rows.len(), verdicts["runs"].as_u64().unwrap()), (9, 9 * 11 * 500));
}

/// Coverage stands where somebody asked what is possible, and nowhere else.
#[test]
fn coverage_is_told_where_it_is_known() {
    use crate::explore::coverage::Place;
    use crate::trace::Phase;
    let place = |step: &'static str| Place { kind: "crash".into(), step: step.into(), phase: Phase::Sent };
    let mut survey = table::tests::foreseen();
    let of = |survey: &Survey| serde_json::from_str::<serde_json::Value>(&render(survey)).unwrap()["strategies"][8]["cells"][10].clone();
    assert_eq!(of(&survey).get("coverage"), None);
    let coverage = &mut survey.rows[8].cells[10].tally.coverage;
    coverage.possible = ["a", "b", "c"].into_iter().map(place).collect();
    coverage.possible_pairs = [("crash".into(), "late".into()), ("crash".into(), "pause".into())].into();
    coverage.drawn.insert(place("a"), 3);
    coverage.steered.insert(place("b"), 1);
    coverage.pairs.insert(("crash".into(), "pause".into()), 2);
    coverage.at_a_time.insert("late".into(), 9);
    coverage.made = ["a".into(), "b".into()].into();
    let told = serde_json::json!({
        "possible": 3, "drawn": 1, "steered": 1, "never": ["crash × c × sent"], "never_made": ["c"],
        "at_a_time": {"late": 9}, "pairs_possible": 2, "pairs_never": ["crash + late"],
        "places": [
            {"kind": "crash", "step": "a", "phase": "sent", "drawn": 3, "steered": 0},
            {"kind": "crash", "step": "b", "phase": "sent", "drawn": 0, "steered": 1},
            {"kind": "crash", "step": "c", "phase": "sent", "drawn": 0, "steered": 0},
        ],
    });
    assert_eq!(of(&survey)["coverage"], told);
}

/// A cost stands where a run was drawn, and nowhere else.
#[test]
fn what_was_not_drawn_cost_nothing_that_is_known() {
    let mut survey = table::tests::foreseen();
    survey.rows[2].cells[0].tally.cost = some_cost(&[]);
    survey.rows[2].cells[1].tally.runs = 0;
    survey.rows[2].cells[2] = Cell::missed(FaultClass::Crash, "it asks nobody");
    let verdicts: serde_json::Value = serde_json::from_str(&render(&survey)).unwrap();
    let cells = &verdicts["strategies"][2]["cells"];
    assert_eq!(cells[0]["cost"].get("recovery"), None);
    assert_eq!((&cells[0]["cost"]["wasted"], &cells[0]["cost"]["to_settle"]["n"]), (&36.into(), &17.into()));
    assert_eq!([1, 2].map(|n| cells[n].get("cost")), [None, None]);
    assert_eq!(cells[2]["expected"], serde_json::json!([]));
    assert_eq!(cells[1]["expected"][0]["kind"], "never");
}

/// What is declared of a class stands in its cell: of calm that it must break, of no other class anything.
#[test]
fn a_cell_tells_the_claims_about_its_class() {
    let survey = table::tests::foreseen();
    let cells = &survey.rows[0].cells;
    assert!(matches!(cells[0].claims[..], [Expectation::Must { class: FaultClass::Calm, .. }]));
    assert!(cells[1..].iter().all(|cell| cell.claims.is_empty()));
    let verdicts: serde_json::Value = serde_json::from_str(&render(&survey)).unwrap();
    let told = &verdicts["strategies"][0]["cells"][0]["expected"][0];
    assert_eq!((&told["kind"], &told["letters"]), (&"must".into(), &serde_json::json!(["D"])));
}

/// Pages read all that is new.
#[test]
fn a_page_reads_what_is_written() {
    let mut survey = table::tests::foreseen();
    survey.rows[2].cells[1].tally.cost = some_cost(&[61_234]);
    let read: verdicts::Verdicts = serde_json::from_str(&render(&survey)).unwrap();
    let (row, cell) = (&read.strategies[2], &read.strategies[2].cells[1]);
    let cost = cell.cost.as_ref().unwrap();
    let recovery = cost.recovery.as_ref().unwrap();
    assert_eq!((read.format, row.label.as_str(), cell.expected[0].kind.as_str()), (FORMAT, "table-key", "never"));
    assert_eq!((cost.due, cost.settled, cost.attempts, cost.wasted, cost.to_settle.max_ms), (18, 17, 53, 36, 2220));
    assert_eq!((recovery.n, recovery.p50_ms, recovery.p95_ms, &recovery.buckets[..]), (1, 61_234, 61_234, &[(61_439, 1)][..]));
}
