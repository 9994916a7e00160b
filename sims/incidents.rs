//! Every public report that is reproduced fails as it was reported, and holds with its fix.

use onceproof::incident::{self, Damage, Evidence, Incident};
use onceproof::plan::{Fault, Trigger};
use onceproof::report::incident::{Rerun, tell_unexpressed};
use std::collections::{BTreeMap, BTreeSet};

#[test]
fn every_report_fails_as_it_was_reported_and_its_fix_holds() {
    let mut wrong = Vec::new();
    for incident in incident::all() {
        match surprise(incident) {
            Ok(None) => {}
            Ok(Some(what)) | Err(what) => wrong.push(format!("{}: {what}", incident.id)),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn surprise(incident: &Incident) -> Result<Option<String>, String> {
    let (broken, fixed) = (incident.broken().map_err(|e| e.to_string())?, incident.fixed().map_err(|e| format!("the fix: {e}"))?);
    let (seen, mended) = (broken.observe().map_err(|e| e.to_string())?, fixed.observe().map_err(|e| format!("the fix: {e}"))?);
    Ok(Rerun { incident, broken: (&broken, &seen), fixed: (&fixed, &mended) }.surprise())
}

/// A fix is tried under the faults of its incident, or there is a reason, and then they really cannot strike it.
#[test]
fn a_fix_is_tried_under_the_same_faults_or_says_why_not() {
    for incident in incident::all() {
        let Incident { id, fix, plan, .. } = incident;
        assert_eq!(fix.plan.is_some(), fix.other_plan.is_some(), "{id}: another plan needs its reason in `other_plan`");
        if fix.plan.is_some() {
            let fixed = incident.fixed().unwrap_or_else(|e| panic!("{id}: {e}"));
            assert!(fixed.deployment.check_plan(plan).is_err(), "{id}: the same plan can strike the fix; leave `fix.plan` out");
        }
    }
}

/// Whose story is asked for by number is told, reproduced or not.
#[test]
fn a_report_that_is_not_reproduced_tells_its_reason() {
    let report = incident::unexpressed_one("b05").expect("it is in the list");
    let told = tell_unexpressed(report, 200);
    for part in [report.title.as_str(), report.source.as_str(), "Not reproduced: "] {
        assert!(told.contains(part), "{told}");
    }
    assert!(incident::unexpressed_one("B40").is_none());
}

/// What breaks is the kind of damage that was reported.
#[test]
fn the_rule_that_breaks_is_about_the_damage() {
    for incident in incident::all() {
        let about: &[&str] = match incident.damage {
            Damage::Twice => &["settled-once", "paid-once", "no-stale-commit"],
            Damage::Lost => &["settled-in-the-end", "job-done"],
            Damage::Stuck => &["nothing-stuck", "settled-in-the-end"],
            Damage::Corrupt => &["ranking-right", "points-conserved", "no-stale-commit", "settled-once", "paid-after-commit", "not-early"],
        };
        assert!(about.contains(&incident.breaks.as_str()), "{}: {} is not {:?}", incident.id, incident.breaks, incident.damage);
    }
}

/// What of a fault makes it another incident: not how long it lasts, nor when exactly.
fn normalised(fault: &Fault) -> String {
    let harm = format!("{:?}", fault.harm).split(['(', ' ']).next().unwrap_or_default().to_owned();
    let whom = serde_json::to_value(&fault.harm).expect("a harm is data");
    let whom: Vec<String> = ["host", "from", "direction"].iter().filter_map(|key| whom.get(key)).map(ToString::to_string).collect();
    let when = match &fault.when {
        Trigger::At { .. } => "at a time".to_owned(),
        Trigger::Step { step, phase, nth, .. } => format!("{step} {phase} {nth}"),
    };
    format!("{harm} {whom:?} {when}")
}

#[test]
fn no_two_reports_are_the_same_run() {
    let mut seen: BTreeMap<(String, Vec<String>), &str> = BTreeMap::new();
    for incident in incident::all() {
        let mut plan: Vec<String> = incident.plan.faults.iter().map(normalised).collect();
        plan.sort();
        let strategy = incident.deployment().expect("a deployment").strategy;
        if let Some(other) = seen.insert((strategy, plan), &incident.id) {
            panic!("{} and {other} share strategy and plan", incident.id);
        }
    }
}

/// Every report of the list is either reproduced or listed with the reason.
#[test]
fn no_report_is_forgotten_and_none_is_listed_twice() {
    let ids: Vec<&str> =
        incident::all().iter().map(|i| i.id.as_str()).chain(incident::unexpressed().iter().map(|r| r.id.as_str())).collect();
    let once: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(once.len(), ids.len(), "a report stands twice in {ids:?}");
    assert!(incident::unexpressed().iter().all(|report| report.reason.len() > 20), "a reason says something");
    assert!(incident::all().iter().any(|i| i.evidence == Evidence::A));
    assert_eq!(ids.len(), REPORTS, "reproduced and not reproduced together are the whole list");
}

/// How many reports the list has.
const REPORTS: usize = 104;

/// What a report with a shown cause needs, and no reproduced one has: each with the reason.
const NOT_COVERED: [(&str, &str); 0] = [];

/// Whatever made reports fail whose cause is shown makes one fail here, and most reports are reproduced.
#[test]
fn what_made_reports_fail_makes_one_fail_here() {
    let (all, rest) = (incident::all(), incident::unexpressed());
    let reproduced: BTreeSet<&str> = all.iter().flat_map(|i| &i.knobs).map(String::as_str).collect();
    let shown_here = all.iter().filter(|i| i.evidence == Evidence::A).flat_map(|i| &i.knobs);
    let shown: BTreeSet<&str> =
        shown_here.chain(rest.iter().filter(|r| r.evidence == Evidence::A).flat_map(|r| &r.knobs)).map(String::as_str).collect();
    let missing: Vec<&str> = shown.difference(&reproduced).copied().collect();
    assert_eq!(missing, NOT_COVERED.map(|(knob, _)| knob), "a knob is covered, or its reason stands in the list");
    for damage in [Damage::Twice, Damage::Lost, Damage::Stuck, Damage::Corrupt] {
        assert!(all.iter().any(|i| i.damage == damage), "nothing is {damage}");
    }
    assert!(all.len() >= 50, "only {} are reproduced", all.len());
}
