//! `onceproof exhaust`, as its users meet it: what it says, what it writes, and what an interrupt leaves.

use crate::desk::{Desk, refused, text};
use serde_json::Value;
use std::fs;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

fn json(desk: &Desk, name: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(desk.path(name)).unwrap()).unwrap()
}

#[test]
fn what_a_single_fault_breaks_is_told_and_replays() {
    let desk = Desk::new();
    let done = desk.run(&["exhaust", "--strategy", "lease-set-px-checked"]);
    let told = text(&done.stdout);
    assert_eq!(done.status.code(), Some(0), "{told}{}", text(&done.stderr));
    assert!(told.contains("complete for single faults: "), "{told}");
    assert!(told.contains("does not come there; with --faults 2 a second fault may: tx.rollback"), "{told}");
    let row = &json(&desk, "reports/exhaust.json")["strategies"][0];
    let paused = row["kinds"].as_array().unwrap().iter().find(|kind| kind["kind"] == "pause-before").unwrap();
    assert_eq!(paused["broken"][0]["letter"], "D", "a holder that sleeps through its lease settles twice: {paused}");
    let witness = format!("reports/{}", paused["witness"].as_str().unwrap());
    let replayed = desk.run(&["replay", &witness]);
    assert_eq!(replayed.status.code(), Some(0), "{}", text(&replayed.stderr));
    assert!(text(&replayed.stdout).contains("as the witness says"), "{}", text(&replayed.stdout));
}

/// What was not asked for is not said to be complete, in text or in the file.
#[test]
fn of_some_kinds_it_is_complete_for_these() {
    let desk = Desk::new();
    let done = desk.run(&["exhaust", "--strategy", "no-guard", "--kinds", "pause-before,crash-after"]);
    let told = text(&done.stdout);
    assert!(told.contains("complete for single faults of these 2 kinds: "), "{told}{}", text(&done.stderr));
    assert_eq!(json(&desk, "reports/exhaust.json")["all_kinds"], false);
    let page = fs::read_to_string(desk.path("reports/index.html")).unwrap();
    assert!(page.contains("of these 2 kinds (") && !page.contains("every kind of fault that can strike"));
    desk.run(&["exhaust", "--strategy", "no-guard", "--json"]);
    assert_eq!(json(&desk, "reports/exhaust.json")["all_kinds"], true);
}

#[test]
fn json_is_the_file_and_does_not_depend_on_threads() {
    let desk = Desk::new();
    let exhaust = |threads: &str| {
        let chosen = ["exhaust", "--strategy", "table-key", "--rules", "innodb", "--kinds", "core", "--json"];
        text(&desk.run(&[&chosen[..], &["--threads", threads, "--reports", threads]].concat()).stdout)
    };
    let (one, three) = (exhaust("1"), exhaust("3"));
    assert_eq!(one, three);
    assert_eq!(one, fs::read_to_string(desk.path("1/exhaust.json")).unwrap());
    let row: Value = serde_json::from_str(&one).unwrap();
    let kinds: Vec<&str> = row["strategies"][0]["kinds"].as_array().unwrap().iter().map(|k| k["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["crash-before", "crash-sent", "crash-after", "pause-before", "pause-after", "reply-lost"]);
}

#[test]
fn bad_input_is_answered_with_what_to_write() {
    let desk = Desk::new();
    refused(
        &desk.run(&["exhaust", "--kinds", "crash-befor"]),
        &["unknown kind of fault `crash-befor`", "did you mean `crash-before`?", "core"],
    );
    refused(&desk.run(&["exhaust", "--strategy", "table-kye"]), &["did you mean `table-key`?"]);
    let done = desk.run(&["exhaust", "--faults", "3"]);
    assert_eq!(done.status.code(), Some(2));
    assert!(text(&done.stderr).contains("write 1 for single faults, or 2 for pairs"), "{}", text(&done.stderr));
    assert_eq!(fs::read_dir(desk.0.path()).unwrap().count(), 0, "bad input must leave nothing behind");
}

const PAIRS: [&str; 8] = ["exhaust", "--strategy", "table-key-published", "--rules", "postgresql", "--faults", "2", "--json"];

/// Ctrl-C keeps what has been done; the same command goes on from there and comes to what one in one piece comes to.
#[cfg(unix)]
#[test]
#[expect(clippy::disallowed_methods, reason = "a process is interrupted in real time; how far it has come does not matter")]
fn pairs_that_were_interrupted_are_continued() {
    let desk = Desk::new();
    let partial = desk.path("reports/exhaust--table-key-published--pairs.partial.json");
    for wait in [300, 900, 2_000, 4_000] {
        let child = desk.command(&PAIRS).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        thread::sleep(Duration::from_millis(wait));
        std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        let done = child.wait_with_output().unwrap();
        if partial.exists() {
            let error = text(&done.stderr);
            assert_eq!(done.status.code(), Some(130), "{error}");
            assert!(error.contains("the same command goes on from there"), "{error}");
            break;
        }
        assert!(!desk.path("reports/exhaust.json").exists(), "it ended before it was interrupted");
    }
    let kept = json(&desk, "reports/exhaust--table-key-published--pairs.partial.json");
    assert!(!kept["done"]["units"].as_array().unwrap().is_empty());
    let other = desk.run(&[&PAIRS[..], &["--seed", "2"]].concat());
    refused(&other, &["partial.json", "begun with another version or build, another seed or other kinds", "remove the file"]);

    let continued = text(&desk.run(&PAIRS).stdout);
    let whole = text(&desk.run(&[&PAIRS[..], &["--reports", "whole"]].concat()).stdout);
    assert_eq!(continued, whole);
    assert!(!partial.exists(), "what is complete is no longer partial");
}

/// Shards have nothing in common and are everything: joined, they are the file of an enumeration in one piece, to the byte.
#[test]
fn shards_are_joined_to_what_one_machine_would_have_written() {
    let desk = Desk::new();
    let chosen = ["exhaust", "--strategy", "lease-set-px-checked,no-guard", "--kinds", "crash-after,pause-before"];
    let run = |more: &[&str]| {
        let done = desk.run(&[&chosen[..], more].concat());
        assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
        text(&done.stdout)
    };
    run(&["--reports", "whole"]);
    for part in ["2/3", "1/3", "3/3"] {
        let told = run(&["--shard", part]);
        assert!(told.contains("when all 3 are there: onceproof merge reports/exhaust-shard-*-of-3.json"), "{told}");
    }
    let files: Vec<String> = (1..=3).map(|n| format!("reports/exhaust-shard-{n}-of-3.json")).collect();
    let names: Vec<&str> = files.iter().map(String::as_str).collect();
    refused(&desk.run(&["merge", names[0], names[2]]), &["shard 2/3 is missing"]);
    refused(&desk.run(&["merge", names[0], names[1], names[1]]), &["are both shard 2/3"]);
    let merged = desk.run(&[&["merge"][..], &names].concat());
    assert_eq!(merged.status.code(), Some(0), "{}", text(&merged.stderr));
    assert!(text(&merged.stdout).contains("from 3 shards"), "{}", text(&merged.stdout));
    let written = |folder: &str| fs::read_to_string(desk.path(&format!("{folder}/exhaust.json"))).unwrap();
    assert_eq!(written("reports"), written("whole"));

    let other = fs::read_to_string(desk.path(names[0])).unwrap().replacen("pause-before", "pause-after", 1);
    fs::write(desk.path("other.json"), other).unwrap();
    refused(&desk.run(&["merge", "other.json", names[1], names[2]]), &["no part of the same whole", "kinds"]);
}
