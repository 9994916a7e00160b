//! Fault plans: complete in themselves as text, and over when they say they are.

use async_trait::async_trait;
use onceproof::class::{self, FaultClass};
use onceproof::id::HostId;
use onceproof::plan::{Direction, Fault, FaultPlan, Harm, Target, Trigger};
use onceproof::scenario::{Rules, Scenario};
use onceproof::seed::Seed;
use onceproof::settlement::{Calendar, Decides, Period};
use onceproof::step::Step;
use onceproof::strategy::{self, Context, Error, Expectation, Policy};
use onceproof::time::SimTime;
use onceproof::trace::{Belief, Phase};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use std::time::Duration;

fn config(cases: u32) -> ProptestConfig {
    let failure_persistence = Some(Box::new(FileFailurePersistence::WithSource("regressions")) as Box<_>);
    ProptestConfig { cases, failure_persistence, ..ProptestConfig::default() }
}

/// A strategy that is nothing but its steps.
struct Steps(&'static [Step]);

#[async_trait(?Send)]
impl strategy::Strategy for Steps {
    fn name(&self) -> &'static str {
        "steps"
    }
    fn about(&self) -> &'static str {
        "nothing but steps"
    }
    fn policy(&self) -> Policy {
        Policy::Skip
    }
    fn decides(&self) -> Decides {
        Decides::Nothing
    }
    fn steps(&self) -> &'static [Step] {
        self.0
    }
    fn expectations(&self, _: Rules) -> Vec<Expectation> {
        Vec::new()
    }
    async fn attempt(&self, _: &mut Context, _: Period) -> Result<Belief, Error> {
        Ok(Belief::Busy)
    }
}

const GUARDED_STEPS: [Step; 8] = [
    Step::lease("lease.acquire"),
    Step::database("task.claim"),
    Step::work("work.1"),
    Step::work("work.2"),
    Step::database("settle.begin"),
    Step::database("settle.commit"),
    Step::payout("pay.1"),
    Step::lease("lease.release"),
];
const GUARDED: Steps = Steps(&GUARDED_STEPS);
const NOTHING: Steps = Steps(&[]);

/// The steps of a guarded job, those of every strategy of the catalogue, and none at all.
fn strategies() -> Vec<&'static dyn strategy::Strategy> {
    let made: [&'static dyn strategy::Strategy; 2] = [&GUARDED, &NOTHING];
    strategy::catalogue().iter().copied().chain(made).collect()
}

fn classes() -> impl Strategy<Value = FaultClass> {
    prop::sample::select(&FaultClass::ALL[..])
}

/// A deployment of some nodes, with real constants or scaled ones.
fn deployment() -> impl Strategy<Value = (Scenario, Calendar)> {
    (1u8..=32, any::<bool>()).prop_map(|(nodes, scaled)| {
        let real = Scenario { nodes, ..Scenario::default() };
        let scenario = if scaled { real.scaled_for_turmoil() } else { real };
        let calendar = scenario.schedule.calendar().expect("a good schedule");
        (scenario, calendar)
    })
}

fn targets() -> impl Strategy<Value = Target> {
    let host = (0usize..36).prop_map(|n| Target::Host(HostId::from_index(n)));
    prop_oneof![host, Just(Target::Self_), Just(Target::AllNodes), Just(Target::Everyone), Just(Target::Peer)]
}

/// The lease stores.
fn stores() -> impl Strategy<Value = HostId> {
    (0u8..5).prop_map(|n| if n == 0 { HostId::Lease } else { HostId::FurtherLease(n) })
}

/// Durations as plans have them, and stranger ones.
fn lengths() -> impl Strategy<Value = Duration> {
    prop_oneof![(0u64..10_000_000).prop_map(Duration::from_millis), (0u64..u64::MAX / 4).prop_map(Duration::from_nanos)]
}

