//! The schedule, over years, in zones with and without daylight saving: never a period skipped,
//! never one repeated.

use jiff::Timestamp;
use jiff::civil::{Date, Time};
use jiff::tz::{AmbiguousOffset, TimeZone};
use onceproof::id::PeriodId;
use onceproof::settlement::{Calendar, Fold, Gap, Schedule};
use onceproof::time::{SimTime, WallTime};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use std::collections::BTreeSet;
use std::time::Duration;

/// No daylight saving; the usual hour in both hemispheres; a change at midnight (Sao Paulo until
/// 2019, Beirut); one of half an hour; one that starts twice a year.
const ZONES: [&str; 9] = [
    "UTC",
    "Asia/Shanghai",
    "Asia/Kathmandu",
    "Europe/Berlin",
    "America/New_York",
    "America/Sao_Paulo",
    "Asia/Beirut",
    "Australia/Lord_Howe",
    "Africa/Casablanca",
];

fn config(cases: u32) -> ProptestConfig {
    let failure_persistence = Some(Box::new(FileFailurePersistence::WithSource("regressions")) as Box<_>);
    ProptestConfig { cases, failure_persistence, ..ProptestConfig::default() }
}

/// A schedule on some days of the month, at one local time.
#[derive(Clone, Debug)]
struct Monthly {
    days: BTreeSet<i8>,
    time: Time,
    zone: &'static str,
    from: Date,
    periods: u32,
}

impl Monthly {
    fn calendar(&self) -> Calendar {
        let days: Vec<String> = self.days.iter().map(i8::to_string).collect();
        let cron = format!("{} {} {} * *", self.time.minute(), self.time.hour(), days.join(","));
        let (zone, from) = (self.zone.to_owned(), self.from.at(0, 0, 0, 0));
        Schedule::Cron { cron, zone, from, periods: self.periods, gap: Gap::default(), fold: Fold::default() }
            .calendar()
            .expect("a good schedule")
    }

    /// The oracle: walks over the civil days, one by one, and asks the zone when their boundary is.
    fn walk(&self) -> Vec<(Date, Timestamp)> {
        let zone = TimeZone::get(self.zone).expect("a known zone");
        let start = self.from.at(0, 0, 0, 0).to_zoned(zone.clone()).expect("within range").timestamp();
        let mut day = self.from;
        let mut found = Vec::new();
        while found.len() <= self.periods as usize {
            let at = boundary(&zone, day, self.time);
            if self.days.contains(&day.day()) && at > start {
                found.push((day, at));
            }
            day = day.tomorrow().expect("within range");
        }
        found
    }
}

/// When a local time is on a day. In a fold, the first time that clocks show it; in a gap, when clocks have jumped over it.
fn boundary(zone: &TimeZone, day: Date, time: Time) -> Timestamp {
    let local = zone.to_ambiguous_timestamp(day.to_datetime(time));
    match local.offset() {
        AmbiguousOffset::Unambiguous { .. } | AmbiguousOffset::Fold { .. } => local.earlier().expect("within range"),
        AmbiguousOffset::Gap { .. } => {
            let before = local.earlier().expect("within range");
            zone.following(before).next().expect("a gap ends with a transition").timestamp()
        }
    }
}

fn monthly() -> impl Strategy<Value = Monthly> {
    let from = (1995i16..2036, 1i8..=12, 1i8..=28).prop_map(|(y, m, d)| jiff::civil::date(y, m, d));
    let hour = prop_oneof![Just(0), Just(1), Just(2), 0i8..24];
    (
        prop::collection::btree_set(1i8..=31, 1..6),
        hour,
        prop_oneof![Just(0i8), Just(30i8), 0..60i8],
        prop::sample::select(&ZONES[..]),
        from,
        1u32..80,
    )
        .prop_map(|(days, hour, minute, zone, from, periods)| Monthly {
            days,
            time: Time::constant(hour, minute, 0, 0),
            zone,
            from,
            periods,
        })
}

