//! Pieces of work on several threads.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

/// Hands out the numbers 0 to `count` − 1 in order to `threads` threads, each of which works on a
/// state of its own, until there is nothing left or one of them breaks off. Returns the states;
/// which thread did what is up to the machine, so results must not depend on it.
///
/// # Panics
/// The system cannot start a thread.
pub fn crew<S: Send>(
    threads: usize,
    count: u64,
    cancelled: &AtomicBool,
    start: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, u64) -> ControlFlow<()> + Sync,
) -> Vec<S> {
    let next = AtomicU64::new(0);
    let closed = AtomicBool::new(false);
    let one = || {
        let mut state = start();
        while !closed.load(Ordering::SeqCst) && !cancelled.load(Ordering::Relaxed) {
            let number = next.fetch_add(1, Ordering::SeqCst);
            if number >= count {
                break;
            }
            if work(&mut state, number).is_break() {
                closed.store(true, Ordering::SeqCst);
            }
        }
        state
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(one)).collect();
        workers.into_iter().map(|w| w.join().expect("workers do not panic")).collect()
    })
}

/// What `make` makes of each number below `count`, in order; `None` for what was not begun because `cancelled` was set.
///
/// # Panics
/// The system cannot start a thread.
pub fn each<T: Send>(count: usize, threads: usize, cancelled: &AtomicBool, make: impl Fn(usize) -> T + Sync) -> Vec<Option<T>> {
    let work = |made: &mut Vec<(usize, T)>, n: u64| {
        made.push((n as usize, make(n as usize)));
        ControlFlow::Continue(())
    };
    let mut all: Vec<Option<T>> = std::iter::repeat_with(|| None).take(count).collect();
    for (n, made) in crew(threads, count as u64, cancelled, Vec::new, work).into_iter().flatten() {
        all[n] = Some(made);
    }
    all
}

/// As [`each`], until one fails; `None` if something was not begun because `cancelled` was set.
///
/// # Errors
/// The first in their order that failed: whoever is at an earlier one finishes it.
///
/// # Panics
/// The system cannot start a thread.
pub fn try_each<T: Send, E: Send>(
    count: usize,
    threads: usize,
    cancelled: &AtomicBool,
    make: impl Fn(usize) -> Result<T, E> + Sync,
) -> Result<Option<Vec<T>>, E> {
    let work = |made: &mut Vec<(usize, Result<T, E>)>, n: u64| {
        let one = make(n as usize);
        let failed = one.is_err();
        made.push((n as usize, one));
        if failed { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let mut all = crew(threads, count as u64, cancelled, Vec::new, work).into_iter().flatten().collect::<Vec<_>>();
    all.sort_by_key(|(n, _)| *n);
    let made = all.into_iter().map(|(_, made)| made).collect::<Result<Vec<T>, E>>()?;
    Ok(Some(made).filter(|made| made.len() == count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_failure_is_found_and_ends_it() {
        let never = AtomicBool::new(false);
        for threads in [1, 4] {
            let fails = |n| if n == 40 || n == 41 { Err(n) } else { Ok(n) };
            assert_eq!(try_each(1_000, threads, &never, fails), Err(40), "{threads} threads");
            assert_eq!(try_each(3, threads, &never, fails), Ok(Some(vec![0, 1, 2])), "{threads} threads");
        }
        assert_eq!(try_each(3, 1, &AtomicBool::new(true), Ok::<_, ()>), Ok(None));
    }

    #[test]
    fn results_stand_in_the_order_of_the_work() {
        let never = AtomicBool::new(false);
        for threads in [1, 4] {
            assert_eq!(each(100, threads, &never, |n| n * n), (0..100).map(|n| Some(n * n)).collect::<Vec<_>>());
        }
        assert_eq!(each(0, 3, &never, |n| n), []);
    }

    #[test]
    fn what_is_cancelled_is_not_begun() {
        let cancelled = AtomicBool::new(false);
        let made = each(100, 1, &cancelled, |n| cancelled.store(n == 9, Ordering::Relaxed));
        assert_eq!(made.iter().flatten().count(), 10);
    }

    fn done(threads: usize, stop_at: Option<u64>) -> Vec<u64> {
        let work = |seen: &mut Vec<u64>, n| {
            seen.push(n);
            if stop_at == Some(n) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let mut all = crew(threads, 1_000, &AtomicBool::new(false), Vec::new, work).concat();
        all.sort_unstable();
        all
    }

    #[test]
    fn every_number_is_handed_out_once() {
        for threads in [0, 1, 4] {
            assert_eq!(done(threads, None), (0..1_000).collect::<Vec<_>>(), "{threads} threads");
        }
    }

    /// Everything before it is done, so the first failure is always found.
    #[test]
    fn breaking_off_leaves_nothing_out_before_it() {
        for threads in [1, 4] {
            assert!(done(threads, Some(400)).starts_with(&(0..=400).collect::<Vec<_>>()), "{threads} threads");
        }
    }

    #[test]
    fn a_crew_that_is_called_off_does_nothing() {
        let work = |seen: &mut Vec<u64>, n| {
            seen.push(n);
            ControlFlow::Continue(())
        };
        assert_eq!(crew(3, 1_000, &AtomicBool::new(true), Vec::new, work), [[0; 0]; 3]);
    }
}
