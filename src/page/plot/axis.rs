//! Axes: what stands at them, and where a value lies.

use crate::plan::duration;
use crate::report::words::thousands;
use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use std::ops::Range;
use std::time::Duration;

/// Durations that people count in, in milliseconds.
const ROUND: [u64; 26] = [
    1,
    10,
    100,
    1_000,
    2_000,
    5_000,
    10_000,
    15_000,
    30_000,
    60_000,
    120_000,
    300_000,
    600_000,
    900_000,
    1_800_000,
    3_600_000,
    7_200_000,
    10_800_000,
    21_600_000,
    43_200_000,
    86_400_000,
    172_800_000,
    432_000_000,
    864_000_000,
    1_728_000_000,
    8_640_000_000,
];

/// Those of them that are far enough apart for a logarithmic axis.
const FAR: [u64; 10] = [10, 100, 1_000, 10_000, 60_000, 600_000, 3_600_000, 21_600_000, 86_400_000, 864_000_000];

/// By which factor values on a logarithmic axis lie apart if something stands at them.
const APART: f64 = 1.8;

/// Up to which factor between its ends an axis has room for more of them.
const CLOSE: u64 = 300;

/// An axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    log: bool,
    low: f64,
    high: f64,
    ticks: Vec<(f64, String)>,
}

impl Axis {
    fn new(log: bool, low: f64, high: f64, ticks: Vec<(f64, String)>) -> Self {
        let high = if high > low { high } else { low + 1.0 };
        Axis { log, low, high, ticks }
    }

    /// Durations from zero to at least `most_ms`.
    pub fn time(most_ms: u64) -> Self {
        let most = most_ms.max(1);
        let step = ROUND.into_iter().find(|step| most / step <= 5).unwrap_or(most);
        let ticks = (0..=most / step).map(|n| (n * step, ms(n * step))).map(|(at, text)| (at as f64, text)).collect();
        Axis::new(false, 0.0, most as f64 * 1.06, ticks)
    }

    /// Durations on a logarithmic axis; what is less than `least_ms` stands at its beginning.
    pub fn log_time(least_ms: u64, most_ms: u64) -> Self {
        // Where there is room for it, what lies between.
        let close = most_ms / least_ms.max(1) < CLOSE;
        let all: &[u64] = if close { &ROUND } else { &FAR };
        let least = all.iter().rev().copied().find(|at| *at <= least_ms).unwrap_or(all[0]);
        let high = most_ms.max(least.saturating_mul(10));
        let mut at: Vec<u64> = Vec::new();
        for next in all.iter().copied().filter(|at| (least..=high).contains(at)) {
            if at.last().is_none_or(|last| next as f64 / *last as f64 > APART) {
                at.push(next);
            }
        }
        let ticks = at.into_iter().map(|at| (at as f64, ms(at))).collect();
        Axis::new(true, least as f64, high as f64 * 1.15, ticks)
    }

    /// Milliseconds more or less than something, told in seconds.
    pub fn seconds(least_ms: i64, most_ms: i64) -> Self {
        let (least, most) = (least_ms.min(0), most_ms.max(0));
        let reach = (most - least).max(1_000);
        let step = ROUND.into_iter().skip(3).find(|step| reach / *step as i64 <= 6).unwrap_or(reach as u64) as i64;
        let (first, last) = (least.div_euclid(step), most.div_euclid(step) + i64::from(most.rem_euclid(step) > 0));
        let ticks =
            (first..=last).map(|n| ((n * step) as f64, if n == 0 { "line".to_owned() } else { crate::report::words::signed(n * step) }));
        let room = reach as f64 * 0.08;
        Axis::new(false, (first * step) as f64 - room, (last * step) as f64 + room, ticks.collect())
    }

