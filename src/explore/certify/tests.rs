use super::*;
use crate::explore::Shard;
use crate::explore::made_up::{MadeUp, SAFE};
use crate::explore::sweep::{Quota, Sweep, Swept, Watch};
use crate::plan::FaultPlan;

static NEVER: AtomicBool = AtomicBool::new(false);

fn swept(subject: &MadeUp) -> Swept {
    let watch = Watch { cancelled: &NEVER, out_of_time: &|| false, progress: &|_| {} };
    let classes = [FaultClass::Calm, FaultClass::Pause];
    Sweep { subjects: &[subject], classes: &classes, base: Seed(1), quota: Quota::Seeds(150), shard: Shard::WHOLE, threads: 2 }
        .run(&watch)
        .unwrap()
}

#[test]
fn runs_that_repeat_are_counted() {
    let subject = MadeUp::of(&SAFE);
    let samples = swept(&subject).samples;
    assert_eq!(certify(&[&subject], &samples, 2, &NEVER), Ok(4), "the first and the hundredth run of two cells");
}

/// The control: a subject whose every run ends a little later is caught, and the first
/// record that moved is named.
#[test]
fn a_run_that_does_not_repeat_is_named() {
    let subject = MadeUp::of(&SAFE).shifty();
    let samples = swept(&subject).samples;
    let distrust = certify(&[&subject], &samples, 1, &NEVER).unwrap_err();
    let Distrust::Differs { strategy, class, seed, difference } = *distrust else { panic!("it had a result both times") };
    assert_eq!((strategy, class, seed), ("made-up-safe", FaultClass::Calm, Seed(1).nth(0)));
    let Difference::Record { number: 2, first: Some(first), second: Some(second) } = difference else { panic!("{difference:?}") };
    assert_eq!(first.event, second.event);
    assert!(first.at < second.at);
}

#[test]
fn a_shorter_history_and_a_difference_beneath_the_records_are_told_apart() {
    let subject = MadeUp::of(&SAFE);
    let trace = subject.run(Seed(1), &FaultPlan::none()).unwrap().trace;
    let mut longer = trace.clone();
    let last = *trace.records().last().unwrap();
    longer.push(last.at, last.event);
    assert_eq!(Difference::between(&trace, &longer), Some(Difference::Record { number: 3, first: None, second: Some(last) }));
    let mut noted = trace.clone();
    noted.note(last.at, 7);
    assert_eq!(Difference::between(&trace, &noted), Some(Difference::Beneath));
    assert_eq!(Difference::between(&trace, &trace), None);
}
