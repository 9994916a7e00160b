//! `onceproof run` and `onceproof init`: a deployment of one's own, from a file.

use super::{Desk, refused, text};
use serde_json::Value;
use std::fs;

/// A bare lease of thirty minutes, and a process that stops for forty.
const PAUSED: &str = "guard = \"lease-set-px-checked\"\njob = { p50 = \"2m\", p99 = \"45m\" }\n\n[schedule]\nperiods = 1\n\n[try]\nfaults = [\"pause\"]\nseeds = 8\n";

/// A unique key, under two classes.
const HARDENED: &str = "guard = \"table-key\"\n[schedule]\nperiods = 1\n[try]\nfaults = [\"crash\", \"lease-loss-no\"]\nseeds = 8\n";

/// Everything that it says: the check before, the verdict, the run that broke it, and what was tried against it.
#[test]
fn a_deployment_that_breaks_is_told_why_and_what_would_help() {
    let desk = Desk::new();
    fs::write(desk.path("paused.toml"), PAUSED).unwrap();
    let done = desk.run(&["run", "paused.toml"]);
    assert_eq!(done.status.code(), Some(1), "{}", text(&done.stderr));
    let told = text(&done.stdout);
    assert!(!told.contains('\u{1b}'), "colours only on a terminal");
    insta::assert_snapshot!(told);
    let replayed = desk.run(&["replay", "reports/witnesses/paused.run--pause.toml"]);
    assert_eq!(replayed.status.code(), Some(0), "{}", text(&replayed.stderr));
    let witness = fs::read_to_string(desk.path("reports/witnesses/paused.run--pause.toml")).unwrap();
    assert!(witness.contains("[shrunk_from]"), "witnesses are small");

    let narrow = text(&desk.command(&["run", "paused.toml", "--checks"]).env("COLUMNS", "60").output().unwrap().stdout);
    assert!(narrow.contains("job-outlives-lease") && narrow.lines().all(|line| line.chars().count() <= 60), "{narrow}");
}

/// The JSON is the file in the reports folder, on any number of threads; what holds has its bound.
#[test]
fn what_holds_holds_with_its_bound() {
    let desk = Desk::new();
    fs::write(desk.path("mine.toml"), HARDENED.replace(", \"lease-loss-no\"", "")).unwrap();
    let run = |threads: &str, folder: &str| desk.run(&["run", "mine.toml", "--json", "--threads", threads, "--reports", folder]);
    let (one, three) = (run("1", "one"), run("3", "three"));
    assert_eq!(one.status.code(), Some(0), "{}", text(&one.stderr));
    assert_eq!(text(&one.stdout), text(&three.stdout));
    assert_eq!(text(&one.stdout), fs::read_to_string(desk.path("one/mine.run.json")).unwrap());
    let told: Value = serde_json::from_slice(&one.stdout).unwrap();
    let keys: Vec<&str> = told.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        [
            "advice",
            "base_seed",
            "certified_runs",
            "checks",
            "classes",
            "digest",
            "file",
            "format",
            "guard",
            "onceproof",
            "scenario",
            "seeds_per_class",
            "verdict",
            "witnesses"
        ]
    );
    assert_eq!((told["verdict"].as_str(), told["classes"][1]["faults"].as_str()), (Some("holds"), Some("crash")));
    assert!(
        told["classes"].as_array().unwrap().iter().all(|class| class["upper_bound"].as_f64().is_some_and(|bound| bound < 1.0)),
        "{told}"
    );
    let people = text(&desk.run(&["run", "mine.toml", "--seeds", "4"]).stdout);
    assert!(people.contains("mine.toml holds under 2 fault classes: in each, with 95 % confidence, fewer than "), "{people}");
}

/// Every mistake with its line and a caret; nothing is run and nothing is written.
#[test]
fn a_bad_file_is_told_all_its_mistakes() {
    let desk = Desk::new();
    fs::write(desk.path("bad.toml"), HARDENED.replace("periods", "peroids")).unwrap();
    let done = desk.run(&["run", "bad.toml"]);
    assert_eq!((done.status.code(), text(&done.stdout)), (Some(2), String::new()));
    insta::assert_snapshot!(text(&done.stderr));
    assert_eq!(fs::read_dir(desk.path(".")).unwrap().count(), 1, "nothing but the file");
    refused(&desk.run(&["run"]), &["there is no deployment.toml here", "onceproof init"]);
    refused(&desk.run(&["run", "nowhere.toml"]), &["cannot read nowhere.toml"]);
    fs::write(desk.path("blob.toml"), [0xff, 0xfe, 0x00]).unwrap();
    refused(&desk.run(&["run", "blob.toml"]), &["cannot read blob.toml", "0xff in line 1, column 1"]);
}

