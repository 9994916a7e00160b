//! What has been seen so often is worth so much: how often a run may truly break, given how many
//! did. Exact (Clopper-Pearson), one-sided: each bound alone is wrong in at most one sweep of twenty.
//!
//! The binomial distribution's tail is the regularized incomplete beta function; its inverse is
//! found by halving. That is sixty lines, and statrs, which has both, brings linear algebra along.

/// How sure a bound is: it is wrong in at most this share of all sweeps.
const DOUBT: f64 = 0.05;

/// The upper bound on the probability that one run breaks, after `felt` runs of which none broke:
/// `1 − 0.05^(1/n)`, about `3/n` (the rule of three). `None` when nothing was felt: then nothing is known.
pub fn upper_bound(felt: u64) -> Option<f64> {
    (felt > 0).then(|| 1.0 - DOUBT.powf(1.0 / felt as f64))
}

/// As [`upper_bound`], after `runs` runs of which `broken` broke.
pub fn upper(broken: u64, runs: u64) -> Option<f64> {
    match broken {
        _ if runs == 0 => None,
        0 => upper_bound(runs),
        _ if broken >= runs => Some(1.0),
        _ => Some(inverse(1.0 - DOUBT, (broken + 1) as f64, (runs - broken) as f64)),
    }
}

/// The lower bound on the probability that one run breaks, after `runs` runs of which `broken` broke.
pub fn lower(broken: u64, runs: u64) -> Option<f64> {
    match broken {
        _ if runs == 0 => None,
        0 => Some(0.0),
        _ if broken >= runs => Some(DOUBT.powf(1.0 / runs as f64)),
        _ => Some(inverse(DOUBT, broken as f64, (runs - broken + 1) as f64)),
    }
}

/// How many runs have to feel the fault and hold before the bound is at most `wanted`, a share between 0 and 1.
pub fn runs_for(wanted: f64) -> u64 {
    let about = (DOUBT.ln() / (-wanted).ln_1p()).ceil().max(1.0) as u64;
    // What is lost in rounding is at most one run.
    let mut n = about.saturating_sub(1).max(1);
    while upper_bound(n).is_some_and(|bound| bound > wanted) {
        n += 1;
    }
    n
}

/// How many runs without a break are needed to believe that what broke in `broken` of `runs` runs
/// is mended: with as many, if it still broke as seldom as it may have, at least one would have
/// broken in 19 of 20 sweeps. `None` if no run broke: how often it breaks is not known then.
pub fn to_believe_a_fix(broken: u64, runs: u64) -> Option<u64> {
    let seldom = lower(broken, runs).filter(|p| *p > 0.0)?;
    Some((DOUBT.ln() / (-seldom).ln_1p()).ceil().max(1.0) as u64)
}

/// The `x` at which the regularized incomplete beta function is `share`, to nine digits, so that machines agree on the last one.
fn inverse(share: f64, a: f64, b: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    // Sixty halvings reach the last digit of a double for anything that is not below 10^-9.
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if beta(middle, a, b) < share {
            low = middle;
        } else {
            high = middle;
        }
    }
    format!("{:.8e}", f64::midpoint(low, high)).parse().unwrap_or(high)
}

/// The regularized incomplete beta function: the probability that of `a + b − 1` runs, each of
/// which breaks with probability `x`, at least `a` break.
fn beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    let density = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (-x).ln_1p()).exp();
    // The fraction converges fast on one side of the mean; the other side is its mirror.
    if x < (a + 1.0) / (a + b + 2.0) { density * fraction(x, a, b) / a } else { 1.0 - density * fraction(1.0 - x, b, a) / b }
}

/// The continued fraction of the incomplete beta function (DLMF 8.17.22), by Lentz's method.
fn fraction(x: f64, a: f64, b: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let nonzero = |v: f64| if v.abs() < TINY { TINY } else { v };
    let mut below = 1.0 / nonzero(1.0 - (a + b) * x / (a + 1.0));
    let (mut above, mut value) = (1.0, below);
    for m in (1..1_000_000).map(f64::from) {
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for term in [even, odd] {
            below = 1.0 / nonzero(1.0 + term * below);
            above = nonzero(1.0 + term / above);
            change = above * below;
            value *= change;
        }
        if (change - 1.0).abs() < 1e-15 {
            break;
        }
    }
    value
}

