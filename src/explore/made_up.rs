//! Subjects that break on demand, for the tests of the explorers: no world, no clients, only
//! a short history whose shape depends on the seed.

use crate::class::FaultClass;
use crate::explore::Subject;
use crate::id::{AttemptId, HostId, NodeId};
use crate::invariant::{InvariantId, Verdict, Violation};
use crate::plan::{FaultPlan, Harm, Target, Trigger};
use crate::scenario::{Rules, Scenario};
use crate::seed::Seed;
use crate::settlement::{Calendar, Decides, FinalState, Period};
use crate::step::Step;
use crate::strategy::{Context, Error, Expectation, Policy, Strategy};
use crate::time::{SimTime, Span};
use crate::trace::{Belief, Event, Proof, Trace};
use crate::world::{Ended, Felt, Receipt, Refused, Run};
use async_trait::async_trait;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::id::Letter;

/// A strategy of which only the claims matter.
pub struct Claimant {
    name: &'static str,
    claims: fn() -> Vec<Expectation>,
}

/// Claims never to break anything.
pub static SAFE: Claimant = Claimant { name: "made-up-safe", claims: || vec![NEVER] };

/// Claims that D must break in calm, and L under pause.
pub static WRONG: Claimant = Claimant {
    name: "made-up-wrong",
    claims: || {
        vec![
            Expectation::Must { class: FaultClass::Calm, letters: &[Letter::D], because: "nobody asks", plan: |_, _| FaultPlan::none() },
            Expectation::Must { class: FaultClass::Pause, letters: &[Letter::L], because: "nobody returns", plan: |_, _| two_pauses() },
        ]
    },
};

/// Claims nothing.
pub static SILENT: Claimant = Claimant { name: "made-up-silent", claims: Vec::new };

const NEVER: Expectation = Expectation::never(&Letter::ALL, "one transaction decides");

/// What the pinned plan of [`WRONG`] looks like: told from a drawn plan by its two faults.
fn two_pauses() -> FaultPlan {
    FaultPlan::of([0, 1].map(|n| Harm::Pause { host: Target::Host(HostId::node(n)), lasts: 40.minutes() }.when(Trigger::start())))
}

#[async_trait(?Send)]
impl Strategy for Claimant {
    fn name(&self) -> &'static str {
        self.name
    }
    fn about(&self) -> &'static str {
        "a strategy that exists only in tests"
    }
    fn policy(&self) -> Policy {
        Policy::Skip
    }
    fn decides(&self) -> Decides {
        Decides::Nothing
    }
    fn steps(&self) -> &'static [Step] {
        const STEPS: [Step; 1] = [Step::work("job.work")];
        &STEPS
    }
    fn expectations(&self, _: Rules) -> Vec<Expectation> {
        (self.claims)()
    }
    async fn attempt(&self, _: &mut Context, _: Period) -> Result<Belief, Error> {
        unreachable!("made-up subjects run no strategy")
    }
}

/// What a made-up run breaks, given its seed and how many faults its plan has.
pub type Breaks = fn(Seed, usize) -> &'static [InvariantId];

/// A made-up subject.
pub struct MadeUp {
    strategy: &'static Claimant,
    scenario: Scenario,
    calendar: Calendar,
    breaks: Breaks,
    panics: Vec<(HostId, String)>,
    ended: Ended,
    numb: bool,
    refused: Option<Seed>,
    shifty: Option<AtomicU64>,
    wears_out: Option<(u64, AtomicU64)>,
}

impl MadeUp {
    /// One that never breaks anything and feels every fault.
    ///
    /// # Panics
    /// The default scenario is no good.
    pub fn of(strategy: &'static Claimant) -> MadeUp {
        let scenario = Scenario::default();
        let calendar = scenario.schedule.calendar().unwrap();
        let (breaks, panics) = ((|_, _| &[][..]) as Breaks, Vec::new());
        MadeUp {
            strategy,
            scenario,
            calendar,
            breaks,
            panics,
            ended: Ended::Horizon,
            numb: false,
            refused: None,
            shifty: None,
            wears_out: None,
        }
    }

