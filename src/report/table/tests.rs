use super::*;
use crate::explore::cell::Tally;
use crate::explore::{Case, Finding};
use crate::id::Letter;
use crate::plan::FaultPlan;
use crate::scenario::Rules;
use crate::strategy::{Expectation, Policy};
use crate::time::SimTime;
use crate::world::EngineKind;
use std::collections::{BTreeMap, BTreeSet};

const NEVER: &[Expectation] = &[Expectation::never(&Letter::ALL, "the settlement transaction holds the marker")];
const MUST_CALM_D: &[Expectation] = &[Expectation::Must {
    class: FaultClass::Calm,
    letters: &[Letter::D],
    because: "every node settles by itself",
    plan: |_, _| FaultPlan::none(),
}];

/// A tally of 500 runs in which these letters broke in every tenth run, and all in the pinned plan.
pub(crate) fn tally(letters: &str, felt: u64) -> Tally {
    let mut tally = Tally { runs: 500, felt, ..Tally::default() };
    for c in letters.chars() {
        let mark = Mark::ALL.into_iter().find(|m| m.to_string() == c.to_string()).unwrap();
        let what = "2026-01-10 settled by n0, then again by n1".to_owned();
        let finding = Finding { mark, rule: "settled-once", at: SimTime(86_523_000), period: None, what };
        tally.broken.insert(
            mark,
            Broken { runs: 50, apart: 0, case: Case { key: RunKey::Sampled(7), seed: Seed(1234), plan: FaultPlan::none() }, finding },
        );
    }
    tally.pinned = BTreeMap::from([(0, tally.broken.keys().copied().collect())]);
    tally
}

use crate::explore::cell::Broken;

/// The columns of the tests.
const CLASSES: [FaultClass; 11] = [
    FaultClass::Calm,
    FaultClass::Skew,
    FaultClass::Crash,
    FaultClass::Power,
    FaultClass::Pause,
    FaultClass::Partition,
    FaultClass::Slow,
    FaultClass::ReplyLost,
    FaultClass::JobError,
    FaultClass::Outage,
    FaultClass::Swarm,
];

/// A row whose cells show these letters, in the order of the classes.
pub(crate) fn row(name: &'static str, policy: Policy, claims: &[Expectation], letters: [&str; 11]) -> Row {
    let calm: BTreeSet<Mark> = tally(letters[0], 500).broken.keys().copied().collect();
    let cell = |(class, letters): (FaultClass, &str)| Cell::weigh(claims, class, tally(letters, 480), &calm);
    Row { name, about: "a guard", rules: Rules::default(), policy, cells: CLASSES.into_iter().zip(letters).map(cell).collect() }
}

/// Nine rows as the catalogue foresees them.
pub(crate) fn foreseen() -> Survey {
    let ok = ["", "", "", "", "", "", "", "", "", "", ""];
    let rows = vec![
        row("no-guard", Policy::Skip, MUST_CALM_D, ["D2C", "D2CE", "D2C", "D2C", "D2CS", "D2LC", "D2C", "D2CL", "D2CL", "D2CL", "D2LCES"]),
        row("table-key-published", Policy::Skip, &[], ["C", "CE", "CL", "CL", "CL", "CL", "C", "CL2", "CL", "CL", "CLE2"]),
        row("table-key", Policy::Retry, NEVER, ok),
        row("lease-set-px", Policy::Skip, &[], ["", "D2E", "L", "L", "L", "L", "D2S", "L2", "L", "L", "D2LESK"]),
        row("lease-set-px-retry", Policy::Retry, &[], ["D2", "D2E", "D2", "D2", "D2S", "D2", "D2S", "D2", "D2", "D2L", "D2LES"]),
        row("lease-set-px-checked", Policy::RetryChecked, &[], ["", "E", "L2", "L2", "D2S", "D2S", "D2S", "2", "", "L", "D2LES"]),
        row("version-published", Policy::Retry, &[], ["", "E", "LK", "LK", "LK", "LK", "", "LK", "LK", "", "LKE"]),
        row("dual-published", Policy::Retry, &[], ["", "E", "LK", "LK", "LK", "LK", "", "LK", "LK", "", "LKE"]),
        row("dual-guard", Policy::Retry, NEVER, ok),
    ];
    let (base, engine, classes) = (Seed(1), EngineKind::Event, CLASSES.to_vec());
    Survey { base, engine, quota: Quota::Seeds(500), classes, rows, certified: 198 }
}

/// One of each thing that can go wrong with an expectation.
pub(crate) fn surprising() -> Survey {
    let mut survey = foreseen();
    survey.rows = vec![
        row("no-guard", Policy::Skip, MUST_CALM_D, ["", "", "", "", "", "", "", "", "", "", ""]),
        row("table-key", Policy::Retry, &[], ["", "", "!", "", "…", "", "", "", "", "", ""]),
        row("dual-guard", Policy::Retry, NEVER, ["", "", "D", "", "", "", "", "", "", "", ""]),
    ];
    survey.rows[2].cells[10] = Cell::weigh(NEVER, FaultClass::Swarm, tally("", 3), &BTreeSet::new());
    survey
}