#[test]
fn init_writes_a_file_that_is_good_and_never_writes_over_one() {
    let desk = Desk::new();
    let done = desk.run(&["init"]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    assert!(text(&done.stdout).contains("onceproof run deployment.toml"));
    let written = fs::read_to_string(desk.path("deployment.toml")).unwrap();
    assert_eq!(written, text(&desk.run(&["init", "-"]).stdout));
    let checked = desk.run(&["run", "--checks"]);
    assert_eq!((checked.status.code(), text(&checked.stdout).as_str()), (Some(0), "deployment.toml: nothing to say\n"));

    fs::write(desk.path("deployment.toml"), "mine").unwrap();
    refused(&desk.run(&["init"]), &["deployment.toml is there already", "--force"]);
    assert_eq!(fs::read_to_string(desk.path("deployment.toml")).unwrap(), "mine");
    assert_eq!(desk.run(&["init", "--force"]).status.code(), Some(0));
    assert_eq!(fs::read_to_string(desk.path("deployment.toml")).unwrap(), written);
    refused(&desk.run(&["init", "no/such/place.toml"]), &["cannot write no/such/place.toml"]);
    let schema: Value = serde_json::from_slice(&desk.run(&["init", "--schema"]).stdout).unwrap();
    assert_eq!(schema["properties"]["nodes"]["maximum"], 32);
    assert_eq!(desk.run(&["init", "--schema", "schema.json"]).status.code(), Some(0));
    assert_eq!(serde_json::from_str::<Value>(&fs::read_to_string(desk.path("schema.json")).unwrap()).unwrap(), schema);
    refused(&desk.run(&["init", "--schema", "schema.json"]), &["schema.json is there already"]);
}

/// A file may come from standard input; on a narrow terminal its mistakes are folded.
#[test]
fn a_deployment_is_read_from_standard_input() {
    let desk = Desk::new();
    let given = |name: &str, text: &str, columns: &str| {
        fs::write(desk.path(name), text).unwrap();
        let file = fs::File::open(desk.path(name)).unwrap();
        desk.command(&["run", "-", "--checks"]).env("COLUMNS", columns).stdin(file).output().unwrap()
    };
    let done = given("good.toml", HARDENED.replace("lease-loss-no", "pause").as_str(), "100");
    assert_eq!((done.status.code(), text(&done.stdout).as_str()), (Some(0), "-: nothing to say\n"));
    let done = given("bad.toml", "guard = \"table-key\"\n[schedule]\nzone = \"UTC+8\"\n", "40");
    let told = text(&done.stderr);
    assert!(done.status.code() == Some(2) && told.starts_with("-:3:8: "), "{told}");
    assert!(told.lines().take_while(|line| !line.starts_with("error: ")).all(|line| line.chars().count() <= 40), "{told}");
}

/// Only the checks: a danger is exit 1, and the JSON says where it is.
#[test]
fn checks_speak_without_a_run() {
    let desk = Desk::new();
    fs::write(desk.path("paused.toml"), PAUSED).unwrap();
    let done = desk.run(&["run", "paused.toml", "--checks", "--json"]);
    assert_eq!(done.status.code(), Some(1), "{}", text(&done.stderr));
    let told: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!((told["checks"][0]["name"].as_str(), told["checks"][0]["severity"].as_str()), (Some("job-outlives-lease"), Some("danger")));
    assert!(!desk.path("reports").exists());
}

/// Ctrl-C in the middle: exit 130, and nothing is left behind.
#[cfg(unix)]
#[test]
fn an_interrupt_leaves_nothing() {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};
    let desk = Desk::new();
    fs::write(desk.path("paused.toml"), PAUSED).unwrap();
    let args = ["run", "paused.toml", "--seeds", "1000000"];
    let mut child = desk.command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut String::new()).unwrap();
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let done = child.wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(130), "{}", text(&done.stderr));
    assert!(!desk.path("reports").exists());
}

/// Ctrl-C in the middle of one run that lasts for minutes: it ends soon, and leaves nothing.
#[cfg(unix)]
#[test]
#[expect(clippy::disallowed_methods, reason = "how long a person waits is told by a real clock")]
fn an_interrupt_ends_a_long_run() {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};
    let desk = Desk::new();
    fs::write(desk.path("long.toml"), "guard = \"table-key\"\n[schedule]\nperiods = 1000\n[try]\nfaults = [\"calm\"]\n").unwrap();
    let mut child = desk.command(&["run", "long.toml"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut String::new()).unwrap();
    std::thread::sleep(Duration::from_secs(2));
    let sent = Instant::now();
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let done = child.wait_with_output().unwrap();
    assert!(sent.elapsed() < Duration::from_secs(20), "{:?}", sent.elapsed());
    assert_eq!(done.status.code(), Some(130), "{}", text(&done.stderr));
    assert!(text(&done.stderr).contains("interrupted") && !desk.path("reports").exists());
}

/// A profile is named wherever its model is spoken of; another file of the same name does not replace a report in silence.
#[test]
fn a_model_is_called_one_and_a_report_is_not_replaced_in_silence() {
    let desk = Desk::new();
    for folder in ["a", "b"] {
        fs::create_dir(desk.path(folder)).unwrap();
        let text = format!("profile = \"shedlock\"\njob = \"{}m\"\n[try]\nfaults = [\"pause\"]\nseeds = 4\n", folder.len());
        fs::write(desk.path(&format!("{folder}/mine.toml")), text).unwrap();
    }
    let first = desk.run(&["run", "a/mine.toml", "--no-shrink"]);
    let named = "profile shedlock: our model of ";
    assert!(text(&first.stdout).contains(named) && text(&first.stderr).is_empty(), "{}", text(&first.stderr));
    let kept: Value = serde_json::from_str(&fs::read_to_string(desk.path("reports/mine.run.json")).unwrap()).unwrap();
    assert!(kept["profile"]["name"] == "shedlock" && kept["profile"]["model"].is_string());
    let witness = fs::read_to_string(desk.path("reports/witnesses/mine.run--pause.toml")).unwrap();
    assert!(witness.starts_with(&format!("# {named}")), "{witness}");
    assert_eq!(desk.run(&["replay", "reports/witnesses/mine.run--pause.toml"]).status.code(), Some(0));
    let again = desk.run(&["run", "a/mine.toml", "--no-shrink"]);
    assert!(text(&again.stderr).is_empty(), "{}", text(&again.stderr));
    let second = desk.run(&["run", "b/mine.toml", "--no-shrink"]);
    assert!(text(&second.stderr).contains("the report in reports was of a/mine.toml"), "{}", text(&second.stderr));
}
