//! A pooler in transaction mode stands before the database: the session on which a lock was taken is
//! lent to whoever comes next. Nothing goes wrong but that.

use crate::stage::{Played, both_of, one_period};
use onceproof::plan::FaultPlan;
use onceproof::scenario::{PoolKnobs, Scenario};

fn behind_a_pooler(strategy: &str) -> Scenario {
    let mut scenario = one_period(strategy);
    scenario.database.pool = Some(PoolKnobs { sessions: 4, round_robin: false });
    scenario
}

/// Everybody is granted the lock, for everybody has the session that holds it.
#[test]
fn everybody_holds_the_lock() {
    both_of(&behind_a_pooler("advisory-lock"), &FaultPlan::none(), |played| {
        assert!(played.settlements() > 1, "{}", played.settlements());
        assert!(played.broke("settled-once").contains("then again"), "{}", played.broke("settled-once"));
    });
}

/// The control: a session of one's own, and what decides inside a transaction behind the same pooler.
#[test]
fn a_transaction_has_one_session() {
    both_of(&one_period("advisory-lock"), &FaultPlan::none(), Played::holds);
    for strategy in ["table-key", "lease-fenced", "two-phase-commit"] {
        both_of(&behind_a_pooler(strategy), &FaultPlan::none(), |played| {
            assert_eq!(played.settlements(), 1);
            played.holds();
        });
    }
}