fn plain(survey: &Survey, width: usize) -> String {
    let setting = Setting {
        width,
        made: Made::Here { took: Duration::from_millis(58_100), threads: 2 },
        time_scale: 1,
        reports: "reports".to_owned(),
    };
    anstream::adapter::strip_str(&render(survey, &setting)).to_string()
}

#[test]
fn nine_strategies_fit_120_columns() {
    let text = plain(&foreseen(), 120);
    assert!(text.lines().all(|line| line.chars().count() <= 120), "a line is too long");
    insta::assert_snapshot!(text);
}

#[test]
fn eighty_columns_take_the_table_in_two_pieces() {
    insta::assert_snapshot!(plain(&foreseen(), 80));
}

#[test]
fn fifty_columns_fall_back_to_lists() {
    insta::assert_snapshot!(plain(&foreseen(), 50));
}

#[test]
fn every_kind_of_surprise_is_told_with_its_reason_and_command() {
    insta::assert_snapshot!(plain(&surprising(), 120));
}

/// One cell is one cell; and a deployment that was scaled says so.
#[test]
fn a_single_cell_is_told_in_the_singular() {
    let mut survey = foreseen();
    survey.rows.truncate(1);
    survey.rows[0].cells.truncate(1);
    (survey.classes, survey.quota, survey.engine) = (vec![FaultClass::Calm], Quota::Time, EngineKind::Turmoil);
    let setting = Setting {
        width: 160,
        made: Made::Here { took: Duration::from_secs(1), threads: 1 },
        time_scale: 120,
        reports: "reports".to_owned(),
    };
    let text = anstream::adapter::strip_str(&render(&survey, &setting)).to_string();
    assert!(text.contains("the one cell is as expected: 500 seeds a cell, 1 pinned plan,"), "{text}");
    assert!(text.contains("turmoil engine, durations divided by 120\n"), "{text}");
    survey.rows[0].cells[0].tally.runs = 0;
    assert!(render(&survey, &setting).contains("not one seed fit in the time"), "{text}");
}

/// Colours say nothing that signs do not say, and a cell's width does not count them.
#[test]
fn colours_do_not_move_columns() {
    let survey = surprising();
    let coloured = grid(&survey, 120);
    assert!(coloured.contains('\u{1b}'));
    let bare = anstream::adapter::strip_str(&coloured).to_string();
    let head = bare.lines().nth(1).expect("the second line of the head");
    let power = head.chars().collect::<String>().find("power").expect("a column");
    let under: Vec<String> = bare.lines().skip(3).map(|line| line.chars().skip(power).take(2).collect()).collect();
    assert_eq!(under, ["ok", "ok", "ok"], "{bare}");
}

/// What only some sweeps have to say: where swarm's faults were felt, which cells fell short of a bound, and that there were shards.
#[test]
fn coverage_bounds_and_shards_are_told_when_there_are_any() {
    use crate::explore::coverage::Place;
    use crate::trace::Phase;
    let place = |step: &'static str| Place { kind: "crash".into(), step: step.into(), phase: Phase::Before };
    let mut survey = foreseen();
    let text = plain(&survey, 400);
    assert!(!text.contains("swarm reached") && !text.contains("the bound was not reached"), "{text}");
    let coverage = &mut survey.rows[2].cells[10].tally.coverage;
    coverage.possible = ["a", "b", "c", "d", "e", "f", "g"].into_iter().map(place).collect();
    coverage.made = ["a", "b", "c", "d", "e"].into_iter().map(Into::into).collect();
    coverage.drawn.insert(place("a"), 3);
    coverage.steered = BTreeMap::from([(place("a"), 1), (place("b"), 1)]);
    survey.quota = Quota::Felt(481);
    let setting = Setting { width: 400, made: Made::Merged { shards: 3 }, time_scale: 1, reports: "reports".to_owned() };
    let text = anstream::adapter::strip_str(&render(&survey, &setting)).to_string();
    for said in [
        "swarm reached 2 of 7 (fault kind × step × phase), 1 of them only when steered to; never (2 of them in steps that no run made): crash × c × before of table-key, \
         crash × d × before of table-key, crash × e × before of table-key and 2 more (all in verdicts.json)\n",
        "the bound was not reached in 40 cells, which felt too little in 1,924 runs: no-guard under crash (480 felt), ",
        "49,500 runs from 3 shards; base seed 1, event engine\n",
    ] {
        assert!(text.contains(said), "`{said}` is missing in:\n{text}");
    }
}
