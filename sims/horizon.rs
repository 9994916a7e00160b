//! How long a run may be on an engine that pays for each tick: the default deployment is scaled
//! down to fit, a short one runs as it is, and what fits in no way is refused with the cure.

use onceproof::class;
use onceproof::scenario::{NetworkKnobs, Scenario};
use onceproof::settlement::Schedule;
use onceproof::time::Span;
use onceproof::world::{Deployment, EngineKind, Misconfigured};

#[test]
fn the_default_deployment_is_scaled_down() {
    let real = Scenario::calm("dual-guard");
    let event = Deployment::new(&real, EngineKind::Event).expect("good");
    assert_eq!(*event.scenario(), real, "the event engine runs what was written");
    let turmoil = Deployment::new(&real, EngineKind::Turmoil).expect("good");
    assert_eq!(*turmoil.scenario(), real.scaled_for_turmoil());
    assert_eq!(turmoil.horizon().0 / 6, 15_833, "95 s in ticks of 6 ms, about 0.4 s of CPU");
}

/// Whatever is drawn for the scaled deployment, a whole liveness bound is left after the last healing of a fault at a time.
#[test]
fn a_scaled_run_outlasts_its_faults() {
    let turmoil = Deployment::new(&Scenario::default(), EngineKind::Turmoil).expect("good");
    let (scenario, calendar) = (turmoil.scenario(), turmoil.calendar());
    assert!(class::healed_by(scenario, calendar) + scenario.liveness_bound <= turmoil.horizon());
    let struck_late = calendar.due(calendar.periods[0]) + scenario.node.work * 2;
    assert!(struck_late + class::longest_at_a_step(scenario) + scenario.guard.lease <= turmoil.horizon());
}

#[test]
fn a_short_deployment_runs_as_it_is() {
    let mut scenario =
        Scenario { schedule: Schedule::Interval { every: 10.seconds(), periods: 1 }, liveness_bound: 10.seconds(), ..Scenario::default() };
    scenario.node.attention = 1.minutes();
    scenario.network = NetworkKnobs { latency_min: 4.ms(), latency_max: 20.ms() };
    let turmoil = Deployment::new(&scenario, EngineKind::Turmoil).expect("80 s in ticks of 2 ms");
    assert_eq!(*turmoil.scenario(), scenario);
}

#[test]
fn what_does_not_fit_is_refused_with_the_cure() {
    let mut scenario = Scenario { liveness_bound: 100.hours(), ..Scenario::default() };
    scenario.guard.lease = 100.hours();
    scenario.node.attention = 200.hours();
    let refused = Deployment::new(&scenario, EngineKind::Turmoil).map(|_| ()).expect_err("a lease of 100 h stays 50 min");
    assert!(matches!(refused, Misconfigured::TooLong { most: 50_000, .. }), "{refused}");
    let told = refused.to_string();
    for part in ["ticks of 6ms", "`node.attention`", "`liveness_bound`", "`network.latency_min`", "use the event engine"] {
        assert!(told.contains(part), "`{part}` is missing in: {told}");
    }
    Deployment::new(&scenario, EngineKind::Event).expect("time costs the event engine nothing");
}
