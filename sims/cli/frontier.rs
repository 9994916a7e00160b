//! `onceproof frontier`: what is written, and what is refused.

use super::{Desk, refused, text};
use std::fs;

#[test]
fn a_frontier_is_written_as_it_is_printed_and_does_not_depend_on_the_number_of_threads() {
    let desk = Desk::new();
    let measure = |threads, folder| {
        let done = desk.run(&[
            "frontier",
            "--strategy",
            "lease-setnx-expire",
            "--seeds",
            "4",
            "--json",
            "--threads",
            threads,
            "--reports",
            folder,
        ]);
        assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
        text(&done.stdout)
    };
    let (one, three) = (measure("1", "one"), measure("3", "three"));
    assert_eq!(one, three);
    assert_eq!(one, fs::read_to_string(desk.path("one/frontier.json")).unwrap());
    let told: serde_json::Value = serde_json::from_str(&one).unwrap();
    // Ten seconds of lease, two minutes of job: whoever comes ten seconds late is let in.
    let first = &told["points"][0]["overlap"];
    assert_eq!((&first["line_ms"], &first["measured"]), (&10_000.into(), &"between".into()), "{first}");
    assert!((10_000_i64 - first["breaks_at_ms"].as_i64().unwrap()).abs() <= 1_000, "{first}");
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let desk = Desk::new();
    refused(&desk.run(&["frontier", "--strategy", "lease-set-pz"]), &["did you mean `lease-set-px`?"]);
    refused(&desk.run(&["frontier", "--resolution", "0ms"]), &["--resolution: write a time from 1ms to 60s"]);
    refused(&desk.run(&["frontier", "--resolution", "fine"]), &["--resolution: ", "is not a duration"]);
    refused(&desk.run(&["frontier", "--resolution", "-1s"]), &["--resolution: `-1s` is not a duration"]);
    assert_eq!(desk.run(&["frontier", "--seeds", "0"]).status.code(), Some(2));
    assert_eq!(fs::read_dir(desk.path(".")).unwrap().count(), 0, "bad input must leave nothing behind");
}
