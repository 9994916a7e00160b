//! When periods end: a cron expression in a time zone, or a plain interval.

mod text;

use crate::id::PeriodId;
use crate::plan::duration;
use crate::settlement::{Fold, Gap, Period, civil};
use crate::time::{self, NoZone, Origin, SimTime, WallTime, offset_name};
use croner::Cron;
use croner::parser::{CronParser, Seconds};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// So many boundaries a run may watch.
const MOST: usize = 1000;

/// When periods end, and which of them a run watches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", try_from = "text::ScheduleTable")]
pub enum Schedule {
    /// Boundaries given by a cron expression, in civil time.
    Cron {
        /// Five fields: minute, hour, day of month, month, day of week.
        cron: String,
        /// An IANA time zone, such as `Asia/Shanghai`.
        zone: String,
        /// Local time at which the run begins; the first watched period is the first boundary after it.
        from: jiff::civil::DateTime,
        /// How many boundaries the run watches, 1 to 1,000.
        periods: u32,
        /// What becomes of a boundary at a local time that summer time skips.
        #[serde(default, skip_serializing_if = "is_default")]
        gap: Gap,
        /// What becomes of a boundary at a local time that comes twice.
        #[serde(default, skip_serializing_if = "is_default")]
        fold: Fold,
    },
    /// A boundary every `every`, the first one `every` after the beginning. For engines whose horizon is short.
    Interval {
        /// Length of a period.
        #[serde(with = "duration")]
        every: Duration,
        /// How many boundaries the run watches, 1 to 1,000.
        periods: u32,
    },
}

fn is_default<T: Default + PartialEq>(knob: &T) -> bool {
    *knob == T::default()
}

/// Why a schedule cannot be used. Lowercase fragments that fit "… in the schedule".
#[expect(missing_docs, reason = "the fields are named after what they are")]
#[derive(Debug, thiserror::Error)]
pub enum ScheduleError {
    /// The text is not a cron expression.
    #[error("`{text}` is not a cron expression ({reason}); write five fields, for example `0 0 10,25 * *`")]
    Cron { text: String, reason: String },
    /// There is no such zone.
    #[error(transparent)]
    Zone(#[from] NoZone),
    /// There is nothing to watch.
    #[error("{what} must be {bound}, not {given}")]
    Range { what: &'static str, bound: &'static str, given: String },
    /// The expression never matches again.
    #[error("the cron expression `{text}` has no boundary after {after}")]
    NoBoundary { text: String, after: String },
    /// There are fewer boundaries than are to be watched.
    #[error(
        "the cron expression `{text}` has no more than {found} boundaries that can be watched, not {wanted}; write `periods = {found}`, or fewer"
    )]
    TooFew { text: String, found: usize, wanted: usize },
    /// Two periods would have one name.
    #[error(
        "the cron expression `{text}` has two boundaries on {date}, but periods are named by the date on which they end; write one with at most one boundary a day"
    )]
    SameDay { text: String, date: jiff::civil::Date },
    /// Two periods would end together.
    #[error(
        "the periods {first} and {second} of the cron expression `{text}` end at the same instant, {at}, for the zone skips the time of the first; write `gap = \"skip\"`, or a `from` behind that day"
    )]
    Together { text: String, first: PeriodId, second: PeriodId, at: Timestamp },
    /// The first boundary would come before the run begins.
    #[error(
        "the period {first} of the cron expression `{text}` ends before the run begins, for the zone skips the time `{from}`; write a `from` that there is in the zone"
    )]
    Past { text: String, first: PeriodId, from: DateTime },
}

impl Default for Schedule {
    /// The 10th and the 25th at midnight in Shanghai; 10 January, 25 January and 10 February 2026.
    fn default() -> Schedule {
        Schedule::Cron {
            cron: "0 0 10,25 * *".to_owned(),
            zone: "Asia/Shanghai".to_owned(),
            from: jiff::civil::date(2026, 1, 9).at(0, 0, 0, 0),
            periods: 3,
            gap: Gap::default(),
            fold: Fold::default(),
        }
    }
}

/// A schedule worked out: the watched periods, the beginning of the run, and the zone in which stories are told.
#[derive(Clone, Debug, PartialEq)]
pub struct Calendar {
    /// What a perfect clock shows when the run begins.
    pub origin: Origin,
    /// The watched periods, in order. Never empty, but for a node that does not know the schedule.
    pub periods: Vec<Period>,
    /// Periods for which nodes wake a second time, and when: their local time comes twice ([`Fold::Both`]).
    pub again: Vec<Period>,
    /// The first boundary after the watched ones. A run may end before it.
    pub beyond: Period,
    /// Where the story is told.
    pub zone: TimeZone,
}

