//! What is told of events, one behind the other.

use crate::explore::{Finding, Mark};
use crate::id::Letter;
use crate::settlement::Calendar;
use crate::time::SimTime;

/// What is told of one event.
pub struct Told {
    /// When it happened.
    pub at: SimTime,
    /// The subject.
    pub who: String,
    /// The rest.
    pub did: String,
}

impl Told {
    /// `2026-01-10 00:00:03.412  n1 got the lease for 30m`.
    pub fn line(&self, calendar: &Calendar) -> String {
        format!("{}  {} {}", calendar.shows(self.at), self.who, self.did)
    }
}

/// All of it as one sentence. Whoever did the last thing as well is not named again, and what happened in the same second has its time from it.
pub fn sentence(told: &[Told], finding: &Finding, calendar: &Calendar) -> String {
    let mut text = String::new();
    let shown: Vec<(String, String)> = told.iter().map(|one| second(calendar, one.at)).collect();
    let last_who = told.iter().rposition(|one| told.last().is_some_and(|last| last.who != one.who)).map_or(0, |n| n + 1);
    // The period's name tells the day, if everything is of that day.
    let named = |day: &String| finding.period.is_none_or(|period| period.to_string() == *day);
    let one_day = shown.first().is_some_and(|(first, _)| named(first) && shown.iter().all(|(day, _)| day == first));
    for (n, one) in told.iter().enumerate() {
        let same = n > 0 && told[n - 1].who == one.who;
        let closes = n + 1 == told.len() || told[n + 1].who != one.who;
        text += match (n, same, closes) {
            (0, ..) => "",
            (_, true, true) => " and ",
            (_, false, _) if n == last_who => ", and ",
            (_, true, false) | (_, false, _) => ", ",
        };
        if !same {
            text += &one.who;
            text += " ";
        }
        let (day, second) = &shown[n];
        let before = n.checked_sub(1).map(|before| &shown[before]);
        if before == Some(&shown[n]) {
            text += &one.did;
            continue;
        }
        text += &one.did;
        let same_day = before.map_or(one_day, |(before, _)| before == day) && !names_another(&one.did, day);
        let just_named = one.did.contains(day.as_str());
        if !same_day && !just_named {
            text += " on ";
            text += day;
        }
        text += " at ";
        text += second;
        if !same_day && just_named {
            text += " that day";
        }
    }
    let end = end(finding);
    let day = shown.last().map(|(day, _)| day.as_str()).filter(|day| !names_another(&end, day));
    let end = short(&end, day);
    let mut whole = [text, end].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ");
    whole.push('.');
    whole
}

/// Whether a text names a day that is not this one, other than with a time of it: `settled 2026-01-10 at 23:59:03` would
/// be read as of that day.
fn names_another(text: &str, day: &str) -> bool {
    let named = |(n, _): (usize, char)| text.get(n..n + DAY.len()).filter(|named| is_like(named, DAY) && *named != day).map(|_| n);
    let is_of_a_time = |n: usize| text.get(n..n + TIME.len()).is_some_and(is_time);
    text.char_indices().filter_map(named).any(|n| !is_of_a_time(n))
}

/// The day and the second of a time.
pub fn second(calendar: &Calendar, at: SimTime) -> (String, String) {
    let shown = calendar.shows(at);
    let (day, time) = shown.split_once(' ').unwrap_or((&shown, ""));
    let (second, rest) = time.split_once('.').unwrap_or((time, ""));
    (day.to_owned(), second.to_owned() + offset(rest.trim_start_matches(|c: char| c.is_ascii_digit())))
}

/// What no event tells: what did not happen, or what is wrong about the last one.
fn end(finding: &Finding) -> String {
    match finding.mark {
        Mark::Letter(Letter::D | Letter::Two) => String::new(),
        Mark::Letter(Letter::S | Letter::E | Letter::C | Letter::L | Letter::K) | Mark::Panicked | Mark::NeverEnded => finding.what.clone(),
    }
}

