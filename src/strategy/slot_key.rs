//! `SET NX PX` with the slot of the schedule in the key, which is kept beyond the run: whoever
//! comes for the same slot finds it, also when the run is over. Laravel's `onOneServer` and
//! sidekiq-scheduler do so. It names what a lease leaves out, the period; and it lets nobody try
//! again, whatever became of the first.

use crate::class::FaultClass;
use crate::id::Letter;
use crate::scenario::{Rules, SlotKeyKnobs, SlotTime};
use crate::settlement::{Decides, Period};
use crate::step::{Step, joined};
use crate::strategy::body::{self, JOB_STEPS};
use crate::strategy::{Context, Error, Expectation, Policy, Strategy, pinned};
use crate::time::{WallTime, millis};
use crate::trace::Belief;
use async_trait::async_trait;

const STEPS: [Step; 14] = joined(&[&[Step::lease("lease.acquire")], &JOB_STEPS]);

/// One attempt a period under a key that names it.
pub struct SlotKey;

impl SlotKey {
    fn key(knobs: &SlotKeyKnobs, period: Period, now: WallTime) -> String {
        let slot = match knobs.time {
            SlotTime::Nominal => period.due.0,
            SlotTime::Observed => now.0 - now.0.rem_euclid(millis(knobs.rounded_to).cast_signed()),
        };
        format!("settlement-{slot}")
    }
}

#[async_trait(?Send)]
impl Strategy for SlotKey {
    fn name(&self) -> &'static str {
        "slot-key"
    }

    fn about(&self) -> &'static str {
        "SET NX PX 1 h with the slot in the key, the job; the key stays; one attempt a period"
    }

    fn policy(&self) -> Policy {
        Policy::Skip
    }

    /// A key a slot: a newer grant says nothing about an older slot.
    fn decides(&self) -> Decides {
        Decides::Nothing
    }

    fn steps(&self) -> &'static [Step] {
        &STEPS
    }

    fn expectations(&self, _: Rules) -> Vec<Expectation> {
        let nobody_else = "the slot is taken, whatever becomes of who took it";
        vec![
            Expectation::never_under(
                FaultClass::Skew,
                &[Letter::D],
                "whoever comes within an hour finds the key of the boundary for which it comes",
            ),
            Expectation::must(FaultClass::Crash, &[Letter::L], nobody_else, pinned::crash_in_the_job),
            Expectation::must(FaultClass::JobError, &[Letter::L], nobody_else, pinned::job_error),
            Expectation::must(
                FaultClass::ReplyLost,
                &[Letter::L],
                "the key was set, and whoever set it does not know",
                pinned::acquire_reply_lost,
            ),
        ]
    }

    async fn attempt(&self, context: &mut Context, period: Period) -> Result<Belief, Error> {
        let knobs = &context.scenario().slot_key;
        let (key, token) = (Self::key(knobs, period, context.wall()), format!("{:016x}", context.random()));
        if !context.lease().set_nx_px("lease.acquire", &key, &token, knobs.kept).await? {
            return Ok(Belief::Busy);
        }
        body::job(context, period).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::PeriodId;
    use crate::time::Span;

    /// The boundary is the same for everybody; an observed time is, if both fall into the same minute.
    #[test]
    fn what_a_slot_is_called() {
        let period = Period { id: PeriodId(1), due: WallTime(600_000) };
        let key = |time, now| SlotKey::key(&SlotKeyKnobs { time, ..SlotKeyKnobs::default() }, period, WallTime(now));
        assert_eq!(key(SlotTime::Nominal, 640_000), key(SlotTime::Nominal, 700_000));
        assert_eq!(key(SlotTime::Observed, 640_000), key(SlotTime::Observed, 659_999));
        assert_ne!(key(SlotTime::Observed, 640_000), key(SlotTime::Observed, 660_000));
        let finer = SlotKeyKnobs { time: SlotTime::Observed, rounded_to: 1.seconds(), ..SlotKeyKnobs::default() };
        assert_eq!(SlotKey::key(&finer, period, WallTime(640_999)), "settlement-640000");
    }
}
