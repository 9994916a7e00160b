//! Single: one fault of a list, at one phase of one step. The table tries all of them at every
//! step of a calm period ([`crate::explore::exhaust`]); a drawn plan is one of them.

use crate::class::{Class, Draw, FaultClass, Mixes};
use crate::id::HostId;
use crate::plan::{Direction, Fault, Harm, Target};
use crate::scenario::Scenario;
use crate::seed::Seed;
use crate::step::Step;
use crate::time::{Span, millis};
use crate::trace::Phase;
use rand::seq::IndexedRandom;
use std::time::Duration;

/// A way in which one fault can strike a step.
#[derive(Debug)]
pub struct Kind {
    /// The name in commands, tables and files.
    pub name: &'static str,
    /// The class whose claims speak of it.
    pub class: FaultClass,
    /// Where in a step it strikes.
    pub phase: Phase,
    /// Whether it is one of the seven that the table's column tries; `onceproof exhaust` tries all.
    pub core: bool,
    /// At which steps it can strike.
    needs: Needs,
    harm: fn(&Scenario) -> Harm,
}

/// At which steps a kind makes sense.
#[derive(Debug)]
enum Needs {
    /// At any.
    Nothing,
    /// At those that ask a server: work sends nothing and gets no answer.
    Request,
    /// At the others.
    Work,
    /// At any, of a strategy that asks this server.
    Asked(HostId),
    /// At those that ask this server.
    RequestTo(HostId),
    /// At this step.
    StepCalled(&'static str),
    /// At those of a transaction, but for its first.
    InTransaction,
}

impl Kind {
    /// Whether it can strike this step of a strategy with these steps.
    pub fn strikes(&self, step: Step, steps: &[Step]) -> bool {
        match self.needs {
            Needs::Nothing => true,
            Needs::Request => !step.is_work(),
            Needs::Work => step.is_work(),
            Needs::Asked(server) => steps.iter().any(|s| s.peer == Some(server)),
            Needs::RequestTo(server) => step.peer == Some(server),
            Needs::StepCalled(name) => step.name == name,
            Needs::InTransaction => step.name.starts_with("tx.") && !matches!(step.name, "tx.begin" | "tx.rollback"),
        }
    }

    /// What it does, in this scenario's scale.
    pub fn harm(&self, scenario: &Scenario) -> Harm {
        (self.harm)(scenario)
    }

    /// The kind with this name.
    pub fn find(name: &str) -> Option<&'static Kind> {
        KINDS.iter().find(|kind| kind.name == name)
    }
}

