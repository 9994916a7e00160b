//! Times and lengths, as people read them.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// True time of a run, in its zone.
#[derive(Clone, Debug)]
pub struct Stamps {
    origin: i64,
    zone: TimeZone,
}

impl Stamps {
    /// Of a run that began at `origin` (milliseconds since 1970). An unknown zone is UTC.
    pub fn new(origin: i64, zone: &str) -> Stamps {
        Stamps { origin, zone: TimeZone::get(zone).unwrap_or(TimeZone::UTC) }
    }

    /// `2026-01-10`.
    pub fn date(&self, at: u64) -> String {
        self.civil(self.unix(at)).date().to_string()
    }

    /// `00:30:06.772`.
    pub fn time(&self, at: u64) -> String {
        self.time_at(self.unix(at))
    }

    /// The time of day of an instant since 1970.
    pub fn time_at(&self, unix: i64) -> String {
        self.civil(unix).strftime("%H:%M:%S%.3f").to_string()
    }

    /// `2026-01-10 00:30:06.772`.
    pub fn full(&self, at: u64) -> String {
        format!("{} {}", self.date(at), self.time(at))
    }

    /// Milliseconds since 1970 of an instant of the run.
    pub fn unix(&self, at: u64) -> i64 {
        self.origin.saturating_add(at as i64)
    }

    fn civil(&self, unix: i64) -> DateTime {
        let at = Timestamp::from_millisecond(unix).unwrap_or(Timestamp::UNIX_EPOCH);
        self.zone.to_datetime(at)
    }
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
        assert_eq!(Stamps::new(i64::MAX, "UTC").date(5), "1970-01-01");
    }
}
