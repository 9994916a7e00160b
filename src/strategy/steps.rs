//! Lists of step names, put together when the program is compiled.

use crate::trace::StepName;

/// Two lists behind each other; `N` is how many names they have together.
///
/// # Panics
/// When it is compiled, if `N` is another number.
pub const fn joined<const N: usize>(first: &[StepName], second: &[StepName]) -> [StepName; N] {
    assert!(first.len() + second.len() == N, "`N` is the number of names in both lists");
    let mut all = [""; N];
    let mut n = 0;
    while n < N {
        all[n] = if n < first.len() { first[n] } else { second[n - first.len()] };
        n += 1;
    }
    all
}

/// The steps of a strategy: its own, and those of the body that it guards.
///
/// ```
/// use onceproof::steps;
/// use onceproof::strategy::body::JOB_STEPS;
///
/// let steps = steps!["lock", "unlock"; JOB_STEPS];
/// assert_eq!(steps[..3], ["lock", "unlock", "work.1"]);
/// assert_eq!(steps.len(), 2 + JOB_STEPS.len());
/// ```
#[macro_export]
macro_rules! steps {
    ($($own:expr),* $(,)?; $body:expr) => {{
        const OWN: &[$crate::trace::StepName] = &[$($own),*];
        const BODY: &[$crate::trace::StepName] = &$body;
        const ALL: [$crate::trace::StepName; OWN.len() + BODY.len()] = $crate::strategy::joined(OWN, BODY);
        &ALL
    }};
}