/// Every kind, in the order of reports. The first seven fault points are those of the table's column.
pub static KINDS: [Kind; 47] = [
    Kind::core("crash-before", FaultClass::Crash, Phase::Before, Needs::Nothing, crash),
    Kind::core("crash-sent", FaultClass::Crash, Phase::Sent, Needs::Request, crash),
    Kind::core("crash-after", FaultClass::Crash, Phase::After, Needs::Nothing, crash),
    Kind::core("pause-before", FaultClass::Pause, Phase::Before, Needs::Nothing, pause),
    Kind::core("pause-after", FaultClass::Pause, Phase::After, Needs::Nothing, pause),
    Kind::core("reply-lost", FaultClass::ReplyLost, Phase::Sent, Needs::Request, |_| Harm::ReplyLost {
        host: Target::Self_,
        from: Target::Peer,
    }),
    Kind::core("cut-lease", FaultClass::LeaseCut, Phase::Before, Needs::Asked(HostId::Lease), |s| cut(s, LEASE, Direction::Both)),
    Kind::more("pause-sent", FaultClass::Pause, Phase::Sent, Needs::Request, pause),
    Kind::more("pause-past-watchdog-before", FaultClass::Pause, Phase::Before, Needs::Nothing, |s| nap(s, s.guard.watchdog_lease)),
    Kind::more("pause-past-watchdog-after", FaultClass::Pause, Phase::After, Needs::Nothing, |s| nap(s, s.guard.watchdog_lease)),
    Kind::more("pause-past-dual-before", FaultClass::Pause, Phase::Before, Needs::Nothing, |s| nap(s, s.guard.dual_lease)),
    Kind::more("pause-past-dual-after", FaultClass::Pause, Phase::After, Needs::Nothing, |s| nap(s, s.guard.dual_lease)),
    Kind::more("pause-past-stale-before", FaultClass::Pause, Phase::Before, Needs::Nothing, |s| nap(s, s.guard.stale_after)),
    Kind::more("pause-past-stale-after", FaultClass::Pause, Phase::After, Needs::Nothing, |s| nap(s, s.guard.stale_after)),
    Kind::more("power-before", FaultClass::Power, Phase::Before, Needs::Nothing, power),
    Kind::more("power-sent", FaultClass::Power, Phase::Sent, Needs::Request, power),
    Kind::more("power-after", FaultClass::Power, Phase::After, Needs::Nothing, power),
    Kind::more("cut-lease-outbound", FaultClass::LeaseCut, Phase::Before, Needs::Asked(HostId::Lease), |s| {
        cut(s, LEASE, Direction::Outbound)
    }),
    Kind::more("cut-lease-inbound", FaultClass::LeaseCut, Phase::Before, Needs::Asked(HostId::Lease), |s| {
        cut(s, LEASE, Direction::Inbound)
    }),
    Kind::more("cut-db", FaultClass::DbCut, Phase::Before, Needs::Asked(HostId::Database), |s| cut(s, DATABASE, Direction::Both)),
    Kind::more("cut-db-outbound", FaultClass::DbCut, Phase::Before, Needs::Asked(HostId::Database), |s| {
        cut(s, DATABASE, Direction::Outbound)
    }),
    Kind::more("cut-db-inbound", FaultClass::DbCut, Phase::Before, Needs::Asked(HostId::Database), |s| {
        cut(s, DATABASE, Direction::Inbound)
    }),
    Kind::more("cut-all", FaultClass::Partition, Phase::Before, Needs::Nothing, |s| cut(s, Target::Everyone, Direction::Both)),
    Kind::more("cut-all-outbound", FaultClass::Partition, Phase::Before, Needs::Nothing, |s| cut(s, Target::Everyone, Direction::Outbound)),
    Kind::more("cut-all-inbound", FaultClass::Partition, Phase::Before, Needs::Nothing, |s| cut(s, Target::Everyone, Direction::Inbound)),
    Kind::more("lease-restart", FaultClass::LeaseLoss, Phase::Sent, Needs::RequestTo(HostId::Lease), |s| restart(s, LEASE)),
    Kind::more("lease-restart-idle", FaultClass::LeaseLoss, Phase::Before, Needs::Asked(HostId::Lease), |s| restart(s, LEASE)),
    Kind::more("lease-wiped", FaultClass::LeaseLoss, Phase::Before, Needs::Asked(HostId::Lease), |s| Harm::LeaseWipe {
        store: HostId::Lease,
        back_after: real(s, 10.seconds()),
    }),
    Kind::more("db-restart", FaultClass::DbRestart, Phase::Sent, Needs::RequestTo(HostId::Database), |s| restart(s, DATABASE)),
    Kind::more("db-restart-idle", FaultClass::DbRestart, Phase::Before, Needs::Asked(HostId::Database), |s| restart(s, DATABASE)),
    Kind::more("commit-refused", FaultClass::DbError, Phase::Before, Needs::StepCalled("tx.commit"), |_| Harm::CommitFails {
        host: Target::Self_,
    }),
    Kind::more("session-ended", FaultClass::DbError, Phase::Before, Needs::InTransaction, |_| Harm::SessionEnds { host: Target::Self_ }),
    Kind::more("job-error", FaultClass::JobError, Phase::Before, Needs::Work, |_| Harm::JobError { times: 1 }),
    Kind::more("slow-work", FaultClass::Slow, Phase::Before, Needs::Work, |s| Harm::SlowStep { extra: real(s, 43.minutes()) }),
    Kind::more("clock-forward", FaultClass::Step, Phase::Before, Needs::Nothing, |s| clock(s, 1)),
    Kind::more("clock-back", FaultClass::Step, Phase::Before, Needs::Nothing, |s| clock(s, -1)),
    // One of those beside the first stands for all of them: they are alike.
    Kind::more("cut-further-lease", FaultClass::LeaseCut, Phase::Before, Needs::Asked(FURTHER), |s| {
        cut(s, Target::Host(FURTHER), Direction::Both)
    }),
    Kind::more("further-lease-wiped", FaultClass::LeaseLoss, Phase::Before, Needs::Asked(FURTHER), |s| Harm::LeaseWipe {
        store: FURTHER,
        back_after: real(s, 10.seconds()),
    }),
    // The members of the log are not alike: one of them leads.
    Kind::of_log("log-0-restart", Phase::Sent, |s| restart(s, Target::Host(HostId::Log(0)))),
    Kind::of_log("log-1-restart", Phase::Sent, |s| restart(s, Target::Host(HostId::Log(1)))),
    Kind::of_log("log-2-restart", Phase::Sent, |s| restart(s, Target::Host(HostId::Log(2)))),
    Kind::of_log("log-0-paused", Phase::Before, |s| pause_of(s, Target::Host(HostId::Log(0)))),
    Kind::of_log("log-1-paused", Phase::Before, |s| pause_of(s, Target::Host(HostId::Log(1)))),
    Kind::of_log("log-2-paused", Phase::Before, |s| pause_of(s, Target::Host(HostId::Log(2)))),
    Kind::of_log("log-0-cut", Phase::Before, |s| cut_of(s, Target::Host(HostId::Log(0)), Target::Everyone, Direction::Both)),
    Kind::of_log("log-1-cut", Phase::Before, |s| cut_of(s, Target::Host(HostId::Log(1)), Target::Everyone, Direction::Both)),
    Kind::of_log("log-2-cut", Phase::Before, |s| cut_of(s, Target::Host(HostId::Log(2)), Target::Everyone, Direction::Both)),
];