/// A text whose times have no milliseconds, and no date if they are of `day`.
fn short(text: &str, day: Option<&str>) -> String {
    let mut short = String::new();
    let mut rest = text;
    while let Some(one) = rest.chars().next() {
        if let Some(time) = rest.get(..TIME.len()).filter(|time| is_time(time)) {
            let (of, second) = (&time[..10], &time[11..19]);
            if day != Some(of) {
                short += of;
                short += " ";
            }
            short += second;
            rest = &rest[TIME.len()..];
            let offset = offset(rest);
            short += offset;
            rest = &rest[offset.len()..];
        } else {
            short.push(one);
            rest = &rest[one.len_utf8()..];
        }
    }
    short
}

/// How a calendar shows a day.
const DAY: &str = "0000-00-00";

/// How a calendar shows a time.
const TIME: &str = "0000-00-00 00:00:00.000";

fn is_time(text: &str) -> bool {
    is_like(text, TIME)
}

/// The offset that a text begins with, if it begins with one.
fn offset(text: &str) -> &str {
    ["+00:00", "-00:00"].into_iter().find_map(|like| text.get(..like.len()).filter(|begins| is_like(begins, like))).unwrap_or("")
}

fn is_like(text: &str, like: &str) -> bool {
    text.bytes().zip(like.bytes()).all(|(is, like)| if like == b'0' { is.is_ascii_digit() } else { is == like })
}

#[cfg(test)]
mod tests {
    use super::{Told, names_another, sentence, short};
    use crate::explore::{Finding, Mark};
    use crate::id::Letter;
    use crate::scenario::Scenario;
    use crate::time::SimTime;
    use crate::world::{Deployment, EngineKind};

    /// A period that is settled before its end is named in a sentence of the day before.
    #[test]
    fn the_day_is_told_where_a_period_of_another_day_is_named() {
        assert!(names_another("settled 2026-01-10", "2026-01-09") && names_another("set 2026-01-10 to failed", "2026-01-09"));
        assert!(!names_another("settled 2026-01-10", "2026-01-10") && !names_another("got the lease for 30m", "2026-01-09"));
        assert!(!names_another("2026-01-10 ended at 2026-01-10 00:00:00.000, not by 2026-01-11 02:00:51.492", "2026-01-10"));
        assert!(names_another("2026-01-10 settled by n0 at 2026-01-09 23:59:03.777, 56s before it ended", "2026-01-09"));
        let deployment = Deployment::new(&Scenario::calm("no-guard"), EngineKind::Event).unwrap();
        let calendar = deployment.calendar();
        let told = |at_ms: u64, did: &str| Told { at: SimTime(at_ms), who: "n0".to_owned(), did: did.to_owned() };
        let period = calendar.periods[0].id;
        let due = calendar.origin.sim(calendar.periods[0].due).0;
        let day = calendar.shows(SimTime(due - 60_000))[..10].to_owned();
        let finding =
            Finding { mark: Mark::Letter(Letter::D), rule: "settled-once", at: SimTime(due), period: Some(period), what: String::new() };
        let text = sentence(&[told(due - 86_400_000 + 1, "woke"), told(due - 60_000, &format!("settled {period}"))], &finding, calendar);
        assert!(text.contains(&format!("settled {period} on {day} at 23:59:00")), "{text}");
    }

    #[test]
    fn a_time_of_the_day_in_question_has_no_date() {
        let text = "2026-01-10 ended at 2026-01-10 00:00:00.000 − had to be settled by 2026-01-11 02:00:51.492: never";
        assert_eq!(short(text, Some("2026-01-10")), "2026-01-10 ended at 00:00:00 − had to be settled by 2026-01-11 02:00:51: never");
        assert_eq!(short("at 2026-01-10 00:00:00.000", None), "at 2026-01-10 00:00:00");
        let twice = "from 2026-10-25 02:30:02.000+02:00 until 2026-10-25 02:30:01.000+01:00, and-so";
        assert_eq!(short(twice, Some("2026-10-25")), "from 02:30:02+02:00 until 02:30:01+01:00, and-so");
    }
}
