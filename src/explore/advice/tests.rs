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
    super::tried(&advice, file, (FaultClass::Pause, &BTreeSet::from([D])), Some(witness), 2, &AtomicBool::new(false)).unwrap()
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

/// A row that is kept until after the next boundary would be in the way of the next period.
#[test]
fn a_row_is_not_kept_for_longer_than_a_period() {
    let advised = |every: &str| {
        let file = file(&format!("profile = \"shedlock\"\n[schedule]\nevery = \"{every}\"\nperiods = 4\n"));
        advise(&file, &[(FaultClass::Pause, D)]).iter().map(|advice| advice.name).collect::<Vec<_>>()
    };
    assert_eq!(advised("30m"), ["repetition"]);
    assert_eq!(advised("48m"), ["keep-longer", "repetition"]);
}

fn trial(class: FaultClass, still: &[Mark], new: &[Mark]) -> Trial {
    let set = |marks: &[Mark]| marks.iter().copied().collect::<BTreeSet<_>>();
    let marks = set(&[still, new].concat());
    Trial { class, witness: Replayed::None, runs: 30, felt: 30, broke: 0, marks, still: set(still), new: set(new), misses: None }
}

/// Only what was confirmed is said to be cured; what helps nowhere, or breaks in calm what held, is no advice.
#[test]
fn only_what_was_confirmed_is_advised() {
    let lost = Mark::Letter(Letter::L);
    let advice = || Advice {
        name: "t",
        say: String::new(),
        change: Change::Primary,
        cures: vec![(FaultClass::Pause, D), (FaultClass::Pause, lost), (FaultClass::Slow, D)],
    };
    let calm = || trial(FaultClass::Calm, &[], &[]);
    let kept = |trials: Vec<Trial>| advice().confirmed(trials).map(|(advice, trials)| (advice.cures, trials.len()));
    let half = vec![calm(), trial(FaultClass::Pause, &[lost], &[]), trial(FaultClass::Slow, &[D], &[])];
    assert_eq!(kept(half.clone()), Some((vec![(FaultClass::Pause, D)], 2)));
    assert_eq!(kept(vec![calm(), trial(FaultClass::Pause, &[D, lost], &[]), trial(FaultClass::Slow, &[D], &[])]), None);
    let mut harmful = half.clone();
    harmful[0] = trial(FaultClass::Calm, &[], &[lost]);
    assert_eq!(kept(harmful), None);
    let mut unfelt = half;
    unfelt[1].felt = 0;
    assert_eq!(kept(unfelt.clone()), None);
    unfelt[1].misses = Some("it never asks the lease store anything");
    assert_eq!(kept(unfelt), Some((vec![(FaultClass::Pause, D)], 2)));
}

/// What broke before is not new: not under the class, and not without any fault.
#[test]
fn what_broke_before_is_no_news() {
    let file = file("guard = \"no-guard\"\n[schedule]\nperiods = 1\n");
    let advice = Advice { name: "t", say: String::new(), change: Change::MakeUp, cures: Vec::new() };
    let new = |before: &[Mark]| {
        let before: BTreeSet<Mark> = before.iter().copied().collect();
        super::tried(&advice, &file, (FaultClass::Calm, &before), None, 2, &AtomicBool::new(false)).unwrap().new
    };
    assert!(new(&[]).contains(&D));
    assert!(!new(&[D]).contains(&D));
}

/// Whatever is advised for whatever is deployed can be written in the file as it is told, and says what it takes the place of.
#[test]
fn every_advice_can_be_written() {
    let all: Vec<(FaultClass, Mark)> = [FaultClass::Pause, FaultClass::Skew]
        .into_iter()
        .flat_map(|class| Letter::ALL.map(|letter| (class, Mark::Letter(letter))))
        .collect();
    let heads: Vec<String> = crate::strategy::catalogue()
        .iter()
        .map(|guard| format!("guard = \"{}\"\n", guard.name()))
        .chain(crate::profile::all().iter().map(|profile| format!("profile = \"{}\"\n", profile.name)))
        .collect();
    let constants = |guard: &str| {
        let own = crate::deployment_file::terms::terms(guard);
        let leased = own.ttl.map_or("", |_| "[lease]\nttl = \"40m\"\n");
        format!("{leased}{}", own.heartbeat.map_or("", |_| "[claim]\nheartbeat = \"20s\"\n"))
    };
    for head in heads {
        let guard = file(&head).guard.name();
        let file = file(&(head + &constants(guard)));
        for advice in advise(&file, &all) {
            let (_, away) = literal::edited(&file, &advice.change).unwrap();
            let line = advice.line(&file);
            let guard = matches!(advice.change, Change::Guard(_));
            assert_eq!(line.contains("instead of `profile`"), guard && file.profile.is_some(), "{line}");
            assert!(away.iter().all(|key| line.contains(key)), "{line}");
        }
    }
    let shedlock = file("profile = \"shedlock\"\n[lease]\nat_least = \"1m\"\n");
    let to = Change::guard("table-key").unwrap();
    assert_eq!(literal::told(&shedlock, &to).unwrap(), "guard = \"table-key\" instead of `profile` and take [lease] away");
}
