//! Swarm draws the deployment as well as the faults. Whoever makes the run again, from its seed or
//! from its witness, has to draw the same deployment, and say what was drawn.

use onceproof::class::FaultClass;
use onceproof::explore::{Staged, Witness, observe};
use onceproof::scenario::Scenario;
use onceproof::seed::Seed;
use onceproof::world::{Deployment, EngineKind};
use std::fs;
use std::process::{Command, Output};

const ROW: &str = "lease-set-px-retry";

fn onceproof(folder: &std::path::Path, args: &[&str]) -> (String, Output) {
    let told =
        Command::new(assert_cmd::cargo::cargo_bin!("onceproof")).current_dir(folder).args(args).output().expect("the program starts");
    (String::from_utf8(told.stdout.clone()).expect("text"), told)
}

/// A seed whose run is made on drawn knobs and breaks something.
fn drawn_and_broken() -> (Deployment, Seed, String) {
    let deployment = Deployment::new(&Scenario::calm(ROW), EngineKind::Event).expect("the default scenario is good");
    let breaks = |seed: &Seed| {
        let Staged::Drawn(varied) = Staged::of(&deployment, FaultClass::Swarm, *seed) else { return None };
        let seen = observe(&*varied, FaultClass::Swarm, *seed, &varied.plan(FaultClass::Swarm, *seed)).expect("it can be simulated");
        (varied.scenario().nodes != 3 && !seen.findings.is_empty()).then(|| seen.run.trace.digest().to_string())
    };
    let (seed, digest) = (0..200).map(|n| Seed(5).nth(n)).find_map(|seed| Some((seed, breaks(&seed)?))).expect("it breaks soon");
    (deployment, seed, digest)
}

#[test]
fn a_replay_by_seed_is_made_on_the_knobs_of_that_seed_and_tells_them() {
    let (deployment, seed, digest) = drawn_and_broken();
    let folder = tempfile::tempdir().unwrap();
    let by_seed = ["replay", "--strategy", ROW, "--faults", "swarm", "--seed", &seed.to_string()];
    let (story, told) = onceproof(folder.path(), &by_seed);
    assert!(story.contains(&format!("digest {digest}, the same twice")), "{}\n{story}", String::from_utf8_lossy(&told.stderr));
    let drawn = FaultClass::Swarm.knobs(seed, deployment.scenario()).expect("knobs are drawn");
    assert!(story.contains(&format!("nodes {} (not 3)", drawn.nodes)), "{story}");

    let (json, _) = onceproof(folder.path(), &[&by_seed[..], &["--json"]].concat());
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let nodes = json["knobs"].as_array().unwrap().iter().find(|knob| knob["knob"] == "nodes").expect("told");
    assert_eq!((nodes["drawn"].as_u64(), nodes["given"].as_u64()), (Some(drawn.nodes.into()), Some(3)));

    // The control: on the deployment as it is, this seed tells another history.
    let as_given =
        deployment.run(seed, &FaultClass::Swarm.plan(seed, deployment.scenario(), deployment.calendar(), deployment.strategy().steps()));
    assert_ne!(as_given.unwrap().trace.digest().to_string(), digest);
}

#[test]
fn the_witness_of_a_sweep_holds_the_drawn_deployment_and_replays() {
    let folder = tempfile::tempdir().unwrap();
    let (_, told) = onceproof(folder.path(), &["--strategy", ROW, "--faults", "swarm", "--seeds", "60", "--no-shrink"]);
    assert_eq!(told.status.code(), Some(0), "{}", String::from_utf8_lossy(&told.stderr));
    let name = format!("reports/witnesses/{ROW}--swarm.toml");
    let witness = Witness::from_toml(&name, &fs::read_to_string(folder.path().join(&name)).expect("it breaks")).unwrap();
    let given = Scenario::calm(ROW);
    assert_eq!(witness.scenario, FaultClass::Swarm.knobs(witness.seed, &given).unwrap_or(given));
    let (story, told) = onceproof(folder.path(), &["replay", &name]);
    assert_eq!(told.status.code(), Some(0), "{story}");
    let (by_seed, _) = onceproof(folder.path(), &["replay", "--strategy", ROW, "--faults", "swarm", "--seed", &witness.seed.to_string()]);
    assert!(by_seed.contains(&format!("digest {}", witness.digest)), "{by_seed}");
}
