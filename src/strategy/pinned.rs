//! Plans that show a must-break cell without luck, shared by the strategies that they break.
//! They are written with real magnitudes, and shrink with the scenario's `time_scale`.

use crate::id::HostId;
use crate::plan::{Direction, Fault, FaultPlan, Harm, Moved, StopOrder, Target, Trigger};
use crate::scenario::Scenario;
use crate::settlement::{Calendar, ahead_of, most_ahead_ms};
use crate::strategy::context::WORK;
use crate::time::Span;
use crate::trace::{Phase, StepName};
use std::time::Duration;

/// The middle of the job: the guard is held, the transaction has not begun.
const IN_THE_JOB: StepName = "work.3";

/// Nothing goes wrong.
pub fn calm(_: &Scenario, _: &Calendar) -> FaultPlan {
    FaultPlan::none()
}

/// One node's clock is fast by four and a half minutes: more than the wait after the boundary and the job together.
pub fn one_node_fast(scenario: &Scenario, _: &Calendar) -> FaultPlan {
    in_scale(scenario, [Harm::ClockOffset { host: Target::Host(HostId::node(0)), by_ms: 270_000 }.when(Trigger::start())])
}

/// One node's clock is slow by four and a half minutes: it comes when the others are done.
pub fn one_node_slow(scenario: &Scenario, _: &Calendar) -> FaultPlan {
    in_scale(scenario, [Harm::ClockOffset { host: Target::Host(HostId::node(0)), by_ms: -270_000 }.when(Trigger::start())])
}

/// One node stops before the first boundary, and wakes when the others are long done: its timer is overdue.
pub fn pause_over_the_boundary(scenario: &Scenario, calendar: &Calendar) -> FaultPlan {
    let harm = Harm::Pause { host: Target::Host(HostId::node(0)), lasts: 40.minutes() };
    let before = |first| Trigger::At { at_ms: calendar.due(first) - 2.minutes() / scenario.time_scale.max(1) };
    in_scale(scenario, calendar.periods.first().map(|first| harm.when(before(*first))))
}

/// Whoever has taken a due time first dies as soon as that is committed.
pub fn crash_before_it_fires(scenario: &Scenario, _: &Calendar) -> FaultPlan {
    at_first(scenario, "trigger.commit", Phase::After, Harm::Crash { host: Target::Self_, back_after: 5.minutes() })
}

/// Whoever takes a due time first does not hear that it has.
pub fn advance_reply_lost(scenario: &Scenario, _: &Calendar) -> FaultPlan {
    let harm = Harm::ReplyLost { host: Target::Self_, from: Target::Host(HostId::Database) };
    at_first(scenario, "trigger.commit", Phase::Sent, harm)
}

/// The tenth renewal of the leader, the last but one before the boundary: its lease outlives the boundary.
const LATE_IN_THE_TERM: u32 = 10;

/// The leader dies before the boundary, so late that its lease runs out after it.
pub fn leader_crashes(scenario: &Scenario, _: &Calendar) -> FaultPlan {
    in_the_term(scenario, LATE_IN_THE_TERM, Harm::Crash { host: Target::Self_, back_after: 5.minutes() })
}

/// The leader loses power before the boundary, so late that its lease runs out after it.
pub fn leader_loses_power(scenario: &Scenario, _: &Calendar) -> FaultPlan {
    in_the_term(scenario, LATE_IN_THE_TERM, Harm::Power { host: Target::Self_, back_after: 5.minutes() })
}

/// The leader stops early in its term: its lease runs out and another is elected before the boundary.
pub fn leader_pauses(scenario: &Scenario, _: &Calendar) -> FaultPlan {
    in_the_term(scenario, 3, Harm::Pause { host: Target::Self_, lasts: 40.minutes() })
}

/// One node takes boundaries for those of a zone an hour to the east, or, where the first period is shorter than that,
/// as far as there is time: it comes when the period has not ended, and is done before that.
pub fn one_node_east(scenario: &Scenario, calendar: &Calendar) -> FaultPlan {
    let first = calendar.next_after(calendar.origin.0);
    let hour: i64 = 3_600_000 / i64::from(scenario.time_scale.max(1));
    let zone = ahead_of(&calendar.zone, first.due, hour.min(most_ahead_ms(calendar.due(first))));
    FaultPlan::of([Harm::Zone { host: Target::Host(HostId::node(0)), zone }.when(Trigger::start())])
}

