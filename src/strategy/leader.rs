//! One node leads, and only the leader's schedule fires. It leads under a lease that it renews
//! all the time; the schedule itself is in its memory.
//!
//! 1. From some time before a boundary every node bids for the lease, as often as a leader renews
//!    it. A deployment does so for weeks; what happens far from a boundary fires nothing, so a run
//!    begins when it can matter.
//! 2. Who is elected waits for the boundary by its own clock, on one timer, and renews beside it.
//!    The timer asks nobody: if it is due when a process wakes from a long pause, it fires.
//! 3. Who is elected after the boundary waits for the next one, unless the schedule remembers.
//! 4. When it fires it renews once more, for as long as a node pays attention, so that no node
//!    whose clock shows the boundary later can be elected before it: the real one goes on leading.

mod office;

use crate::class::FaultClass;
use crate::id::{HostId, Letter, PeriodId};
use crate::scenario::{HeldIn, LeaderKnobs, OnError, Remembers, Rules, Scenario};
use crate::settlement::{Decides, Period};
use crate::step::{Step, joined};
use crate::store::sql::{Text, aggregate, column, int};
use crate::strategy::body::{self, JOB_STEPS};
use crate::strategy::{Context, Error, Expectation, Policy, Strategy, pinned};
use crate::time::WallTime;
use crate::trace::Belief;
use async_trait::async_trait;
use office::Office;
use std::borrow::Cow;
use std::time::Duration;

const STEPS: [Step; 20] = joined(&[
    &[
        Step::database("tick.find"),
        Step::lease("lease.acquire"),
        Step::database("row.update"),
        Step::database("row.insert"),
        Step::lease("lease.renew"),
        Step::database("row.extend"),
        Step::database("tick.record"),
    ],
    &JOB_STEPS,
]);

const TICKS: &str = "SELECT period FROM marker";
const TICKED: &str = "SELECT count(*) FROM marker WHERE period = $1";
const RECORD: Text =
    Text::new("INSERT INTO marker (period) VALUES ($1) ON CONFLICT (period) DO NOTHING", "INSERT IGNORE INTO marker (period) VALUES ($1)");

/// Only the leader's schedule fires.
pub struct Leader;

impl Leader {
    /// Bids until the boundary: how often the schedule fires then, if this node leads and has something to fire.
    async fn term(context: &Context, period: Period, office: &Office) -> Result<Option<u32>, Error> {
        let knobs = &context.scenario().leader;
        let mut elected = 0;
        loop {
            let granted = match office.bid(context).await {
                Ok(true) => true,
                Err(_) if knobs.on_error == OnError::Lead => false,
                Err(error) if period.due <= context.wall() => return Err(error),
                Ok(false) if period.due <= context.wall() => return Ok(None),
                Ok(false) | Err(_) => {
                    context.sleep(knobs.renew_every).await;
                    continue;
                }
            };
            elected += 1;
            if period.due <= context.wall() {
                return Ok((knobs.remembers != Remembers::Nothing).then_some(1));
            }
            let due = tokio::select! {
                biased;
                () = context.sleep_until(period.due) => true,
                // Who was granted nothing has nothing to renew, and nothing to lose.
                () = office.lead(context), if granted => false,
            };
            if due {
                return Ok(Some(if knobs.adds_again { elected } else { 1 }));
            }
        }
    }

    /// Whether the slot is this leader's to fire, as far as the schedule remembers; if so, it does from now on.
    async fn slot(context: &Context, period: Period) -> Result<bool, Error> {
        let remembers = context.scenario().leader.remembers;
        if remembers == Remembers::Nothing {
            return Ok(true);
        }
        if remembers == Remembers::LastTick {
            let ticked = context.sql().query("tick.find", TICKED, &[int(&period.id.0)]).await?;
            if aggregate(&ticked)? > 0 {
                return Ok(false);
            }
        }
        let recorded = context.sql().execute("tick.record", RECORD, &[int(&period.id.0)]).await?;
        Ok(recorded == 1 || remembers == Remembers::LastTick)
    }
}

/// What a leader that looks back has to fire of what has not fired: none of it, if too much was missed.
fn to_fire(knobs: &LeaderKnobs, not_fired: &[Period], now: WallTime) -> Vec<PeriodId> {
    let recent = |period: &&Period| knobs.late_by.is_zero() || now <= period.due + knobs.late_by;
    let recent: Vec<Period> = not_fired.iter().filter(recent).copied().collect();
    let missed = recent.iter().filter(|period| period.due <= now).count();
    let too_many = knobs.most_missed > 0 && usize::try_from(knobs.most_missed).is_ok_and(|most| most < missed);
    if too_many { Vec::new() } else { recent.iter().map(|period| period.id).collect() }
}

