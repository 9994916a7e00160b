//! The clock of a host against a model that adds its history up in exact fractions.

use onceproof::time::{Origin, SimTime, WallTime};
use onceproof::world::clock::Clock;
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use std::time::Duration;

const ORIGIN: Origin = Origin(WallTime(1_767_888_000_000));

/// What can happen to a clock.
#[derive(Clone, Debug)]
enum Change {
    /// True time goes on, in milliseconds.
    Wait(u64),
    /// It jumps.
    Step(i64),
    /// It runs at another rate, in parts per million.
    Drift(i32),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        (0..2_000_000_000_u64).prop_map(Change::Wait),
        (-3_600_000..=3_600_000_i64).prop_map(Change::Step),
        (-500_000..=500_000_i32).prop_map(Change::Drift),
    ]
}

fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("regressions"))), ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    /// Whatever is done to a clock, it shows what its rates and jumps add up to. Each setting
    /// rounds to a millisecond once, so the error is less than one for each.
    #[test]
    fn shows_the_sum_of_its_rates_and_jumps(changes in prop::collection::vec(change(), 0..40)) {
        let mut clock = Clock::perfect(ORIGIN);
        let mut now = SimTime::ZERO;
        let mut drift = 0_i128;
        // In millionths of a millisecond, so that nothing is rounded.
        let mut exact = i128::from(ORIGIN.wall(now).0) * 1_000_000;
        for change in &changes {
            match *change {
                Change::Wait(ms) => {
                    exact += i128::from(ms) * (1_000_000 + drift);
                    now = now + Duration::from_millis(ms);
                }
                Change::Step(by) => {
                    let before = clock.shows(now);
                    clock.step(now, by);
                    exact += i128::from(by) * 1_000_000;
                    prop_assert_eq!(clock.shows(now).0 - before.0, by, "a step is exact");
                }
                Change::Drift(ppm) => {
                    let before = clock.shows(now);
                    clock.drift(now, ppm);
                    drift = i128::from(ppm);
                    prop_assert_eq!(clock.shows(now), before, "another rate does not make it jump");
                }
            }
            let error = i128::from(clock.shows(now).0) * 1_000_000 - exact;
            prop_assert!(error.abs() <= (changes.len() as i128 + 1) * 1_000_000, "off by {} ms", error / 1_000_000);
        }
    }

    /// Between two settings a clock never runs backwards.
    #[test]
    fn never_runs_backwards(ppm in -500_000..=500_000_i32, start in 0..1_000_000_u64, waits in prop::collection::vec(0..100_000_u64, 1..50)) {
        let mut clock = Clock::perfect(ORIGIN);
        let mut now = SimTime(start);
        clock.drift(now, ppm);
        let mut last = clock.shows(now);
        for wait in waits {
            now = now + Duration::from_millis(wait);
            let shows = clock.shows(now);
            prop_assert!(last <= shows);
            last = shows;
        }
    }

    /// A timer fires when its owner's clock has moved by its length: never early by more than
    /// the millisecond that clocks show, never late by more than a millisecond of true time.
    #[test]
    fn a_timer_takes_its_length_on_its_owners_clock(ppm in -500_000..=500_000_i32, start in 0..1_000_000_u64, length in 0..10_000_000_u64) {
        let mut clock = Clock::perfect(ORIGIN);
        let began = SimTime(start);
        clock.drift(began, ppm);
        let length = Duration::from_millis(length);
        let takes = clock.stretch(length);
        let moved = |true_ms: Duration| clock.shows(began + true_ms).since(clock.shows(began));
        prop_assert!(length <= moved(takes) + Duration::from_millis(1), "it fired early");
        if let Some(sooner) = takes.checked_sub(Duration::from_millis(2)) {
            prop_assert!(moved(sooner) <= length, "it could have fired two milliseconds earlier");
        }
    }
}