fn harms() -> impl Strategy<Value = Harm> {
    let directions = prop_oneof![Just(Direction::Both), Just(Direction::Outbound), Just(Direction::Inbound)];
    prop_oneof![
        (targets(), lengths()).prop_map(|(host, back_after)| Harm::Crash { host, back_after }),
        (targets(), lengths()).prop_map(|(host, back_after)| Harm::Power { host, back_after }),
        (targets(), lengths()).prop_map(|(host, lasts)| Harm::Pause { host, lasts }),
        (targets(), targets(), directions, lengths()).prop_map(|(host, from, direction, lasts)| Harm::Partition {
            host,
            from,
            direction,
            lasts
        }),
        (targets(), targets()).prop_map(|(host, from)| Harm::ReplyLost { host, from }),
        (targets(), targets(), lengths(), lengths()).prop_map(|(host, from, extra, lasts)| Harm::Late { host, from, extra, lasts }),
        lengths().prop_map(|extra| Harm::SlowStep { extra }),
        any::<u32>().prop_map(|times| Harm::JobError { times }),
        (targets(), any::<i64>()).prop_map(|(host, by_ms)| Harm::ClockOffset { host, by_ms }),
        (targets(), any::<i32>(), prop::option::of(lengths())).prop_map(|(host, ppm, lasts)| Harm::ClockDrift { host, ppm, lasts }),
        (stores(), lengths()).prop_map(|(store, back_after)| Harm::LeaseWipe { store, back_after }),
        stores().prop_map(|store| Harm::LeaseEvict { store }),
        (stores(), lengths(), lengths()).prop_map(|(store, lag, back_after)| Harm::LeaseFailover { store, lag, back_after }),
        (stores(), lengths()).prop_map(|(store, lasts)| Harm::LeaseStall { store, lasts }),
        targets().prop_map(|host| Harm::CommitFails { host }),
        targets().prop_map(|host| Harm::SessionEnds { host }),
        Just(Harm::Redeliver),
    ]
}

fn triggers() -> impl Strategy<Value = Trigger> {
    let phase = prop_oneof![Just(Phase::Before), Just(Phase::Sent), Just(Phase::After)];
    let node = prop::option::of((0u8..32).prop_map(HostId::node));
    prop_oneof![
        (0..=i64::MAX as u64).prop_map(|ms| Trigger::At { at_ms: SimTime(ms) }),
        (".*", phase, 1..=u32::MAX, node).prop_map(|(step, phase, nth, node)| Trigger::Step { step, phase, nth, node }),
    ]
}

fn plans() -> impl Strategy<Value = FaultPlan> {
    prop::collection::vec((harms(), triggers()).prop_map(|(harm, when)| Fault { harm, when }), 0..6).prop_map(FaultPlan::of)
}

fn through_toml(plan: &FaultPlan) -> FaultPlan {
    let text = toml::to_string(plan).expect("every plan can be written");
    toml::from_str(&text).unwrap_or_else(|error| panic!("{error}\nin\n{text}"))
}

