//! How long the job takes, where it does not always take as long.

use crate::plan::duration;
use crate::scenario::Scenario;
use crate::seed::Seed;
use crate::time::{Span, millis};
use rand::RngExt;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The lengths of a job, as monitoring tells them: half of all runs take at most `p50`, and none longer than `max`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobLengths {
    /// The median. 0 s to `p95`.
    #[serde(with = "duration")]
    pub p50: Duration,
    /// All but 5 of 100 runs are shorter. Up to `p99`.
    #[serde(with = "duration")]
    pub p95: Duration,
    /// All but 1 of 100 runs are shorter. Up to `max`.
    #[serde(with = "duration")]
    pub p99: Duration,
    /// No run is longer. Up to 1 day.
    #[serde(with = "duration")]
    pub max: Duration,
}

impl JobLengths {
    /// The length below which a share of all runs lies: straight lines between the given points, from half of the median.
    pub fn quantile(&self, share: f64) -> Duration {
        let points = [(0.0, self.p50 / 2), (0.5, self.p50), (0.95, self.p95), (0.99, self.p99), (1.0, self.max)];
        let above = points.iter().position(|(at, _)| share <= *at).unwrap_or(points.len() - 1).max(1);
        let ((from, shorter), (to, longer)) = (points[above - 1], points[above]);
        let between = longer.saturating_sub(shorter).mul_f64(((share - from) / (to - from)).clamp(0.0, 1.0));
        millis(shorter + between).ms()
    }
}

impl Scenario {
    /// The deployment of the run with this seed, its job as long as it takes in that run; `None` if it always takes as long.
    #[must_use]
    pub fn with_job_drawn(&self, seed: Seed) -> Option<Scenario> {
        let lengths = self.job_lengths.as_ref()?;
        let mut drawn = Scenario { job_lengths: None, ..self.clone() };
        drawn.node.work = lengths.quantile(seed.fork("job").rng().random());
        Some(drawn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths() -> JobLengths {
        JobLengths { p50: 2.minutes(), p95: 10.minutes(), p99: 30.minutes(), max: 45.minutes() }
    }

    #[test]
    fn the_given_points_are_met() {
        let at = |share| lengths().quantile(share);
        assert_eq!([0.0, 0.5, 0.95, 0.99, 1.0].map(at), [1.minutes(), 2.minutes(), 10.minutes(), 30.minutes(), 45.minutes()]);
        assert_eq!(at(0.97), 20.minutes());
    }

    /// One run of twenty is longer than `p95`, one of a hundred longer than `p99`, and what is drawn has one length.
    #[test]
    fn as_many_runs_are_long_as_was_said() {
        let given = Scenario { job_lengths: Some(lengths()), ..Scenario::default() };
        let drawn: Vec<Duration> = (0..2_000)
            .map(|n| {
                let drawn = given.with_job_drawn(Seed(5).nth(n)).expect("there is something to draw");
                assert_eq!(drawn.job_lengths, None);
                drawn.node.work
            })
            .collect();
        let longer = |than: Duration| drawn.iter().filter(|work| **work > than).count();
        assert!((900..1_100).contains(&longer(2.minutes())), "{}", longer(2.minutes()));
        assert!((70..130).contains(&longer(10.minutes())), "{}", longer(10.minutes()));
        assert!((8..35).contains(&longer(30.minutes())), "{}", longer(30.minutes()));
        assert_eq!(Scenario::default().with_job_drawn(Seed(5)), None);
        let scaled = given.scaled_for_turmoil();
        assert_eq!(scaled.job_lengths.map(|job| (job.p50, job.p99)), Some((1.seconds(), 15.seconds())));
    }
}