/// The first node in the middle of the job dies.
pub fn crash_in_the_job(scenario: &Scenario, _: &Calendar) -> FaultPlan {
    in_the_job(scenario, Harm::Crash { host: Target::Self_, back_after: 5.minutes() })
}

/// The first node in the middle of the job loses power.
pub fn power_cut_in_the_job(scenario: &Scenario, _: &Calendar) -> FaultPlan {
    in_the_job(scenario, Harm::Power { host: Target::Self_, back_after: 5.minutes() })
}

/// The first node in the middle of the job stops for longer than its lease.
pub fn pause_in_the_job(scenario: &Scenario, _: &Calendar) -> FaultPlan {
    in_the_job(scenario, Harm::Pause { host: Target::Self_, lasts: 40.minutes() })
}

/// The first node stops when its work is done and its transaction has not begun, for longer than its lease.
pub fn pause_before_the_transaction(scenario: &Scenario, _: &Calendar) -> FaultPlan {
    at_first(scenario, "tx.begin", Phase::Before, Harm::Pause { host: Target::Self_, lasts: 40.minutes() })
}

/// The first node stops when it has found the period open and has not asked for the lock; others settle meanwhile.
pub fn pause_before_the_lock(scenario: &Scenario, _: &Calendar) -> FaultPlan {
    at_first(scenario, "advisory.take", Phase::Before, Harm::Pause { host: Target::Self_, lasts: 40.minutes() })
}

/// The first node in the middle of the job stops, and wakes while the next one is at work.
///
/// In seconds since its grant: it stops at 48, and its lease of 30, renewed at 40 or later, runs
/// out between 70 and 78. The others come within 5 s of it and poll every 60 s: at 60 to 66 they
/// are refused, at 120 to 126 one of them is granted the lease, which holds it until 240 at
/// least. The first wakes at 158 and has 48 of work left: it commits before 210.
pub fn pause_into_the_next_job(scenario: &Scenario, _: &Calendar) -> FaultPlan {
    in_the_job(scenario, Harm::Pause { host: Target::Self_, lasts: 110.seconds() })
}

/// Whoever is granted the lease first is cut from its store when it begins to work.
pub fn cut_from_the_lease(scenario: &Scenario, _: &Calendar) -> FaultPlan {
    let harm = Harm::Partition { host: Target::Self_, from: Target::Host(HostId::Lease), direction: Direction::Both, lasts: 40.minutes() };
    at_first(scenario, WORK[0].name, Phase::Before, harm)
}

/// Whoever is granted the lease first dies before it can set an expiry.
pub fn crash_before_the_expiry(scenario: &Scenario, _: &Calendar) -> FaultPlan {
    at_first(scenario, "lease.expire", Phase::Before, Harm::Crash { host: Target::Self_, back_after: 5.minutes() })
}

/// One node is dead at the first boundary, and starts again a minute after it, when another is in the middle of its job.
pub fn restart_during_the_job(scenario: &Scenario, calendar: &Calendar) -> FaultPlan {
    let (before, down): (Duration, Duration) = (4.minutes(), 5.minutes());
    let harm = Harm::Crash { host: Target::Host(HostId::node(0)), back_after: down };
    let begins = |first| Trigger::At { at_ms: calendar.due(first) - before / scenario.time_scale.max(1) };
    in_scale(scenario, calendar.periods.first().map(|first| harm.when(begins(*first))))
}

/// The first job takes longer than its lease.
pub fn slow_job(scenario: &Scenario, _: &Calendar) -> FaultPlan {
    in_the_job(scenario, Harm::SlowStep { extra: 45.minutes() })
}

/// The first node in the middle of the job is told to stop, and renews no longer, but works on: its lease runs out 30 s
/// after its last renewal, and whoever polls next takes it.
pub fn stopped_renewals_first(scenario: &Scenario, _: &Calendar) -> FaultPlan {
    at_first(scenario, "work.2", Phase::Before, shutdown())
}

