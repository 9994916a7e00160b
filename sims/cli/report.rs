//! `onceproof report`, and what `verify` prints for CI.

use super::snapshot;
use crate::desk::{Desk, refused, text};
use crate::pages::site;
use std::fs;

/// The files in an older folder, without its pages.
const OLDER: [&str; 2] = ["verdicts.json", "witnesses/lease-set-px--pause.json"];

/// A desk with an older folder on it, called `old`.
fn with_older() -> Desk {
    let desk = Desk::new();
    fs::create_dir_all(desk.path("old/witnesses")).unwrap();
    for name in OLDER {
        fs::copy(site::data().join(name), desk.path("old").join(name)).unwrap();
    }
    desk
}

/// What an older version wrote is made into pages of today, which say what it did not know; and the same the next time.
#[test]
fn an_older_folder_becomes_pages_of_today() {
    let desk = with_older();
    let done = desk.run(&["report", "old"]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    assert_eq!(text(&done.stdout), "written: old/index.html, and 1 page of a run in old/witnesses\n");
    let front = fs::read_to_string(desk.path("old/index.html")).unwrap();
    assert!(front.contains("these results say nothing of costs"));
    assert!(front.contains("href=\"witnesses/lease-set-px--pause.html\""));
    let run = fs::read_to_string(desk.path("old/witnesses/lease-set-px--pause.html")).unwrap();
    assert!(run.contains("n0 stops for 40m while it works"));
    let pages = snapshot(&desk.path("old"));
    assert_eq!(pages.len(), 4);
    assert_eq!(desk.run(&["report", "old"]).status.code(), Some(0));
    assert_eq!(snapshot(&desk.path("old")), pages);
}

/// Pages that were lost, or came of an older program, are made anew: byte by byte what the sweep wrote.
#[test]
fn pages_made_anew_are_those_that_the_sweep_wrote() {
    let (desk, _) = Desk::with_witness();
    let written = snapshot(&desk.path("reports"));
    for page in ["reports/index.html", "reports/witnesses/no-guard--calm.html"] {
        fs::write(desk.path(page), "an older page").unwrap();
    }
    assert_eq!(text(&desk.run(&["report"]).stdout), "written: reports/index.html, and 1 page of a run in reports/witnesses\n");
    assert_eq!(snapshot(&desk.path("reports")), written);
}

/// A file that cannot be read is named, with line and column; every page stays as it was.
#[test]
fn a_bad_file_is_named_with_its_place_and_no_page_is_lost() {
    let desk = with_older();
    assert_eq!(desk.run(&["report", "old"]).status.code(), Some(0));
    for (name, from, to, says) in [
        (OLDER[0], "{\n", "{\n  oops\n", "verdicts.json: not JSON: key must be a string at line 2 column 3; run `onceproof verify` again"),
        (OLDER[0], "\"format\": 1", "\"format\": 9", "verdicts.json: written by a newer version (format 9, this program knows up to "),
        (OLDER[0], "\"format\": 1,", "", "verdicts.json: not a file of onceproof: it has no `format`"),
        (OLDER[0], "\"runs\": 40", "\"runs\": \"all\"", "verdicts.json: not as onceproof writes it: invalid type: string \"all\""),
        (OLDER[1], "\"format\": 1", "\"format\": 7", "lease-set-px--pause.json: written by a newer version (format 7"),
        (OLDER[1], "\n \"zone\"", "\n zone", "lease-set-px--pause.json: not JSON: key must be a string at line "),
    ] {
        let path = desk.path("old").join(name);
        let good = fs::read_to_string(&path).unwrap();
        assert!(good.contains(from), "{from}");
        fs::write(&path, good.replacen(from, to, 1)).unwrap();
        let before = snapshot(&desk.path("old"));
        refused(&desk.run(&["report", "old"]), &[says]);
        assert_eq!(snapshot(&desk.path("old")), before, "{says}");
        fs::write(&path, good).unwrap();
    }
}

#[test]
fn where_nothing_is_the_command_that_makes_something_is_told() {
    let desk = Desk::new();
    refused(&desk.run(&["report"]), &["cannot read reports: ", "run `onceproof verify --reports reports` first"]);
    fs::create_dir(desk.path("my reports")).unwrap();
    let first = "run `onceproof verify --reports 'my reports'` first";
    refused(&desk.run(&["report", "my reports"]), &["nothing to report: there is no JSON file of onceproof in my reports", first]);
    refused(&desk.run(&["report", "my reports", "--format", "junit"]), &["there is no my reports/verdicts.json", first]);
    fs::write(desk.path("file"), "").unwrap();
    refused(&desk.run(&["report", "file"]), &["file is no folder"]);
    assert_eq!(fs::read_dir(desk.path("my reports")).unwrap().count(), 0);
}

/// What criterion measured comes into the folder; what it did not is told.
#[test]
fn measurements_are_brought_only_from_where_they_are() {
    let desk = with_older();
    fs::create_dir(desk.path("empty")).unwrap();
    let before = snapshot(&desk.path("old"));
    refused(
        &desk.run(&["report", "old", "--criterion", "empty"]),
        &["no measurements of contention in empty", "cargo bench --bench contention"],
    );
    refused(&desk.run(&["report", "old", "--criterion", "empty", "--format", "json"]), &["--criterion brings measurements to the pages"]);
    assert_eq!(snapshot(&desk.path("old")), before);
}

/// For CI, text goes to standard output and the folder stays as it is. A sentence is taken from the run's JSON.
#[test]
fn verdicts_of_a_folder_are_printed_for_ci() {
    let desk = with_older();
    let before = snapshot(&desk.path("old"));
    let printed = |format: &str| {
        let done = desk.run(&["report", "old", "--format", format]);
        assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
        text(&done.stdout)
    };
    let junit = printed("junit");
    assert!(junit.contains(r#"<testsuites name="onceproof" tests="18" skipped="4" failures="0" errors="0">"#), "{junit}");
    assert!(junit.contains("in short: n0 stops for 40m while it works") && junit.contains("witness: old/witnesses/no-guard--calm.toml"));
    let markdown = printed("markdown");
    assert!(markdown.starts_with("## onceproof: ✓ all 18 cells are as expected\n"), "{markdown}");
    assert_eq!(printed("json"), fs::read_to_string(desk.path("old/verdicts.json")).unwrap());
    assert_eq!(snapshot(&desk.path("old")), before);
}

/// `verify` prints what `report` prints of the folder that it wrote; `--json` is short for one of the formats.
#[test]
fn verify_prints_what_report_prints() {
    let desk = Desk::new();
    let verify = |more: &[&str]| desk.run(&[&["--strategy", "table-key", "--faults", "calm", "--seeds", "3"][..], more].concat());
    for format in ["junit", "markdown", "json"] {
        let done = verify(&["--format", format]);
        assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
        assert_eq!(text(&done.stdout), text(&desk.run(&["report", "--format", format]).stdout));
    }
    assert_eq!(text(&verify(&["--json"]).stdout), text(&verify(&["--format", "json"]).stdout));
    for more in [&["--json", "--format", "junit"][..], &["--format", "xml"]] {
        assert_eq!(verify(more).status.code(), Some(2), "{more:?}");
    }
    refused(&verify(&["--shard", "1/2", "--format", "junit"]), &["a shard has no verdicts yet", "onceproof report --format junit"]);
}

/// Ctrl-C while pages are put in place: no half of a file is left beside them.
#[cfg(unix)]
#[test]
fn an_interrupt_leaves_no_temporary_files() {
    use std::process::{Command, Stdio};
    let desk = with_older();
    let witnesses = desk.path("old/witnesses");
    let twin = fs::read(witnesses.join("lease-set-px--pause.json")).unwrap();
    for n in 0..400 {
        fs::write(witnesses.join(format!("run-{n}.json")), &twin).unwrap();
    }
    let hidden =
        || fs::read_dir(&witnesses).unwrap().filter(|f| f.as_ref().unwrap().file_name().to_string_lossy().starts_with('.')).count();
    let mut child = desk.command(&["report", "old"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while hidden() < 2 && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    child.wait_with_output().unwrap();
    assert_eq!(hidden(), 0);
}
