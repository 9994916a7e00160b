//! The program as its users meet it: exit codes, what goes to which stream, what is written,
//! and what every kind of bad input is answered with.

mod certify;
mod frontier;
mod report;
mod run;

use crate::desk::{Desk, WITNESS, refused, text};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

#[test]
fn unknown_names_are_answered_with_the_nearest_and_nothing_is_written() {
    let desk = Desk::new();
    refused(&desk.run(&["--strategy", "dual-gaurd"]), &["unknown strategy `dual-gaurd`", "did you mean `dual-guard`?", "onceproof list"]);
    refused(&desk.run(&["verify", "--faults", "calm,crahs"]), &["unknown fault class `crahs`", "did you mean `crash`?"]);
    refused(&desk.run(&["--engine", "turmiol"]), &["unknown engine `turmiol`", "did you mean `turmoil`?"]);
    refused(&desk.run(&["--budget", "soon"]), &["--budget", "`soon` is not a duration", "30s"]);
    refused(&desk.run(&["replay", "--strategy", "no-gaurd", "--faults", "calm"]), &["did you mean `no-guard`?"]);
    refused(&desk.run(&["replay", "nowhere.toml"]), &["cannot read nowhere.toml"]);
    refused(&desk.run(&["replay"]), &["replay WITNESS.toml`", "--strategy NAME --faults CLASS --seed N`"]);
    assert_eq!(fs::read_dir(desk.0.path()).unwrap().count(), 0, "bad input must leave nothing behind");
}

#[test]
fn numbers_out_of_bounds_are_usage_errors() {
    let desk = Desk::new();
    for args in [["--seeds", "0"], ["--seeds", "many"], ["--threads", "0"], ["--seed", "-1"], ["--budget", "0s"], ["--no-such", "1"]] {
        let done = desk.run(&args);
        assert_eq!(done.status.code(), Some(2), "{args:?}: {}", text(&done.stderr));
        assert!(text(&done.stderr).starts_with("error: "), "{args:?}: {}", text(&done.stderr));
    }
    for (args, says) in [
        (["--seeds", "many"], "write a whole number from 1 to 1000000000"),
        (["--seeds", "-3"], "write a whole number from 1 to 1000000000"),
        (["--seed", "x"], "write a whole number from 0 to 18446744073709551615"),
    ] {
        let error = text(&desk.run(&args).stderr);
        assert!(error.contains(says), "{args:?}: {error}");
    }
    assert_eq!(fs::read_dir(desk.0.path()).unwrap().count(), 0);
}

/// What is no file, or far too long for a witness, is not read to its end, which may never come.
#[cfg(unix)]
#[test]
fn only_a_file_of_sensible_length_is_read() {
    let desk = Desk::new();
    refused(&desk.run(&["replay", "/dev/zero"]), &["cannot read /dev/zero", "not a regular file"]);
    refused(&desk.run(&["replay", "."]), &["cannot read .", "not a regular file"]);
    fs::File::create(desk.path("long.toml")).unwrap().set_len(9 << 20).unwrap();
    refused(&desk.run(&["replay", "long.toml"]), &["cannot read long.toml", "larger than 8 MiB"]);
}

/// A file where the folder should be: told before the sweep starts, and the file stays.
#[test]
fn a_folder_that_cannot_be_written_stops_the_sweep_before_it_starts() {
    let desk = Desk::new();
    fs::write(desk.path("reports"), "mine").unwrap();
    let done = desk.run(&["--seeds", "1000000"]);
    refused(&done, &["cannot write reports to reports", "--reports DIR"]);
    assert_eq!(text(&done.stdout), "");
    assert_eq!(fs::read_to_string(desk.path("reports")).unwrap(), "mine");
}

