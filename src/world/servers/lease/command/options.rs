//! What stands behind key and value in `SET`, and behind the time in `EXPIRE` and `PEXPIRE`.

use super::{Refusal, from_now, number, refuse};
use crate::time::WallTime;
use crate::world::servers::lease::asked::{ExpireIf, Presence, SetOptions};
use crate::world::servers::lease::store::Caller;
use bytes::Bytes;

const SYNTAX: &str = "ERR syntax error";

/// How `SET` gives the time of an expiry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Unit {
    ms: i64,
    /// Since 1970, not from now.
    absolute: bool,
}

impl Unit {
    fn named(word: &[u8]) -> Option<Unit> {
        Some(match word {
            b"EX" => Unit { ms: 1000, absolute: false },
            b"PX" => Unit { ms: 1, absolute: false },
            b"EXAT" => Unit { ms: 1000, absolute: true },
            b"PXAT" => Unit { ms: 1, absolute: true },
            _ => return None,
        })
    }
}

/// The options of a `SET`, and whether it answers with the old value. Words are looked at first,
/// and only then the time: of the same option twice the last counts.
pub(super) fn of_set(caller: Caller<'_>, words: &[Bytes]) -> Result<(SetOptions, bool), Refusal> {
    let (mut options, mut get, mut time) = (SetOptions::default(), false, None::<(Unit, &Bytes)>);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.to_ascii_uppercase().as_slice() {
            b"NX" if options.only_if != Some(Presence::Present) => options.only_if = Some(Presence::Absent),
            b"XX" if options.only_if != Some(Presence::Absent) => options.only_if = Some(Presence::Present),
            b"GET" => get = true,
            b"KEEPTTL" if time.is_none() => options.keep_ttl = true,
            word => {
                let unit = Unit::named(word).filter(|unit| !options.keep_ttl && time.is_none_or(|(known, _)| known == *unit));
                let (Some(unit), Some(text)) = (unit, words.next()) else { return refuse(SYNTAX) };
                time = Some((unit, text));
            }
        }
    }
    if let Some((unit, text)) = time {
        let ms = number(text)?.checked_mul(unit.ms).filter(|ms| *ms > 0);
        options.expires = Some(match (unit.absolute, ms) {
            (true, Some(ms)) => WallTime(ms),
            _ => WallTime(caller.host.wall().0 + from_now(caller, ms, "set")?),
        });
    }
    Ok((options, get))
}

/// The conditions of an `EXPIRE`, which Redis reads before it reads the time.
pub(super) fn of_expire(words: &[Bytes]) -> Result<ExpireIf, Refusal> {
    let mut only_if = ExpireIf::default();
    for word in words {
        match word.to_ascii_uppercase().as_slice() {
            b"NX" => only_if.none = true,
            b"XX" => only_if.some = true,
            b"GT" => only_if.later = true,
            b"LT" => only_if.sooner = true,
            _ => return refuse(format!("ERR Unsupported option {}", String::from_utf8_lossy(word))),
        }
    }
    let ExpireIf { none, some, later, sooner } = only_if;
    if none && (some || later || sooner) {
        return refuse("ERR NX and XX, GT or LT options at the same time are not compatible");
    }
    if later && sooner {
        return refuse("ERR GT and LT options at the same time are not compatible");
    }
    Ok(only_if)
}
