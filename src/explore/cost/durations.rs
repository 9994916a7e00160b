//! Many durations, in few numbers.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Below this every millisecond has a bucket of its own; above it each doubling has so many buckets.
const FINE: u64 = 16;

/// Durations in whole milliseconds, in buckets that are at most a sixteenth of their lower end
/// wide. Whole numbers only, so they merge in any order to the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Durations {
    /// The longest in each bucket that is possible, and how many are in it.
    pub buckets: BTreeMap<u64, u64>,
    /// The longest that there was, exactly; zero if there was none.
    pub max_ms: u64,
}

impl Durations {
    /// Counts one in.
    pub fn add(&mut self, ms: u64) {
        *self.buckets.entry(upper_end(ms)).or_default() += 1;
        self.max_ms = self.max_ms.max(ms);
    }

    /// Counts others in.
    pub fn merge(&mut self, other: Durations) {
        for (end, n) in other.buckets {
            *self.buckets.entry(end).or_default() += n;
        }
        self.max_ms = self.max_ms.max(other.max_ms);
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.buckets.values().sum()
    }

    /// At least so many in a hundred last no longer than this: the upper end of a bucket, or the
    /// longest if that is less. `None` if there are none.
    pub fn percentile(&self, percent: u32) -> Option<u64> {
        let wanted = (u128::from(self.count()) * u128::from(percent)).div_ceil(100);
        let mut passed = 0;
        let found = self.buckets.iter().find(|(_, n)| {
            passed += u128::from(**n);
            passed >= wanted
        });
        found.map(|(end, _)| (*end).min(self.max_ms))
    }
}

/// The longest duration that is in one bucket with this one.
fn upper_end(ms: u64) -> u64 {
    if ms < FINE {
        return ms;
    }
    let width = ms.ilog2() - FINE.ilog2();
    ms | ((1 << width) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(all: impl IntoIterator<Item = u64>) -> Durations {
        let mut durations = Durations::default();
        for ms in all {
            durations.add(ms);
        }
        durations
    }

    /// Every duration is in a bucket that ends where it says, begins right after the one before, and is narrow enough.
    #[test]
    fn buckets_are_narrow_and_leave_nothing_out() {
        let mut begins = 0;
        while begins < 50_000_000_000 {
            let end = upper_end(begins);
            assert!(end >= begins && (begins < FINE && end == begins || (end - begins + 1) * FINE <= begins), "{begins} to {end}");
            assert!([end, begins.midpoint(end)].into_iter().all(|ms| upper_end(ms) == end), "{begins} to {end}");
            begins = end + 1;
        }
        assert_eq!([0, 15, 16, 31, 32, 33, 34, 1000, u64::MAX].map(upper_end), [0, 15, 16, 31, 33, 33, 35, 1023, u64::MAX]);
    }

    /// 1 to 1,000: half of them are at most 500, which is in the bucket that ends with 511.
    #[test]
    fn a_percentile_is_the_end_of_a_bucket_but_never_more_than_the_longest() {
        let thousand = of(1..=1000);
        assert_eq!([1, 50, 95, 100].map(|p| thousand.percentile(p)), [10, 511, 959, 1000].map(Some));
        assert_eq!((thousand.count(), thousand.max_ms), (1000, 1000));
        assert_eq!([50, 95].map(|p| of([0, 0, 0, 7]).percentile(p)), [0, 7].map(Some));
        assert_eq!(of([90_061]).percentile(50), Some(90_061), "the bucket ends with {}", upper_end(90_061));
        assert_eq!(of([]).percentile(50), None);
    }

    #[test]
    fn parts_merge_in_any_order_to_the_whole() {
        let part = |n: u64| of((0..40).map(move |i| (i * 3 + n) * 137));
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
            let mut merged = Durations::default();
            for n in order {
                merged.merge(part(n));
            }
            assert_eq!(merged, of((0..120).map(|i| i * 137)));
        }
    }
}
