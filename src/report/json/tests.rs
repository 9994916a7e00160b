use super::*;
use crate::report::table;

/// One cell of each verdict, as a program sees them; the rest of the file is the same again.
#[test]
fn the_schema_is_pinned() {
    let mut survey = table::tests::surprising();
    survey.classes = vec![FaultClass::Calm, FaultClass::Crash, FaultClass::Swarm];
    for row in &mut survey.rows {
        row.cells.retain(|cell| survey.classes.contains(&cell.class));
    }
    survey.rows.remove(1);
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
    });
    assert_eq!(of(&survey)["coverage"], told);
}
