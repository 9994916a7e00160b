use super::*;
use crate::class::FaultClass;
use crate::explore::made_up::{MadeUp, SAFE};
use crate::explore::sweep::{Quota, Sweep, Watch};
use crate::explore::{Shard, Tally};
use crate::id::{AttemptId, HostId, NodeId, PlayerId, TxId};
use crate::plan::{Harm, Target, Trigger};
use crate::scenario::{Override, Scenario};
use crate::seed::Seed;
use crate::settlement::FinalState;
use crate::time::{Span, WallTime};
use crate::trace::Proof;
use crate::world::{Deployment, Ended, EngineKind, Felt};
use std::sync::atomic::AtomicBool;

/// The day between the beginning and the end of the first period of the default schedule.
const DUE: SimTime = SimTime(86_400_000);

fn first() -> PeriodId {
    PeriodId(20_260_110)
}

fn began(node: u8, number: u32) -> Event {
    Event::AttemptBegan { attempt: AttemptId { node: NodeId(node), number }, period: first(), wall: WallTime(0) }
}

fn settled(node: u8) -> Event {
    Event::Settled { tx: TxId(1), period: first(), node: NodeId(node), attempt: 1 }
}

/// What a run cost that was watched for three hours after its first period had ended, in which these things happened so
/// many seconds after that, and these faults struck then and were noticed at once.
fn cost(told: &[(i64, Event)], faults: &[(i64, Harm)]) -> Cost {
    let subject = MadeUp::of(&SAFE);
    let at = |seconds: i64| SimTime(DUE.0.checked_add_signed(seconds * 1000).unwrap());
    assert_eq!(subject.calendar().due(subject.calendar().periods[0]), DUE);
    let mut trace = Trace::default();
    for (seconds, event) in told {
        trace.push(at(*seconds), *event);
    }
    let plan = FaultPlan::of(faults.iter().map(|(_, harm)| harm.clone().when(Trigger::start())));
    let receipts = faults.iter().map(|(seconds, _)| noticed(at(*seconds), at(*seconds))).collect();
    let (end, ended_at) = (FinalState::default(), DUE + 3.hours());
    let run = Run { seed: Seed(1), trace, end, ended: Ended::Horizon, ended_at, receipts, panics: Vec::new(), complaints: Vec::new() };
    let mut cost = Cost::default();
    cost.add(&subject, &plan, &run);
    cost
}

fn noticed(struck: SimTime, noticed: SimTime) -> Receipt {
    let proof = Proof::Absent { host: HostId::node(0), period: first() };
    Receipt { fired: Some(struck), felt: Some(Felt { at: noticed, proof }) }
}

fn crash(back_after_minutes: u64) -> Harm {
    Harm::Crash { host: Target::Host(HostId::node(0)), back_after: back_after_minutes.minutes() }
}

/// Two nodes come, one settles two seconds after the period has ended; the other periods end after watching does.
#[test]
fn of_two_attempts_one_is_wasted() {
    let cost = cost(&[(0, began(0, 1)), (1, began(1, 1)), (2, settled(0))], &[]);
    assert_eq!((cost.due, cost.settled, cost.attempts, cost.wasted), (1, 1, 2, 1));
    assert_eq!((cost.to_settle.count(), cost.to_settle.max_ms), (1, 2000));
    assert_eq!(cost.recovery, Durations::default(), "nothing struck");
}

/// What is settled twice was settled when it was settled first; a ranking settles, too.
#[test]
fn the_first_commit_counts() {
    let ranked = Event::Ranked { tx: TxId(1), period: first(), rank: 1, player: PlayerId(7), points: 5 };
    let twice = cost(&[(0, began(0, 1)), (1, began(1, 1)), (2, ranked), (9, settled(1))], &[(5, crash(1))]);
    assert_eq!((twice.settled, twice.wasted, twice.to_settle.max_ms), (1, 1, 2000));
    assert_eq!(twice.recovery.count(), 0, "what strikes after the settlement is nothing to recover from");
}

/// A crash 3 s after the end, a second one at 10 s, another node settles after 63 s: recovery took a minute.
#[test]
fn recovery_begins_with_the_first_fault() {
    let told = [(0, began(0, 1)), (60, began(1, 1)), (63, settled(1))];
    let cost = cost(&told, &[(10, crash(1)), (3, crash(1)), (90, crash(1))]);
    assert_eq!((cost.recovery.count(), cost.recovery.max_ms, cost.to_settle.max_ms), (1, 60_000, 63_000));
    assert_eq!((cost.attempts, cost.wasted), (2, 1));
}

/// What was over before the period ended, or strikes after its settlement, does not count, and what lasts into it counts
/// from its end on. A clock that stays wrong is no outage.
#[test]
fn a_fault_counts_for_as_long_as_it_holds() {
    let clock = || Harm::ClockOffset { host: Target::AllNodes, by_ms: 500 };
    for (faults, recovery) in [
        (vec![(-120, crash(2))], None),
        (vec![(-120, crash(3))], Some(40_000)),
        (vec![(-1, crash(3)), (10, crash(1))], Some(40_000)),
        (vec![(40, crash(1))], None),
        (vec![(-60, clock())], None),
        (vec![(15, clock())], Some(25_000)),
    ] {
        let cost = cost(&[(0, began(0, 1)), (40, settled(0))], &faults);
        assert_eq!((cost.recovery.count() > 0).then_some(cost.recovery.max_ms), recovery, "{faults:?}");
    }
}

