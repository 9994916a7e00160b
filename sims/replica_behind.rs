//! Reads are split: what is read outside of a transaction comes from a replica that is behind.
//! Nothing goes wrong, and nobody is late; a check of what was settled is simply old.

use crate::stage::{Played, both_of, one_period};
use onceproof::id::Letter;
use onceproof::plan::FaultPlan;
use onceproof::scenario::Scenario;
use onceproof::time::Span;
use onceproof::trace::{Belief, Event};
use std::time::Duration;

fn behind(strategy: &str, lag: Duration) -> Scenario {
    let mut scenario = one_period(strategy);
    scenario.database.replica_lag = lag;
    scenario
}

fn calm(strategy: &str, lag: Duration, tell: impl Fn(&Played)) {
    both_of(&behind(strategy, lag), &FaultPlan::none(), tell);
}

/// Who is granted the lease next looks whether the period is settled, and reads that it is not.
#[test]
fn check_then_act_reads_the_past() {
    for strategy in ["lease-set-px-checked", "lease-watchdog"] {
        calm(strategy, 5.minutes(), |played| {
            assert!(played.settlements() > 1, "{}", played.settlements());
            played.saw("a second payment", |e| matches!(e, Event::Paid { .. }));
            assert!(played.broke("settled-once").contains("then again"), "{}", played.broke("settled-once"));
        });
    }
}

/// The control: the same guard on a primary, or behind a replica that has caught up before the next look.
#[test]
fn the_same_check_on_the_primary_holds() {
    for lag in [Duration::ZERO, 1.ms()] {
        calm("lease-watchdog", lag, |played| {
            assert_eq!(played.settlements(), 1);
            played.holds();
        });
    }
}

/// What decides inside the settlement transaction, or by a row that it changes, decides on the
/// primary. The others learn late that everything is done, and try in vain.
#[test]
fn who_decides_in_the_transaction_does_not_mind() {
    for strategy in ["table-key", "lease-fenced", "version-reclaim", "dual-guard", "two-phase-commit"] {
        calm(strategy, 5.minutes(), |played| {
            assert_eq!((played.settlements(), played.believed(Belief::Settled)), (1, 1));
            played.breaks(&[] as &[Letter]);
        });
    }
}
