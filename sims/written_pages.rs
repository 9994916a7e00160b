//! Pages among the reports: what is written beside a witness, what a replay writes, and what is removed.

use crate::desk::{Desk, WITNESS, refused, text};
use onceproof::report::twin::{FORMAT, Twin};
use std::fs;

const TWIN: &str = "reports/witnesses/no-guard--calm.json";

fn twin(desk: &Desk) -> Twin {
    serde_json::from_str(&fs::read_to_string(desk.path(TWIN)).unwrap()).unwrap()
}

#[test]
fn a_broken_cell_has_a_page_and_what_it_is_made_of() {
    let (desk, witness) = Desk::with_witness();
    for page in ["reports/index.html", "reports/witnesses/no-guard--calm.html"] {
        assert!(fs::read_to_string(desk.path(page)).unwrap().starts_with("<!DOCTYPE html>"), "{page}");
    }
    let twin = twin(&desk);
    assert_eq!((twin.format, twin.label.as_str(), twin.faults.as_str()), (FORMAT, "no-guard", "calm"));
    assert!(witness.contains(&twin.digest) && witness.contains(&twin.sentence) && !twin.sentence.is_empty());
    assert_eq!(twin.replay, "onceproof replay --reports . witnesses/no-guard--calm.toml");
    assert!(twin.test.contains("#[test]") && twin.shrunk.is_some());
    let before = twin.before.unwrap();
    assert!(before.hosts.len() >= twin.hosts.len() && before.replay.starts_with("onceproof replay --strategy no-guard --faults calm"));
}

/// It knows nothing that the sweep did not know, and loses nothing that only the sweep knew.
#[test]
fn a_replay_writes_the_page_that_the_sweep_wrote() {
    let (desk, _) = Desk::with_witness();
    let pages =
        || ["index.html", "witnesses/no-guard--calm.html", "witnesses/no-guard--calm.json"].map(|name| desk.path("reports").join(name));
    let read = || pages().map(|page| fs::read_to_string(page).unwrap());
    let before = read();
    let told = desk.run(&["replay", WITNESS]);
    assert_eq!(text(&told.stdout).lines().last(), Some("written: reports/witnesses/no-guard--calm.html"));
    assert_eq!(read(), before);
    let json = text(&desk.run(&["replay", WITNESS, "--json", "--reports", "elsewhere"]).stdout);
    assert!(serde_json::from_str::<serde_json::Value>(&json).is_ok(), "nothing follows it: {json}");
    assert!(desk.path("elsewhere/witnesses/no-guard--calm.html").is_file() && desk.path("elsewhere/index.html").is_file());
}

/// The folder may have any name, and the command brings back the page on which it stands.
#[test]
fn the_command_of_a_page_works_in_a_folder_of_any_name() {
    let desk = Desk::new();
    desk.run(&["--strategy", "no-guard", "--faults", "calm", "--seeds", "3", "--reports", "of june"]);
    let json = desk.path("of june/witnesses/no-guard--calm.json");
    let there = fs::read_to_string(&json).unwrap();
    let twin: Twin = serde_json::from_str(&there).unwrap();
    let command: Vec<&str> = twin.replay.split_whitespace().skip(1).collect();
    let done = desk.command(&command).current_dir(desk.path("of june")).output().unwrap();
    assert_eq!(text(&done.stdout).lines().last(), Some("written: ./witnesses/no-guard--calm.html"), "{}", text(&done.stderr));
    assert_eq!(fs::read_to_string(&json).unwrap(), there);
    assert!(!desk.path("of june/reports").exists());
}

#[test]
fn a_run_that_is_replayed_by_names_has_a_page_of_its_own() {
    let desk = Desk::new();
    let by_names = ["replay", "--strategy", "dual-guard", "--faults", "pause", "--seed", "7"];
    let silent = desk.run(&[&by_names[..], &["--no-page"]].concat());
    assert!(text(&silent.stdout).lines().last().unwrap().starts_with("digest ") && !desk.path("reports").exists());
    let told = desk.run(&by_names);
    assert_eq!(text(&told.stdout).lines().last(), Some("written: reports/witnesses/replay--dual-guard--pause--7.html"));
    let twin: Twin =
        serde_json::from_str(&fs::read_to_string(desk.path("reports/witnesses/replay--dual-guard--pause--7.json")).unwrap()).unwrap();
    assert_eq!(twin.replay, "onceproof replay --strategy dual-guard --faults pause --seed 7");
    assert!(twin.violations.is_empty() && twin.before.is_none() && twin.shrunk.is_none());
}