impl Schedule {
    /// The same boundaries, of which only the first is watched.
    #[must_use]
    pub fn of_one_period(&self) -> Schedule {
        let mut one = self.clone();
        match &mut one {
            Schedule::Cron { periods, .. } | Schedule::Interval { periods, .. } => *periods = 1,
        }
        one
    }

    /// Works out the watched periods.
    ///
    /// # Panics
    /// Never: the beginning of an interval is a fixed day.
    ///
    /// # Errors
    /// The cron text, the zone, or the number of periods is no good.
    pub fn calendar(&self) -> Result<Calendar, ScheduleError> {
        match self {
            Schedule::Cron { cron, zone, from, periods, gap, fold } => {
                let zone = time::zone(zone)?;
                let start = from.to_zoned(zone.clone()).map_err(|_| ScheduleError::Range {
                    what: "`from`",
                    bound: "a representable local time",
                    given: from.to_string(),
                })?;
                let count = in_range(*periods)?;
                let origin = Origin(start.timestamp().into());
                let mut met = 0;
                let enough = |found: &[Period]| {
                    met = found.len();
                    count < found.len()
                };
                let calendar = Boundaries::of(cron, &zone, *from, (*gap, *fold))?.calendar(origin, enough);
                let calendar = calendar.map_err(|error| match error {
                    // The last of them is what comes after the watched ones.
                    ScheduleError::NoBoundary { text, .. } if met > 1 => ScheduleError::TooFew { text, found: met - 1, wanted: count },
                    error => error,
                })?;
                match calendar.periods.first().filter(|first| first.due <= origin.0) {
                    Some(first) => Err(ScheduleError::Past { text: cron.clone(), first: first.id, from: *from }),
                    None => Ok(calendar),
                }
            }
            Schedule::Interval { every, periods } => {
                let count = in_range(*periods)?;
                if every.is_zero() {
                    return Err(ScheduleError::Range { what: "`every`", bound: "more than zero", given: duration::text(*every) });
                }
                let origin = Origin(WallTime::from(Timestamp::from_second(1_767_888_000).expect("9 January 2026 UTC")));
                let period = |n: usize| Period { id: PeriodId(n as i64), due: origin.wall(SimTime::ZERO + *every * n as u32) };
                let periods = (1..=count).map(period).collect();
                Ok(Calendar { origin, periods, again: Vec::new(), beyond: period(count + 1), zone: TimeZone::UTC })
            }
        }
    }

    /// What the boundaries of `truth`, this schedule worked out, are for a node that has another time zone, or another
    /// cron text: the same nominal dates at other instants, or other dates, up to the first one that is not watched any more.
    /// An interval counts its boundaries in local time too.
    ///
    /// # Errors
    /// The zone or the cron text is no good, or has more than 1,000 boundaries until the last watched one.
    pub fn seen_with(&self, zone: Option<&str>, cron: Option<&str>, truth: &Calendar) -> Result<Calendar, ScheduleError> {
        let other = zone.map(time::zone).transpose()?;
        let there = other.clone().unwrap_or_else(|| truth.zone.clone());
        match self {
            Schedule::Cron { cron: own, from, gap, fold, .. } => {
                let last = truth.periods.last().map(|last| last.id);
                let boundaries = Boundaries::of(cron.unwrap_or(own), &there, *from, (*gap, *fold))?;
                boundaries.calendar(truth.origin, |found| {
                    let newest = found.last().map(|newest| newest.id);
                    newest >= Some(truth.beyond.id) || newest > last && found.len() > MOST
                })
            }
            Schedule::Interval { .. } => {
                let moved = |period: &Period| {
                    let local = truth.zone.to_datetime(period.due.timestamp());
                    let found = civil::instants(&there, local, Gap::Shift, Fold::First);
                    Period { due: found.first().map_or(period.due, |due| (*due).into()), ..*period }
                };
                let periods = truth.periods.iter().map(moved).collect();
                Ok(Calendar { periods, beyond: moved(&truth.beyond), zone: there, ..truth.clone() })
            }
        }
    }
}

