//! Players earn while the settlement transaction is open: between its look at the points and its
//! reset of them. One node stands still there, so that there is time to earn.

use crate::stage::{Played, after, both_of, fault, one_period, pause};
use onceproof::class::FaultClass;
use onceproof::explore::{Witness, observe};
use onceproof::id::Letter;
use onceproof::report::story::story;
use onceproof::scenario::{Rules, Scenario};
use onceproof::seed::Seed;
use onceproof::time::Span;
use onceproof::trace::Event;
use onceproof::world::{Deployment, EngineKind};
use std::fs;
use std::path::Path;
use std::time::Duration;

/// One node that settles right after the boundary, while players are still about.
fn crowded(strategy: &str, rules: Rules) -> Scenario {
    let mut scenario = Scenario { nodes: 1, earnings: 60, ..one_period(strategy) };
    scenario.node.work = Duration::ZERO;
    scenario.node.jitter = Duration::ZERO;
    scenario.guard.wake_after = 1.ms();
    scenario.database.rules = rules;
    scenario
}

fn earned_meanwhile(strategy: &str, step: &'static str, rules: Rules, tell: impl Fn(&Played)) {
    both_of(&crowded(strategy, rules), &fault(pause(50.seconds()), after(step)), |played| {
        let paused = played.first("a paused node", |e| matches!(e, Event::Paused { .. }));
        let resumed = played.first("the node waking up", |e| matches!(e, Event::Resumed { .. }));
        let meanwhile = |r: &&onceproof::trace::Record| paused < r.at && r.at < resumed && matches!(r.event, Event::Earned { .. });
        assert!(played.records().iter().any(|r| meanwhile(&r)), "nobody earned meanwhile: nothing tested");
        tell(played);
    });
}

/// The reset works on the newest rows, and takes what was earned since the look with it.
#[test]
fn what_was_earned_meanwhile_vanishes() {
    for rules in [Rules::PostgresReadCommitted, Rules::InnodbReadCommitted, Rules::InnodbRepeatableRead] {
        earned_meanwhile("table-key-published", "tx.top", rules, |played| {
            assert_eq!(played.settlements(), 1);
            assert!(played.broke("points-conserved").ends_with("vanished"), "{}", played.broke("points-conserved"));
        });
    }
}

/// A snapshot cannot reset what has changed since: the transaction fails, and a job that makes
/// one attempt is not done. Nothing is lost but the period.
#[test]
fn a_snapshot_refuses_to_reset_it() {
    for rules in [Rules::PostgresRepeatableRead, Rules::PostgresSerializable] {
        earned_meanwhile("table-key-published", "tx.top", rules, |played| {
            assert_eq!(played.settlements(), 0);
            played.breaks(&[Letter::L]);
        });
    }
}

/// The control: what is ranked is what was marked, and points are subtracted, not reset.
#[test]
fn who_subtracts_what_was_marked_loses_nothing() {
    for rules in Rules::ALL {
        // InnoDB's repeatable read keeps earnings out once they are marked: there, before that.
        let step = if rules == Rules::InnodbRepeatableRead { "tx.marker" } else { "tx.mark" };
        earned_meanwhile("table-key", step, rules, |played| {
            assert_eq!(played.settlements(), 1);
            played.holds();
        });
    }
}

/// The kept witness is this run. `ONCEPROOF_RECORD` writes it anew.
#[test]
fn the_witness_is_kept() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("reports/example/witnesses/table-key-published--late-earning.toml");
    let (scenario, plan) = (crowded("table-key-published", Rules::PostgresReadCommitted), fault(pause(50.seconds()), after("tx.top")));
    let deployment = Deployment::new(&scenario, EngineKind::Event).expect("a good scenario");
    let seen = observe(&deployment, FaultClass::Pause, Seed(2026), &plan).expect("it can be simulated");
    let story: Vec<String> = story(&seen, &plan, deployment.calendar(), scenario.nodes, 120).iter().map(|line| plain(line)).collect();
    let text = Witness::of(&scenario, FaultClass::Pause, EngineKind::Event, &plan, &seen, &story).to_toml();
    if std::env::var_os("ONCEPROOF_RECORD").is_some() {
        fs::write(&path, &text).expect("the example can be written");
    }
    assert_eq!(fs::read_to_string(&path).expect("it is kept"), text, "{}", path.display());
}

/// Without colours.
fn plain(line: &str) -> String {
    anstream::adapter::strip_str(line).to_string()
}