#[test]
fn pages_of_what_breaks_no_more_are_removed() {
    let desk = Desk::new();
    let stale = ["toml", "html", "json"].map(|ending| desk.path(&format!("reports/witnesses/dual-guard--calm.{ending}")));
    fs::create_dir_all(desk.path("reports/witnesses")).unwrap();
    for file in &stale {
        fs::write(file, "old").unwrap();
    }
    let done = desk.run(&["--strategy", "dual-guard", "--faults", "calm", "--seeds", "3"]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    assert!(stale.iter().all(|file| !file.exists()));
    assert!(!fs::read_to_string(desk.path("reports/index.html")).unwrap().contains("dual-guard--calm.html"));
}

/// An enumeration and a frontier end on the same front page.
#[test]
fn every_command_that_reports_writes_the_front_page() {
    let desk = Desk::new();
    let exhaust = ["exhaust", "--strategy", "lease-set-px", "--kinds", "pause-before", "--reports", "one"];
    assert!(desk.run(&exhaust).status.success());
    assert!(desk.path("one/index.html").is_file() && desk.path("one/witnesses/lease-set-px--single-pause-before.html").is_file());
    let measured = desk.run(&["frontier", "--strategy", "lease-setnx-expire", "--seeds", "1", "--resolution", "1m", "--reports", "two"]);
    assert_eq!(text(&measured.stderr), "");
    assert!(desk.path("two/index.html").is_file());
}

#[test]
fn a_folder_in_a_pages_place_is_told_at_once() {
    for place in ["reports/index.html", "reports/witnesses/no-guard--calm.html", "reports/witnesses/no-guard--calm.json"] {
        let desk = Desk::new();
        fs::create_dir_all(desk.path(place)).unwrap();
        let name = place.rsplit('/').next().unwrap();
        refused(&desk.run(&["--strategy", "no-guard", "--faults", "calm", "--seeds", "3"]), &[&format!(": {name} is a folder; ")]);
        refused(&desk.run(&["replay", "--strategy", "no-guard", "--faults", "calm"]), &[&format!(": {name} is a folder; ")]);
    }
}

/// A witness of elsewhere has the name of one that is here: that one's page stays.
#[test]
fn a_replay_leaves_the_pages_of_other_witnesses_alone() {
    let (desk, _) = Desk::with_witness();
    fs::create_dir(desk.path("elsewhere")).unwrap();
    fs::copy(desk.path(WITNESS), desk.path("elsewhere/no-guard--calm.toml")).unwrap();
    let before = fs::read_to_string(desk.path(TWIN)).unwrap();
    let told = desk.run(&["replay", "elsewhere/no-guard--calm.toml"]);
    assert_eq!(text(&told.stdout).lines().last(), Some("written: reports/witnesses/replay--no-guard--calm.html"));
    assert_eq!(fs::read_to_string(desk.path(TWIN)).unwrap(), before);
}

/// A deployment that no longer breaks takes the pages of its replays with it, and the front page leads to none of them.
#[test]
fn a_front_page_leads_to_nothing_that_is_gone() {
    let desk = Desk::new();
    let deploy = |guard: &str| {
        fs::write(desk.path("d.toml"), format!("guard = \"{guard}\"\n[try]\nfaults = [\"calm\"]\nseeds = 3\n")).unwrap();
        desk.run(&["run", "d.toml"]);
    };
    deploy("no-guard");
    assert!(!desk.path("reports/index.html").exists());
    assert!(desk.run(&["replay", "reports/witnesses/d.run--calm.toml"]).status.success());
    let index = || fs::read_to_string(desk.path("reports/index.html")).unwrap();
    assert!(index().contains("d.run--calm.html") && desk.path("reports/witnesses/d.run--calm.html").is_file());
    deploy("table-key");
    assert!(!index().contains("d.run--calm.html") && !desk.path("reports/witnesses/d.run--calm.html").exists());
}
