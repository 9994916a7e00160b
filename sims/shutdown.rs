//! A node is told to stop in the middle of its job. What it stops first makes the difference.

use crate::stage::{Played, before, both, one_period};
use onceproof::id::HostId;
use onceproof::invariant::Verdict;
use onceproof::plan::{FaultPlan, Harm, StopOrder, Target};
use onceproof::seed::Seed;
use onceproof::time::Span;
use onceproof::trace::{Event, Phase, Proof};
use onceproof::world::{Deployment, EngineKind};

/// The first at work is told to stop when a fifth of its job is done, and has half an hour to come to its end; the job takes `more`.
fn stops(order: StopOrder, more: u64) -> FaultPlan {
    let told = Harm::Shutdown { host: Target::Self_, order, grace: 30.minutes(), back_after: 1.minutes() }.when(before("work.2"));
    let slow = Harm::SlowStep { extra: more.minutes() }.when(before("work.3"));
    FaultPlan::of([told].into_iter().chain((more > 0).then_some(slow)))
}

fn told_to_stop(strategy: &str, order: StopOrder, more: u64, tell: impl Fn(&Played)) {
    both(strategy, &stops(order, more), |played| {
        let told = played.first("somebody who is told to stop", |e| matches!(e, Event::ToldToStop { .. }));
        let unguarded = played.first("a job without its guard", |e| matches!(e, Event::Felt { proof: Proof::Unguarded { .. }, .. }));
        assert!(told <= unguarded);
        tell(played);
    });
}

/// The heart, or the renewal, ends with the signal; the job does not. Another takes over while it goes on.
#[test]
fn who_stops_its_renewals_first_is_taken_for_dead_and_settles_all_the_same() {
    for (strategy, more) in [("lease-watchdog", 0), ("version-reclaim-unfenced", 10)] {
        told_to_stop(strategy, StopOrder::RenewalsFirst, more, |played| {
            assert!(played.settlements() > 1, "{strategy}: {}", played.settlements());
            assert!(played.broke("settled-once").contains("settled"));
        });
    }
}

/// The lease is given back with the signal.
#[test]
fn who_gives_its_lease_back_first_is_no_longer_alone() {
    told_to_stop("lease-watchdog", StopOrder::LeaseFirst, 0, |played| {
        let released = played.first("a lease that is given back", |e| matches!(e, Event::LeaseReleased { by, holder } if by == holder));
        let first = played.first("a settlement", |e| matches!(e, Event::Settled { .. }));
        assert!(released < first && played.settlements() > 1);
        assert!(played.broke("settled-once").contains("settled"));
    });
}

/// The control: a fence keeps the work of whoever stopped in the wrong order out.
#[test]
fn a_fence_makes_the_order_harmless() {
    for strategy in ["lease-fenced", "version-reclaim", "dual-guard"] {
        for order in [StopOrder::RenewalsFirst, StopOrder::LeaseFirst] {
            told_to_stop(strategy, order, 10, |played| {
                assert_eq!(played.settlements(), 1, "{strategy}, {order}");
                played.holds();
            });
        }
    }
}

/// The control: in the right order nobody notices anything. The guard lasts as long as the job, nothing new is begun, and the process exits.
#[test]
fn who_ends_its_job_first_is_never_alone_without_its_guard() {
    for engine in EngineKind::ALL {
        let deployment = Deployment::new(&one_period("lease-watchdog"), engine).expect("a story is deployed well");
        let plan = stops(StopOrder::JobFirst, 0).scaled(deployment.scenario().time_scale);
        let run = deployment.run(Seed(2026), &plan).expect("nothing to refuse");
        let events: Vec<Event> = run.trace.events().copied().collect();
        let at = |is: &dyn Fn(&Event) -> bool| events.iter().position(is).expect("it happened");
        let told = at(&|e| matches!(e, Event::ToldToStop { .. }));
        let Event::ToldToStop { host } = events[told] else { unreachable!() };
        let exit = at(&|e| *e == Event::Crashed { host });
        let settled = at(&|e| matches!(e, Event::Settled { .. }));
        assert!(told < settled && settled < exit);
        assert!(events[told..settled].iter().any(|e| matches!(e, Event::LeaseExtended { by, .. } if *by == host)), "it renews on");
        let begins = |e: &Event| matches!(e, Event::AttemptBegan { attempt, .. } if HostId::Node(attempt.node) == host);
        assert!(!events[told..exit].iter().any(begins), "it begins nothing new");
        assert!(events[..settled].iter().any(|e| matches!(e, Event::Step { step: "work.5", phase: Phase::After, .. })));
        assert!(deployment.judge(&run).iter().all(|(_, verdict)| *verdict == Verdict::Holds));
        assert_eq!(run.receipts[0].felt, None, "nothing was interrupted, and no boundary was missed");
    }
}