/// The logarithm of the gamma function, by Stirling's series where it is exact to the last digits, and the recurrence below.
fn ln_gamma(x: f64) -> f64 {
    if x < 15.0 {
        return ln_gamma(x + 1.0) - x.ln();
    }
    let i = 1.0 / x;
    let series = i * (1.0 / 12.0 - i * i * (1.0 / 360.0 - i * i * (1.0 / 1260.0 - i * i / 1680.0)));
    (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + series
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
        assert_eq!((upper_bound(0), upper(0, 0), lower(0, 0), to_believe_a_fix(0, 500)), (None, None, None, None));
        assert_eq!((lower(0, 9), upper(9, 9)), (Some(0.0), Some(1.0)));
    }

    /// The definition itself, summed term by term: at the upper bound so few, at the lower bound so many, have 5 % chance.
    #[test]
    fn at_a_bound_what_was_seen_has_one_chance_in_twenty() {
        let at_most = |k: u64, n: u64, p: f64| {
            let mut term = (1.0 - p).powf(n as f64);
            let mut sum = term;
            for i in 0..k {
                term *= (n - i) as f64 / (i + 1) as f64 * p / (1.0 - p);
                sum += term;
            }
            sum
        };
        for (k, n) in [(1, 2), (3, 100), (7, 20), (19, 20), (50, 500), (1, 120), (400, 3_000)] {
            let (high, low) = (upper(k, n).unwrap(), lower(k, n).unwrap());
            assert!((at_most(k, n, high) - 0.05).abs() < 1e-6, "{k} of {n}: {high}");
            assert!((1.0 - at_most(k - 1, n, low) - 0.05).abs() < 1e-6, "{k} of {n}: {low}");
        }
    }

    /// Values of printed tables: 3 of 100 (R's `binom.test(3, 100, alternative = …)`), and the classical 1 of 10.
    #[test]
    fn known_values() {
        let near = |told: Option<f64>, table: f64| assert!((told.unwrap() - table).abs() < 5e-5, "{told:?} is not {table}");
        near(upper(3, 100), 0.0757);
        near(lower(3, 100), 0.0082);
        near(upper(1, 10), 0.3942);
        near(lower(1, 10), 0.0051);
    }

    /// A sweep of a thousand million runs is no reason to wait, or to be wrong.
    #[test]
    fn huge_numbers_come_close_to_the_normal_distribution() {
        let (k, n) = (250_000_000, 1_000_000_000);
        let sigma = (0.25_f64 * 0.75 / n as f64).sqrt();
        assert!((upper(k, n).unwrap() - (0.25 + 1.6449 * sigma)).abs() < sigma / 100.0);
        assert!((lower(k, n).unwrap() - (0.25 - 1.6449 * sigma)).abs() < sigma / 100.0);
    }

    #[test]
    fn enough_runs_are_just_enough() {
        for wanted in [0.5, 0.05, 0.001, 1e-6] {
            let n = runs_for(wanted);
            assert!(upper_bound(n).unwrap() <= wanted && (n == 1 || upper_bound(n - 1).unwrap() > wanted), "{wanted}: {n}");
        }
        assert_eq!(runs_for(0.001), 2_995);
    }

    /// What broke in every run is believed after one clean run; what broke once in 120 needs thousands.
    #[test]
    fn the_rarer_the_break_the_longer_the_doubt() {
        let clean = to_believe_a_fix(3, 100).unwrap();
        let seldom = lower(3, 100).unwrap();
        assert!((1.0 - seldom).powf(clean as f64) <= 0.05 && (1.0 - seldom).powf(clean as f64 - 1.0) > 0.05);
        assert_eq!(clean, 363);
        assert!(to_believe_a_fix(500, 500).unwrap() <= 1 && to_believe_a_fix(1, 120).unwrap() > 5_000);
    }
}
