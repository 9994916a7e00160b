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
