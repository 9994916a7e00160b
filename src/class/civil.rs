//! Civil: boundaries in civil time where it is not simple, and nodes that take them for those of another time zone.

use crate::class::{Class, Draw, Mixes};
use crate::id::HostId;
use crate::plan::{Fault, Harm, Target, Trigger};
use crate::scenario::Scenario;
use crate::seed::Seed;
use crate::settlement::{Fold, Gap, Schedule, ahead_of, most_ahead_ms};
use jiff::civil::date;
use rand::RngExt;
use rand::seq::IndexedRandom;

/// Cron text, zone, and the day at whose midnight the run begins, in local time. Two boundaries are watched.
const DAYS: [(&str, &str, (i16, i8, i8)); 10] = [
    // Midnight is skipped on 8 March, and comes twice on 1 November.
    ("0 0 8,22 * *", "America/Havana", (2026, 3, 7)),
    ("0 0 1,15 * *", "America/Havana", (2026, 10, 31)),
    // A time of the night is.
    ("30 2 8,22 * *", "America/New_York", (2026, 3, 7)),
    ("30 1 1,15 * *", "America/New_York", (2026, 10, 31)),
    ("30 2 25,28 * *", "Europe/Berlin", (2026, 10, 24)),
    // Summer time that is half an hour.
    ("15 2 4,18 * *", "Australia/Lord_Howe", (2026, 10, 3)),
    // The day that there is every fourth year.
    ("0 0 29,15 * *", "Europe/Berlin", (2028, 2, 28)),
    // The last day of the month, and a day that not every month has.
    ("0 0 L * *", "Asia/Shanghai", (2026, 1, 30)),
    ("0 0 31 * *", "Asia/Kolkata", (2026, 7, 30)),
    // The year ends.
    ("0 0 31,1 * *", "Pacific/Auckland", (2026, 12, 30)),
];

/// Zones of nodes that have another one than their deployment.
const ZONES: [&str; 8] = [
    "UTC",
    "America/New_York",
    "America/Havana",
    "Europe/Berlin",
    "Asia/Kolkata",
    "Asia/Shanghai",
    "Australia/Lord_Howe",
    "Pacific/Auckland",
];

/// Another zone for some nodes, and never for all: who has the right one comes in time.
pub(super) struct Civil;

impl Class for Civil {
    fn name(&self) -> &'static str {
        "civil"
    }

    fn about(&self) -> &'static str {
        "boundaries in a gap or fold of summer time, on a leap day, at the end of a month; some nodes in another time zone"
    }

    fn draw(&self, draw: &mut Draw<'_>) -> Vec<Fault> {
        let others = draw.rng.random_range(1..=draw.scenario.nodes.saturating_sub(1).max(1));
        let right = draw.rng.random_range(0..draw.scenario.nodes);
        let nodes: Vec<u8> = (0..draw.scenario.nodes).filter(|node| *node != right || draw.scenario.nodes == 1).collect();
        let chosen: Vec<u8> = nodes.sample(&mut draw.rng, others.into()).copied().collect();
        let elsewhere = |node| {
            let zone = zone(draw);
            Harm::Zone { host: Target::Host(HostId::node(node)), zone }.when(Trigger::start())
        };
        chosen.into_iter().map(elsewhere).collect()
    }

    fn knobs(&self, seed: Seed, given: &Scenario) -> Option<Scenario> {
        if given.time_scale > 1 {
            return None;
        }
        let mut rng = seed.fork("civil").rng();
        let (cron, zone, (year, month, day)) = *DAYS.choose(&mut rng)?;
        let schedule = Schedule::Cron {
            cron: cron.to_owned(),
            zone: zone.to_owned(),
            from: date(year, month, day).at(0, 0, 0, 0),
            periods: 2,
            gap: *[Gap::End, Gap::Shift, Gap::Skip].choose(&mut rng)?,
            fold: *[Fold::First, Fold::Second, Fold::Both].choose(&mut rng)?,
        };
        Some(Scenario { schedule, ..given.clone() })
    }

    /// Who comes hours late is no help where another is down: nothing could be said about liveness.
    fn mixes(&self) -> Mixes {
        Mixes::Never
    }
}

/// A zone that is mostly another than the deployment's; in a smaller world, one that is as far from its own as that allows.
fn zone(draw: &mut Draw<'_>) -> String {
    if draw.scenario.time_scale == 1 {
        return (*ZONES.choose(&mut draw.rng).expect("there are zones")).to_owned();
    }
    let first = draw.calendar.next_after(draw.calendar.origin.0);
    let half_hours = draw.rng.random_range(1..=24);
    let far = draw.milliseconds(half_hours * 30 * 60_000);
    let ahead = if draw.rng.random() { far.min(most_ahead_ms(draw.calendar.due(first))) } else { -far };
    ahead_of(&draw.calendar.zone, first.due, ahead)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class::FaultClass;
    use crate::time::zone;
    use std::collections::BTreeSet;

    fn drawn(given: &Scenario) -> Vec<Scenario> {
        (0..500).map(|n| FaultClass::Civil.knobs(Seed(5).nth(n), given).unwrap_or_else(|| given.clone())).collect()
    }

    /// All can be deployed, and all kinds of days are among them.
    #[test]
    fn every_kind_of_day_is_drawn_and_can_be_deployed() {
        let drawn = drawn(&Scenario::default());
        assert!(drawn.iter().all(|scenario| scenario.validate().is_ok()));
        let crons: BTreeSet<String> = drawn.iter().map(|scenario| format!("{:?}", scenario.schedule)).collect();
        assert_eq!(crons.len(), DAYS.len() * 9, "each day with each way to take a gap and a fold");
    }

    /// The leap day, the last days of months, and the 31st of those that have one.
    #[test]
    fn days_that_not_every_month_has() {
        let dates = |day: usize| {
            let (cron, zone, (y, m, d)) = DAYS[day];
            let (gap, fold) = (Gap::End, Fold::First);
            let from = date(y, m, d).at(0, 0, 0, 0);
            let schedule = Schedule::Cron { cron: cron.to_owned(), zone: zone.to_owned(), from, periods: 2, gap, fold };
            schedule.calendar().unwrap().periods.iter().map(|period| period.id.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(
            [dates(6), dates(7), dates(8)],
            [["2028-02-29", "2028-03-15"], ["2026-01-31", "2026-02-28"], ["2026-07-31", "2026-08-31"]]
        );
    }

    /// Zones there are, for some nodes and not for all, at every scale.
    #[test]
    fn somebody_keeps_the_right_zone() {
        for given in [Scenario::default(), Scenario::default().scaled_for_turmoil()] {
            let calendar = given.schedule.calendar().unwrap();
            for n in 0..200 {
                let plan = FaultClass::Civil.plan(Seed(6).nth(n), &given, &calendar, &[]);
                assert_eq!(plan.validate(given.nodes, &[]), Ok(()));
                assert!((1..given.nodes.into()).contains(&plan.faults.len()), "{plan:?}");
                for fault in plan.faults {
                    let Harm::Zone { zone: name, .. } = fault.harm else { panic!("{:?}", fault.harm) };
                    let there = given.schedule.seen_with(Some(&name), None, &calendar).unwrap();
                    assert!(zone(&name).is_ok() && (given.time_scale == 1 || calendar.origin.0 < there.periods[0].due), "{name}");
                }
            }
        }
    }
}
