use super::*;
use crate::explore::Subject;
use crate::explore::described::Described;
use crate::id::Letter;
use crate::plan::FaultPlan;
use crate::time::Span;

const D: Mark = Mark::Letter(Letter::D);

fn file(text: &str) -> DeploymentFile {
    DeploymentFile::read("d.toml", text).unwrap_or_else(|mistakes| panic!("{mistakes}"))
}

/// The run that its guard is known to break in under pause, kept.
fn broken_by_a_pause(file: &DeploymentFile) -> Witness {
    let described = Described(Deployment::with_strategy(&file.scenario, file.guard, EngineKind::Event).unwrap());
    let (plan, _): (FaultPlan, _) = described.claims(FaultClass::Pause).remove(0);
    let seen = observe(&described, FaultClass::Pause, Seed(1), &plan).unwrap();
    assert!(seen.findings.iter().any(|finding| finding.mark == D), "nothing broke: nothing to cure");
    Witness::of(described.scenario(), FaultClass::Pause, EngineKind::Event, &plan, &seen, &[])
}

fn tried(file: &DeploymentFile, witness: &Witness, change: Change) -> Trial {
    let advice = Advice { name: "t", say: String::new(), change, cures: vec![(FaultClass::Pause, D)] };
    super::tried(&advice, file, FaultClass::Pause, Some(witness), 2, &AtomicBool::new(false)).unwrap()
}

/// A lease that outlasts the pause holds in the run that broke; one that is hardly longer does not, and says so.
#[test]
fn an_advice_is_tried_on_the_run_that_broke() {
    let file = file("guard = \"lease-set-px-checked\"\n[schedule]\nperiods = 1\n");
    let witness = broken_by_a_pause(&file);
    let advised = advise(&file, &[(FaultClass::Pause, D)]);
    let names: Vec<&str> = advised.iter().map(|advice| advice.name).collect();
    assert_eq!(names, ["hold-longer", "fence", "one-transaction"]);
    assert_eq!(advised[0].change.line(), "lease.ttl = \"47m\"");
    let helps = tried(&file, &witness, advised[0].change.clone());
    assert_eq!((helps.witness.clone(), helps.runs), (Replayed::Held, TRIED));
    assert!(helps.felt > 0, "nothing was felt: nothing was tried");
    let barely = tried(&file, &witness, Change::Ttl(31.minutes()));
    assert_eq!(barely.witness, Replayed::Broke);
    assert!(!barely.helped());
    let fenced = tried(&file, &witness, Change::guard("lease-fenced").unwrap());
    assert!(fenced.helped() && fenced.felt > 0 && fenced.marks.is_empty(), "{fenced:?}");
}

/// A change to a lease gives whoever waits for it as much more time.
#[test]
fn a_longer_lease_is_waited_for() {
    let file = file("guard = \"lease-watchdog\"\n[lease]\nttl = \"30s\"\nrenew_every = \"20s\"\n");
    let longer = Change::Ttl(90.seconds()).made(&file.scenario);
    assert_eq!(longer.guard.watchdog_lease, 90.seconds());
    assert_eq!(longer.liveness_bound, file.scenario.liveness_bound + 60.seconds());
    assert_eq!(Change::RenewEvery(10.seconds()).made(&file.scenario).guard.renew_every, 10.seconds());
    let margin = advise(&file, &[(FaultClass::Slow, D)]);
    assert_eq!(margin[0].change.line(), "lease.renew_every = \"10s\"");
    let dual = Change::guard("dual-guard").unwrap().made(&file.scenario);
    assert_eq!(dual.strategy, "dual-guard");
}

/// A lease row that is kept until whoever slept over the boundary has come holds in the run in which it did not.
#[test]
fn a_row_is_kept_for_whoever_comes_late() {
    let file = file("guard = \"lease-row\"\n[schedule]\nperiods = 1\n");
    let witness = broken_by_a_pause(&file);
    let advised = advise(&file, &[(FaultClass::Pause, D)]);
    assert_eq!(advised.iter().map(|advice| advice.name).collect::<Vec<_>>(), ["keep-longer", "repetition"]);
    assert_eq!(advised[0].change.line(), "lease = { at_least = \"47m\", ttl = \"47m\" }");
    let kept = tried(&file, &witness, advised[0].change.clone());
    assert_eq!(kept.witness, Replayed::Held);
    let hardly = Change::AtLeast { least: 11.minutes(), ttl: 30.minutes() };
    assert_eq!(tried(&file, &witness, hardly).witness, Replayed::Broke);
}

/// Each is advised where it was set, and is the deployment without it.
#[test]
fn what_was_set_is_taken_back() {
    let lost = Mark::Letter(Letter::L);
    let text = "guard = \"lease-set-px-checked\"\npolicy = \"skip\"\n[misfire]\npolicy = \"skip\"\n[database]\nreplica_lag = \"9s\"\n[[override]]\nnode = 1\nzone = \"UTC\"\n";
    let file = file(text);
    let advised = advise(&file, &[(FaultClass::Outage, lost), (FaultClass::Outage, D)]);
    let lines: Vec<String> = advised.iter().take(4).map(|advice| advice.change.line()).collect();
    assert_eq!(lines, ["database.replica_lag = \"0s\"", "misfire.policy = \"fire-all\"", "policy = \"retry-checked\"", "no [[override]]"]);
    let plain = advised.iter().take(4).fold(file.scenario.clone(), |scenario, advice| advice.change.made(&scenario));
    assert!(plain.is_claimed_for() && plain.database.replica_lag.is_zero());
    let usual = DeploymentFile::read("d.toml", "guard = \"lease-set-px-checked\"\n").unwrap();
    assert!(
        advise(&usual, &[(FaultClass::Outage, lost), (FaultClass::Outage, D)]).iter().all(|advice| !lines.contains(&advice.change.line()))
    );
}

/// What only PostgreSQL can do is not advised to somebody else.
#[test]
fn an_advice_runs_on_the_database_that_there_is() {
    let advised = |rules: &str| {
        let file = file(&format!("guard = \"dispatch-center\"\n[database]\nrules = \"{rules}\"\n"));
        advise(&file, &[(FaultClass::Slow, D)]).into_iter().map(|advice| advice.change.line()).collect::<Vec<_>>()
    };
    assert_eq!(advised("mysql"), ["claim.stale_after = \"47m\"", "guard = \"table-key\""]);
    let waits = Change::StaleAfter(47.minutes()).made(&file("guard = \"dispatch-center\"\n").scenario);
    assert_eq!((waits.centre.timeout, waits.node.attention), (47.minutes(), 3.hours() + 37.minutes()));
}