/// The boundaries of a cron text in a zone, one after the other.
///
/// The text is matched against local time alone; what a local time means is for [`civil`] to say.
struct Boundaries {
    text: String,
    cron: Cron,
    zone: TimeZone,
    rules: (Gap, Fold),
    /// The last local time that was matched, as if it were UTC.
    at: Zoned,
}

impl Boundaries {
    fn of(text: &str, zone: &TimeZone, from: DateTime, rules: (Gap, Fold)) -> Result<Boundaries, ScheduleError> {
        let at = from.to_zoned(TimeZone::UTC).map_err(|_| no_boundary(text, from))?;
        Ok(Boundaries { text: text.to_owned(), cron: parse(text)?, zone: zone.clone(), rules, at })
    }

    /// The next boundary that comes at all, and when it comes a second time, if it does.
    fn following(&mut self) -> Result<(Period, Option<Period>), ScheduleError> {
        loop {
            let next = self.cron.find_next_occurrence(&self.at, false);
            self.at = next.map_err(|_| no_boundary(&self.text, self.at.datetime()))?;
            let id = PeriodId::on(self.at.date());
            let mut instants = civil::instants(&self.zone, self.at.datetime(), self.rules.0, self.rules.1).into_iter();
            if let Some(due) = instants.next() {
                let period = |at: Timestamp| Period { id, due: at.into() };
                return Ok((period(due), instants.next().map(period)));
            }
        }
    }

    /// Boundaries until `enough` are found: the last one is beyond the watched.
    fn calendar(mut self, origin: Origin, mut enough: impl FnMut(&[Period]) -> bool) -> Result<Calendar, ScheduleError> {
        let (mut found, mut again) = (Vec::<Period>::new(), Vec::new());
        while !enough(&found) {
            let (period, second) = self.following()?;
            if found.last().is_some_and(|last| last.id == period.id) {
                return Err(ScheduleError::SameDay { text: self.text, date: self.at.date() });
            }
            if let Some(last) = found.last().filter(|last| period.due <= last.due) {
                return Err(ScheduleError::Together { text: self.text, first: last.id, second: period.id, at: period.due.timestamp() });
            }
            found.push(period);
            again.extend(second);
            in_range(u32::try_from(found.len() - 1).unwrap_or(u32::MAX).max(1))?;
        }
        let beyond = found.pop().ok_or_else(|| no_boundary(&self.text, self.at.datetime()))?;
        again.retain(|second| second.id != beyond.id);
        Ok(Calendar { origin, periods: found, again, beyond, zone: self.zone })
    }
}

fn no_boundary(text: &str, after: DateTime) -> ScheduleError {
    ScheduleError::NoBoundary { text: text.to_owned(), after: after.to_string() }
}

fn parse(cron: &str) -> Result<Cron, ScheduleError> {
    CronParser::builder()
        .seconds(Seconds::Disallowed)
        .build()
        .parse(cron)
        .map_err(|e| ScheduleError::Cron { text: cron.to_owned(), reason: e.to_string() })
}

fn in_range(periods: u32) -> Result<usize, ScheduleError> {
    if (1..=MOST).contains(&(periods as usize)) {
        Ok(periods as usize)
    } else {
        Err(ScheduleError::Range { what: "`periods`", bound: "1 to 1000", given: periods.to_string() })
    }
}

impl Calendar {
    /// The first boundary after `now`, among those that the run can reach.
    pub fn next_after(&self, now: WallTime) -> Period {
        self.periods.iter().copied().find(|p| p.due > now).unwrap_or(self.beyond)
    }

