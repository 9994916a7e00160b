use super::*;
use crate::class::FaultClass;
use crate::explore::observe;
use crate::id::HostId;
use crate::plan::{Direction, Harm, Target, Trigger};
use crate::report::twin::{Belief, Kind, LeaseEnd, Wrong};
use crate::scenario::Rules;
use crate::seed::Seed;
use crate::settlement::Schedule;
use crate::time::{SimTime, Span};
use crate::trace::Phase;
use crate::world::{Deployment, EngineKind};

fn deployed(strategy: &str, periods: u32) -> Deployment {
    let mut scenario = Scenario::on(strategy, Rules::default());
    let (Schedule::Cron { periods: watched, .. } | Schedule::Interval { periods: watched, .. }) = &mut scenario.schedule;
    *watched = periods;
    Deployment::new(&scenario, EngineKind::Event).unwrap()
}

fn told(deployment: &Deployment, class: FaultClass, plan: &FaultPlan) -> Twin {
    deployment.check_plan(plan).unwrap();
    let seen = observe(deployment, class, Seed(1), plan).unwrap();
    let scenario = Subject::scenario(deployment);
    let witness = Witness::of(scenario, class, EngineKind::Event, plan, &seen, &[]);
    let replay = "onceproof replay w.toml".to_owned();
    twin(&Told { subject: deployment, usual: scenario, plan, seen: &seen, witness: &witness, rule: None, replay })
}

/// Whoever is at the third part of the job stops for longer than the lease.
fn paused() -> Twin {
    let harm = Harm::Pause { host: Target::Self_, lasts: 40.minutes() };
    told(&deployed("lease-set-px-checked", 1), FaultClass::Pause, &FaultPlan::of([harm.when(Trigger::first("work.3", Phase::Before))]))
}

fn of<'a>(twin: &'a Twin, node: &str) -> &'a Belief {
    twin.beliefs.iter().find(|belief| belief.node == node).unwrap()
}

#[test]
fn a_pause_beyond_the_lease_is_a_band_and_two_beliefs_that_overlap() {
    let twin = paused();
    let [band] = &twin.bands[..] else { panic!("{:?}", twin.bands) };
    assert_eq!((band.kind, band.to_ms - band.from_ms, band.what.as_str()), (Wrong::Paused, 40 * 60_000, "stopped"));
    let [first, second, ..] = &twin.leases[..] else { panic!("{:?}", twin.leases) };
    assert_eq!((&first.holder, first.ended, first.to_ms - first.from_ms), (&band.host, LeaseEnd::Expired, 30 * 60_000));
    assert!(second.holder != first.holder && second.from_ms > first.to_ms, "{:?}", twin.leases);
    let (slept, other) = (of(&twin, &first.holder), of(&twin, &second.holder));
    assert!(slept.from_ms > first.from_ms && slept.to_ms >= band.to_ms, "it believes so until it wakes: {slept:?}");
    assert!(slept.overlaps && other.overlaps, "{:?}", twin.beliefs);
}

#[test]
fn the_second_of_two_settlements_is_wrong() {
    let twin = paused();
    let settled: Vec<_> =
        twin.ticks.iter().filter(|tick| tick.kind == Kind::Settled).map(|tick| (tick.host.as_str(), tick.wrong)).collect();
    assert_eq!(settled, [("db", false), ("db", true)], "{:?}", twin.ticks);
    let kept: Vec<&str> = twin.violations.iter().filter(|one| one.kept_for).map(|one| one.rule.as_str()).collect();
    assert_eq!(kept, ["settled-once"]);
    assert_eq!(twin.ticks.iter().filter(|tick| tick.kind == Kind::Broke).count(), twin.violations.len());
    assert!(twin.ticks.iter().any(|tick| tick.kind == Kind::Fault && tick.host == twin.bands[0].host));
}

/// A calm run, in which nobody holds what another holds.
#[test]
fn a_calm_run_has_nothing_that_overlaps_or_is_wrong() {
    let twin = told(&deployed("lease-set-px-checked", 2), FaultClass::Calm, &FaultPlan::none());
    assert!(twin.beliefs.len() >= 2 && twin.beliefs.iter().all(|belief| !belief.overlaps), "{:?}", twin.beliefs);
    assert!(twin.leases.iter().all(|lease| lease.ended == LeaseEnd::Released), "{:?}", twin.leases);
    assert!(twin.ticks.iter().all(|tick| !tick.wrong) && twin.bands.is_empty() && twin.clocks.is_empty());
    assert!(twin.messages.iter().all(|message| message.seen_ms.is_some()), "every request was answered");
    let acquired = twin.messages.iter().find(|message| message.step == "lease.acquire").unwrap();
    assert!(acquired.reached_ms.is_some_and(|reached| acquired.sent_ms <= reached && Some(reached) <= acquired.seen_ms), "{acquired:?}");
}

#[test]
fn a_partition_is_a_cut_each_way_until_it_heals() {
    let deployment = deployed("lease-set-px", 1);
    let at = Trigger::At { at_ms: SimTime(3_600_000) };
    let (n0, lease) = (Target::Host(HostId::node(0)), Target::Host(HostId::Lease));
    let harm = Harm::Partition { host: n0, from: lease, direction: Direction::Both, lasts: 10.minutes() };
    let twin = told(&deployment, FaultClass::Partition, &FaultPlan::of([harm.when(at)]));
    let cuts: Vec<_> = twin.cuts.iter().map(|cut| (cut.from.as_str(), cut.to.as_str(), cut.from_ms, cut.to_ms)).collect();
    assert_eq!(cuts, [("lease", "n0", 3_600_000, 4_200_000), ("n0", "lease", 3_600_000, 4_200_000)]);
}