    /// As it is, but it breaks something.
    #[must_use]
    pub fn breaking(self, breaks: Breaks) -> MadeUp {
        MadeUp { breaks, ..self }
    }

    /// As it is, but a host panics.
    #[must_use]
    pub fn panicking(self, host: HostId) -> MadeUp {
        MadeUp { panics: vec![(host, "index out of bounds".to_owned())], ..self }
    }

    /// As it is, but it never ends.
    #[must_use]
    pub fn spinning(self) -> MadeUp {
        MadeUp { ended: Ended::StepBudget, ..self }
    }

    /// Feels no fault.
    pub fn numb(self) -> MadeUp {
        MadeUp { numb: true, ..self }
    }

    /// Is refused under this seed.
    pub fn refused_at(self, seed: Seed) -> MadeUp {
        MadeUp { refused: Some(seed), ..self }
    }

    /// Tells a different history each time.
    pub fn shifty(self) -> MadeUp {
        MadeUp { shifty: Some(AtomicU64::new(0)), ..self }
    }

    /// Tells another history from its `n`th run on.
    pub fn wearing_out_after(self, n: u64) -> MadeUp {
        MadeUp { wears_out: Some((n, AtomicU64::new(0))), ..self }
    }
}

impl Subject for MadeUp {
    fn strategy(&self) -> &'static dyn Strategy {
        self.strategy
    }

    fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    fn calendar(&self) -> &Calendar {
        &self.calendar
    }

    fn plan(&self, class: FaultClass, _: Seed) -> FaultPlan {
        match class {
            FaultClass::Calm => FaultPlan::none(),
            _ => FaultPlan { faults: two_pauses().faults[..1].to_vec() },
        }
    }

    fn run(&self, seed: Seed, plan: &FaultPlan) -> Result<Run, Refused> {
        if self.refused == Some(seed) {
            return Err(Refused::TokioSpawn { host: HostId::node(0) });
        }
        let mut trace = Trace::default();
        let attempt = AttemptId { node: NodeId((seed.0 % 3) as u8), number: 1 };
        let period = self.calendar.periods[0];
        let due = self.calendar.due(period) + (seed.0 % 5000).ms();
        trace.push(SimTime::ZERO, Event::Booted { host: HostId::Node(attempt.node), incarnation: 0 });
        trace.push(due, Event::AttemptBegan { attempt, period: period.id, wall: self.calendar.origin.wall(due) });
        let shift = self.shifty.as_ref().map_or(0, |n| n.fetch_add(1, Ordering::Relaxed));
        let worn = self.wears_out.as_ref().is_some_and(|(most, n)| n.fetch_add(1, Ordering::Relaxed) >= *most);
        let shift = shift + u64::from(worn);
        trace.push(due + shift.ms(), Event::AttemptEnded { attempt, period: period.id, belief: Belief::Settled });
        let felt = (!self.numb).then_some(Felt { at: SimTime(2), proof: Proof::Interrupted { attempt } });
        let receipts = plan.faults.iter().map(|_| Receipt { fired: Some(SimTime(1)), felt }).collect();
        let (end, ended, panics) = (FinalState::default(), self.ended, self.panics.clone());
        Ok(Run { seed, trace, end, ended, ended_at: due + 10.hours(), receipts, panics, complaints: Vec::new() })
    }

    fn judge(&self, run: &Run) -> Vec<(InvariantId, Verdict)> {
        let broken = (self.breaks)(run.seed, run.receipts.len());
        let judged = |id: InvariantId| match broken.contains(&id) {
            true => Verdict::Broken(Violation {
                at: SimTime(86_401_000),
                period: Some(self.calendar.periods[0].id),
                what: format!("{id} broke"),
            }),
            false => Verdict::Holds,
        };
        InvariantId::ALL.into_iter().map(|id| (id, judged(id))).collect()
    }
}
