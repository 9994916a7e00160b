//! Times and lengths, as people read them.

use crate::time;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// True time of a run: in its zone, or, if nobody knows when it began, from its begin.
#[derive(Clone, Debug)]
pub struct Stamps {
    /// Milliseconds since 1970; none if there is no such time.
    origin: Option<i64>,
    /// None if it is unknown.
    zone: Option<TimeZone>,
}

impl Stamps {
    /// Of a run that began at `origin` (milliseconds since 1970). An unknown zone is UTC.
    pub fn new(origin: i64, zone: &str) -> Stamps {
        let origin = Timestamp::from_millisecond(origin).is_ok().then_some(origin);
        let zone = if zone.is_empty() { Some(TimeZone::UTC) } else { time::zone(zone).ok() };
        Stamps { origin, zone }
    }

    /// Whether it is known when the run began.
    pub fn are_known(&self) -> bool {
        self.origin.is_some()
    }

    /// Whether times are those of the zone of the run.
    pub fn are_of_the_zone(&self) -> bool {
        self.zone.is_some()
    }

    /// `2026-01-10`.
    pub fn date(&self, at: u64) -> String {
        self.civil(self.unix(at)).map_or("time unknown".to_owned(), |civil| civil.date().to_string())
    }

    /// `00:30:06.772`.
    pub fn time(&self, at: u64) -> String {
        self.time_at(self.unix(at))
    }

    /// The time of day of an instant since 1970; without one, the time since the run began.
    pub fn time_at(&self, unix: i64) -> String {
        let since = || since(unix.saturating_sub(self.origin.unwrap_or_default()));
        self.civil(unix).map_or_else(since, |civil| civil.strftime("%H:%M:%S%.3f").to_string())
    }

    /// `2026-01-10 00:30:06.772`.
    pub fn full(&self, at: u64) -> String {
        match self.civil(self.unix(at)) {
            Some(civil) => format!("{} {}", civil.date(), self.time(at)),
            None => self.time(at),
        }
    }

    /// Milliseconds since 1970 of an instant of the run, or since it began.
    pub fn unix(&self, at: u64) -> i64 {
        self.origin.unwrap_or_default().saturating_add_unsigned(at)
    }

    fn civil(&self, unix: i64) -> Option<DateTime> {
        self.origin?;
        let at = Timestamp::from_millisecond(unix).ok()?;
        Some(self.zone.clone().unwrap_or(TimeZone::UTC).to_datetime(at))
    }
}

/// `+0:30:06.772`.
fn since(ms: i64) -> String {
    let (sign, ms) = (if ms < 0 { '−' } else { '+' }, ms.unsigned_abs());
    format!("{sign}{}:{:02}:{:02}.{:03}", ms / 3_600_000, ms / 60_000 % 60, ms / 1_000 % 60, ms % 1_000)
}

const UNITS: [(u64, &str); 5] = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1000, "s"), (1, "ms")];

/// A length of time in its largest unit, rounded: `38 min`, `4.9 h`.
pub fn about(ms: u64) -> String {
    let Some(&(unit, name)) = UNITS.iter().find(|&&(unit, _)| ms >= unit) else { return length(ms) };
    let tenths = ms.saturating_mul(10).saturating_add(unit / 2) / unit;
    match tenths % 10 {
        rest if rest > 0 && tenths < 100 => format!("{}.{rest} {name}", tenths / 10),
        _ => format!("{} {name}", ms.saturating_add(unit / 2) / unit),
    }
}

/// A length of time in its two largest units, cut: `38 min`, `1 h 5 min`, `82 ms`.
pub fn length(ms: u64) -> String {
    let Some(first) = UNITS.iter().position(|&(unit, _)| ms >= unit) else { return "0 ms".to_owned() };
    let (unit, name) = UNITS[first];
    let rest = UNITS.get(first + 1).map(|&(small, name)| (ms % unit / small, name));
    match rest {
        Some((n, small)) if n > 0 => format!("{} {name} {n} {small}", ms / unit),
        Some(_) | None => format!("{} {name}", ms / unit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths() {
        let all = [0, 82, 1000, 1500, 2_280_000, 3_900_000, 86_400_000 * 15 - 1].map(length);
        assert_eq!(all, ["0 ms", "82 ms", "1 s", "1 s 500 ms", "38 min", "1 h 5 min", "14 d 23 h"]);
    }

    #[test]
    fn rounded_lengths() {
        let all = [9, 49_997, 588_000, 65_400, 83_000_000, 10_800_000].map(about);
        assert_eq!(all, ["9 ms", "50 s", "9.8 min", "1.1 min", "23 h", "3 h"]);
    }

    #[test]
    fn times_are_those_of_the_zone() {
        let stamps = Stamps::new(1_767_974_400_000, "Asia/Shanghai");
        assert_eq!(stamps.full(2_958), "2026-01-10 00:00:02.958");
        assert_eq!(Stamps::new(0, "Nowhere/Atall").full(1), "1970-01-01 00:00:00.001");
        assert!(stamps.are_of_the_zone() && !Stamps::new(0, "Nowhere/Atall").are_of_the_zone());
        assert_eq!(Stamps::new(0, "+08:00").full(1), "1970-01-01 08:00:00.001");
    }

    #[test]
    fn where_nobody_knows_when_it_began_times_are_those_since_then() {
        for origin in [i64::MAX, i64::MIN] {
            let stamps = Stamps::new(origin, "UTC");
            assert!(!stamps.are_known());
            assert_eq!([stamps.date(5), stamps.time(1_806_772), stamps.full(3)], ["time unknown", "+0:30:06.772", "+0:00:00.003"]);
        }
        assert_eq!(Stamps::new(0, "UTC").full(u64::MAX), "+2562047788015:12:55.807", "of an instant that no calendar has");
    }
}
