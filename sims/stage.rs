//! The stage: plays a story on both engines, and makes sure that it was played at all.
//!
//! Stories are written with real constants and real faults. The event engine runs them as they
//! are; `turmoil` runs them scaled down. Whatever a story then asserts, it asserts of both.

use onceproof::class::FaultClass;
use onceproof::explore::{Mark, Observed, observe};
use onceproof::id::{HostId, Letter, NodeId};
use onceproof::plan::{Direction, FaultPlan, Harm, Target, Trigger};
use onceproof::scenario::Scenario;
use onceproof::seed::Seed;
use onceproof::settlement::Schedule;
use onceproof::time::SimTime;
use onceproof::trace::{Belief, Event, Phase, Record, StepName};
use onceproof::world::{Deployment, EngineKind};
use std::time::Duration;

/// Every story has this seed: none of them may need luck.
const SEED: Seed = Seed(2026);

/// The first node.
pub const N0: Target = Target::Host(HostId::Node(NodeId(0)));

/// The catalogue's default deployment with one period, guarded by `strategy`.
pub fn one_period(strategy: &str) -> Scenario {
    Scenario::calm(strategy).of_one_period()
}

/// When the one period of [`one_period`] ends.
pub fn boundary() -> SimTime {
    let calendar = Schedule::default().calendar().expect("the default schedule is good");
    calendar.due(calendar.periods[0])
}

/// One fault.
pub fn fault(harm: Harm, when: Trigger) -> FaultPlan {
    FaultPlan::of([harm.when(when)])
}

/// The first time that any node is about to do this step.
pub fn before(step: StepName) -> Trigger {
    Trigger::first(step, Phase::Before)
}

/// The first time that the request of this step is under way.
pub fn sent(step: StepName) -> Trigger {
    Trigger::first(step, Phase::Sent)
}

/// The first time that any node has done this step.
pub fn after(step: StepName) -> Trigger {
    Trigger::first(step, Phase::After)
}

/// The node in the step that sets the fault off stops for this long.
pub fn pause(lasts: Duration) -> Harm {
    Harm::Pause { host: Target::Self_, lasts }
}

/// The node in the step that sets the fault off dies, and is back after this long.
pub fn crash(back_after: Duration) -> Harm {
    Harm::Crash { host: Target::Self_, back_after }
}

/// Nothing gets through between the node in the step that sets the fault off and `from` for this long.
pub fn cut(from: HostId, lasts: Duration) -> Harm {
    Harm::Partition { host: Target::Self_, from: Target::Host(from), direction: Direction::Both, lasts }
}

/// The next answer of `from` to the node in the step that sets the fault off vanishes.
pub fn reply_lost(from: HostId) -> Harm {
    Harm::ReplyLost { host: Target::Self_, from: Target::Host(from) }
}

/// Plays a story of [`one_period`] on both engines; see [`both_of`].
pub fn both(strategy: &str, plan: &FaultPlan, tell: impl Fn(&Played)) {
    both_of(&one_period(strategy), plan, tell);
}

/// Plays a story on both engines and hands each run to `tell`; see [`both_made`].
pub fn both_of(scenario: &Scenario, plan: &FaultPlan, tell: impl Fn(&Played)) {
    let real = scenario.schedule.calendar().expect("a story has a good schedule");
    let in_scale = |deployment: &Deployment| match deployment.scenario() == scenario {
        true => plan.clone(),
        false => deployment.scenario().scaled_plan(plan, &real, deployment.calendar()),
    };
    both_made(scenario, in_scale, tell);
}

/// Plays a story whose plan is made for what is deployed, which an engine may have scaled down.
/// What broke must be the same on both engines, every fault must have struck, and who could
/// notice it must have noticed.
pub fn both_made(scenario: &Scenario, plan: impl Fn(&Deployment) -> FaultPlan, tell: impl Fn(&Played)) {
    let broken = EngineKind::ALL.map(|engine| {
        let deployment = Deployment::new(scenario, engine).expect("a story is deployed well");
        let plan = plan(&deployment);
        let played = play(deployment, &plan);
        tell(&played);
        (played.broken(), plan)
    });
    let [(event, plan), (turmoil, scaled)] = broken;
    assert_eq!(event, turmoil, "{}: the engines do not agree about what broke under {plan:?}, scaled {scaled:?}", scenario.strategy);
}