#[test]
fn a_lost_reply_is_a_message_that_reached_its_server_and_was_never_answered() {
    let deployment = deployed("version-published", 1);
    let plan = deployment.pinned(FaultClass::ReplyLost).remove(0);
    let twin = told(&deployment, FaultClass::ReplyLost, &plan);
    let lost: Vec<_> = twin.messages.iter().filter(|message| message.seen_ms.is_none()).collect();
    assert!(lost.iter().any(|message| message.to == "db" && message.reached_ms.is_some()), "{:?}", twin.messages);
}

#[test]
fn wrong_clocks_are_told_and_right_ones_are_not() {
    let deployment = deployed("lease-set-px", 1);
    let behind = Harm::ClockOffset { host: Target::Host(HostId::node(1)), by_ms: -5_000 }.when(Trigger::start());
    let fast = Harm::ClockDrift { host: Target::Host(HostId::Lease), ppm: 1_000, lasts: None }.when(Trigger::start());
    let twin = told(&deployment, FaultClass::Skew, &FaultPlan::of([behind, fast]));
    let clocks: Vec<_> = twin.clocks.iter().map(|clock| (clock.host.as_str(), clock.points.clone())).collect();
    let ends = twin.ends_ms;
    let lease = ("lease", vec![(0, 0), (ends, (ends / 1_000).cast_signed())]);
    assert_eq!(clocks, [lease, ("n1", vec![(0, -5_000), (ends, -5_000)])]);
    let begun = twin.beats.iter().find(|beat| beat.voice == "n1").unwrap();
    assert_eq!(begun.believed_unix_ms, Some(twin.origin_unix_ms + begun.at_ms.cast_signed() - 5_000));
}

/// The lease of most stores is told beside what each of them votes.
#[test]
fn a_majority_has_a_lane_of_its_own() {
    let twin = told(&deployed("redlock", 1), FaultClass::Calm, &FaultPlan::none());
    let stores: Vec<&str> =
        twin.leases.iter().filter(|lease| lease.holder == twin.beliefs[0].node).map(|lease| lease.store.as_str()).collect();
    assert!(stores.contains(&"majority") && stores.contains(&"lease3"), "{:?}", twin.leases);
    assert!(twin.hosts.iter().any(|host| host.name == "majority"));
}

#[test]
fn claims_in_the_database_are_leases_of_it() {
    let twin = told(&deployed("version-reclaim", 1), FaultClass::Calm, &FaultPlan::none());
    let [claim] = &twin.leases[..] else { panic!("{:?}", twin.leases) };
    assert_eq!((claim.store.as_str(), claim.ended), ("db", LeaseEnd::Completed));
    assert!(twin.beliefs.iter().any(|belief| belief.node == claim.holder && !belief.overlaps), "{:?}", twin.beliefs);
}

/// The database's reply to the step that marks a period is lost, and the attempt fails.
#[test]
fn a_lost_reply_is_a_message_that_arrived_and_a_failed_claim_says_so() {
    let lost = Harm::ReplyLost { host: Target::Self_, from: Target::Host(HostId::Database) };
    let lost = FaultPlan::of([lost.when(Trigger::first("tx.mark", Phase::Before))]);
    let twin = told(&deployed("version-published", 1), FaultClass::Partition, &lost);
    let mark = twin.messages.iter().find(|message| message.step == "tx.mark" && message.seen_ms.is_none());
    let mark = mark.unwrap_or_else(|| panic!("{:?}", twin.messages));
    assert!(mark.reached_ms.is_some_and(|reached| reached > mark.sent_ms), "{mark:?}");
    assert_eq!(twin.leases[0].ended, LeaseEnd::Failed, "{:?}", twin.leases);
}

/// A later version may know more ends.
#[test]
fn an_end_that_is_not_known_is_read() {
    assert_eq!(serde_json::from_str::<LeaseEnd>("\"set-on-fire\"").unwrap(), LeaseEnd::Over);
    assert_eq!(serde_json::from_str::<LeaseEnd>("\"taken-away\"").unwrap(), LeaseEnd::TakenAway);
}

#[test]
fn a_twin_is_the_same_twice_and_survives_its_file() {
    let twin = paused();
    let text = json(&twin);
    assert_eq!(text, json(&paused()));
    assert_eq!(text.lines().count(), 1);
    let nested = Twin { before: Some(Box::new(twin.clone())), ..twin };
    assert_eq!(serde_json::from_str::<Twin>(&json(&nested)).unwrap(), nested);
}

#[test]
fn a_long_run_stays_small() {
    let twin = told(&deployed("no-guard", 90), FaultClass::Calm, &FaultPlan::none());
    assert!(twin.events > 10_000, "{}", twin.events);
    assert!(json(&twin).len() < 1_000_000, "{}", json(&twin).len());
    assert!(twin.ticks.iter().any(|tick| tick.kind == Kind::Broke), "what broke is among what is kept");
}
