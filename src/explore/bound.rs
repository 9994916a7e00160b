//! What "it never broke" is worth: how often it may still break, given how often we looked.

/// How sure the bound is: it is wrong in at most this share of all sweeps.
const DOUBT: f64 = 0.05;

/// The exact (Clopper-Pearson) one-sided 95 % upper bound on the probability that one run
/// breaks, after `felt` runs of which none broke: `1 − 0.05^(1/n)`, about `3/n` (the rule of
/// three). `None` when nothing was felt: then nothing is known.
pub fn upper_bound(felt: u64) -> Option<f64> {
    (felt > 0).then(|| 1.0 - DOUBT.powf(1.0 / felt as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At the bound, seeing no break in `n` runs has exactly 5 % chance.
    #[test]
    fn a_true_rate_at_the_bound_stays_hidden_in_one_sweep_of_twenty() {
        for n in [1, 30, 500, 100_000] {
            let p = upper_bound(n).unwrap();
            assert!(((1.0 - p).powf(n as f64) - 0.05).abs() < 1e-9, "{n} runs: {p}");
        }
    }

    #[test]
    fn close_to_the_rule_of_three_and_silent_without_runs() {
        assert!((upper_bound(500).unwrap() - 3.0 / 500.0).abs() < 1e-4);
        assert_eq!(upper_bound(0), None);
    }
}
