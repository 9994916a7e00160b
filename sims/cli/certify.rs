//! `onceproof certify`: what is written, what is compared, and what is refused.

use super::{Desk, refused, text};
use std::fs;
use std::process::Output;

/// One strategy under two classes.
const FEW: [&str; 5] = ["certify", "--strategy", "no-guard", "--faults", "calm,crash"];

fn certify(desk: &Desk, more: &[&str]) -> Output {
    desk.run(&[&FEW[..], more].concat())
}

fn file(desk: &Desk, name: &str) -> String {
    fs::read_to_string(desk.path(name)).unwrap()
}

/// The harness is not to be trusted, for a reason that says all these things.
fn distrusted(done: &Output, says: &[&str]) {
    let error = text(&done.stderr);
    assert_eq!(done.status.code(), Some(3), "{error}");
    for word in says {
        assert!(error.contains(word), "`{word}` is missing in: {error}");
    }
}

#[test]
fn a_certificate_does_not_depend_on_the_number_of_threads_and_its_own_build_agrees_with_it() {
    let desk = Desk::new();
    let one = certify(&desk, &["--threads", "1", "--out", "one.json", "--json"]);
    assert_eq!(one.status.code(), Some(0), "{}", text(&one.stderr));
    let told = text(&certify(&desk, &["--threads", "4"]).stdout);
    assert!(told.starts_with("2 runs, ") && told.contains("in a fresh process") && told.contains("reports/certificate.json"), "{told}");
    assert_eq!(file(&desk, "one.json"), file(&desk, "reports/certificate.json"));
    assert_eq!(file(&desk, "one.json"), text(&one.stdout));

    let same = desk.run(&["certify", "--compare", "one.json"]);
    assert_eq!(same.status.code(), Some(0), "{}", text(&same.stderr));
    assert!(text(&same.stdout).contains("the same as in one.json"), "{}", text(&same.stdout));
    let mut files: Vec<_> = fs::read_dir(desk.path(".")).unwrap().map(|f| f.unwrap().file_name()).collect();
    files.sort();
    assert_eq!(files, ["one.json", "reports"], "a comparison writes nothing, and nothing is left beside");
}

/// One mark, one digest, one plan: each is caught, and the place is named.
#[test]
fn a_certificate_that_was_changed_is_told_with_the_record() {
    let desk = Desk::new();
    assert_eq!(certify(&desk, &["--full", "--out", "c.json"]).status.code(), Some(0));
    let certificate: serde_json::Value = serde_json::from_str(&file(&desk, "c.json")).unwrap();
    let compared = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut changed = certificate.clone();
        change(&mut changed["runs"][1]);
        fs::write(desk.path("changed.json"), changed.to_string()).unwrap();
        desk.run(&["certify", "--compare", "changed.json"])
    };
    let told = |number: usize| certificate["runs"][1]["told"][number].as_str().unwrap();
    let done = compared(&|run| {
        let mut marks = run["marks"].as_str().unwrap().to_owned();
        let mark = if &marks[400..404] == "AAAA" { "BBBB" } else { "AAAA" };
        marks.replace_range(400..404, mark);
        run["marks"] = marks.into();
        run["told"][100] = "another event".into();
        run["digest"] = "00000000deadbeef".into();
    });
    let here = format!("here that is {}, there another event", told(100));
    distrusted(&done, &["no-guard under crash, seed ", "changed.json", "first differs at record 100: ", &here, "--records`"]);
    // With the digest of this build's run, other marks are nobody's.
    let marks = compared(&|run| run["marks"] = "A".repeat(run["marks"].as_str().unwrap().len()).into());
    refused(&marks, &["changed.json: ", "no-guard under crash, seed ", "the file was changed"]);
    distrusted(&compared(&|run| run["digest"] = "00000000deadbeef".into()), &["not what the network did beneath them"]);
    distrusted(&compared(&|run| run["plan"] = "00000000deadbeef".into()), &["its fault plan is drawn otherwise here"]);
    refused(&compared(&|run| run["scenario"] = "00000000deadbeef".into()), &["changed.json: ", "in another scenario"]);
    refused(&compared(&|run| run["run"]["strategy"] = "no-gaurd".into()), &["changed.json: ", "did you mean `no-guard`?"]);
}

#[test]
fn what_is_no_certificate_of_this_version_is_refused() {
    let desk = Desk::new();
    assert_eq!(certify(&desk, &["--out", "c.json"]).status.code(), Some(0));
    let whole = file(&desk, "c.json");
    let compare = |content: &str| {
        fs::write(desk.path("other.json"), content).unwrap();
        desk.run(&["certify", "--compare", "other.json"])
    };
    refused(&compare(&whole[..whole.len() / 2]), &["other.json:", "the file is cut short"]);
    refused(&compare("not even JSON"), &["other.json:1: ", "not a certificate", "onceproof certify --out FILE"]);
    refused(&compare(&whole.replacen("\"onceproof\": \"", "\"onceproof\": \"9.", 1)), &["is of onceproof 9.", "only equal versions"]);
    refused(&compare(&whole.replacen("\"format\": 1", "\"format\": 9", 1)), &["is of format 9", "this is format 1"]);
    refused(&desk.run(&["certify", "--compare", "nowhere.json"]), &["cannot read nowhere.json"]);
    refused(&certify(&desk, &["--out", "."]), &["cannot write .", "name another file"]);
    refused(&desk.run(&["certify", "--strategy", "table-key", "--faults", "lease-cut"]), &["none of these classes can strike"]);
    refused(&desk.run(&["certify", "--compare", "c.json", "--out", "./c.json"]), &["--out is the certificate itself, c.json"]);
    refused(&compare(&whole.replacen("\"after_others\": 1000", "\"after_others\": 1", 1)), &["other.json: `after_others` is 1,"]);
    let done = desk.run(&["certify", "--compare", "c.json", "--seeds", "2"]);
    assert_eq!(done.status.code(), Some(2), "{}", text(&done.stderr));
    assert_eq!(file(&desk, "c.json"), whole);
}
