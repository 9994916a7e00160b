//! Names of time zones: those of the IANA database, and fixed offsets.

use jiff::fmt::temporal::DateTimeParser;
use jiff::tz::TimeZone;
use std::time::Duration;

/// No place on earth is farther from UTC.
pub const FARTHEST: Duration = Duration::from_hours(14);

/// Why a text is not a time zone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoZone {
    /// It is not in the time zone database.
    #[error("unknown time zone `{0}`; write an IANA name, for example `Asia/Shanghai` or `UTC`, or an offset, for example `+08:00`")]
    Unknown(String),
    /// It is a zone for POSIX, where `UTC+8` lies west of UTC.
    #[error(
        "the time zone `{0}` is neither an IANA name nor an offset (in POSIX, `UTC+8` lies west of UTC); write an IANA name, for example `Asia/Shanghai`, or an offset, for example `+08:00`"
    )]
    Posix(String),
    /// It is an offset that no place has.
    #[error(
        "the offset `{0}` is farther from UTC than 14 hours; write one from `-14:00` to `+14:00`, or an IANA name, for example `Asia/Shanghai`"
    )]
    Far(String),
}

/// The time zone with this name, or with this fixed offset.
///
/// # Errors
/// There is none.
pub fn zone(name: &str) -> Result<TimeZone, NoZone> {
    if name.starts_with(['+', '-']) {
        let zone = DateTimeParser::new().parse_time_zone(name).map_err(|_| NoZone::Unknown(name.to_owned()))?;
        let near = zone.to_fixed_offset().is_ok_and(|offset| u64::from(offset.seconds().unsigned_abs()) <= FARTHEST.as_secs());
        return if near { Ok(zone) } else { Err(NoZone::Far(name.to_owned())) };
    }
    match TimeZone::get(name) {
        Ok(zone) if !zone.is_unknown() => Ok(zone),
        _ if is_posix(name) => Err(NoZone::Posix(name.to_owned())),
        _ => Err(NoZone::Unknown(name.to_owned())),
    }
}

/// Whether it looks as zones do in POSIX: letters, and an offset directly behind them.
fn is_posix(name: &str) -> bool {
    let rest = name.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    rest.len() < name.len() && rest.trim_start_matches(['+', '-']).starts_with(|c: char| c.is_ascii_digit()) || name.starts_with(['<', ':'])
}

/// What a time zone is called: its name, or its offset as `-05:00`.
pub fn zone_name(zone: &TimeZone) -> String {
    match (zone.iana_name(), zone.to_fixed_offset()) {
        (Some(name), _) => name.to_owned(),
        (None, Ok(offset)) => offset_name(offset.seconds()),
        (None, Err(_)) => "UTC".to_owned(),
    }
}

/// An offset of so many seconds as text: `+09:00`, or `+09:00:04`.
pub fn offset_name(seconds: i32) -> String {
    let (sign, all) = (if seconds < 0 { '-' } else { '+' }, seconds.unsigned_abs());
    let minutes = format!("{sign}{:02}:{:02}", all / 3600, all / 60 % 60);
    if all.is_multiple_of(60) { minutes } else { format!("{minutes}:{:02}", all % 60) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zone_is_an_iana_name_or_an_offset_that_there_is() {
        for (name, called) in [
            ("Asia/Shanghai", "Asia/Shanghai"),
            ("UTC", "UTC"),
            ("EST5EDT", "EST5EDT"),
            ("Etc/GMT-8", "Etc/GMT-8"),
            ("+08:00", "+08:00"),
            ("-05:00", "-05:00"),
            ("+14:00", "+14:00"),
            ("-14:00", "-14:00"),
            ("+00:00:04", "+00:00:04"),
        ] {
            assert_eq!(zone(name).map(|zone| zone_name(&zone)), Ok(called.to_owned()));
        }
    }

    #[test]
    fn what_is_none_says_what_to_write() {
        for (name, said) in [
            ("UTC+8", "neither an IANA name nor an offset"),
            ("GMT-3", "neither an IANA name nor an offset"),
            ("UTC8", "neither an IANA name nor an offset"),
            ("CET-1CEST,M3.5.0,M10.5.0/3", "neither an IANA name nor an offset"),
            ("<+08>-8", "neither an IANA name nor an offset"),
            ("+25:00", "farther from UTC than 14 hours"),
            ("-14:01", "farther from UTC than 14 hours"),
            ("+14:00:01", "farther from UTC than 14 hours"),
            ("+ab", "unknown time zone"),
            ("Mars/Olympus", "unknown time zone"),
            ("Etc/Unknown", "unknown time zone"),
            ("", "unknown time zone"),
        ] {
            let error = zone(name).expect_err(name).to_string();
            assert!(error.contains(said) && error.contains("`Asia/Shanghai`"), "{error}");
        }
    }
}