    /// The watched periods that are due at `now`, oldest first.
    pub fn due_at(&self, now: WallTime) -> impl DoubleEndedIterator<Item = Period> + '_ {
        self.periods.iter().copied().filter(move |p| p.due <= now)
    }

    /// The first time after `behind` at which a node wakes, and for which watched period.
    pub fn next_waking(&self, behind: WallTime) -> Option<Period> {
        self.periods.iter().chain(&self.again).copied().filter(|period| behind < period.due).min_by_key(|period| period.due)
    }

    /// The same calendar for somebody who does not know what is scheduled.
    #[must_use]
    pub fn unknown(&self) -> Calendar {
        Calendar { periods: Vec::new(), again: Vec::new(), ..self.clone() }
    }

    /// The watched period with this id.
    pub fn period(&self, id: PeriodId) -> Option<Period> {
        self.periods.iter().copied().find(|p| p.id == id)
    }

    /// A true time as the calendar of the deployment's zone shows it: `2026-01-10 00:02:03.924`, with its offset
    /// (`2026-10-25 02:30:02.000+01:00`) where the date and time alone may be two.
    pub fn shows(&self, at: SimTime) -> String {
        let zoned = self.zoned(at);
        let shown = zoned.strftime("%F %T%.3f").to_string();
        if self.tells_offsets(at) { shown + &offset_name(zoned.offset().seconds()) } else { shown }
    }

    /// A true time in the deployment's zone.
    pub fn zoned(&self, at: SimTime) -> Zoned {
        self.origin.wall(at).timestamp().to_zoned(self.zone.clone())
    }

    /// Whether a local time has to be told with its offset: the zone changes it among the boundaries, or the time comes twice.
    pub fn tells_offsets(&self, at: SimTime) -> bool {
        self.changes_offset() || self.zone.to_ambiguous_timestamp(self.zoned(at).datetime()).is_ambiguous()
    }

    /// Whether the zone changes its offset between the beginning and the last boundary that the run can reach.
    pub fn changes_offset(&self) -> bool {
        let begins = self.origin.0.timestamp();
        self.zone.following(begins).next().is_some_and(|change| change.timestamp() <= self.beyond.due.timestamp())
    }

    /// When, in true time, a period truly ends.
    pub fn due(&self, period: Period) -> SimTime {
        self.origin.sim(period.due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Span;

    fn of(cron: &str, zone: &str, from: DateTime, gap: Gap, fold: Fold) -> Calendar {
        Schedule::Cron { cron: cron.to_owned(), zone: zone.to_owned(), from, periods: 2, gap, fold }.calendar().expect("a good schedule")
    }

    fn shown(calendar: &Calendar) -> Vec<String> {
        calendar.periods.iter().map(|p| format!("{} {}", p.id, p.due.timestamp())).collect()
    }

    /// By default a boundary comes when croner says, which knows the zone: in a gap, in a fold, and in all the years around.
    #[test]
    fn the_defaults_are_what_croner_does() {
        for (cron, zone) in [("30 2 * * *", "America/New_York"), ("0 0 * * *", "America/Havana"), ("15 2 * * *", "Australia/Lord_Howe")] {
            let tz = TimeZone::get(zone).unwrap();
            let from = jiff::civil::date(2026, 1, 1).at(0, 0, 0, 0);
            let schedule =
                Schedule::Cron { cron: cron.to_owned(), zone: zone.to_owned(), from, periods: 730, gap: Gap::End, fold: Fold::First };
            let mut at = from.to_zoned(tz).unwrap();
            for period in schedule.calendar().unwrap().periods {
                at = parse(cron).unwrap().find_next_occurrence(&at, false).unwrap();
                assert_eq!(period.due, at.timestamp().into(), "{} in {zone}", period.id);
            }
        }
    }

    /// Samoa had no 30 December 2011: shifted by that day, two boundaries are one instant.
    #[test]
    fn two_periods_never_end_together() {
        let at = |gap| Schedule::Cron {
            cron: "0 12 * * *".to_owned(),
            zone: "Pacific/Apia".to_owned(),
            from: jiff::civil::date(2011, 12, 29).at(0, 0, 0, 0),
            periods: 4,
            gap,
            fold: Fold::First,
        };
        let refused = at(Gap::Shift).calendar().unwrap_err().to_string();
        assert!(refused.contains("2011-12-30 and 2011-12-31") && refused.contains("write `gap = \"skip\"`"), "{refused}");
        for gap in [Gap::End, Gap::Skip] {
            let calendar = at(gap).calendar().unwrap();
            assert!(calendar.periods.windows(2).all(|two| two[0].due < two[1].due));
        }
    }

    /// A beginning in a gap lies behind it, and the boundary at the end of the gap is past by then.
    #[test]
    fn no_period_ends_before_the_beginning() {
        for (from, cron, good) in [((2, 10), "30 2 * * *", false), ((2, 10), "0 3 * * *", false), ((1, 59), "30 2 * * *", true)] {
            let schedule = Schedule::Cron {
                cron: cron.to_owned(),
                zone: "America/New_York".to_owned(),
                from: jiff::civil::date(2026, 3, 8).at(from.0, from.1, 0, 0),
                periods: 2,
                gap: Gap::End,
                fold: Fold::First,
            };
            match schedule.calendar() {
                Ok(calendar) => assert!(good && calendar.origin.0 < calendar.periods[0].due),
                Err(error) => assert!(!good && error.to_string().contains("before the run begins"), "{error}"),
            }
        }
    }

    /// In the night on which summer time ends, a time without its offset would run backwards.
    #[test]
    fn a_time_that_comes_twice_is_told_with_its_offset() {
        let at = |day| of("30 2 * * *", "Europe/Berlin", jiff::civil::date(2026, 10, day).at(0, 0, 0, 0), Gap::End, Fold::Both);
        let autumn = at(24);
        let first = autumn.due(autumn.periods[1]);
        assert_eq!(autumn.shows(first), "2026-10-25 02:30:00.000+02:00");
        assert_eq!(autumn.shows(first + 1.hours()), "2026-10-25 02:30:00.000+01:00");
        assert_eq!(autumn.shows(SimTime::ZERO), "2026-10-24 00:00:00.000+02:00");
        let before = at(1);
        assert_eq!(before.shows(SimTime::ZERO), "2026-10-01 00:00:00.000");
        assert_eq!(before.shows(SimTime::ZERO + (24 * 24 + 2).hours()), "2026-10-25 02:00:00.000+02:00", "beyond, and twice");
    }

    /// Midnight of 8 March 2026 does not exist in Havana: that period ends at 01:00, or there is none.
    #[test]
    fn a_period_keeps_its_date_in_a_gap() {
        let at = |gap| shown(&of("0 0 8,22 * *", "America/Havana", jiff::civil::date(2026, 3, 7).at(0, 0, 0, 0), gap, Fold::First));
        assert_eq!(at(Gap::End), ["2026-03-08 2026-03-08T05:00:00Z", "2026-03-22 2026-03-22T04:00:00Z"]);
        assert_eq!(at(Gap::Skip), ["2026-03-22 2026-03-22T04:00:00Z", "2026-04-08 2026-04-08T04:00:00Z"]);
    }

    /// Midnight of 1 November 2026 comes twice there: one period, and two times to wake for it.
    #[test]
    fn a_period_ends_once_and_may_be_woken_for_twice() {
        let at = |fold| of("0 0 1,15 * *", "America/Havana", jiff::civil::date(2026, 10, 31).at(0, 0, 0, 0), Gap::End, fold);
        let [first, second, both] = [Fold::First, Fold::Second, Fold::Both].map(at);
        assert_eq!((shown(&first), first.again.len()), (shown(&both), 0));
        assert_eq!(second.periods[0].due, first.periods[0].due + 1.hours());
        assert_eq!(both.again, [second.periods[0]]);
        let mut behind = both.origin.0;
        let wakings: Vec<WallTime> =
            std::iter::from_fn(|| both.next_waking(behind).inspect(|next| behind = next.due)).map(|p| p.due).collect();
        assert_eq!(wakings, [first.periods[0].due, second.periods[0].due, both.periods[1].due]);
    }

    /// The same nominal dates, at other instants: on 29 March 2026 Berlin has summer time, and Shanghai never has.
    #[test]
    fn another_zone_moves_each_boundary_by_its_own_offset() {
        let from = jiff::civil::date(2026, 3, 27).at(0, 0, 0, 0);
        let schedule = Schedule::Cron {
            cron: "0 3 28,30 * *".to_owned(),
            zone: "Asia/Shanghai".to_owned(),
            from,
            periods: 2,
            gap: Gap::End,
            fold: Fold::First,
        };
        let truth = schedule.calendar().unwrap();
        let there = schedule.seen_with(Some("Europe/Berlin"), None, &truth).unwrap();
        let later: Vec<i64> =
            truth.periods.iter().zip(&there.periods).map(|(here, there)| (there.due.0 - here.due.0) / 3_600_000).collect();
        assert_eq!(later, [7, 6]);
        let other = schedule.seen_with(None, Some("0 3 * * *"), &truth).unwrap();
        assert_eq!(shown(&other).len(), 32, "27 March to 27 April, before the first that is not watched: {:?}", shown(&other));
        let unmoved = Schedule::Interval { every: 6.minutes(), periods: 2 };
        let truth = unmoved.calendar().unwrap();
        let ahead = unmoved.seen_with(Some("+00:00:04"), None, &truth).unwrap();
        assert_eq!(
            ahead.periods.iter().map(|p| p.due + 4.seconds()).collect::<Vec<_>>(),
            truth.periods.iter().map(|p| p.due).collect::<Vec<_>>()
        );
    }
}