proptest! {
    #![proptest_config(config(256))]

    /// The calendar is what a walk over the civil days finds: each period once, in order, at its instant.
    #[test]
    fn no_period_is_skipped_or_repeated(monthly in monthly()) {
        let calendar = monthly.calendar();
        let told: Vec<(PeriodId, WallTime)> =
            calendar.periods.iter().chain([&calendar.beyond]).map(|p| (p.id, p.due)).collect();
        let walked: Vec<(PeriodId, WallTime)> =
            monthly.walk().into_iter().map(|(day, at)| (PeriodId::on(day), WallTime::from(at))).collect();
        prop_assert_eq!(told, walked);
    }

    /// A node that always waits for the next boundary meets every period exactly once, wherever it looks from.
    #[test]
    fn the_next_boundary_visits_each_period_once(monthly in monthly()) {
        let calendar = monthly.calendar();
        let mut now = calendar.origin.wall(SimTime::ZERO);
        for (n, period) in calendar.periods.iter().enumerate() {
            prop_assert_eq!(calendar.next_after(now), *period);
            prop_assert_eq!(calendar.next_after(period.due - Duration::from_millis(1)), *period);
            prop_assert_eq!(calendar.due_at(period.due).count(), n + 1);
            now = period.due;
        }
        prop_assert_eq!(calendar.next_after(now), calendar.beyond);
    }

    /// Interval schedules: evenly spaced, numbered from 1.
    #[test]
    fn intervals_are_even(every_ms in 1u64..10_000_000, periods in 1u32..200) {
        let every = Duration::from_millis(every_ms);
        let calendar = Schedule::Interval { every, periods }.calendar().expect("a good schedule");
        for (n, period) in (1u64..).zip(calendar.periods.iter().chain([&calendar.beyond])) {
            prop_assert_eq!(period.id, PeriodId(n as i64));
            prop_assert_eq!(calendar.due(*period), SimTime(every_ms * n));
        }
        prop_assert_eq!(calendar.periods.len(), periods as usize);
    }

    /// A period is shown as the date on which it ends, or as its number, and two never look the same.
    #[test]
    fn a_period_is_shown_as_its_date(y in 1970i16..=9999, m in 1i8..=12, d in 1i8..=28, n in 0i64..10_000) {
        let date = jiff::civil::date(y, m, d);
        prop_assert_eq!(PeriodId::on(date).to_string(), date.to_string());
        prop_assert_eq!(PeriodId(n).to_string(), format!("#{n}"));
    }
}

/// Clocks in Berlin jump from 2:00 to 3:00 on 29 March 2026, and show 2:00 to 3:00 twice on 25 October.
#[test]
fn a_gap_is_jumped_over_and_a_fold_counts_once() {
    let at = |month: i8, day: i8| {
        let (days, time) = (BTreeSet::from([day]), Time::constant(2, 30, 0, 0));
        let from = jiff::civil::date(2026, month, day);
        let calendar = Monthly { days, time, zone: "Europe/Berlin", from, periods: 1 }.calendar();
        (calendar.periods[0].id.to_string(), calendar.periods[0].due.timestamp().to_string())
    };
    assert_eq!(at(3, 29), ("2026-03-29".to_owned(), "2026-03-29T01:00:00Z".to_owned()));
    assert_eq!(at(10, 25), ("2026-10-25".to_owned(), "2026-10-25T00:30:00Z".to_owned()));
}

/// Every day for a thousand days, in every zone, at the hours at which clocks jump.
#[test]
fn daily_boundaries_survive_every_jump() {
    let mut jumps = 0;
    for zone in ZONES {
        for (hour, minute) in [(0, 0), (0, 30), (1, 30), (2, 0), (2, 15), (2, 30)] {
            let (days, time, from) = ((1..=31).collect(), Time::constant(hour, minute, 0, 0), jiff::civil::date(2017, 1, 1));
            let daily = Monthly { days, time, zone, from, periods: 1000 };
            let told: Vec<(PeriodId, WallTime)> = daily.calendar().periods.iter().map(|p| (p.id, p.due)).collect();
            let walked: Vec<(PeriodId, WallTime)> = daily.walk().into_iter().map(|(day, at)| (PeriodId::on(day), at.into())).collect();
            assert_eq!(told, walked[..1000], "{zone} {time}");
            let zone = TimeZone::get(zone).expect("a known zone");
            let odd = |(day, _): &(Date, Timestamp)| zone.to_ambiguous_timestamp(day.to_datetime(time)).is_ambiguous();
            jumps += daily.walk().iter().filter(|found| odd(found)).count();
        }
    }
    assert!(jumps > 50, "only {jumps} boundaries fell into a gap or a fold: nothing tested");
}
