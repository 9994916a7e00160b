//! The smallest value at which something shows, found by halving, and what makes the answer
//! worth something: both ends of the bracket are seen in *all* runs, and runs that show
//! it at one value and hide it at a larger one are told, not averaged away.

use std::collections::BTreeMap;

/// What is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Search {
    /// The smallest value.
    pub from: u64,
    /// The largest value, more than `from`.
    pub to: u64,
    /// How close the two ends of the bracket have to be, at least 1.
    pub resolution: u64,
    /// How many runs there are, at least 1. A value shows something if one of them does.
    pub runs: usize,
}

/// Where it begins.
#[expect(missing_docs, reason = "each variant says what its fields are")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threshold {
    /// None of the `of` runs showed it at any value that was tried, up to `up_to`.
    Never { up_to: u64, of: usize },
    /// `seen` of the `of` runs show it at the smallest value already.
    Always { from: u64, seen: usize, of: usize },
    /// At `holds` none of the `of` runs shows it; at `breaks`, at most a resolution more, `seen` of them do.
    Between { holds: u64, breaks: u64, seen: usize, of: usize },
    /// Run number `run` shows it at `shows`, and not at `hides`, which is more: there is no threshold.
    NotMonotone { run: usize, shows: u64, hides: u64 },
}

impl Threshold {
    /// The smallest value at which it was seen.
    pub fn begins(self) -> Option<u64> {
        match self {
            Threshold::Always { from, .. } => Some(from),
            Threshold::Between { breaks, .. } => Some(breaks),
            Threshold::Never { .. } | Threshold::NotMonotone { .. } => None,
        }
    }
}

impl Search {
    /// Searches; `shows` says whether run number `run` shows it at a value, the same every time.
    ///
    /// Halving asks fewer and fewer runs: one that hides it at a value hides it at all smaller ones,
    /// if its answers are monotone. That they are is checked at both ends of the range, at both ends
    /// of the bracket, and in the middle of what lies on either side of it, in every run.
    ///
    /// # Errors
    /// The first that `shows` gives.
    pub fn find<E>(self, shows: impl FnMut(u64, usize) -> Result<bool, E>) -> Result<Threshold, E> {
        let Search { from, to, resolution, runs: of } = self;
        let mut asked = Asked { shows, answers: vec![BTreeMap::new(); of] };
        let (at_from, at_to) = (asked.all(from)?, asked.all(to)?);
        let found = if !at_from.is_empty() {
            asked.all(middle(from, to))?;
            Threshold::Always { from, seen: at_from.len(), of }
        } else if at_to.is_empty() {
            for part in 1..4 {
                asked.all(from + (to - from) * part / 4)?;
            }
            Threshold::Never { up_to: to, of }
        } else {
            let (mut holds, mut breaks, mut left) = (from, to, at_to);
            while breaks - holds > resolution {
                // Whole steps of the resolution, so that brackets begin and end at round values.
                let value = holds + ((breaks - holds) / 2 / resolution * resolution).max(resolution);
                let shown = asked.those(value, left.iter().copied())?;
                if shown.is_empty() {
                    holds = value;
                } else {
                    (breaks, left) = (value, shown);
                }
            }
            for value in [holds, middle(from, holds), middle(breaks, to)] {
                asked.all(value)?;
            }
            Threshold::Between { holds, breaks, seen: asked.all(breaks)?.len(), of }
        };
        Ok(asked.contradiction().unwrap_or(found))
    }
}

fn middle(a: u64, b: u64) -> u64 {
    a + (b - a) / 2
}

/// What was asked so far: for each run, the values and the answers.
struct Asked<F> {
    shows: F,
    answers: Vec<BTreeMap<u64, bool>>,
}

impl<E, F: FnMut(u64, usize) -> Result<bool, E>> Asked<F> {
    fn one(&mut self, value: u64, run: usize) -> Result<bool, E> {
        if let Some(known) = self.answers[run].get(&value) {
            return Ok(*known);
        }
        let shown = (self.shows)(value, run)?;
        self.answers[run].insert(value, shown);
        Ok(shown)
    }

    /// Those of these runs that show it at a value.
    fn those(&mut self, value: u64, runs: impl Iterator<Item = usize>) -> Result<Vec<usize>, E> {
        let mut shown = Vec::new();
        for run in runs {
            if self.one(value, run)? {
                shown.push(run);
            }
        }
        Ok(shown)
    }