/// The same, and the job takes ten minutes more: longer than a heartbeat may be old.
pub fn stopped_renewals_first_in_a_slow_job(scenario: &Scenario, _: &Calendar) -> FaultPlan {
    let slow = Harm::SlowStep { extra: 10.minutes() }.when(Trigger::first(IN_THE_JOB, Phase::Before));
    in_scale(scenario, [shutdown().when(Trigger::first("work.2", Phase::Before)), slow])
}

fn shutdown() -> Harm {
    Harm::Shutdown { host: Target::Self_, order: StopOrder::RenewalsFirst, grace: 30.minutes(), back_after: 1.minutes() }
}

/// The lease store evicts the lease while the first holder is in the middle of its job.
pub fn evicted_in_the_job(scenario: &Scenario, _: &Calendar) -> FaultPlan {
    in_the_job(scenario, Harm::LeaseEvict { store: HostId::Lease })
}

/// The lease store restarts empty when the first holder has looked at its lease for the last
/// time, and the holder takes 90 s to begin its transaction: longer than a poll, shorter than
/// the next holder's job. It renews meanwhile, so with its lease kept nobody else could work.
pub fn emptied_before_the_transaction(scenario: &Scenario, _: &Calendar) -> FaultPlan {
    let when = || Trigger::first("tx.begin", Phase::Before);
    let faults = [
        Harm::LeaseWipe { store: HostId::Lease, back_after: 10.seconds() }.when(when()),
        Harm::SlowStep { extra: 90.seconds() }.when(when()),
    ];
    in_scale(scenario, faults)
}

/// As [`emptied_before_the_transaction`], for three of five stores. Whoever is refused by five has to
/// give back what it got, which in a scaled deployment takes as long as half a poll: two and a half minutes.
pub fn most_emptied_before_the_transaction(scenario: &Scenario, _: &Calendar) -> FaultPlan {
    let when = || Trigger::first("tx.begin", Phase::Before);
    let wiped = [1, 2, 3].map(|n| Harm::LeaseWipe { store: HostId::FurtherLease(n), back_after: 10.seconds() }.when(when()));
    in_scale(scenario, wiped.into_iter().chain([Harm::SlowStep { extra: 150.seconds() }.when(when())]))
}

/// The lease store restarts, with its data, between the first holder's grant and its expiry.
pub fn lease_store_restarts_before_the_expiry(scenario: &Scenario, _: &Calendar) -> FaultPlan {
    at_first(scenario, "lease.expire", Phase::Before, Harm::Crash { host: Target::Host(HostId::Lease), back_after: 10.seconds() })
}

/// The first job fails once.
pub fn job_error(scenario: &Scenario, _: &Calendar) -> FaultPlan {
    in_the_job(scenario, Harm::JobError { times: 1 })
}

/// The first settlement's commit is refused.
pub fn commit_refused(scenario: &Scenario, _: &Calendar) -> FaultPlan {
    at_first(scenario, "tx.commit", Phase::Before, Harm::CommitFails { host: Target::Self_ })
}

/// The first node that has committed dies.
pub fn crash_after_the_commit(scenario: &Scenario, _: &Calendar) -> FaultPlan {
    after_the_commit(scenario, Harm::Crash { host: Target::Self_, back_after: 5.minutes() })
}

/// The first node that has committed is cut from the database.
pub fn cut_after_the_commit(scenario: &Scenario, _: &Calendar) -> FaultPlan {
    let from = Target::Host(HostId::Database);
    after_the_commit(scenario, Harm::Partition { host: Target::Self_, from, direction: Direction::Both, lasts: 40.minutes() })
}

/// The database restarts while the first node is in the middle of its job.
pub fn database_restarts_in_the_job(scenario: &Scenario, _: &Calendar) -> FaultPlan {
    in_the_job(scenario, Harm::Crash { host: Target::Host(HostId::Database), back_after: 10.seconds() })
}

/// The first coordinator whose parts are both prepared dies before it can commit either.
pub fn crash_between_the_phases(scenario: &Scenario, _: &Calendar) -> FaultPlan {
    at_first(scenario, "payout.prepare", Phase::After, Harm::Crash { host: Target::Self_, back_after: 5.minutes() })
}

/// Every node's first claim loses its answer, so whoever wins the first one does not know.
pub fn claim_reply_lost(scenario: &Scenario, _: &Calendar) -> FaultPlan {
    first_reply_lost(scenario, "task.claim", HostId::Database)
}

