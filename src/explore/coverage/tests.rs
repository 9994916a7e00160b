use super::*;
use crate::id::NodeId;
use crate::scenario::Scenario;
use crate::settlement::FinalState;
use crate::time::Span;
use crate::world::{Deployment, Ended, EngineKind, Felt};

const ATTEMPT: AttemptId = AttemptId { node: NodeId(0), number: 1 };

fn pause(when: Trigger) -> FaultPlan {
    FaultPlan::of([Harm::Pause { host: Target::Host(HostId::node(0)), lasts: 40.minutes() }.when(when)])
}

/// A run in which an attempt sent its claim at 5 ms and had the answer at 9 ms, and a fault fired at 7 ms.
fn run(felt: Option<Proof>) -> Run {
    let mut trace = Trace::default();
    for (at, phase) in [(4, Phase::Before), (5, Phase::Sent), (9, Phase::After)] {
        trace.push(SimTime(at), Event::Step { attempt: ATTEMPT, step: "task.claim", phase });
    }
    let receipts = vec![Receipt { fired: Some(SimTime(7)), felt: felt.map(|proof| Felt { at: SimTime(8), proof }) }];
    let (end, ended, ended_at) = (FinalState::default(), Ended::Horizon, SimTime(10));
    Run { seed: Seed(1), trace, end, ended, ended_at, receipts, panics: Vec::new(), complaints: Vec::new() }
}

fn covered(plan: &FaultPlan, run: &Run) -> Coverage {
    let mut coverage = Coverage::default();
    coverage.add(RunKey::Sampled(0), plan, run);
    coverage
}

fn place(kind: &'static str, step: &'static str, phase: Phase) -> Place {
    Place { kind: kind.into(), step: step.into(), phase }
}

/// The story of a tool that counts what it has injected: this fault struck, in the very step, and nobody noticed.
#[test]
fn what_was_not_felt_was_not_reached() {
    let plan = pause(Trigger::first("task.claim", Phase::Sent));
    let numb = covered(&plan, &run(None));
    assert!(numb.drawn.is_empty() && numb.at_a_time.is_empty());
    let felt = covered(&plan, &run(Some(Proof::Interrupted { attempt: ATTEMPT })));
    assert_eq!(felt.drawn.keys().collect::<Vec<_>>(), [&place("pause", "task.claim", Phase::Sent)]);
    assert_eq!(felt.made.iter().collect::<Vec<_>>(), ["task.claim"]);
}

#[test]
fn what_strikes_at_a_time_was_where_the_interrupted_attempt_was() {
    let plan = pause(Trigger::At { at_ms: SimTime(7) });
    let interrupted = covered(&plan, &run(Some(Proof::Interrupted { attempt: ATTEMPT })));
    assert_eq!(interrupted.drawn.keys().collect::<Vec<_>>(), [&place("pause", "task.claim", Phase::Sent)]);
    let missed = covered(&plan, &run(Some(Proof::Held { from: HostId::node(0), to: HostId::Database })));
    assert!(missed.drawn.is_empty());
    assert_eq!(missed.at_a_time.get("pause"), Some(&1));
}

/// A pinned plan was put there, and a steered one too: luck has reached neither.
#[test]
fn runs_that_were_chosen_do_not_count_as_drawn() {
    let (plan, run) = (pause(Trigger::first("task.claim", Phase::Sent)), run(Some(Proof::Interrupted { attempt: ATTEMPT })));
    let mut coverage = Coverage { possible: BTreeSet::from([place("pause", "task.claim", Phase::Sent)]), ..Coverage::default() };
    coverage.add(RunKey::Pinned(0), &plan, &run);
    assert_eq!((coverage.by_chance(), coverage.by_steering(), coverage.never().count()), (0, 0, 1));
    coverage.add(RunKey::Steered(0), &plan, &run);
    assert_eq!((coverage.by_chance(), coverage.by_steering(), coverage.never().count()), (0, 1, 0));
    coverage.add(RunKey::Sampled(0), &plan, &run);
    assert_eq!((coverage.by_chance(), coverage.by_steering(), coverage.never().count()), (1, 0, 0));
}

/// The atlas is what the classes say of themselves: a crash in every phase of every step, a lost
/// reply only where a request has left, a failing job only in the job; and no two harms of a class that mixes once.
#[test]
fn an_atlas_holds_all_that_can_be_drawn_and_nothing_else() {
    let deployment = Deployment::new(&Scenario::calm("dual-guard"), EngineKind::Event).unwrap();
    let steps = deployment.strategy().steps();
    let atlas = Atlas::of(&deployment);
    let of = |kind: &str| atlas.places.keys().filter(|place| place.kind == kind).collect::<Vec<_>>();
    let work = steps.iter().filter(|step| step.is_work()).count();
    for kind in ["crash", "power", "pause", "partition", "lease-cut", "db-cut", "clock-step"] {
        assert_eq!(of(kind).len(), steps.len() * 3 - work, "{kind}");
    }
    assert_eq!(of("reply-lost").len(), steps.len() - work);
    assert!(of("reply-lost").iter().all(|place| place.phase == Phase::Sent));
    assert_eq!(of("job-error").len(), work);
    assert!(of("late").is_empty(), "late is late at a time");
    assert!(atlas.places.iter().all(|(place, (_, faults))| faults.iter().all(|fault| kind(&fault.harm) == place.kind)));
    let pairs = atlas.pairs();
    assert!(pairs.contains(&("crash".into(), "pause".into())) && !pairs.contains(&("lease-evict".into(), "lease-wipe".into())));
}

#[test]
fn shares_of_a_coverage_merge_to_the_whole_and_survive_a_file() {
    let (plan, run) = (pause(Trigger::first("task.claim", Phase::Sent)), run(Some(Proof::Interrupted { attempt: ATTEMPT })));
    let (mut whole, mut parts) = (Coverage::default(), [Coverage::default(), Coverage::default()]);
    for n in 0..5 {
        whole.add(RunKey::Sampled(n), &plan, &run);
        parts[n as usize % 2].add(RunKey::Sampled(n), &plan, &run);
    }
    let [mut one, other] = parts.map(|part| serde_json::from_str::<Coverage>(&serde_json::to_string(&part).unwrap()).unwrap());
    one.merge(other);
    assert_eq!(one, whole);
}