    fn all(&mut self, value: u64) -> Result<Vec<usize>, E> {
        self.those(value, 0..self.answers.len())
    }

    /// The first run that shows it at a value and hides it at a larger one.
    fn contradiction(&self) -> Option<Threshold> {
        self.answers.iter().enumerate().find_map(|(run, answers)| {
            let shows = *answers.iter().find(|(_, shown)| **shown)?.0;
            let hides = *answers.range(shows..).find(|(_, shown)| !**shown)?.0;
            Some(Threshold::NotMonotone { run, shows, hides })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    const SEARCH: Search = Search { from: 0, to: 3_600_000, resolution: 1_000, runs: 12 };

    fn find(search: Search, shows: impl Fn(u64, usize) -> bool) -> Threshold {
        search.find(|value, run| Ok::<_, Infallible>(shows(value, run))).unwrap()
    }

    /// Run `n` shows it from its own threshold on; the smallest of them is run 7's.
    #[test]
    fn the_smallest_threshold_of_all_runs_is_found_exactly() {
        let own = |run: usize| 1_234_567 + (run as u64 + 5) % 12 * 40_000;
        let shows = |value, run| own(run) <= value;
        let found = find(SEARCH, shows);
        assert_eq!(found, Threshold::Between { holds: 1_234_000, breaks: 1_235_000, seen: 1, of: 12 });
        let to_the_unit = find(Search { resolution: 1, ..SEARCH }, shows);
        assert_eq!(to_the_unit, Threshold::Between { holds: 1_234_566, breaks: 1_234_567, seen: 1, of: 12 });
    }

    /// Every threshold in a range whose length is no multiple of the resolution lies in its bracket.
    #[test]
    fn no_bracket_leaves_its_threshold_out() {
        for own in 1..=103 {
            let search = Search { from: 0, to: 103, resolution: 10, runs: 1 };
            let Threshold::Between { holds, breaks, seen: 1, of: 1 } = find(search, |value, _| own <= value) else { panic!("{own}") };
            assert!(holds < own && own <= breaks && breaks - holds <= 10, "{own} is not in {holds}..={breaks}");
        }
    }

    #[test]
    fn a_threshold_outside_of_the_range_is_told_as_such() {
        assert_eq!(find(SEARCH, |_, _| false), Threshold::Never { up_to: 3_600_000, of: 12 });
        assert_eq!(find(SEARCH, |value, run| value > 0 || run < 3), Threshold::Always { from: 0, seen: 3, of: 12 });
    }

    /// Run 4 alone shows it in a window that begins before everybody's threshold and ends after it.
    #[test]
    fn what_has_no_threshold_is_reported_with_the_run_that_contradicts() {
        let window = |value: u64, run: usize| if run == 4 { (900_000..1_500_000).contains(&value) } else { value >= 1_000_000 };
        let Threshold::NotMonotone { run: 4, shows, hides } = find(SEARCH, window) else { panic!("a threshold was made up") };
        assert!(window(shows, 4) && !window(hides, 4) && shows < hides, "{shows} {hides}");
        // It shows only between the ends of the range.
        let island = find(SEARCH, |value, _| (800_000..1_000_000).contains(&value));
        assert_eq!(island, Threshold::NotMonotone { run: 0, shows: 900_000, hides: 1_800_000 });
        // It begins at once, and ends.
        let begins = find(SEARCH, |value, _| value < 1_000);
        assert_eq!(begins, Threshold::NotMonotone { run: 0, shows: 0, hides: 1_800_000 });
    }

    /// Halving asks only runs that may still be first: far fewer than all at every step.
    #[test]
    fn few_runs_are_asked_twice_as_often_as_the_checks_need() {
        let mut asked = 0;
        let search = Search { runs: 100, ..SEARCH };
        let own = |run: usize| 1_000_000 + run as u64 * 10_000;
        let found = search.find(|value, run| {
            asked += 1;
            Ok::<_, Infallible>(own(run) <= value)
        });
        assert_eq!(found.unwrap().begins(), Some(1_000_000));
        // Six values are asked of all, and about two more times a hundred for thirteen halvings.
        assert!((600..1_000).contains(&asked), "{asked}");
    }

    #[test]
    fn the_first_error_ends_the_search() {
        assert_eq!(SEARCH.find(|value, run| if run == 3 { Err(value) } else { Ok(false) }), Err(0));
    }
}
