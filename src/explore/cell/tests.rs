use super::*;
use crate::explore::made_up::{MadeUp, SAFE, WRONG};
use crate::explore::{Subject, observe};
use crate::id::Letter;
use crate::invariant::InvariantId;
use crate::scenario::Rules;
use crate::seed::Seed;

const D: Mark = Mark::Letter(Letter::D);
const L: Mark = Mark::Letter(Letter::L);

/// The tally of a class after its pinned plans and `runs` seeds.
fn tally(subject: &MadeUp, class: FaultClass, runs: u64) -> Tally {
    let mut tally = Tally::default();
    let pinned = subject.pinned(class).into_iter().enumerate().map(|(n, plan)| (RunKey::Pinned(n), plan));
    let sampled = (0..runs).map(|i| (RunKey::Sampled(i), subject.plan(class, Seed(i))));
    for (key, plan) in pinned.chain(sampled) {
        let seed = match key {
            RunKey::Pinned(_) => Seed(0),
            RunKey::Sampled(i) | RunKey::Steered(i) | RunKey::Enumerated(i) => Seed(i),
        };
        let seen = observe(subject, class, seed, &plan).unwrap();
        tally.add(&Case { key, seed, plan }, &seen);
    }
    tally
}

fn weigh(subject: &MadeUp, class: FaultClass, runs: u64, calm: &[Mark]) -> Cell {
    let claims = Subject::strategy(subject).expectations(Rules::default());
    Cell::weigh(&claims, class, tally(subject, class, runs), &calm.iter().copied().collect())
}

/// Holding is worth as much as the runs that felt the fault: no more, and nothing without them.
#[test]
fn a_cell_that_felt_too_little_is_undecided_not_green() {
    let cell = weigh(&MadeUp::of(&SAFE), FaultClass::Pause, 40, &[]);
    assert!(cell.as_expected() && !cell.undecided());
    assert!((cell.upper_bound().unwrap() - (1.0 - 0.05_f64.powf(1.0 / 40.0))).abs() < 1e-12);

    let numb = weigh(&MadeUp::of(&SAFE).numb(), FaultClass::Pause, 40, &[]);
    assert!(numb.undecided() && numb.blind());
    assert_eq!(numb.surprises, [Surprise::Undecided { because: "one transaction decides" }]);
    assert_eq!(numb.upper_bound(), None);
}

/// One broken run in a hundred is enough, and the witness is that run.
#[test]
fn what_must_never_break_is_a_surprise_when_it_breaks_once() {
    let subject = MadeUp::of(&SAFE).breaking(|seed, _| if seed.0 == 57 { &[InvariantId::SettledOnce] } else { &[] });
    let cell = weigh(&subject, FaultClass::Pause, 100, &[]);
    assert_eq!(cell.surprises, [Surprise::NeverBroke { mark: D, because: "one transaction decides" }]);
    let witness = cell.witness().unwrap();
    assert_eq!((witness.case.seed, witness.case.key, witness.runs), (Seed(57), RunKey::Sampled(57), 1));
    assert_eq!(cell.upper_bound(), None, "a cell that broke holds nothing");
}

/// A must-claim has to show in its pinned plan (here: the one with two faults); that it also
/// shows by luck in the sample does not help.
#[test]
fn a_must_claim_rests_on_its_pinned_plan_not_on_luck() {
    let met = MadeUp::of(&WRONG).breaking(|_, faults| if faults == 2 { &[InvariantId::SettledInTheEnd] } else { &[] });
    let cell = weigh(&met, FaultClass::Pause, 40, &[]);
    assert!(cell.as_expected(), "{:?}", cell.surprises);
    assert_eq!(cell.witness().unwrap().case.key, RunKey::Pinned(0));
    assert_eq!(cell.tally.broken[&L].runs, 0, "pinned plans are no sample");

    let lucky = MadeUp::of(&WRONG).breaking(|_, faults| if faults == 1 { &[InvariantId::SettledInTheEnd] } else { &[] });
    let cell = weigh(&lucky, FaultClass::Pause, 40, &[]);
    assert_eq!(cell.surprises, [Surprise::MustHeld { claim: 0, marks: vec![L], because: "nobody returns" }]);
}

/// What is broken without any fault says nothing about the fault.
#[test]
fn letters_broken_in_calm_are_inherited_without_claim_or_witness() {
    let subject = MadeUp::of(&WRONG).breaking(|_, _| &[InvariantId::SettledOnce, InvariantId::SettledInTheEnd]);
    let calm = weigh(&subject, FaultClass::Calm, 40, &[]);
    assert!(calm.as_expected() && calm.inherited.is_empty());
    let pause = weigh(&subject, FaultClass::Pause, 40, &[D, L]);
    assert_eq!(pause.inherited, BTreeSet::from([D, L]));
    assert_eq!(pause.witness(), None);
    assert!(pause.as_expected(), "the must-claim of L does not apply: {:?}", pause.surprises);
}

/// The thread that saw a run must not matter.
#[test]
fn tallies_merge_in_any_order() {
    let subject = MadeUp::of(&SAFE).breaking(|seed, _| if seed.0 % 7 == 3 { &[InvariantId::SettledOnce] } else { &[] });
    let part = |range: std::ops::Range<u64>| {
        let mut tally = Tally::default();
        for i in range {
            let plan = subject.plan(FaultClass::Pause, Seed(i));
            let seen = observe(&subject, FaultClass::Pause, Seed(i), &plan).unwrap();
            tally.add(&Case { key: RunKey::Sampled(i), seed: Seed(i), plan }, &seen);
        }
        tally
    };
    let whole = part(0..60);
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
        let mut merged = Tally::default();
        for n in order {
            merged.merge(part(n * 20..(n + 1) * 20));
        }
        assert_eq!(merged, whole);
    }
    assert_eq!(whole.broken[&D].case.seed, Seed(3));
}
