//! Nobody was there when two boundaries came: what is made up for is a matter of the misfire policy.
//! And a node that does after an attempt what its strategy would not.

use crate::stage::{Played, both_of, fault, one_period};
use onceproof::id::{Letter, PeriodId};
use onceproof::plan::{FaultPlan, Harm, Target, Trigger};
use onceproof::scenario::{GuardKnobs, Misfire, MisfireKnobs, NetworkKnobs, NodeKnobs, Policy, Scenario};
use onceproof::settlement::Schedule;
use onceproof::time::{SimTime, Span};
use onceproof::trace::Event;

/// Three periods of half a minute; no node is alive from second 20 to 75. The first two boundaries are 45 and 15 seconds
/// old when the nodes are back. Short enough to be played as it is on both engines.
fn two_are_missed(policy: Misfire, grace: u64, tell: impl Fn(&Played, &[i64])) {
    let misfire = MisfireKnobs { policy, grace: grace.seconds() };
    let node = NodeKnobs { jitter: 0.ms(), poll: 5.seconds(), attention: 1.minutes(), work: 1.seconds(), misfire, ..NodeKnobs::default() };
    let scenario = Scenario {
        schedule: Schedule::Interval { every: 30.seconds(), periods: 3 },
        node,
        guard: GuardKnobs { wake_after: 0.ms(), ..GuardKnobs::default() },
        network: NetworkKnobs { latency_min: 12.ms(), latency_max: 18.ms() },
        liveness_bound: 1.minutes(),
        ..Scenario::calm("table-key")
    };
    let nobody = fault(Harm::Crash { host: Target::AllNodes, back_after: 55.seconds() }, Trigger::At { at_ms: SimTime(20_000) });
    both_of(&scenario, &nobody, |played| {
        let mut settled: Vec<i64> = played
            .records()
            .iter()
            .filter_map(|r| if let Event::Settled { period: PeriodId(id), .. } = r.event { Some(id) } else { None })
            .collect();
        settled.sort_unstable();
        tell(played, &settled);
    });
}

#[test]
fn all_that_was_missed_is_made_up_for() {
    two_are_missed(Misfire::FireAll, 5, |played, settled| {
        assert_eq!(settled, [1, 2, 3]);
        played.holds();
    });
}

#[test]
fn only_the_newest_that_was_missed_is_made_up_for() {
    two_are_missed(Misfire::FireOnce, 5, |played, settled| {
        assert_eq!(settled, [2, 3]);
        assert!(played.broke("settled-in-the-end").starts_with("#1"), "{}", played.broke("settled-in-the-end"));
    });
}

#[test]
fn nothing_that_was_missed_is_made_up_for() {
    two_are_missed(Misfire::Skip, 5, |played, settled| {
        assert_eq!(settled, [3]);
        assert!(played.broke("settled-in-the-end").starts_with("#1"), "{}", played.broke("settled-in-the-end"));
    });
}

/// The control: a boundary that is not older than the grace time was not missed.
#[test]
fn what_is_within_the_grace_time_was_not_missed() {
    two_are_missed(Misfire::Skip, 20, |_, settled| assert_eq!(settled, [2, 3]));
    two_are_missed(Misfire::Skip, 50, |played, settled| {
        assert_eq!(settled, [1, 2, 3]);
        played.holds();
    });
}

fn after_an_attempt(strategy: &str, policy: Option<Policy>, tell: impl Fn(&Played)) {
    let usual = one_period(strategy);
    let node = NodeKnobs { policy, ..usual.node.clone() };
    both_of(&Scenario { node, ..usual }, &FaultPlan::none(), tell);
}

/// The strategy's own policy is to skip. Whoever tries again settles again as soon as the lease is free, unless it looks first.
#[test]
fn another_policy_makes_another_guard_of_it() {
    after_an_attempt("lease-set-px", None, Played::holds);
    after_an_attempt("lease-set-px", Some(Policy::Retry), |played| {
        assert_eq!(played.settlements(), 3);
        played.breaks(&[Letter::D]);
    });
    after_an_attempt("lease-set-px", Some(Policy::RetryChecked), |played| {
        played.saw("a look before the attempt", |e| matches!(e, Event::Step { step: "check.settled", .. }));
        played.holds();
    });
}