const LEASE: Target = Target::Host(HostId::Lease);
const FURTHER: HostId = HostId::FurtherLease(1);
const DATABASE: Target = Target::Host(HostId::Database);

impl Kind {
    const fn core(name: &'static str, class: FaultClass, phase: Phase, needs: Needs, harm: fn(&Scenario) -> Harm) -> Kind {
        Kind { name, class, phase, core: true, needs, harm }
    }

    const fn more(name: &'static str, class: FaultClass, phase: Phase, needs: Needs, harm: fn(&Scenario) -> Harm) -> Kind {
        Kind { name, class, phase, core: false, needs, harm }
    }

    /// At the requests to the log.
    const fn of_log(name: &'static str, phase: Phase, harm: fn(&Scenario) -> Harm) -> Kind {
        Kind::more(name, FaultClass::LogFault, phase, Needs::RequestTo(HostId::Log(0)), harm)
    }
}

/// A real duration in this scenario's scale.
fn real(scenario: &Scenario, d: Duration) -> Duration {
    Duration::from_millis(millis(d / scenario.time_scale.max(1)).max(1))
}

fn crash(scenario: &Scenario) -> Harm {
    Harm::Crash { host: Target::Self_, back_after: real(scenario, 5.minutes()) }
}

fn power(scenario: &Scenario) -> Harm {
    Harm::Power { host: Target::Self_, back_after: real(scenario, 5.minutes()) }
}

/// Longer than any lease of the catalogue.
fn pause(scenario: &Scenario) -> Harm {
    pause_of(scenario, Target::Self_)
}

fn pause_of(scenario: &Scenario, host: Target) -> Harm {
    Harm::Pause { host, lasts: real(scenario, 40.minutes()) }
}

/// Until one of the guard's timeouts is over and somebody else is likely to be at work: what keeps the two apart is
/// then the fence, not a period that is settled already.
fn nap(scenario: &Scenario, timeout: Duration) -> Harm {
    Harm::Pause { host: Target::Self_, lasts: timeout + scenario.node.poll + real(scenario, 20.seconds()) }
}

fn cut(scenario: &Scenario, from: Target, direction: Direction) -> Harm {
    cut_of(scenario, Target::Self_, from, direction)
}

fn cut_of(scenario: &Scenario, host: Target, from: Target, direction: Direction) -> Harm {
    Harm::Partition { host, from, direction, lasts: real(scenario, 40.minutes()) }
}

fn restart(scenario: &Scenario, host: Target) -> Harm {
    Harm::Crash { host, back_after: real(scenario, 10.seconds()) }
}

fn clock(scenario: &Scenario, sign: i64) -> Harm {
    Harm::ClockOffset { host: Target::Self_, by_ms: sign * millis(real(scenario, 1.hours())).cast_signed() }
}

/// One of [`KINDS`] at one of the steps it can strike.
pub(super) struct Single;

impl Class for Single {
    fn name(&self) -> &'static str {
        "single"
    }

    fn about(&self) -> &'static str {
        "every single fault of seven kinds at every step of a calm period, one after the other: enumerated, not drawn"
    }

    fn draw(&self, draw: &mut Draw<'_>) -> Vec<Fault> {
        let steps = draw.steps;
        let core: Vec<&Kind> = KINDS.iter().filter(|kind| kind.core && steps.iter().any(|step| kind.strikes(*step, steps))).collect();
        let Some(kind) = core.choose(&mut draw.rng) else { return Vec::new() };
        let Some(step) = draw.step(|step| kind.strikes(step, steps)) else { return Vec::new() };
        vec![kind.harm(draw.scenario).when(draw.in_phase(step, kind.phase))]
    }

    fn knobs(&self, _: Seed, given: &Scenario) -> Option<Scenario> {
        Some(given.of_one_period())
    }

    fn mixes(&self) -> Mixes {
        Mixes::Never
    }
}
