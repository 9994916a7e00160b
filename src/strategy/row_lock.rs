//! The schedule is a row with its next due time. A node takes the lock, which is another row, reads
//! the time, advances it, commits, and fires from its memory. Quartz and xxl-job do so.
//!
//! Under the lock a time is taken once, whoever asks how often, and that is also what is wrong with
//! it: between the commit and the firing nothing but one process knows that there is something to
//! fire. Records of who has fired what, and check-ins, bring it back, and bring back what is not
//! lost as well.
//!
//! Without the lock around the acquisition a time is marked as acquired, if nobody else has. The
//! mark comes and goes, and says nothing about which time it belongs to.

mod row;

use crate::class::FaultClass;
use crate::id::{Letter, PeriodId};
use crate::scenario::{Acquires, OnMisfire, Reads, Recovers, Rules, Scenario};
use crate::settlement::{Decides, Period};
use crate::step::Step;
use crate::strategy::context::WORK;
use crate::strategy::{Context, Error, Expectation, Policy, Strategy, body, pinned};
use crate::trace::Belief;
use async_trait::async_trait;
use row::Row;
use std::future::pending;
use std::time::Duration;

const STEPS: [Step; 24] = [
    Step::database("trigger.find"),
    Step::database("trigger.read"),
    Step::database("trigger.acquire"),
    Step::database("trigger.begin"),
    Step::database("trigger.lock"),
    Step::database("trigger.advance"),
    Step::database("trigger.commit"),
    Step::database("trigger.rollback"),
    Step::database("trigger.recover"),
    WORK[0],
    WORK[1],
    Step::database("trigger.check-in"),
    WORK[2],
    WORK[3],
    WORK[4],
    Step::database("tx.begin"),
    Step::database("tx.mark"),
    Step::database("tx.ranking"),
    Step::database("tx.points"),
    Step::database("tx.settlement"),
    Step::database("tx.commit"),
    Step::database("tx.rollback"),
    Step::payout("pay"),
    Step::database("trigger.done"),
];

/// What an attempt to take a due time came to.
enum Taken {
    /// It is this node's to fire.
    Ours,
    /// It came too late, and does not fire.
    Missed,
    /// Somebody else has it, or had it.
    Not,
}

/// Lock row, next due time, fire from memory.
pub struct RowLock;

impl RowLock {
    async fn take(context: &Context, period: Period) -> Result<Taken, Error> {
        let knobs = &context.scenario().row_lock;
        if knobs.acquires == Acquires::Unlocked {
            let read = row::read(context, "trigger.read").await?;
            if read.next_fire != period.due || !Self::acquire(context, read).await? {
                return Ok(Taken::Not);
            }
            context.sleep_until(period.due).await;
        }
        let early = match knobs.reads {
            Reads::Before => Some(row::read(context, "trigger.read").await?),
            Reads::UnderLock => None,
        };
        let taken = context
            .sql()
            .transaction_as(["trigger.begin", "trigger.commit", "trigger.rollback"], async || {
                row::lock(context).await?;
                let read = match early {
                    Some(read) => read,
                    None => row::read(context, "trigger.read").await?,
                };
                let still = match knobs.acquires {
                    Acquires::Locked => read.next_fire == period.due,
                    // Which time was acquired is in this node's memory.
                    Acquires::Unlocked => read.acquired,
                };
                if !still {
                    return Ok(None);
                }
                let late = period.due + knobs.misfire_after < context.wall();
                let fires = !late || knobs.on_misfire == OnMisfire::Fire;
                row::advance(context, period, fires).await?;
                Ok(Some(if fires { Taken::Ours } else { Taken::Missed }))
            })
            .await?;
        Ok(taken.unwrap_or(Taken::Not))
    }

    /// Marks what was read as acquired; what a dead node has acquired is given free first.
    async fn acquire(context: &Context, read: Row) -> Result<bool, Error> {
        let recovers = context.scenario().row_lock.recovers != Recovers::Nothing;
        if read.acquired && !(recovers && read.seems_dead(context) && row::set_free(context).await?) {
            return Ok(false);
        }
        row::acquire(context).await
    }

    /// The job, with check-ins while it is at work.
    async fn job(context: &Context, period: Period) -> Result<Belief, Error> {
        // From BEGIN on nobody checks in: it shares the connection.
        tokio::select! {
            biased;
            worked = context.work() => worked?,
            never = check_in(context) => never,
        }
        body::settle(context, period).await
    }
}

async fn check_in(context: &Context) -> ! {
    let knobs = &context.scenario().row_lock;
    if knobs.recovers == Recovers::Nothing {
        pending::<()>().await;
    }
    loop {
        context.sleep(knobs.check_in).await;
        // One that fails is made up for by the next.
        let _ = row::check_in(context).await;
    }
}

#[async_trait(?Send)]
impl Strategy for RowLock {
    fn name(&self) -> &'static str {
        "row-lock"
    }

    fn about(&self) -> &'static str {
        "FOR UPDATE on a lock row, read the next due time 5 s ahead, advance it, commit, fire from memory; missed times are skipped"
    }

    fn policy(&self) -> Policy {
        Policy::Retry
    }

    fn decides(&self) -> Decides {
        Decides::Nothing
    }

    fn steps(&self) -> &'static [Step] {
        &STEPS
    }

    fn wakes_early(&self, scenario: &Scenario) -> Duration {
        scenario.row_lock.ahead
    }

    fn expectations(&self, _: Rules) -> Vec<Expectation> {
        let forgotten = "the schedule has gone on, and what has not fired is in the memory of one process";
        vec![
            Expectation::never(&[Letter::D], "a due time is advanced once, under the lock, and only whoever has committed that fires"),
            Expectation::must(FaultClass::Skew, &[Letter::E], "times are due by a node's own clock", pinned::one_node_fast),
            Expectation::must(FaultClass::Crash, &[Letter::L], forgotten, pinned::crash_before_it_fires),
            Expectation::must(FaultClass::ReplyLost, &[Letter::L], forgotten, pinned::advance_reply_lost),
            Expectation::must(FaultClass::JobError, &[Letter::L], "a due time fires once, whatever becomes of it", pinned::job_error),
            Expectation::must(FaultClass::Outage, &[Letter::L], "a time that nobody took when it was due is skipped", pinned::outage),
        ]
    }

    async fn unsettled(&self, context: &mut Context) -> Result<Option<Vec<PeriodId>>, Error> {
        let knobs = &context.scenario().row_lock;
        let read = row::read(context, "trigger.find").await?;
        let near = context.wall() + knobs.ahead;
        let next = context.calendar().periods.iter().filter(|p| p.due == read.next_fire && p.due <= near);
        let fired = context.calendar().periods.iter().filter(|p| knobs.recovers == Recovers::Fired && Some(p.due) == read.fired);
        Ok(Some(fired.chain(next).map(|period| period.id).collect()))
    }

    async fn attempt(&self, context: &mut Context, period: Period) -> Result<Belief, Error> {
        let context = &*context;
        let recovers = context.scenario().row_lock.recovers;
        let recovered = recovers == Recovers::Fired && row::recover(context, period).await?;
        if !recovered {
            match Self::take(context, period).await? {
                Taken::Ours => context.sleep_until(period.due).await,
                Taken::Missed => return Ok(Belief::AlreadySettled),
                Taken::Not => return Ok(Belief::Busy),
            }
        }
        let done = Self::job(context, period).await;
        if recovers == Recovers::Fired {
            // What is left of a failed transaction would swallow it.
            context.sql().give_up_transaction();
            row::done(context, period).await?;
        }
        done
    }
}