/// Every mistake in a witness is answered with file, place and cure; the reports stay as they were.
#[test]
fn a_spoilt_witness_names_its_place() {
    let (desk, witness) = Desk::with_witness();
    let before = snapshot(&desk.path("reports"));
    let replay = |from: &str, to: &str| {
        let line = witness.lines().find(|line| line.starts_with(from)).unwrap_or_else(|| panic!("no line starts with `{from}`"));
        fs::write(desk.path("spoilt.toml"), witness.replacen(line, to, 1)).unwrap();
        desk.run(&["replay", "spoilt.toml"])
    };
    refused(&replay("format", "format = 7"), &["spoilt.toml:3: ", "format 7", "reads format 1"]);
    refused(&replay("nodes", "nodes = \"three\""), &["spoilt.toml:", "nodes = \"three\"", "expected a whole number"]);
    refused(&replay("players", "plaiers = 3"), &["spoilt.toml:", "unknown field `plaiers`", "`players`"]);
    refused(&replay("nodes", "nodes = 0"), &["spoilt.toml: ", "nodes", "1 to 32", "0"]);
    refused(&replay("lease", "lease = \"0s\""), &["spoilt.toml: ", "lease", "1ms"]);
    refused(&replay("zone", "zone = \"Asia/Atlantis\""), &["spoilt.toml: ", "unknown time zone `Asia/Atlantis`", "Asia/Shanghai"]);
    refused(&replay("cron", "cron = \"every day\""), &["spoilt.toml: ", "`every day` is not a cron expression", "0 0 10,25 * *"]);
    refused(&replay("strategy", "strategy = \"no-gard\""), &["spoilt.toml: ", "did you mean `no-guard`?"]);
    refused(&replay("engine", "engine = \"steam\""), &["spoilt.toml:", "unknown engine `steam`", "`event`"]);
    let fault = "[[plan.fault]]\nharm = { kind = \"crash\", host = \"self\", back_after = \"5m\" }\nwhen = { step = \"no.such\", phase = \"before\" }\n";
    fs::write(desk.path("spoilt.toml"), witness.replace("[plan]\n", "") + fault).unwrap();
    refused(&desk.run(&["replay", "spoilt.toml"]), &["spoilt.toml: ", "unknown step `no.such`"]);
    assert_eq!(snapshot(&desk.path("reports")), before);
}

/// Names and contents of everything in the reports folder.
fn snapshot(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut files: Vec<PathBuf> = [folder.to_owned(), folder.join("witnesses")]
        .iter()
        .flat_map(|folder| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()))
        .filter(|path| path.is_file())
        .collect();
    files.sort();
    files.into_iter().map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
}

#[test]
fn a_witness_replays_in_another_process_and_a_changed_history_is_distrusted() {
    let (desk, witness) = Desk::with_witness();
    let done = desk.run(&["replay", WITNESS]);
    let told = text(&done.stdout);
    assert_eq!(done.status.code(), Some(0), "{told}");
    assert!(told.contains("✗ settled-once broke at 2026-") && told.contains("as recorded"), "{told}");
    assert!(!told.contains('\u{1b}'), "colours only on a terminal");
    assert_eq!(text(&desk.run(&["replay", WITNESS]).stdout), told, "a story is the same every time");

    let digest = witness.lines().find(|line| line.starts_with("digest")).unwrap();
    fs::write(desk.path("other.toml"), witness.replacen(digest, "digest = \"00000000deadbeef\"", 1)).unwrap();
    let done = desk.run(&["replay", "other.toml"]);
    assert_eq!(done.status.code(), Some(3));
    let error = text(&done.stderr);
    assert!(error.contains("the witness has digest 00000000deadbeef"), "{error}");
    assert!(error.contains("another build of onceproof recorded it, or the file was changed"), "{error}");
}

/// `--json` puts the verdicts, and nothing else, on standard output; they are those of the
/// file, and the same on any number of threads.
#[test]
fn verdicts_do_not_depend_on_the_number_of_threads() {
    let desk = Desk::new();
    let verify = |threads: &str, folder: &str| {
        let chosen = ["--strategy", "no-guard,dual-guard", "--faults", "crash", "--seeds", "30"];
        desk.run(&[&chosen[..], &["--json", "--threads", threads, "--reports", folder]].concat())
    };
    let (one, four) = (verify("1", "one"), verify("4", "four"));
    assert_eq!(text(&one.stdout), text(&four.stdout));
    assert_eq!(text(&one.stdout), fs::read_to_string(desk.path("one/verdicts.json")).unwrap());
    assert_eq!(snapshot(&desk.path("one")).len(), snapshot(&desk.path("four")).len());
    let verdicts: serde_json::Value = serde_json::from_slice(&one.stdout).unwrap();
    assert_eq!(verdicts["strategies"][0]["cells"][0]["verdict"], "breaks", "no-guard must break in calm");
}

/// Whoever reads only the first line has seen enough.
#[test]
fn a_closed_pipe_is_no_error() {
    let desk = Desk::new();
    let mut child = desk.command(&["list"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let done = child.wait_with_output().unwrap();
    assert_eq!((done.status.code(), text(&done.stderr)), (Some(0), String::new()));
}

/// A full disk: whoever reads the text later must not take a part for the whole.
#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_an_error() {
    let desk = Desk::new();
    let calm = ["--strategy", "no-guard", "--faults", "calm", "--seeds", "3"];
    for args in [&["list"][..], &["--help"], &[&calm[..], &["--json"]].concat(), &["replay", WITNESS]] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let done = desk.command(args).stdout(full).stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
        refused(&done, &["cannot write to standard output: "]);
    }
}

