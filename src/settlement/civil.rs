//! Civil time: which instants a local time has in a zone, where summer time skips it or brings
//! it twice.
//!
//! Schedulers differ. Debian's cron(8) runs what a change of less than three hours skips directly after it, and does
//! not repeat what comes twice; robfig/cron, under Kubernetes' `CronJob`, says that jobs in a skipped hour are not run;
//! a calendar by RFC 5545 takes a skipped time with the offset from before the gap, which moves it on by the length of
//! the gap. So both are knobs of the schedule. The defaults are what croner does with a time of day.

use crate::time::{FARTHEST, SimTime, WallTime};
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

/// What becomes of a boundary at a local time that does not exist.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Gap {
    /// It comes at the end of the gap: 02:30 at 03:00, as with cron.
    #[default]
    End,
    /// It comes as much later as the gap is long: 02:30 at 03:30, as in RFC 5545.
    Shift,
    /// It does not come: there is no period that ends on that day.
    Skip,
}

/// What becomes of a boundary at a local time that comes twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fold {
    /// It comes the first time.
    #[default]
    First,
    /// It comes the second time.
    Second,
    /// The period ends the first time, and nodes wake for it a second time.
    Both,
}

/// The instants at which a boundary comes: none, one, or two.
pub(super) fn instants(zone: &TimeZone, at: DateTime, gap: Gap, fold: Fold) -> Vec<Timestamp> {
    let with = |offset: Offset| offset.to_timestamp(at).ok();
    let found = match zone.to_ambiguous_timestamp(at).offset() {
        AmbiguousOffset::Unambiguous { offset } => [with(offset), None],
        AmbiguousOffset::Gap { before, .. } => match gap {
            Gap::Shift => [with(before), None],
            Gap::End => [with(before).and_then(|later| last_change(zone, later)), None],
            Gap::Skip => [None, None],
        },
        AmbiguousOffset::Fold { before, after } => match fold {
            Fold::First => [with(before), None],
            Fold::Second => [with(after), None],
            Fold::Both => [with(before), with(after)],
        },
    };
    found.into_iter().flatten().collect()
}

/// When the zone changed its offset last, `at` included.
fn last_change(zone: &TimeZone, at: Timestamp) -> Option<Timestamp> {
    let after = at.checked_add(SignedDuration::from_millis(1)).ok()?;
    zone.preceding(after).next().map(|change| change.timestamp())
}

/// The fixed offset of a zone that is so many milliseconds ahead of `zone` at that time, as text: `+09:00:04`. It is
/// cut to whole seconds, and to the offsets that there may be.
pub fn ahead_of(zone: &TimeZone, at: WallTime, ahead_ms: i64) -> String {
    let seconds = i64::from(zone.to_offset(at.timestamp()).seconds()) + ahead_ms / 1000;
    let most = FARTHEST.as_secs().cast_signed();
    let seconds = seconds.clamp(-most, most);
    let (sign, all) = (if seconds < 0 { '-' } else { '+' }, seconds.unsigned_abs());
    format!("{sign}{:02}:{:02}:{:02}", all / 3600, all / 60 % 60, all % 60)
}

/// The fixed offset of the zone that stands in for `zone` in a world in which everything is `factor` times shorter,
/// whose own zone is `small`, and whose first boundary is `first` after its beginning: no boundary may lie before that.
pub fn scaled(zone: &TimeZone, of: &TimeZone, at: WallTime, small: &TimeZone, first: SimTime, factor: u32) -> String {
    let seconds = |zone: &TimeZone| i64::from(zone.to_offset(at.timestamp()).seconds());
    let ahead_ms = (seconds(zone) - seconds(of)) * 1000 / i64::from(factor.max(1));
    ahead_of(small, at, ahead_ms.min(most_ahead_ms(first)))
}

/// By how much a node may be ahead so that a boundary which comes at `first` still lies in the run, with time to boot before it.
pub fn most_ahead_ms(first: SimTime) -> i64 {
    (first.0 / 5 * 4).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::zone;
    use jiff::civil::date;

    fn shown(name: &str, at: DateTime, gap: Gap, fold: Fold) -> Vec<String> {
        instants(&zone(name).unwrap(), at, gap, fold).iter().map(Timestamp::to_string).collect()
    }

    /// New York goes from 02:00 to 03:00 on 8 March 2026, which is 07:00 UTC; Lord Howe by half an hour.
    #[test]
    fn a_time_that_is_skipped() {
        let at = |gap| shown("America/New_York", date(2026, 3, 8).at(2, 30, 0, 0), gap, Fold::First);
        assert_eq!(at(Gap::End), ["2026-03-08T07:00:00Z"]);
        assert_eq!(at(Gap::Shift), ["2026-03-08T07:30:00Z"]);
        assert_eq!(at(Gap::Skip), [""; 0]);
        let begins = |gap| shown("America/New_York", date(2026, 3, 8).at(2, 0, 0, 0), gap, Fold::First);
        assert_eq!([begins(Gap::End), begins(Gap::Shift)], [["2026-03-08T07:00:00Z"], ["2026-03-08T07:00:00Z"]]);
        let howe = |gap| shown("Australia/Lord_Howe", date(2026, 10, 4).at(2, 15, 0, 0), gap, Fold::First);
        assert_eq!([howe(Gap::End), howe(Gap::Shift)], [["2026-10-03T15:30:00Z"], ["2026-10-03T15:45:00Z"]]);
    }

    /// New York goes from 02:00 back to 01:00 on 1 November 2026; Havana from 01:00 to midnight, which comes twice.
    #[test]
    fn a_time_that_comes_twice() {
        let at = |fold| shown("America/New_York", date(2026, 11, 1).at(1, 30, 0, 0), Gap::End, fold);
        assert_eq!(at(Fold::First), ["2026-11-01T05:30:00Z"]);
        assert_eq!(at(Fold::Second), ["2026-11-01T06:30:00Z"]);
        assert_eq!(at(Fold::Both), ["2026-11-01T05:30:00Z", "2026-11-01T06:30:00Z"]);
        let midnight = shown("America/Havana", date(2026, 11, 1).at(0, 0, 0, 0), Gap::End, Fold::Both);
        assert_eq!(midnight, ["2026-11-01T04:00:00Z", "2026-11-01T05:00:00Z"]);
    }

    #[test]
    fn an_offset_is_told_to_the_second() {
        let shanghai = zone("Asia/Shanghai").unwrap();
        assert_eq!(ahead_of(&shanghai, WallTime(1_768_000_000_000), 3_600_000), "+09:00:00");
        assert_eq!(ahead_of(&TimeZone::UTC, WallTime(0), -4_000), "-00:00:04");
        assert_eq!(ahead_of(&TimeZone::UTC, WallTime(0), i64::MAX), "+14:00:00");
    }

    /// An hour is half a minute there; what would lie before the beginning comes shortly after it.
    #[test]
    fn a_zone_in_a_smaller_world() {
        let [tokyo, shanghai, bangkok] = ["Asia/Tokyo", "Asia/Shanghai", "Asia/Bangkok"].map(|name| zone(name).unwrap());
        let small = |zone| scaled(zone, &shanghai, WallTime(1_768_000_000_000), &TimeZone::UTC, SimTime(5_000), 120);
        assert_eq!([small(&bangkok), small(&shanghai), small(&tokyo)], ["-00:00:30", "+00:00:00", "+00:00:04"]);
    }
}