proptest! {
    #![proptest_config(config(512))]

    /// Whatever a plan says, it says the same after it was written and read.
    #[test]
    fn any_plan_survives_toml(plan in plans()) {
        prop_assert_eq!(through_toml(&plan), plan);
    }

    /// Drawn plans survive too, and a plan is the same whenever it is drawn.
    #[test]
    fn a_drawn_plan_survives_toml_and_repeats(class in classes(), seed: u64, (scenario, calendar) in deployment()) {
        for strategy in strategies() {
            let drawn = class.plan(Seed(seed), &scenario, &calendar, strategy.steps());
            prop_assert_eq!(&through_toml(&drawn), &drawn);
            prop_assert_eq!(class.plan(Seed(seed), &scenario, &calendar, strategy.steps()), drawn);
        }
    }

    /// Faults at a time are healed when `healed_by` says; faults at a step last no longer than `longest_at_a_step`;
    /// only clocks and time zones stay wrong.
    #[test]
    fn every_drawn_plan_heals(class in classes(), seed: u64, (scenario, calendar) in deployment()) {
        let (healed_by, longest) = (class::healed_by(&scenario, &calendar), class::longest_at_a_step(&scenario));
        for strategy in strategies() {
            for fault in class.plan(Seed(seed), &scenario, &calendar, strategy.steps()).faults {
                match (&fault.when, fault.harm.heals_after()) {
                    (_, None) => {
                        let clock = matches!(fault.harm, Harm::ClockOffset { .. } | Harm::ClockDrift { .. } | Harm::Zone { .. });
                        prop_assert!(clock, "{fault:?} never heals");
                    }
                    (Trigger::At { at_ms }, Some(lasts)) => prop_assert!(*at_ms + lasts <= healed_by, "{fault:?} after {healed_by}"),
                    (Trigger::Step { .. }, Some(lasts)) => prop_assert!(lasts <= longest, "{fault:?} longer than {longest:?}"),
                }
            }
        }
    }

    /// A drawn fault can be struck: its step is one of the strategy's, its node exists, and what needs a step has one.
    #[test]
    fn every_drawn_fault_can_strike(class in classes(), seed: u64, (scenario, calendar) in deployment()) {
        for strategy in strategies() {
            let drawn = class.plan(Seed(seed), &scenario, &calendar, strategy.steps());
            prop_assert_eq!(drawn.validate(scenario.nodes, strategy.steps()), Ok(()), "{:?}", drawn);
        }
    }

    /// Skew: every node and the lease store have an offset within five minutes, and two are at least four apart.
    #[test]
    fn skew_is_wide_but_not_wider(seed: u64, (scenario, calendar) in deployment()) {
        let plan = FaultClass::Skew.plan(Seed(seed), &scenario, &calendar, &GUARDED_STEPS);
        let offsets: Vec<i64> = plan.faults.iter().filter_map(|f| match f.harm {
            Harm::ClockOffset { by_ms, .. } => Some(by_ms * i64::from(scenario.time_scale)),
            _ => None,
        }).collect();
        prop_assert_eq!(offsets.len(), usize::from(scenario.nodes) + 1);
        prop_assert!(offsets.iter().all(|o| o.abs() <= 300_000));
        prop_assert!(offsets.iter().max().unwrap() - offsets.iter().min().unwrap() >= 240_000);
    }

    /// Scaled down, a plan for the real deployment still strikes at its boundaries and is over in time.
    #[test]
    fn a_scaled_plan_heals_too(class in classes(), seed: u64) {
        let real = Scenario::default();
        let scaled = real.scaled_for_turmoil();
        let (from, to) = (real.schedule.calendar().expect("good"), scaled.schedule.calendar().expect("good"));
        let plan = class.plan(Seed(seed), &real, &from, &GUARDED_STEPS);
        let small = scaled.scaled_plan(&plan, &from, &to);
        prop_assert_eq!(small.faults.len(), plan.faults.len());
        for fault in small.faults {
            if let (Trigger::At { at_ms }, Some(lasts)) = (fault.when, fault.harm.heals_after()) {
                prop_assert!(at_ms + lasts <= class::healed_by(&scaled, &to) + Duration::from_millis(2));
            }
        }
    }

    /// What is deployed survives TOML as well.
    #[test]
    fn a_scenario_survives_toml((scenario, _) in deployment()) {
        let text = toml::to_string(&scenario).expect("every scenario can be written");
        prop_assert_eq!(toml::from_str::<Scenario>(&text).expect("and read"), scenario);
    }
}

/// Over a hundred seeds, each class but calm harms somebody in every plan, and the plans
/// that may strike at a step or at a time do both, in the share that the generator names.
#[test]
fn classes_are_not_empty_and_strike_in_both_ways() {
    let scenario = Scenario::default();
    let calendar = scenario.schedule.calendar().expect("a good schedule");
    for class in FaultClass::ALL.into_iter().filter(|class| class.misses(&GUARDED_STEPS).is_none()) {
        let drawn = (0..100).map(|n| class.plan(Seed(7).nth(n), &scenario, &calendar, &GUARDED_STEPS));
        let drawn: Vec<FaultPlan> = drawn.collect();
        let empty = drawn.iter().filter(|p| p.faults.is_empty()).count();
        assert_eq!(empty, if class == FaultClass::Calm { 100 } else { 0 }, "{class}");
        let at_a_step = |p: &&FaultPlan| p.faults.iter().any(|f| matches!(f.when, Trigger::Step { .. }));
        let stepped = drawn.iter().filter(at_a_step).count();
        let expected = match class {
            FaultClass::Calm | FaultClass::Skew | FaultClass::Drift | FaultClass::Outage | FaultClass::Civil => 0..=0,
            FaultClass::ReplyLost | FaultClass::JobError | FaultClass::DbError | FaultClass::Single => 100..=100,
            FaultClass::Step => 60..=95,
            FaultClass::Crash
            | FaultClass::Power
            | FaultClass::Pause
            | FaultClass::Partition
            | FaultClass::LeaseCut
            | FaultClass::DbCut
            | FaultClass::LeaseLoss
            | FaultClass::DbRestart
            | FaultClass::Shutdown => 60..=90,
            FaultClass::Slow => 30..=70,
            FaultClass::Swarm => 30..=95,
            FaultClass::LogFault | FaultClass::Redelivery => panic!("{class} strikes neither a lease nor a database"),
        };
        assert!(expected.contains(&stepped), "{class}: {stepped} of 100 plans strike at a step");
    }
}