#[async_trait(?Send)]
impl Strategy for Leader {
    fn name(&self) -> &'static str {
        "leader"
    }

    fn about(&self) -> &'static str {
        "one node leads under a renewed lease of 30 s, and only its schedule fires, from memory; a new leader does not look back"
    }

    fn policy(&self) -> Policy {
        Policy::Retry
    }

    /// What a leader has fired is no longer a matter of who leads.
    fn decides(&self) -> Decides {
        Decides::Nothing
    }

    fn steps(&self) -> &'static [Step] {
        &STEPS
    }

    /// Whose lease is a row never asks the lease store.
    fn steps_in(&self, scenario: &Scenario) -> Cow<'static, [Step]> {
        match scenario.leader.held_in {
            HeldIn::LeaseStore => Cow::Borrowed(&STEPS),
            HeldIn::Row => STEPS.iter().copied().filter(|step| step.peer != Some(HostId::Lease)).collect(),
        }
    }

    fn wakes_early(&self, scenario: &Scenario) -> Duration {
        scenario.leader.ahead
    }

    fn expectations(&self, _: Rules) -> Vec<Expectation> {
        let no_leader = "nobody leads at the boundary, and who is elected after it waits for the next one";
        vec![
            Expectation::must(
                FaultClass::Skew,
                &[Letter::E],
                "the schedule fires by the leader's clock, and nothing else says that the period has ended",
                pinned::one_node_fast,
            ),
            Expectation::must(FaultClass::Crash, &[Letter::L], no_leader, pinned::leader_crashes),
            Expectation::must(FaultClass::Power, &[Letter::L], no_leader, pinned::leader_loses_power),
            Expectation::must(
                FaultClass::Pause,
                &[Letter::D],
                "another is elected and fires, and the timer of the one that was paused is overdue when it wakes",
                pinned::leader_pauses,
            ),
            Expectation::must(FaultClass::Outage, &[Letter::L], no_leader, pinned::outage),
            Expectation::must(FaultClass::JobError, &[Letter::L], "a slot fires once, whatever becomes of it", pinned::job_error),
        ]
    }

    async fn unsettled(&self, context: &mut Context) -> Result<Option<Vec<PeriodId>>, Error> {
        let knobs = &context.scenario().leader;
        if knobs.remembers == Remembers::Nothing {
            return Ok(None);
        }
        let rows = context.sql().query("tick.find", TICKS, &[]).await?;
        let mut ticked = Vec::with_capacity(rows.len());
        for row in &rows {
            ticked.push(PeriodId(column(row, 0)?));
        }
        let near: Vec<Period> = context.calendar().due_at(context.wall() + knobs.ahead).filter(|p| !ticked.contains(&p.id)).collect();
        Ok(Some(to_fire(knobs, &near, context.wall())))
    }

    async fn attempt(&self, context: &mut Context, period: Period) -> Result<Belief, Error> {
        let office = Office::of(context);
        let Some(times) = Self::term(context, period, &office).await? else {
            // What a leader that remembers nothing waits for is the next boundary.
            let forgets = context.scenario().leader.remembers == Remembers::Nothing;
            return Ok(if forgets { Belief::AlreadySettled } else { Belief::Busy });
        };
        if !Self::slot(context, period).await? {
            return Ok(Belief::AlreadySettled);
        }
        office.keep(context).await;
        for _ in 1..times {
            body::job(context, period).await?;
        }
        body::job(context, period).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Span;

    /// 101 minutes were missed: more than a hundred, and none fires any more, unless only the last of them count.
    #[test]
    fn too_much_that_was_missed_is_missed_for_good() {
        let minute = |n: i64| Period { id: PeriodId(n), due: WallTime(n * 60_000) };
        let missed: Vec<Period> = (1..=101).map(minute).collect();
        let fires = |knobs: &LeaderKnobs, of: &[Period]| to_fire(knobs, of, WallTime(101 * 60_000)).len();
        let most = LeaderKnobs { most_missed: 100, ..LeaderKnobs::default() };
        assert_eq!((fires(&most, &missed[1..]), fires(&most, &missed)), (100, 0));
        assert_eq!(fires(&LeaderKnobs::default(), &missed), 101);
        assert_eq!(fires(&LeaderKnobs { late_by: 5.minutes(), ..most }, &missed), 6);
    }
}
