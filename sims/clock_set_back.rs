//! Regression: the clock of a node was set back while it looked for something to do at a boundary.
//! It found nothing due, took that for "nothing is left to do", and slept until the next one.

use crate::stage::{N0, both_of, fault, one_period};
use onceproof::plan::{Harm, Trigger};
use onceproof::scenario::Scenario;
use onceproof::trace::{Event, Phase};

/// The only node looks at its start, and then at the boundary, where its clock goes back by four
/// minutes. table-key reads that clock only after the database has answered.
#[test]
fn who_was_woken_waits_for_the_boundary_once_more() {
    let scenario = Scenario { nodes: 1, ..one_period("table-key") };
    let plan = fault(Harm::ClockOffset { host: N0, by_ms: -240_000 }, Trigger::nth("settled.find", Phase::Before, 2));
    both_of(&scenario, &plan, |played| {
        let came = played.first("an attempt", |e| matches!(e, Event::AttemptBegan { .. }));
        let looks = |e: &Event| matches!(e, Event::Step { step: "settled.find", phase: Phase::Before, .. });
        let in_vain = played.records().iter().filter(|r| played.due() <= r.at && r.at < came && looks(&r.event)).count();
        assert!(in_vain >= 2, "it looked {in_vain} times before its clock showed the boundary again");
        played.holds();
    });
}