/// What struck and was noticed only after the settlement, or never, held nothing up.
#[test]
fn a_fault_that_nobody_notices_is_nothing_to_recover_from() {
    let (struck, settled) = (DUE + 1.seconds(), DUE + 9.seconds());
    let plan = FaultPlan::of([crash(60).when(Trigger::start())]);
    let recovers_from = |receipt| first_fault(&plan, &[receipt], DUE, settled);
    assert_eq!(recovers_from(noticed(struck, struck + 3.seconds())), Some(struck));
    assert_eq!(recovers_from(noticed(struck, settled + 3.seconds())), None);
    assert_eq!(recovers_from(Receipt { fired: Some(struck), felt: None }), None);
    assert_eq!(recovers_from(Receipt::default()), None);
}

/// Nobody settles: nothing lasted, and every attempt was wasted.
#[test]
fn what_is_never_settled_is_due_and_no_duration() {
    let cost = cost(&[(0, began(0, 1)), (30, began(0, 2))], &[(1, crash(1))]);
    assert_eq!((cost.due, cost.settled, cost.attempts, cost.wasted), (1, 0, 2, 2));
    assert_eq!((cost.to_settle, cost.recovery), (Durations::default(), Durations::default()));
}

/// Settled before the period has ended, in spite of a fault that goes on: that took no time, and nothing had to recover.
#[test]
fn too_early_is_at_once() {
    let cost = cost(&[(-9, began(0, 1)), (-8, settled(0))], &[(-20, crash(60))]);
    assert_eq!((cost.settled, cost.to_settle.count(), cost.to_settle.max_ms, cost.recovery.count()), (1, 1, 0, 0));
}

/// A node of another environment guards another database: it wastes nothing here.
#[test]
fn attempts_of_another_environment_do_not_count() {
    let mut due = [Due { id: first(), ended: DUE, settled: None }];
    let mut trace = Trace::default();
    for event in [began(0, 1), began(2, 1), settled(0)] {
        trace.push(DUE, event);
    }
    let scenario = Scenario { overrides: vec![Override { node: 2, elsewhere: true, ..Override::default() }], ..Scenario::default() };
    assert_eq!(look_through(&trace, &mut due, |node| scenario.is_elsewhere(node)), 1);
}

#[test]
fn costs_merge_in_any_order() {
    let parts = || {
        [
            cost(&[(0, began(0, 1)), (1, began(1, 1)), (2, settled(0))], &[]),
            cost(&[(0, began(0, 1)), (63, settled(1))], &[(3, crash(1))]),
            cost(&[(0, began(0, 1))], &[]),
        ]
    };
    let merged = |order: [usize; 3]| {
        let mut whole = Cost::default();
        for n in order {
            whole.merge(parts()[n].clone());
        }
        whole
    };
    let whole = merged([0, 1, 2]);
    assert_eq!((whole.due, whole.settled, whole.attempts, whole.wasted), (3, 2, 4, 2));
    assert_eq!((whole.to_settle.count(), whole.recovery.count()), (2, 1));
    assert_eq!([merged([2, 1, 0]), merged([1, 2, 0])], [whole.clone(), whole]);
}

fn swept(deployment: &Deployment, classes: &[FaultClass], seeds: u64, shard: Shard) -> Vec<Tally> {
    static NEVER: AtomicBool = AtomicBool::new(false);
    let watch = Watch { cancelled: &NEVER, out_of_time: &|| false, progress: &|_| {} };
    let sweep = Sweep { subjects: &[deployment], classes, base: Seed(1), quota: Quota::Seeds(seeds), shard, threads: 1 };
    sweep.run(&watch).unwrap().tallies.remove(0)
}

/// Real runs: without faults three nodes settle every period soon and recover from nothing; crashes make them recover, and
/// waste at least as much. A cell's shards come to the same as the cell, written and read again.
#[test]
fn crashes_cost_more_than_calm_and_shards_as_much_as_the_whole() {
    let deployment = Deployment::new(&Scenario::calm("table-key"), EngineKind::Event).unwrap();
    let classes = [FaultClass::Calm, FaultClass::Crash, FaultClass::Swarm];
    let whole = swept(&deployment, &classes, 6, Shard::WHOLE);
    let [calm, crash, swarm] = &whole[..] else { panic!("three classes") };
    assert_eq!((calm.cost.due, calm.cost.settled, calm.cost.recovery.count()), (18, 18, 0));
    assert_eq!((crash.cost.due, crash.cost.settled), (18, 18));
    assert!(calm.cost.attempts >= 18 && calm.cost.wasted == calm.cost.attempts - 18, "{:?}", calm.cost);
    assert!(crash.cost.recovery.count() > 0 && crash.cost.recovery.max_ms > 0, "{:?}", crash.cost);
    assert!(crash.cost.to_settle.max_ms > calm.cost.to_settle.max_ms, "{:?}", crash.cost);
    assert!(swarm.cost.due > 0);
    let kept = |tally: &Tally| serde_json::from_value::<Tally>(serde_json::to_value(tally).unwrap()).unwrap();
    let mut merged = vec![Tally::default(); classes.len()];
    for shard in ["2/2", "1/2"] {
        let part = swept(&deployment, &classes, 6, shard.parse().unwrap());
        for (into, tally) in merged.iter_mut().zip(&part) {
            into.merge(kept(tally));
        }
    }
    assert_eq!(merged, whole);
}

/// Pinned, steered and enumerated runs are no sample: they cost nothing here.
#[test]
fn only_drawn_runs_count() {
    let deployment = Deployment::new(&Scenario::calm("no-guard"), EngineKind::Event).unwrap();
    let tallies = swept(&deployment, &[FaultClass::Calm], 0, Shard::WHOLE);
    assert!(!tallies[0].pinned.is_empty(), "nothing was run: nothing shown");
    assert_eq!(tallies[0].cost, Cost::default());
}
