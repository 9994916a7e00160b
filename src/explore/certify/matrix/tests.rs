use super::*;
use crate::explore::certify::Difference;
use crate::explore::made_up::{MadeUp, SAFE, WRONG};
use std::sync::atomic::AtomicU64;

static NEVER: AtomicBool = AtomicBool::new(false);

fn runs() -> Vec<(usize, FaultClass, Seed)> {
    let classes = [FaultClass::Calm, FaultClass::Pause];
    [0, 1].into_iter().flat_map(|row| classes.map(|class| (row, class, Seed(1).nth(row as u64)))).collect()
}

fn matrix(subjects: &[&dyn Subject], others: u64, threads: usize) -> Result<Vec<Sample>, Uncertain> {
    Matrix { subjects, runs: &runs(), others, threads }.run(&NEVER, &|| {})
}

#[test]
fn what_repeats_is_given_as_it_was_in_order_on_any_number_of_threads() {
    let subjects: [&dyn Subject; 2] = [&MadeUp::of(&SAFE), &MadeUp::of(&WRONG)];
    let told = |threads| {
        let samples = matrix(&subjects, 20, threads).unwrap();
        samples.iter().map(|s| (s.subject, s.class, s.case.seed, s.trace.digest())).collect::<Vec<_>>()
    };
    assert_eq!(told(1), told(3));
    assert_eq!(told(1).iter().map(|(row, class, seed, _)| (*row, *class, *seed)).collect::<Vec<_>>(), runs());
}

/// Every run ends a little later than the one before: it is caught at once, and the record is named.
#[test]
fn what_differs_every_time_is_caught_when_it_is_made_twice() {
    let subjects: [&dyn Subject; 2] = [&MadeUp::of(&SAFE), &MadeUp::of(&WRONG).shifty()];
    let Err(Uncertain::Differs { way: Way::Twice, distrust }) = matrix(&subjects, 20, 2) else { panic!("it was believed") };
    let Distrust::Differs { strategy: "made-up-wrong", class: FaultClass::Calm, difference, .. } = *distrust else { panic!("{distrust}") };
    assert!(matches!(difference, Difference::Record { number: 2, .. }), "{difference:?}");
}

/// A strategy that keeps count of its runs tells the same history only until the count is full: nothing but the runs in between finds that.
#[test]
fn what_wears_out_is_caught_after_other_runs() {
    let runs = runs();
    let worn = MadeUp::of(&SAFE).wearing_out_after(30);
    let subjects: [&dyn Subject; 2] = [&worn, &MadeUp::of(&WRONG)];
    let with = |others| Matrix { subjects: &subjects, runs: &runs, others, threads: 1 }.run(&NEVER, &|| {});
    assert!(with(0).is_ok(), "eight runs are fewer than thirty");
    let Err(Uncertain::Differs { way: Way::AfterOthers(60), .. }) = with(60) else { panic!("it was believed") };
}

#[test]
fn progress_reaches_the_end_and_a_cancelled_matrix_has_no_result() {
    let subjects: [&dyn Subject; 2] = [&MadeUp::of(&SAFE), &MadeUp::of(&WRONG)];
    let (runs, told) = (runs(), AtomicU64::new(0));
    let matrix = Matrix { subjects: &subjects, runs: &runs, others: 20, threads: 2 };
    let count = || {
        told.fetch_add(1, Ordering::Relaxed);
    };
    matrix.run(&NEVER, &count).unwrap();
    assert_eq!(told.into_inner(), matrix.work());
    let cancelled = AtomicBool::new(true);
    assert_eq!(matrix.run(&cancelled, &|| {}).unwrap_err(), Uncertain::Stopped(Stopped::Cancelled));
}
