//! Numbers that users type: read, or answered with what to write.

use crate::explore::Shard;
use std::ops::RangeInclusive;

/// Seeds for a cell.
pub fn seeds(text: &str) -> Result<u64, String> {
    whole(text, 1..=1_000_000_000)
}

/// Runs at one value of a frontier.
pub fn frontier_seeds(text: &str) -> Result<u64, String> {
    whole(text, 1..=10_000)
}

/// A seed.
pub fn seed(text: &str) -> Result<u64, String> {
    whole(text, 0..=u64::MAX)
}

/// Threads to run on.
pub fn threads(text: &str) -> Result<u16, String> {
    whole(text, 1..=1024).map(|n| n as u16)
}

/// A bound on how often a run may break.
pub fn share(text: &str) -> Result<f64, String> {
    let read = text.parse().ok().filter(|share| (1e-6..1.0).contains(share));
    read.ok_or_else(|| "write a share of all runs from 0.000001 to below 1, such as 0.001".to_owned())
}

/// Which shard of how many.
pub fn shard(text: &str) -> Result<Shard, String> {
    text.parse()
}

fn whole(text: &str, bounds: RangeInclusive<u64>) -> Result<u64, String> {
    let read = text.parse().ok().filter(|n| bounds.contains(n));
    read.ok_or_else(|| format!("write a whole number from {} to {}", bounds.start(), bounds.end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_belong_to_the_range_and_what_is_outside_is_told_them() {
        assert_eq!((seeds("1"), seeds("1000000000"), threads("1024")), (Ok(1), Ok(1_000_000_000), Ok(1024)));
        assert_eq!(seed("18446744073709551615"), Ok(u64::MAX));
        for text in ["0", "1000000001", "many", "-1", "1.5", ""] {
            assert_eq!(seeds(text), Err("write a whole number from 1 to 1000000000".to_owned()), "{text}");
        }
        assert_eq!((share("0.001"), share("1e-6")), (Ok(0.001), Ok(1e-6)));
        for text in ["0", "1", "-0.1", "nan", "inf", "0.1 %", ""] {
            assert!(share(text).unwrap_err().contains("such as 0.001"), "{text}");
        }
    }
}
