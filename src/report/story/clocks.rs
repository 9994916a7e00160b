//! What the clocks of hosts show, as far as the history tells it.

use crate::id::HostId;
use crate::settlement::Calendar;
use crate::time::{Origin, SimTime, WallTime, millis};
use crate::trace::{Event, Trace};
use std::collections::BTreeMap;

/// What is known of a clock from some instant on.
#[derive(Clone, Copy, Debug)]
struct Known {
    since: SimTime,
    /// By how many milliseconds it was wrong then.
    off: i64,
    /// By how many parts per million it has run wrong since.
    ppm: i32,
}

impl Known {
    fn off(self, at: SimTime) -> i64 {
        self.off + millis(at.since(self.since)).cast_signed() * i64::from(self.ppm) / 1_000_000
    }

    /// When it will have shown this much more true time than at the beginning of the run, if nothing changes.
    fn shows(self, wanted: i64) -> SimTime {
        let missing = wanted - self.since.0.cast_signed() - self.off;
        let rate = i128::from(1_000_000 + self.ppm).max(1);
        let takes = (i128::from(missing.max(0)) * 1_000_000 + rate - 1) / rate;
        SimTime(self.since.0.saturating_add(u64::try_from(takes).unwrap_or(u64::MAX)))
    }
}

/// How wrong every clock was at every time.
#[derive(Clone, Debug)]
pub struct Clocks {
    origin: Origin,
    known: BTreeMap<HostId, Vec<Known>>,
}

impl Clocks {
    /// Learns them from a history.
    pub fn of(trace: &Trace, calendar: &Calendar) -> Clocks {
        let mut clocks = Clocks { origin: calendar.origin, known: BTreeMap::new() };
        for record in trace.records() {
            match record.event {
                Event::AttemptBegan { attempt, wall, .. } => {
                    let host = HostId::Node(attempt.node);
                    let off = wall.0 - clocks.origin.wall(record.at).0;
                    clocks.learn(host, record.at, off, clocks.ppm(host, record.at));
                }
                Event::ClockSet { host, by } => {
                    clocks.learn(host, record.at, clocks.off(host, record.at) + by, clocks.ppm(host, record.at));
                }
                Event::ClockDrifts { host, ppm } => clocks.learn(host, record.at, clocks.off(host, record.at), ppm),
                _ => {}
            }
        }
        clocks
    }

    fn learn(&mut self, host: HostId, since: SimTime, off: i64, ppm: i32) {
        self.known.entry(host).or_default().push(Known { since, off, ppm });
    }

    fn known(&self, host: HostId, at: SimTime) -> Option<Known> {
        self.known.get(&host)?.iter().rev().find(|known| known.since <= at).copied()
    }

    fn ppm(&self, host: HostId, at: SimTime) -> i32 {
        self.known(host, at).map_or(0, |known| known.ppm)
    }

    /// By how many milliseconds a host's clock is wrong, as far as it has shown.
    pub fn off(&self, host: HostId, at: SimTime) -> i64 {
        self.known(host, at).map_or(0, |known| known.off(at))
    }

    /// What a host's clock shows.
    pub fn shows(&self, host: HostId, at: SimTime) -> WallTime {
        WallTime(self.origin.wall(at).0 + self.off(host, at))
    }

    /// When a host's clock shows so many milliseconds more than it shows at `from`.
    pub fn later(&self, host: HostId, from: SimTime, ms: u64) -> SimTime {
        let wanted = from.0.cast_signed() + self.off(host, from) + i64::try_from(ms).unwrap_or(i64::MAX / 2);
        let now = Known { since: from, off: self.off(host, from), ppm: self.ppm(host, from) };
        let after = self.known.get(&host).into_iter().flatten().filter(|known| known.since > from).copied();
        let mut current = now;
        for next in after {
            let at = current.shows(wanted);
            if at <= next.since {
                return at;
            }
            current = next;
        }
        current.shows(wanted)
    }

    /// Hosts whose clocks were ever wrong.
    pub fn wrong(&self) -> impl Iterator<Item = HostId> + '_ {
        self.known.iter().filter(|(_, known)| known.iter().any(|known| known.off != 0 || known.ppm != 0)).map(|(host, _)| *host)
    }

    /// From when on by how many milliseconds a clock was wrong; between two points it runs evenly.
    pub fn points(&self, host: HostId, until: SimTime) -> Vec<(u64, i64)> {
        let mut last = Known { since: SimTime::ZERO, off: 0, ppm: 0 };
        let mut points = vec![(0, 0)];
        for known in self.known.get(&host).into_iter().flatten() {
            let before = last.off(known.since);
            // What a node shows when it begins an attempt is nothing new, but for what was rounded.
            if known.ppm == last.ppm && (known.off - before).abs() <= 1 {
                continue;
            }
            points.push((known.since.0, before));
            points.push((known.since.0, known.off));
            last = *known;
        }
        points.push((until.0, last.off(until)));
        points.dedup();
        if let [(0, 0), (0, _), ..] = points[..] {
            points.remove(0);
        }
        points
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;

    fn told(events: &[(u64, Event)]) -> Clocks {
        let mut trace = Trace::default();
        for (at, event) in events {
            trace.push(SimTime(*at), *event);
        }
        Clocks::of(&trace, &Scenario::default().schedule.calendar().expect("the default schedule is good"))
    }

    #[test]
    fn a_clock_that_jumps_and_drifts_is_told_by_its_corners() {
        let host = HostId::Lease;
        let clocks = told(&[
            (0, Event::ClockSet { host, by: -5_000 }),
            (10_000, Event::ClockDrifts { host, ppm: 100_000 }),
            (20_000, Event::ClockDrifts { host, ppm: 0 }),
        ]);
        assert_eq!(clocks.points(host, SimTime(30_000)), [(0, -5_000), (10_000, -5_000), (20_000, -4_000), (30_000, -4_000)]);
        assert_eq!(clocks.wrong().collect::<Vec<_>>(), [host]);
    }

    /// A lease of 10 s on a clock that runs a tenth fast lasts a tenth less, and one on a clock that is set forward ends then.
    #[test]
    fn times_on_wrong_clocks_come_when_these_show_them() {
        let host = HostId::Lease;
        assert_eq!(told(&[]).later(host, SimTime(5), 1_000), SimTime(1_005));
        let fast = told(&[(0, Event::ClockDrifts { host, ppm: 100_000 })]);
        assert_eq!(fast.later(host, SimTime(11_000), 11_000), SimTime(21_000));
        let set = told(&[(7_000, Event::ClockSet { host, by: 60_000 })]);
        assert_eq!(set.later(host, SimTime(5_000), 30_000), SimTime(7_000));
        assert_eq!(set.later(host, SimTime(5_000), 1_000), SimTime(6_000));
        let back = told(&[(7_000, Event::ClockSet { host, by: -60_000 })]);
        assert_eq!(back.later(host, SimTime(5_000), 30_000), SimTime(95_000));
    }
}