/// Plays a story on one engine.
fn play(deployment: Deployment, plan: &FaultPlan) -> Played {
    deployment.check_plan(plan).expect("a story speaks of what is deployed");
    // Only a calm run counts as evidence without a fault.
    let class = if plan.faults.is_empty() { FaultClass::Calm } else { FaultClass::Swarm };
    let seen = observe(&deployment, class, SEED, plan).expect("a story can be simulated");
    let played = Played { deployment, seen };
    for (fault, receipt) in plan.faults.iter().zip(&played.seen.run.receipts) {
        assert!(receipt.fired.is_some(), "{}: {fault:?} never struck: nothing tested", played.name());
    }
    assert!(played.seen.felt, "{}: nobody noticed what struck: nothing tested", played.name());
    played
}

/// A story that was played.
pub struct Played {
    deployment: Deployment,
    seen: Observed,
}

impl Played {
    /// What was deployed: on turmoil, scaled down.
    pub fn scenario(&self) -> &Scenario {
        self.deployment.scenario()
    }

    /// When its period truly ended.
    pub fn due(&self) -> SimTime {
        self.deployment.calendar().due(self.deployment.calendar().periods[0])
    }

    /// Everything that happened.
    pub fn records(&self) -> &[Record] {
        self.seen.run.trace.records()
    }

    /// How often something happened.
    pub fn count(&self, is: impl Fn(&Event) -> bool) -> usize {
        self.seen.run.trace.events().filter(|e| is(e)).count()
    }

    /// When something happened first. What a story is about must have happened.
    pub fn first(&self, what: &str, is: impl Fn(&Event) -> bool) -> SimTime {
        let found = self.records().iter().find(|r| is(&r.event));
        found.unwrap_or_else(|| panic!("{}: {what} was never seen: nothing tested", self.name())).at
    }

    /// What a story is about must have happened.
    pub fn saw(&self, what: &str, is: impl Fn(&Event) -> bool) {
        self.first(what, is);
    }

    /// What must not have happened.
    pub fn never_saw(&self, what: &str, is: impl Fn(&Event) -> bool) {
        if let Some(seen) = self.records().iter().find(|r| is(&r.event)) {
            panic!("{}: {what} was seen at {}: {:?}", self.name(), seen.at, seen.event);
        }
    }

    /// How many settlements were committed.
    pub fn settlements(&self) -> usize {
        self.count(|e| matches!(e, Event::Settled { .. }))
    }

    /// How many attempts ended in this belief.
    pub fn believed(&self, belief: Belief) -> usize {
        self.count(|e| matches!(e, Event::AttemptEnded { belief: b, .. } if *b == belief))
    }

    /// The hosts whose transactions brought rows of a kind, in order.
    pub fn authors(&self, is: impl Fn(&Event) -> bool) -> Vec<HostId> {
        let mut by = HostId::Database;
        let mut authors = Vec::new();
        for record in self.records() {
            match record.event {
                Event::Committed { by: client, .. } => by = client,
                ref row if is(row) => authors.push(by),
                _ => {}
            }
        }
        authors
    }

    /// What broke, in order.
    fn broken(&self) -> Vec<Mark> {
        self.seen.findings.iter().map(|f| f.mark).collect()
    }

    /// What broke a rule, in a sentence. What a story is about must have broken.
    pub fn broke(&self, rule: &str) -> &str {
        let found = self.seen.findings.iter().find(|f| f.rule == rule);
        &found.unwrap_or_else(|| panic!("{}: {rule} held: {:#?}", self.name(), self.seen.findings)).what
    }

    /// Exactly these letters broke.
    pub fn breaks(&self, letters: &[Letter]) {
        let mut expected: Vec<Mark> = letters.iter().map(|l| Mark::Letter(*l)).collect();
        expected.sort();
        assert_eq!(self.broken(), expected, "{}: {:#?}", self.name(), self.seen.findings);
    }

    /// Nothing broke, and nothing had to be excused.
    pub fn holds(&self) {
        self.breaks(&[]);
        assert!(self.seen.excuses.is_empty(), "{}: {:?}", self.name(), self.seen.excuses);
    }

    fn name(&self) -> String {
        format!("{} on {}", self.deployment.strategy().name(), self.deployment.engine().name())
    }
}
