//! Numbers and lists, as people read them.

/// A duration with as many digits as matter: `850 ms`, `2.3 s`, `41 min`, `2.1 h`.
pub fn duration(ms: u64) -> String {
    let of = |unit: f64, name: &str| {
        let n = ms as f64 / unit;
        if n < 9.95 { format!("{n:.1} {name}").replace(".0 ", " ") } else { format!("{n:.0} {name}") }
    };
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..99_500 => of(1_000.0, "s"),
        99_500..5_970_000 => of(60_000.0, "min"),
        5_970_000..172_800_000 => of(3_600_000.0, "h"),
        _ => of(86_400_000.0, "days"),
    }
}

/// A mean of counts: `0`, `0.03`, `1.2`, `14`.
pub fn mean(sum: u64, of: u64) -> String {
    let n = if of == 0 { 0.0 } else { sum as f64 / of as f64 };
    match sum {
        0 => "0".to_owned(),
        _ if n < 0.005 => "under 0.01".to_owned(),
        _ if n < 0.995 => format!("{n:.2}"),
        _ if n < 9.95 => format!("{n:.1}"),
        _ => format!("{n:.0}"),
    }
}

/// `a`, `a and b`, `a, b and c`.
pub fn list<T: AsRef<str>>(items: &[T]) -> String {
    match items {
        [] => String::new(),
        [one] => one.as_ref().to_owned(),
        [first @ .., last] => {
            let first: Vec<&str> = first.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", first.join(", "), last.as_ref())
        }
    }
}

/// The same, cut after `most` items: `a, b and 7 more`.
pub fn some<T: AsRef<str>>(items: &[T], most: usize) -> String {
    if items.len() <= most + 1 {
        return list(items);
    }
    let first: Vec<&str> = items[..most].iter().map(AsRef::as_ref).collect();
    format!("{} and {} more", first.join(", "), items.len() - most)
}

/// Text with a capital letter.
pub fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_the_digits_that_matter() {
        let ms = [0, 850, 1_000, 2_345, 41_000, 99_499, 125_000, 2_460_000, 7_500_000, 259_200_000];
        assert_eq!(ms.map(duration).join("; "), "0 ms; 850 ms; 1 s; 2.3 s; 41 s; 99 s; 2.1 min; 41 min; 2.1 h; 3 days");
    }

    #[test]
    fn a_mean_is_never_rounded_to_nothing() {
        let means = [(0, 0), (0, 9), (1, 1_000), (3, 100), (12, 10), (140, 10)].map(|(sum, of)| mean(sum, of));
        assert_eq!(means.join("; "), "0; 0; under 0.01; 0.03; 1.2; 14");
    }

    #[test]
    fn lists_end_with_and() {
        assert_eq!(list(&["a", "b", "c"]), "a, b and c");
        assert_eq!(some(&["a", "b", "c"], 2), "a, b and c", "one more is no shorter as a number");
        assert_eq!(some(&["a", "b", "c", "d"], 2), "a, b and 2 more");
        assert_eq!(capital("settled twice"), "Settled twice");
    }
}
