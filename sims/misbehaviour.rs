//! Strategies whose code is broken in ways that have nothing to do with settling: a stray tokio
//! timer and a raw spawn are refused with the cure, a panic is a finding of the strategy, a
//! loop that never ends is cut. None of them takes the harness down.

use async_trait::async_trait;
use onceproof::id::HostId;
use onceproof::plan::FaultPlan;
use onceproof::scenario::{Rules, Scenario};
use onceproof::seed::Seed;
use onceproof::settlement::{Decides, Period};
use onceproof::step::Step;
use onceproof::strategy::{Context, Error, Expectation, Policy, Strategy};
use onceproof::trace::{Belief, Event};
use onceproof::world::{Deployment, Ended, EngineKind, Refused, Run};
use std::time::Duration;

/// What the strategy does instead of settling.
#[derive(Clone, Copy)]
enum Misdeed {
    Nothing,
    SleepOnTokio,
    SpawnOnTokio,
    Panic,
    Spin,
}

struct Misbehaved(Misdeed);

#[async_trait(?Send)]
impl Strategy for Misbehaved {
    fn name(&self) -> &'static str {
        "misbehaved"
    }
    fn about(&self) -> &'static str {
        "does not settle"
    }
    fn policy(&self) -> Policy {
        Policy::Skip
    }
    fn decides(&self) -> Decides {
        Decides::Nothing
    }
    fn steps(&self) -> &'static [Step] {
        &[]
    }
    fn expectations(&self, _: Rules) -> Vec<Expectation> {
        Vec::new()
    }
    #[expect(clippy::disallowed_methods, reason = "that is what must be refused")]
    async fn attempt(&self, context: &mut Context, _: Period) -> Result<Belief, Error> {
        match self.0 {
            Misdeed::Nothing => {}
            Misdeed::SleepOnTokio => tokio::time::sleep(Duration::from_secs(1)).await,
            Misdeed::SpawnOnTokio => drop(tokio::spawn(async {})),
            Misdeed::Panic => panic!("the job divided by zero"),
            Misdeed::Spin => loop {
                context.sleep(Duration::ZERO).await;
            },
        }
        Ok(Belief::Settled)
    }
}

fn run(strategy: &'static Misbehaved, engine: EngineKind) -> Result<Run, Refused> {
    let deployment = Deployment::with_strategy(&Scenario::default(), strategy, engine).expect("the default scenario is good");
    deployment.run(Seed(1), &FaultPlan::none())
}

/// The control: the same strategy without a misdeed runs to the end of its horizon.
#[test]
fn an_idle_strategy_is_no_trouble() {
    static IDLE: Misbehaved = Misbehaved(Misdeed::Nothing);
    let run = run(&IDLE, EngineKind::Event).expect("nothing to refuse");
    assert_eq!((run.ended, run.panics.len()), (Ended::Horizon, 0));
}

#[test]
fn a_tokio_timer_is_refused_with_the_cure() {
    static SLEEPER: Misbehaved = Misbehaved(Misdeed::SleepOnTokio);
    let refused = run(&SLEEPER, EngineKind::Event).expect_err("a stray timer would never fire");
    assert!(matches!(refused, Refused::TokioTimer { host: HostId::Node(_) }), "{refused:?}");
    assert!(refused.to_string().contains("use `Context::sleep`"), "{refused}");
}

#[test]
fn a_raw_spawn_is_refused_with_the_cure() {
    static SPAWNER: Misbehaved = Misbehaved(Misdeed::SpawnOnTokio);
    let refused = run(&SPAWNER, EngineKind::Event).expect_err("such a task would escape crashes");
    assert!(matches!(refused, Refused::TokioSpawn { host: HostId::Node(_) }), "{refused:?}");
    assert!(refused.to_string().contains("use `Context::spawn`"), "{refused}");
}

/// The process dies as by a crash, and the run goes on: the other nodes panic in their turn, each at its own instant.
#[test]
fn a_panic_is_a_finding_with_its_message() {
    static PANICKER: Misbehaved = Misbehaved(Misdeed::Panic);
    let run = run(&PANICKER, EngineKind::Event).expect("a panic is no refusal");
    assert_eq!(run.ended, Ended::Horizon);
    let hosts: Vec<HostId> = run.panics.iter().map(|(host, _)| *host).collect();
    assert_eq!(hosts.len(), 3, "{hosts:?}");
    assert!(run.panics.iter().all(|(_, message)| message.contains("the job divided by zero")), "{:?}", run.panics);
    assert_eq!(run.trace.events().filter(|e| matches!(e, Event::Panicked { .. })).count(), 3);
}

#[test]
fn a_loop_over_no_time_is_cut() {
    static SPINNER: Misbehaved = Misbehaved(Misdeed::Spin);
    let run = run(&SPINNER, EngineKind::Event).expect("spinning is no refusal");
    assert_eq!(run.ended, Ended::StepBudget);
}