/// Every node's first pop loses its answer, so whoever gets the task does not know.
pub fn pop_reply_lost(scenario: &Scenario, _: &Calendar) -> FaultPlan {
    first_reply_lost(scenario, "queue.pop", HostId::Lease)
}

/// The lease store restarts empty when the first node is about to put the task into the queue, and
/// is back when all nodes have come.
pub fn emptied_before_the_push(scenario: &Scenario, _: &Calendar) -> FaultPlan {
    at_first(scenario, "queue.push", Phase::Before, Harm::LeaseWipe { store: HostId::Lease, back_after: 10.seconds() })
}

/// Every node's first request for a lease loses its answer, so whoever is granted it does not know.
pub fn acquire_reply_lost(scenario: &Scenario, _: &Calendar) -> FaultPlan {
    first_reply_lost(scenario, "lease.acquire", HostId::Lease)
}

/// The queue hands the task out once more when whoever got it first has settled.
pub fn redelivered_after_the_commit(scenario: &Scenario, _: &Calendar) -> FaultPlan {
    after_the_commit(scenario, Harm::Redeliver)
}

/// No node is alive from five minutes before the first boundary to two hours after it.
pub fn outage(scenario: &Scenario, calendar: &Calendar) -> FaultPlan {
    let before: Duration = 5.minutes();
    let harm = Harm::Crash { host: Target::AllNodes, back_after: before + 2.hours() };
    let begins = |first| Trigger::At { at_ms: calendar.due(first) - before / scenario.time_scale.max(1) };
    in_scale(scenario, calendar.periods.first().map(|first| harm.when(begins(*first))))
}

/// The first node that has committed is cut from everybody, so that nobody hears that it is done.
pub fn cut_off_after_the_commit(scenario: &Scenario, _: &Calendar) -> FaultPlan {
    let harm = Harm::Partition { host: Target::Self_, from: Target::Everyone, direction: Direction::Both, lasts: 40.minutes() };
    after_the_commit(scenario, harm)
}

/// The dispatch centre is down from a minute before the first boundary to four minutes after it.
pub fn centre_down_at_the_boundary(scenario: &Scenario, calendar: &Calendar) -> FaultPlan {
    let (before, down): (Duration, Duration) = (1.minutes(), 5.minutes());
    let harm = Harm::Crash { host: Target::Host(HostId::Centre), back_after: down };
    let begins = |first| Trigger::At { at_ms: calendar.due(first) - before / scenario.time_scale.max(1) };
    in_scale(scenario, calendar.periods.first().map(|first| harm.when(begins(*first))))
}

fn in_the_term(scenario: &Scenario, nth: u32, harm: Harm) -> FaultPlan {
    let when = Trigger::Step { step: "lease.renew".to_owned(), phase: Phase::After, nth, node: None };
    in_scale(scenario, [harm.when(when)])
}

fn first_reply_lost(scenario: &Scenario, step: StepName, from: HostId) -> FaultPlan {
    let lost = |node| -> Fault {
        let when = Trigger::Step { step: step.to_owned(), phase: Phase::Sent, nth: 1, node: Some(HostId::node(node)) };
        Harm::ReplyLost { host: Target::Self_, from: Target::Host(from) }.when(when)
    };
    FaultPlan::of((0..scenario.nodes).map(lost))
}

fn in_the_job(scenario: &Scenario, harm: Harm) -> FaultPlan {
    at_first(scenario, IN_THE_JOB, Phase::Before, harm)
}

fn at_first(scenario: &Scenario, step: StepName, phase: Phase, harm: Harm) -> FaultPlan {
    in_scale(scenario, [harm.when(Trigger::first(step, phase))])
}

fn after_the_commit(scenario: &Scenario, harm: Harm) -> FaultPlan {
    at_first(scenario, "tx.commit", Phase::After, harm)
}

/// Lengths and offsets in the scenario's scale; when they strike is left as it is.
fn in_scale(scenario: &Scenario, faults: impl IntoIterator<Item = Fault>) -> FaultPlan {
    FaultPlan::of(faults).scaled_onto(scenario.time_scale, |at| Some(Moved::to(at)))
}
