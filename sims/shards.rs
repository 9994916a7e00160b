//! A sweep in shards, on several machines: joined, it is the sweep, to the byte; and what is not all
//! of it, or not of it, is refused.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

/// What is swept: rows that break and hold, a class with a pinned plan, and the class that is steered.
const SWEEP: [&str; 7] = ["verify", "--strategy", "table-key,dual-published", "--faults", "crash,swarm", "--seeds", "41"];

fn onceproof(folder: &Path, args: &[&str]) -> Output {
    Command::new(assert_cmd::cargo::cargo_bin!("onceproof")).current_dir(folder).args(args).output().expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// A folder with the three shards of the sweep.
fn shards() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for shard in ["1/3", "2/3", "3/3"] {
        let done = onceproof(folder.path(), &[&SWEEP[..], &["--shard", shard, "--reports", "shards"]].concat());
        assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
        assert!(text(&done.stdout).contains("onceproof merge shards/shard-*-of-3.json"), "{}", text(&done.stdout));
    }
    folder
}

const FILES: [&str; 3] = ["shards/shard-1-of-3.json", "shards/shard-2-of-3.json", "shards/shard-3-of-3.json"];

#[test]
fn joined_shards_are_the_sweep_to_the_byte() {
    let folder = shards();
    let whole = onceproof(folder.path(), &[&SWEEP[..], &["--reports", "whole"]].concat());
    let merged = onceproof(folder.path(), &["merge", FILES[2], FILES[0], FILES[1], "--reports", "merged"]);
    assert_eq!((whole.status.code(), merged.status.code()), (Some(0), Some(0)), "{}{}", text(&whole.stderr), text(&merged.stderr));
    assert!(text(&merged.stdout).contains(" runs from 3 shards; base seed 1"), "{}", text(&merged.stdout));
    let read = |reports: &str, name: &str| fs::read_to_string(folder.path().join(reports).join(name)).unwrap();
    let names = |reports: &str| {
        let entries = fs::read_dir(folder.path().join(reports).join("witnesses")).unwrap();
        let mut names: Vec<String> = entries.map(|entry| format!("witnesses/{}", entry.unwrap().file_name().display())).collect();
        names.sort();
        names
    };
    assert_eq!(read("whole", "verdicts.json"), read("merged", "verdicts.json"));
    assert_eq!(names("whole"), names("merged"));
    assert!(names("whole").len() >= 2, "the row that breaks has witnesses");
    for name in names("whole") {
        assert_eq!(read("whole", &name), read("merged", &name), "{name}");
    }
    let verdicts: serde_json::Value = serde_json::from_str(&read("whole", "verdicts.json")).unwrap();
    let swarm = &verdicts["strategies"][0]["cells"][2];
    assert!(swarm["faults"] == "swarm" && swarm["apart"]["runs"].as_u64().unwrap() > 0, "nothing was steered: nothing compared");
    let crash = &verdicts["strategies"][0]["cells"][1];
    assert!(crash["faults"] == "crash" && crash["cost"]["recovery"]["n"].as_u64().unwrap() > 0, "nothing was measured: {crash}");
}

#[test]
fn what_is_not_the_whole_is_refused_and_nothing_is_written() {
    let folder = shards();
    let path = folder.path();
    let refused = |files: &[&str], says: &[&str]| {
        let done = onceproof(path, &[&["merge", "--reports", "merged"], files].concat());
        let error = text(&done.stderr);
        assert_eq!(done.status.code(), Some(2), "{error}");
        assert!(error.lines().count() == 1 && says.iter().all(|word| error.contains(word)), "{error}");
        assert!(!path.join("merged").exists());
    };
    refused(&FILES[..2], &["shard 3/3 is missing", "--shard 3/3"]);
    fs::copy(path.join(FILES[0]), path.join("copy.json")).unwrap();
    refused(&[FILES[0], FILES[1], FILES[2], "copy.json"], &[FILES[0], "copy.json", "both shard 1/3"]);
    let second = fs::read_to_string(path.join(FILES[1])).unwrap();
    fs::write(path.join("cut.json"), &second[..second.len() - 100]).unwrap();
    refused(&[FILES[0], "cut.json", FILES[2]], &["cut.json: ", "ends in the middle"]);
    fs::write(path.join("old.json"), second.replacen(env!("CARGO_PKG_VERSION"), "0.0.1", 1)).unwrap();
    refused(&[FILES[0], "old.json", FILES[2]], &["old.json: written by onceproof 0.0.1"]);
    let done = onceproof(path, &[&SWEEP[..], &["--shard", "2/3", "--seed", "9", "--reports", "other"]].concat());
    assert_eq!(done.status.code(), Some(0));
    refused(&[FILES[0], "other/shard-2-of-3.json", FILES[2]], &["other/shard-2-of-3.json", "its base_seed is \"9\", not \"1\""]);
    // All three say so: then it is this program that is another one.
    let built = |file: &&str| {
        let text = fs::read_to_string(path.join(file)).unwrap();
        let at = text.find("\"fingerprint\":\"").unwrap() + "\"fingerprint\":\"".len();
        let name = format!("built-{}", file.replace('/', "-"));
        fs::write(path.join(&name), format!("{}{}{}", &text[..at], "0".repeat(16), &text[at + 16..])).unwrap();
        name
    };
    let built: Vec<String> = FILES.iter().map(built).collect();
    refused(&built.iter().map(String::as_str).collect::<Vec<_>>(), &["another build of onceproof made them"]);
    refused(&["/dev/zero"], &["not a regular file", "shard file"]);
}

#[test]
fn a_shard_that_cannot_be_is_a_usage_error() {
    let folder = tempfile::tempdir().unwrap();
    for (args, says) in [
        (&["--shard", "0/3"][..], "counted from 1"),
        (&["--shard", "4/3"], "write `1/3` to `3/3`"),
        (&["--shard", "-1/3"], "`2/3`"),
        (&["--shard", "1/3", "--budget", "5s"], "cannot be used with"),
        (&["--shard", "1/3", "--until-bound", "0.01"], "cannot be used with"),
        (&["--until-bound", "2"], "such as 0.001"),
        (&["--until-bound", "0.01", "--seeds", "5"], "cannot be used with"),
    ] {
        let done = onceproof(folder.path(), args);
        assert_eq!(done.status.code(), Some(2), "{args:?}");
        assert!(text(&done.stderr).contains(says), "{args:?}: {}", text(&done.stderr));
    }
}

/// The bound that was asked for is the bound that is reached, on one thread as on two.
#[test]
fn until_a_bound_is_until_that_bound() {
    let folder = tempfile::tempdir().unwrap();
    let verdicts = |threads: &str| {
        let args = ["--strategy", "table-key", "--faults", "crash", "--until-bound", "0.02", "--threads", threads, "--reports", threads];
        let done = onceproof(folder.path(), &args);
        assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
        fs::read_to_string(folder.path().join(threads).join("verdicts.json")).unwrap()
    };
    let one = verdicts("1");
    assert_eq!(one, verdicts("2"));
    let one: serde_json::Value = serde_json::from_str(&one).unwrap();
    assert_eq!((one["felt_wanted"].as_u64(), one["seeds_per_cell"].as_u64()), (Some(149), None));
    for cell in one["strategies"][0]["cells"].as_array().unwrap() {
        let (felt, bound) = (cell["felt"].as_u64().unwrap(), cell["upper_bound"].as_f64().unwrap());
        assert!(bound <= 0.02 && (1.0 - 0.05_f64.powf(1.0 / felt as f64) - bound).abs() < 1e-12, "{cell}");
    }
}
