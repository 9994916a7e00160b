//! The clock of one host: offset, drift and steps against true time.

use crate::time::{Origin, SimTime, WallTime, millis};
use std::time::Duration;

/// A clock that may be wrong. It runs at its own rate since `set_at`, when it showed `showed`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    set_at: SimTime,
    showed: WallTime,
    /// What it had counted at `set_at`, in milliseconds: its own time since the beginning, jumps left out.
    counted: u64,
    drift_ppm: i32,
}

impl Clock {
    /// A perfect clock.
    pub fn perfect(origin: Origin) -> Clock {
        Clock { set_at: SimTime::ZERO, showed: origin.wall(SimTime::ZERO), counted: 0, drift_ppm: 0 }
    }

    /// What the clock shows at true time `now`, which must not lie before its last setting.
    pub fn shows(&self, now: SimTime) -> WallTime {
        WallTime(self.showed.0 + self.since_set(now).cast_signed())
    }

    /// How long it says that it has been running, jumps left out: what timers go by.
    pub fn counts(&self, now: SimTime) -> Duration {
        Duration::from_millis(self.counted + self.since_set(now))
    }

    fn since_set(&self, now: SimTime) -> u64 {
        let elapsed = u128::from(now.0 - self.set_at.0);
        let rate = u128::try_from(1_000_000 + self.drift_ppm).expect("plans keep drift above -100 %");
        (elapsed * rate / 1_000_000) as u64
    }

    fn settle(&mut self, now: SimTime) {
        (self.showed, self.counted) = (self.shows(now), self.counted + self.since_set(now));
        self.set_at = now;
    }

    /// Makes the clock jump by `by_ms`, negative = back.
    pub fn step(&mut self, now: SimTime, by_ms: i64) {
        self.settle(now);
        self.showed = WallTime(self.showed.0 + by_ms);
    }

    /// Makes the clock run fast by `ppm` from now on, negative = slow. It does not jump.
    pub fn drift(&mut self, now: SimTime, ppm: i32) {
        self.settle(now);
        self.drift_ppm = ppm;
    }

    /// How long a timer of `d` on this clock takes in true time, in whole milliseconds, rounded up.
    ///
    /// # Panics
    /// The clock stands still or runs backwards, which `FaultPlan::validate` rules out.
    pub fn stretch(&self, d: Duration) -> Duration {
        if self.drift_ppm == 0 {
            return Duration::from_millis(millis(d));
        }
        let rate = u128::try_from(1_000_000 + self.drift_ppm).expect("plans keep drift above -100 %");
        Duration::from_millis(u64::try_from((d.as_nanos() * 1_000_000).div_ceil(rate * 1_000_000)).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Span;

    const ORIGIN: Origin = Origin(WallTime(1_000_000));

    #[test]
    fn offset_steps_and_drift_add_up_without_a_jump() {
        let mut clock = Clock::perfect(ORIGIN);
        clock.step(SimTime::ZERO, -5_000);
        assert_eq!(clock.shows(SimTime(7_000)), WallTime(1_002_000));
        clock.drift(SimTime(10_000), 50_000);
        assert_eq!(clock.shows(SimTime(10_000)), WallTime(1_005_000), "a new rate starts where the clock stands");
        assert_eq!(clock.shows(SimTime(110_000)), WallTime(1_110_000), "100 s at +5 % are 105 s");
    }

    /// A clock that runs 5 % fast counts its 100 s down in 95.239 s.
    #[test]
    fn timers_follow_the_drift() {
        let mut clock = Clock::perfect(ORIGIN);
        assert_eq!(clock.stretch(100.seconds()), 100.seconds());
        clock.drift(SimTime::ZERO, 50_000);
        assert_eq!(clock.stretch(100.seconds()), 95_239.ms());
        clock.drift(SimTime::ZERO, -20_000);
        assert_eq!(clock.stretch(98.seconds()), 100.seconds());
    }
}