    /// Counts from `least` on a logarithmic axis.
    pub fn log_count(least: f64, most: f64) -> Self {
        let least = if least.is_finite() && least > 0.0 { least } else { 1.0 };
        let most = if most.is_finite() && most > least { most } else { least * 10.0 };
        let close = (most / least).log10() < 1.7;
        let within = |at: &f64| (least * 0.999..=most * 1.001).contains(at);
        let decades = (least.log10().floor() as i32)..=(most.log10().ceil() as i32);
        let steps: &[f64] = if close { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let at: Vec<f64> = decades.flat_map(|n| steps.iter().map(move |step| step * 10f64.powi(n))).filter(within).collect();
        Axis::new(true, least, most * 1.1, at.into_iter().map(|at| (at, count(at))).collect())
    }

    /// Chosen values, each twice the one before it or so: nodes.
    pub fn log_chosen(values: &[f64]) -> Self {
        let least = values.first().copied().filter(|at| *at > 0.0).unwrap_or(1.0);
        let most = values.last().copied().unwrap_or(least);
        Axis::new(true, least * 0.93, most.max(least * 1.2) * 1.07, values.iter().map(|at| (*at, count(*at))).collect())
    }

    /// From nothing to all.
    pub fn share() -> Self {
        Axis::new(false, 0.0, 1.02, [0, 25, 50, 75, 100].map(|n| (f64::from(n) / 100.0, format!("{n} %"))).to_vec())
    }

    /// Rows, the first at the top, with nothing written at them.
    pub fn rows(n: usize) -> Self {
        Axis::new(false, -(n.max(1) as f64), 0.0, Vec::new())
    }

    /// Where a value lies between the ends, from 0 to 1; what is beyond an end, at that end.
    fn share_of(&self, value: f64) -> f64 {
        let value = if value.is_nan() { self.low } else { value.clamp(self.low, self.high) };
        match self.log {
            true => (value / self.low).ln() / (self.high / self.low).ln(),
            false => (value - self.low) / (self.high - self.low),
        }
    }

    /// What is written at a value.
    pub fn label(&self, value: f64) -> String {
        self.ticks.iter().find(|(at, _)| at.total_cmp(&value).is_eq()).map_or(String::new(), |(_, text)| text.clone())
    }
}

impl Ranged for Axis {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (from, to): (i32, i32)) -> i32 {
        from + (f64::from(to - from) * self.share_of(*value)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        if hint.weight().allow_light_points() { Vec::new() } else { self.ticks.iter().map(|(at, _)| *at).collect() }
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

/// Without what is too fine to matter: milliseconds of minutes.
pub fn coarse(of_ms: u64) -> u64 {
    let unit = match of_ms {
        0..1_000 => 1,
        1_000..10_000 => 100,
        10_000..600_000 => 1_000,
        _ => 60_000,
    };
    of_ms / unit * unit
}

/// A duration in words.
pub fn ms(ms: u64) -> String {
    duration::text(Duration::from_millis(ms))
}

fn count(n: f64) -> String {
    if n >= 1.0 { thousands(n.round() as u64) } else { format!("{n}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<String> {
        axis.ticks.iter().map(|(at, _)| axis.label(*at)).collect()
    }

    #[test]
    fn people_count_in_minutes_and_not_in_powers_of_ten() {
        assert_eq!(labels(&Axis::time(33 * 60_000)), ["0s", "10m", "20m", "30m"]);
        assert_eq!(labels(&Axis::log_time(1_500, 4_000_000)), ["1s", "10s", "1m", "10m", "1h"]);
        assert_eq!(labels(&Axis::log_time(122_879, 7_400_000)), ["2m", "5m", "10m", "30m", "1h", "2h"]);
        assert_eq!(labels(&Axis::seconds(-400, 4_300)), ["−1s", "line", "+1s", "+2s", "+3s", "+4s", "+5s"]);
        assert_eq!(labels(&Axis::log_count(1.0, 1200.0)), ["1", "10", "100", "1,000"]);
        assert_eq!(labels(&Axis::log_count(3.0, 60.0)), ["5", "10", "20", "50"]);
    }

    #[test]
    fn whatever_comes_there_is_an_axis() {
        let all = [
            Axis::time(0),
            Axis::log_time(0, 0),
            Axis::seconds(0, 0),
            Axis::log_count(0.0, 0.0),
            Axis::log_count(f64::NAN, f64::INFINITY),
            Axis::log_chosen(&[]),
            Axis::log_chosen(&[0.0]),
            Axis::log_chosen(&[4.0]),
            Axis::rows(0),
            Axis::time(u64::MAX / 2),
        ];
        for axis in all {
            assert!(axis.low < axis.high && axis.high.is_finite(), "{axis:?}");
            for value in [0.0, -1.0, 1.0, 1e30, f64::NAN, f64::INFINITY] {
                assert!((0..=300).contains(&axis.map(&value, (0, 300))), "{value} on {axis:?}");
            }
        }
    }
}
