//! What somebody who typed an unknown name may have meant.

/// The known name that is the fewest slips of the hand away, if it is not farther than half of what was typed.
pub fn nearest<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Nobody's hand slips on a name as long as that.
    if typed.len() > 200 {
        return None;
    }
    let near = known.into_iter().map(|name| (slips(typed, name), name)).min()?;
    let beginning = |name: &str| typed.chars().count() >= 3 && name.starts_with(typed);
    (near.0 * 2 <= typed.chars().count().max(2) || beginning(near.1)).then_some(near.1)
}

/// How many insertions, deletions, replacements and swaps of neighbours lie between two words
/// (optimal string alignment).
fn slips(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_counted() {
        assert_eq!(
            [("", "ab"), ("crash", "crash"), ("crahs", "crash"), ("pasue", "pause"), ("skew", "slow")].map(|(a, b)| slips(a, b)),
            [2, 0, 1, 1, 2]
        );
    }
}
