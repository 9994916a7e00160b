//! Two clocks, two types. [`SimTime`] is the world's true time; [`WallTime`] is what some
//! clock shows. Nothing adds or compares one with the other: only the world, which owns
//! the true calendar, converts ([`Origin`]).

mod zone;

pub use zone::{FARTHEST, NoZone, offset_name, zone, zone_name};

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::{Add, Sub};
use std::time::Duration;

/// True time: milliseconds since the run began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SimTime(pub u64);

impl SimTime {
    /// The instant at which every run begins.
    pub const ZERO: SimTime = SimTime(0);

    /// How long after `earlier` this is; zero if it is not after it.
    pub fn since(self, earlier: SimTime) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for SimTime {
    type Output = SimTime;
    fn add(self, d: Duration) -> SimTime {
        SimTime(self.0 + millis(d))
    }
}

impl Sub<Duration> for SimTime {
    type Output = SimTime;
    /// Stops at the beginning of the run.
    fn sub(self, d: Duration) -> SimTime {
        SimTime(self.0.saturating_sub(millis(d)))
    }
}

/// Elapsed true time as `3d 04:05:06.789`, the day left out in the first day.
impl fmt::Display for SimTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (ms, s) = (self.0 % 1000, self.0 / 1000);
        if s >= 86_400 {
            write!(f, "{}d ", s / 86_400)?;
        }
        write!(f, "{:02}:{:02}:{:02}.{ms:03}", s / 3600 % 24, s / 60 % 60, s % 60)
    }
}

/// An instant as some clock shows it: milliseconds since the Unix epoch, on that clock.
///
/// A boundary of the schedule is a `WallTime` too: it is reached, for a node, when the
/// node's own clock shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WallTime(pub i64);

impl WallTime {
    /// How much later than `earlier` this clock shows; zero if it is not later.
    pub fn since(self, earlier: WallTime) -> Duration {
        Duration::from_millis(u64::try_from(self.0 - earlier.0).unwrap_or(0))
    }

    /// The same instant for jiff.
    ///
    /// # Panics
    /// The instant lies outside of jiff's range of years, which validated scenarios never reach.
    pub fn timestamp(self) -> jiff::Timestamp {
        jiff::Timestamp::from_millisecond(self.0).expect("simulated clocks stay within jiff's range")
    }
}

impl From<jiff::Timestamp> for WallTime {
    fn from(t: jiff::Timestamp) -> WallTime {
        WallTime(t.as_millisecond())
    }
}

impl Add<Duration> for WallTime {
    type Output = WallTime;
    fn add(self, d: Duration) -> WallTime {
        WallTime(self.0 + millis(d) as i64)
    }
}

impl Sub<Duration> for WallTime {
    type Output = WallTime;
    fn sub(self, d: Duration) -> WallTime {
        WallTime(self.0 - millis(d) as i64)
    }
}

/// What a perfect clock shows when the run begins: the only bridge between the two times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin(pub WallTime);

impl Origin {
    /// What a perfect clock shows at `t`.
    pub fn wall(self, t: SimTime) -> WallTime {
        WallTime(self.0.0 + t.0 as i64)
    }

    /// When a perfect clock shows `w`; the beginning of the run if that was before it.
    pub fn sim(self, w: WallTime) -> SimTime {
        SimTime(u64::try_from(w.0 - self.0.0).unwrap_or(0))
    }
}

/// Whole milliseconds, rounded up: the resolution of every timer and of the network.
pub fn millis(d: Duration) -> u64 {
    u64::try_from(d.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

/// Durations in readable places: `5.minutes()`.
pub trait Span {
    /// Milliseconds.
    fn ms(self) -> Duration;
    /// Seconds.
    fn seconds(self) -> Duration;
    /// Minutes.
    fn minutes(self) -> Duration;
    /// Hours.
    fn hours(self) -> Duration;
}

impl Span for u64 {
    fn ms(self) -> Duration {
        Duration::from_millis(self)
    }
    fn seconds(self) -> Duration {
        Duration::from_secs(self)
    }
    fn minutes(self) -> Duration {
        Duration::from_secs(self * 60)
    }
    fn hours(self) -> Duration {
        Duration::from_secs(self * 3600)
    }
}