/// On turmoil the deployment is scaled, and few seeds are enough to compare the engines.
#[test]
fn a_scaled_deployment_says_so() {
    let desk = Desk::new();
    let told = text(&desk.run(&["--engine", "turmoil", "--strategy", "no-guard", "--faults", "calm"]).stdout);
    let scaled = "turmoil engine, durations divided by 120";
    assert!(told.starts_with(&format!("base seed 1: 1 row × 1 fault class, 2 seeds a cell, {scaled}\n")), "{told}");
    assert!(told.contains(&format!("base seed 1, {scaled}\n")), "{told}");
    let told = desk.command(&["replay", WITNESS]).env("COLUMNS", "60").output().unwrap();
    let told = text(&told.stdout);
    assert!(told.starts_with("no-guard under calm, seed ") && told.replace('\n', " ").contains(scaled), "{told}");
    assert!(told.lines().all(|line| line.chars().count() <= 60), "{told}");
}

/// Ctrl-C in the middle of a sweep: exit 130, and the reports of the sweep before are whole.
#[cfg(unix)]
#[test]
fn an_interrupt_leaves_earlier_reports_whole() {
    use std::io::{BufRead, BufReader};
    let (desk, _) = Desk::with_witness();
    let before = snapshot(&desk.path("reports"));
    let mut child = desk.command(&["--seeds", "1000000000"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // When the first line is there, interrupts are heard.
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut String::new()).unwrap();
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let done = child.wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(130), "{}", text(&done.stderr));
    assert!(text(&done.stderr).contains("earlier reports are as they were"), "{}", text(&done.stderr));
    assert_eq!(snapshot(&desk.path("reports")), before);
}

/// What stands beside a witness, but for pages: nothing may be left there that nobody asked for.
fn beside(desk: &Desk) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(desk.path("reports/witnesses")).unwrap().map(|f| f.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.retain(|name| !["html", "json"].iter().any(|page| name.rsplit('.').next() == Some(page)));
    names.sort();
    names
}

