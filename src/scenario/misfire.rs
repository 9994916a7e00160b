//! What a node does about boundaries that it missed: it was dead, asleep, or at work when they came.
//!
//! The words are those of schedulers: Quartz's misfire instructions and threshold, `APScheduler`'s `coalesce` and
//! `misfire_grace_time`, systemd's `Persistent`. A period keeps its nominal date, however late it is settled.

use crate::plan::duration;
use crate::settlement::Period;
use crate::time::{Span, WallTime};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What becomes of a boundary that a node comes to too late.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Misfire {
    /// It is made up for, each of those that were missed.
    #[default]
    FireAll,
    /// Only the newest of those that were missed is made up for.
    FireOnce,
    /// It is left alone.
    Skip,
}

/// When a boundary counts as missed, and what becomes of it then.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MisfireKnobs {
    /// What becomes of it.
    pub policy: Misfire,
    /// A node that first sees a boundary so long after it, on its own clock, has not missed it. Longer than `node.jitter`
    /// and `guard.wake_after` together, or every boundary would be missed.
    #[serde(with = "duration")]
    pub grace: Duration,
}

impl Default for MisfireKnobs {
    fn default() -> MisfireKnobs {
        MisfireKnobs { policy: Misfire::default(), grace: 2.minutes() }
    }
}

impl MisfireKnobs {
    /// Those of the periods that a node sees for the first time, its clock at `now`, with which it does something.
    pub fn fires(&self, seen: &[Period], now: WallTime) -> Vec<Period> {
        let missed = |period: &Period| self.grace < now.since(period.due);
        let newest = seen.iter().filter(|period| missed(period)).max_by_key(|period| period.due);
        let fires = |period: &Period| match self.policy {
            Misfire::FireAll => true,
            Misfire::FireOnce => !missed(period) || Some(period) == newest,
            Misfire::Skip => !missed(period),
        };
        seen.iter().copied().filter(fires).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::PeriodId;

    /// Two were missed, and the last one is within the grace time.
    #[test]
    fn what_was_missed_is_fired_once_always_or_never() {
        let seen: Vec<Period> =
            [(1, 0), (2, 3_600_000), (3, 7_200_000)].map(|(id, due)| Period { id: PeriodId(id), due: WallTime(due) }).into();
        let now = WallTime(7_200_000) + 2.minutes();
        let fires = |policy| {
            let knobs = MisfireKnobs { policy, ..MisfireKnobs::default() };
            knobs.fires(&seen, now).into_iter().map(|period| period.id.0).collect::<Vec<_>>()
        };
        assert_eq!(fires(Misfire::FireAll), [1, 2, 3]);
        assert_eq!(fires(Misfire::FireOnce), [2, 3]);
        assert_eq!(fires(Misfire::Skip), [3]);
        let late = MisfireKnobs { policy: Misfire::FireOnce, ..MisfireKnobs::default() }.fires(&seen, now + 1.ms());
        assert_eq!(late, [seen[2]], "a millisecond later all three were missed, and the newest is made up for");
    }
}
