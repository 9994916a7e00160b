//! Shorter faults, of lengths that people say.

use crate::explore::shrink::Candidate;
use crate::plan::Harm;
use crate::step::Step;
use crate::time::millis;
use std::time::Duration;

/// Lengths that people say, in milliseconds, up to a day.
const SAID: [u64; 34] = [
    1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 30_000, 60_000, 90_000, 120_000, 180_000, 240_000, 300_000,
    600_000, 900_000, 1_200_000, 1_800_000, 2_400_000, 2_700_000, 3_600_000, 5_400_000, 7_200_000, 10_800_000, 14_400_000, 43_200_000,
    86_400_000,
];

/// Rates of drifting clocks that people say, in parts per million.
const RATES: [u64; 12] = [10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000];

/// One length at a time made shorter, the shortest first.
pub fn shorter(case: &Candidate, _: &[Step]) -> Vec<Candidate> {
    let mut cases = Vec::new();
    for n in 0..case.plan.faults.len() {
        let with = |change: &dyn Fn(&mut Harm)| {
            let mut next = case.clone();
            change(&mut next.plan.faults[n].harm);
            next
        };
        let harm = &case.plan.faults[n].harm;
        for (which, length) in lengths(&mut harm.clone()).into_iter().enumerate() {
            let set = |ms: u64| with(&|harm| *lengths(harm)[which] = Duration::from_millis(ms));
            cases.extend(below(millis(*length), &SAID).into_iter().map(set));
        }
        match *harm {
            Harm::JobError { times } => cases.extend((1..times).map(|times| with(&|harm| *harm = Harm::JobError { times }))),
            Harm::ClockOffset { host, by_ms } => {
                let set = |ms: u64| with(&|harm| *harm = Harm::ClockOffset { host, by_ms: by_ms.signum() * ms.cast_signed() });
                cases.extend(below(by_ms.unsigned_abs(), &SAID).into_iter().map(set));
            }
            Harm::ClockDrift { host, ppm, lasts } => {
                let set = |rate: u64| with(&|harm| *harm = Harm::ClockDrift { host, ppm: ppm.signum() * rate as i32, lasts });
                cases.extend(below(u64::from(ppm.unsigned_abs()), &RATES).into_iter().map(set));
            }
            _ => {}
        }
    }
    cases
}

/// Values of a ladder below `now`: half the way down, then three quarters of what is left, up to
/// the next below. And if `now` is none that people say: the next above, or whole minutes or seconds.
fn below(now: u64, ladder: &[u64]) -> Vec<u64> {
    let place = ladder.partition_point(|value| *value < now);
    let mut found = Vec::new();
    let mut left = place;
    while left > 0 {
        let next = place - left.div_ceil(2);
        if found.last() != Some(&ladder[next]) {
            found.push(ladder[next]);
        }
        left /= 2;
    }
    if ladder.get(place) != Some(&now) {
        found.extend(ladder.get(place));
        found.extend([60_000, 1_000].map(|unit| now / unit * unit).into_iter().filter(|round| 0 < *round && *round < now));
    }
    found
}

/// What in a harm has a length, to be changed.
fn lengths(harm: &mut Harm) -> Vec<&mut Duration> {
    match harm {
        Harm::Crash { back_after: d, .. }
        | Harm::Power { back_after: d, .. }
        | Harm::Pause { lasts: d, .. }
        | Harm::Partition { lasts: d, .. }
        | Harm::SlowStep { extra: d }
        | Harm::LeaseWipe { back_after: d, .. }
        | Harm::LeaseStall { lasts: d, .. } => vec![d],
        Harm::Shutdown { grace: d, back_after: other, .. }
        | Harm::LeaseFailover { lag: d, back_after: other, .. }
        | Harm::Late { extra: d, lasts: other, .. } => vec![d, other],
        Harm::ClockDrift { lasts, .. } => lasts.as_mut().into_iter().collect(),
        Harm::ReplyLost { .. }
        | Harm::JobError { .. }
        | Harm::ClockOffset { .. }
        | Harm::LeaseEvict { .. }
        | Harm::Redeliver
        | Harm::CommitFails { .. }
        | Harm::SessionEnds { .. }
        | Harm::Zone { .. } => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_first_then_closer_and_never_itself() {
        assert_eq!(below(2_400_000, &SAID), [10_000, 240_000, 900_000, 1_200_000, 1_800_000]);
        assert_eq!(below(1, &SAID), [0; 0]);
        assert_eq!(below(2_399_000, &SAID).last_chunk(), Some(&[1_800_000, 2_400_000, 2_340_000]));
        for now in [3, 999, 61_001, 90_000_000] {
            assert!(!below(now, &SAID).contains(&now));
        }
    }
}