/// A witness as it was found, shrunk: told, written beside it, and replayed by the command that is told.
#[test]
fn a_witness_is_shrunk_and_what_is_left_replays() {
    let desk = Desk::new();
    let swept = desk.run(&["--strategy", "lease-set-px-checked", "--faults", "pause", "--seeds", "3", "--no-shrink"]);
    assert_eq!(swept.status.code(), Some(0), "{}", text(&swept.stderr));
    let file = "reports/witnesses/lease-set-px-checked--pause.toml";
    let whole = fs::read_to_string(desk.path(file)).unwrap();
    assert!(!whole.contains("[shrunk_from]"), "--no-shrink keeps what was found");

    let done = desk.run(&["shrink", file]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    let told = text(&done.stdout);
    for word in ["before", "after", "converged", "onceproof replay reports/witnesses/lease-set-px-checked--pause.shrunk.toml", "#[test]"] {
        assert!(told.contains(word), "`{word}` is missing in: {told}");
    }
    assert_eq!(fs::read_to_string(desk.path(file)).unwrap(), whole, "the witness stays as it is");
    assert_eq!(beside(&desk), ["lease-set-px-checked--pause.shrunk.toml", "lease-set-px-checked--pause.toml"]);
    let again = desk.run(&["replay", "reports/witnesses/lease-set-px-checked--pause.shrunk.toml"]);
    assert_eq!(again.status.code(), Some(0), "{}", text(&again.stderr));

    // As JSON, into a folder; a small one shrinks to itself.
    fs::create_dir(desk.path("small")).unwrap();
    let done = desk.run(&["shrink", "reports/witnesses/lease-set-px-checked--pause.shrunk.toml", "--out", "small", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!((&json["converged"], &json["before"], json["rule"].as_str()), (&true.into(), &json["after"], Some("settled-once")));
    assert!(desk.path("small/lease-set-px-checked--pause.shrunk.shrunk.toml").is_file());
}

/// The sweep does it by itself, and says what the run came from.
#[test]
fn a_sweep_keeps_small_witnesses() {
    let (desk, witness) = Desk::with_witness();
    for word in ["[shrunk_from]", "sentence = ", "because = [", "converged = true"] {
        assert!(witness.contains(word), "`{word}` is missing in: {witness}");
    }
    assert_eq!(desk.run(&["replay", WITNESS]).status.code(), Some(0));
}

#[test]
fn what_cannot_be_shrunk_is_told_and_nothing_is_left_behind() {
    let (desk, witness) = Desk::with_witness();
    refused(&desk.run(&["shrink", "nowhere.toml"]), &["cannot read nowhere.toml"]);
    refused(&desk.run(&["shrink", WITNESS, "--out", WITNESS]), &["--out is the witness itself"]);
    refused(&desk.run(&["shrink", WITNESS, "--out", "no/such/folder/w.toml"]), &["cannot write no/such/folder/w.toml", "--out"]);
    refused(&desk.run(&["shrink", WITNESS, "--rule", "not-early"]), &["does not break `not-early`; it breaks settled-once"]);
    refused(&desk.run(&["shrink", WITNESS, "--budget", "-1s"]), &["--budget: `-1s` is not a duration"]);
    refused(&desk.run(&["shrink", WITNESS, "--budget", "soon"]), &["--budget", "`soon` is not a duration"]);
    let digest = witness.lines().find(|line| line.starts_with("digest")).unwrap();
    fs::write(desk.path(WITNESS), witness.replacen(digest, "digest = \"00000000deadbeef\"", 1)).unwrap();
    let done = desk.run(&["shrink", WITNESS]);
    assert_eq!(done.status.code(), Some(3), "{}", text(&done.stderr));
    assert!(text(&done.stderr).contains("the history is not the recorded one"), "{}", text(&done.stderr));
    assert_eq!(beside(&desk), ["no-guard--calm.toml"]);
}

/// The moment stands in the story and in the JSON; where it cannot be found, that is said.
#[test]
fn a_replay_tells_from_when_on_it_was_doomed() {
    let (desk, _) = Desk::with_witness();
    let told = desk.run(&["replay", WITNESS, "--doomed"]);
    assert_eq!(told.status.code(), Some(0), "{}", text(&told.stderr));
    assert!(text(&told.stdout).contains("doomed: from here on 20 of 20 continuations break settled-once"), "{}", text(&told.stdout));
    let json: serde_json::Value = serde_json::from_slice(&desk.run(&["replay", WITNESS, "--doomed", "--json"]).stdout).unwrap();
    assert_eq!((json["doomed"]["rule"].as_str(), json["doomed"]["tries"].as_u64()), (Some("settled-once"), Some(20)));
    assert!(json["doomed"]["from_ms"].is_u64());
    let narrow = text(&desk.command(&["replay", WITNESS, "--doomed"]).env("COLUMNS", "60").output().unwrap().stdout);
    let head: Vec<&str> = narrow.lines().skip_while(|line| !line.starts_with("settled-once broke in so many")).take(3).collect();
    assert!(head.join(" ").ends_with("with other luck, and without the faults that had not struck by then, begun after:"), "{narrow}");
    assert!(head.iter().all(|line| line.chars().count() <= 60), "{narrow}");
    // What happened is told in words, not as a program keeps it.
    let skewed = text(&desk.run(&["replay", "--strategy", "lease-set-px", "--faults", "skew", "--doomed"]).stdout);
    let (_, moments) = skewed.split_once("begun after:\n").unwrap();
    assert!(!moments.contains(['{', '}']), "{moments}");
    assert_eq!(moments.lines().take_while(|line| !line.is_empty()).count(), 1, "it was certain at the beginning: {moments}");
    refused(
        &desk.run(&["replay", "--strategy", "no-guard", "--faults", "calm", "--doomed", "--engine", "turmoil"]),
        &["event engine only"],
    );
    refused(&desk.run(&["replay", "--strategy", "dual-guard", "--faults", "calm", "--doomed"]), &["nothing broke"]);
}

/// A witness that was shrunk is about one rule; what else broke in it, if earlier, is not what it was doomed to.
#[test]
fn a_shrunk_witness_is_doomed_to_the_rule_that_it_was_shrunk_for() {
    let (desk, shrunk) = Desk::with_witness();
    let shrunk: toml::Table = toml::from_str(&shrunk).unwrap();
    // As it was found, it breaks more than one.
    let whole = desk.run(&["--strategy", "lease-set-px-checked", "--faults", "pause", "--seeds", "3", "--no-shrink"]);
    assert_eq!(whole.status.code(), Some(0), "{}", text(&whole.stderr));
    let whole = fs::read_to_string(desk.path("reports/witnesses/lease-set-px-checked--pause.toml")).unwrap();
    let mut told: toml::Table = toml::from_str(&whole).unwrap();
    let rules: Vec<String> = told["violation"].as_array().unwrap().iter().map(|broke| broke["rule"].as_str().unwrap().to_owned()).collect();
    let last = rules.last().unwrap();
    assert_ne!(&rules[0], last, "{rules:?}");
    told.insert("shrunk_from".to_owned(), shrunk["shrunk_from"].clone());
    told["shrunk_from"]["rule"] = last.clone().into();
    fs::write(desk.path("w.toml"), told.to_string()).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&desk.run(&["replay", "w.toml", "--doomed", "--json"]).stdout).unwrap();
    assert_eq!(json["doomed"]["rule"].as_str(), Some(last.as_str()));
    let story = text(&desk.run(&["replay", "w.toml", "--doomed"]).stdout);
    assert!(story.contains(&format!("continuations break {last}")), "{story}");
    assert!(story.contains(&format!("{last} broke in so many of 20 continuations")), "{story}");
}
