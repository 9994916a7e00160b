//! When periods end: a cron expression in a time zone, or a plain interval.

mod text;

use crate::id::PeriodId;
use crate::plan::duration;
use crate::settlement::Period;
use crate::time::{Origin, SimTime, WallTime};
use croner::Cron;
use croner::parser::{CronParser, Seconds};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use std::time::Duration;

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

/// Why a schedule cannot be used. Lowercase fragments that fit "… in the schedule".
#[expect(missing_docs, reason = "the fields are named after what they are")]
#[derive(Debug, thiserror::Error)]
pub enum ScheduleError {
    /// The text is not a cron expression.
    #[error("`{text}` is not a cron expression ({reason}); write five fields, for example `0 0 10,25 * *`")]
    Cron { text: String, reason: String },
    /// The zone is not in the time zone database.
    #[error("unknown time zone `{zone}`; write an IANA name, for example `Asia/Shanghai` or `UTC`")]
    Zone { zone: String },
    /// There is nothing to watch.
    #[error("{what} must be {bound}, not {given}")]
    Range { what: &'static str, bound: &'static str, given: String },
    /// The expression never matches again.
    #[error("the cron expression `{text}` has no boundary after {after}")]
    NoBoundary { text: String, after: String },
    /// Two periods would have one name.
    #[error(
        "the cron expression `{text}` has two boundaries on {date}, but periods are named by the date on which they end; write one with at most one boundary a day"
    )]
    SameDay { text: String, date: jiff::civil::Date },
}

impl Default for Schedule {
    /// The 10th and the 25th at midnight in Shanghai; 10 January, 25 January and 10 February 2026.
    fn default() -> Schedule {
        Schedule::Cron {
            cron: "0 0 10,25 * *".to_owned(),
            zone: "Asia/Shanghai".to_owned(),
            from: jiff::civil::date(2026, 1, 9).at(0, 0, 0, 0),
            periods: 3,
        }
    }
}

/// A schedule worked out: the watched periods, the beginning of the run, and the zone in which stories are told.
#[derive(Clone, Debug, PartialEq)]
pub struct Calendar {
    /// What a perfect clock shows when the run begins.
    pub origin: Origin,
    /// The watched periods, in order. Never empty.
    pub periods: Vec<Period>,
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
    /// Never: the watched periods were counted.
    ///
    /// # Errors
    /// The cron text, the zone, or the number of periods is no good.
    pub fn calendar(&self) -> Result<Calendar, ScheduleError> {
        match self {
            Schedule::Cron { cron, zone, from, periods } => {
                let tz = TimeZone::get(zone).map_err(|_| ScheduleError::Zone { zone: zone.clone() })?;
                let parsed = parse(cron)?;
                let start = from.to_zoned(tz.clone()).map_err(|_| ScheduleError::Range {
                    what: "`from`",
                    bound: "a representable local time",
                    given: from.to_string(),
                })?;
                let count = in_range(*periods)?;
                let mut at = start.clone();
                let mut found = Vec::with_capacity(count + 1);
                while found.len() <= count {
                    at = parsed
                        .find_next_occurrence(&at, false)
                        .map_err(|_| ScheduleError::NoBoundary { text: cron.clone(), after: at.to_string() })?;
                    let period = Period { id: PeriodId::on(at.date()), due: at.timestamp().into() };
                    if found.last().is_some_and(|last: &Period| last.id == period.id) {
                        return Err(ScheduleError::SameDay { text: cron.clone(), date: at.date() });
                    }
                    found.push(period);
                }
                let beyond = found.pop().expect("one more than the watched periods was found");
                Ok(Calendar { origin: Origin(start.timestamp().into()), periods: found, beyond, zone: tz })
            }
            Schedule::Interval { every, periods } => {
                let count = in_range(*periods)?;
                if every.is_zero() {
                    return Err(ScheduleError::Range { what: "`every`", bound: "more than zero", given: duration::text(*every) });
                }
                let origin = Origin(WallTime::from(Timestamp::from_second(1_767_888_000).expect("9 January 2026 UTC")));
                let period = |n: usize| Period { id: PeriodId(n as i64), due: origin.wall(SimTime::ZERO + *every * n as u32) };
                Ok(Calendar { origin, periods: (1..=count).map(period).collect(), beyond: period(count + 1), zone: TimeZone::UTC })
            }
        }
    }
}

fn parse(cron: &str) -> Result<Cron, ScheduleError> {
    CronParser::builder()
        .seconds(Seconds::Disallowed)
        .build()
        .parse(cron)
        .map_err(|e| ScheduleError::Cron { text: cron.to_owned(), reason: e.to_string() })
}

fn in_range(periods: u32) -> Result<usize, ScheduleError> {
    if (1..=1000).contains(&periods) {
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

    /// The watched period with this id.
    pub fn period(&self, id: PeriodId) -> Option<Period> {
        self.periods.iter().copied().find(|p| p.id == id)
    }

    /// A true time as the calendar of the deployment's zone shows it: `2026-01-10 00:02:03.924`.
    pub fn shows(&self, at: SimTime) -> String {
        self.origin.wall(at).timestamp().to_zoned(self.zone.clone()).strftime("%F %T%.3f").to_string()
    }

    /// When, in true time, a period truly ends.
    pub fn due(&self, period: Period) -> SimTime {
        self.origin.sim(period.due)
    }
}
