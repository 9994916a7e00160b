use super::*;
use crate::explore::Subject;
use crate::explore::made_up::{MadeUp, SAFE};
use crate::plan::{Harm, Target, Trigger};
use crate::time::Span;

/// A run of three records, and its entry.
fn run(full: bool) -> (Trace, Entry) {
    let subject = MadeUp::of(&SAFE);
    let trace = subject.run(Seed(1), &FaultPlan::none()).unwrap().trace;
    let run = Named { strategy: "made-up-safe".to_owned(), rules: Rules::default(), faults: FaultClass::Calm, seed: Seed(1) };
    let entry = Entry::of(run, Subject::scenario(&subject), &FaultPlan::none(), &trace, full);
    (trace, entry)
}

/// The same history under another seed.
fn other(full: bool) -> Entry {
    let entry = run(full).1;
    Entry { run: Named { seed: Seed(2), ..entry.run.clone() }, ..entry }
}

fn parts(entry: &Entry, trace: &Trace) -> Option<Parting> {
    entry.parts_from(&FaultPlan::none(), trace)
}

/// A history with another event in the place of its last one.
fn other_end(trace: &Trace) -> Trace {
    let mut other = Trace::default();
    let (last, before) = trace.records().split_last().unwrap();
    for record in before {
        other.push(record.at, record.event);
    }
    other.push(last.at + 1.ms(), last.event);
    other
}

#[test]
fn the_same_run_parts_nowhere() {
    let (trace, entry) = run(false);
    assert_eq!((entry.records, parts(&entry, &trace)), (3, None));
}

#[test]
fn the_first_record_that_differs_is_named_with_what_the_file_knows() {
    for (full, there) in [(true, None), (false, Some(There::Untold))] {
        let (trace, entry) = run(full);
        let other = other_end(&trace);
        let there = there.unwrap_or_else(|| There::Told(trace.records()[2].to_string()));
        assert_eq!(parts(&entry, &other), Some(Parting::Record { number: 2, here: other.records().last().copied(), there }));
    }
}

#[test]
fn a_history_that_ends_sooner_or_later_differs_where_one_has_ended() {
    let (trace, entry) = run(false);
    let mut longer = trace.clone();
    let last = *trace.records().last().unwrap();
    longer.push(last.at, last.event);
    assert_eq!(parts(&entry, &longer), Some(Parting::Record { number: 3, here: Some(last), there: There::End }));
    let none = Trace::default();
    assert_eq!(parts(&entry, &none), Some(Parting::Record { number: 0, here: None, there: There::Untold }));
}

#[test]
fn what_differs_beneath_the_records_or_in_the_plan_is_told_apart() {
    let (trace, entry) = run(false);
    let mut noted = trace.clone();
    noted.note(trace.records()[2].at, 7);
    assert_eq!(parts(&entry, &noted), Some(Parting::Beneath));
    let plan = FaultPlan::of([Harm::Pause { host: Target::AllNodes, lasts: 1.minutes() }.when(Trigger::start())]);
    assert_eq!(entry.parts_from(&plan, &trace), Some(Parting::Plan));
    assert!(entry.deployed(&Scenario::default()));
    assert!(!entry.deployed(&Scenario { players: 99, ..Scenario::default() }));
}

#[test]
fn what_is_written_is_read() {
    for full in [false, true] {
        let certificate = Certificate::new(vec![run(full).1, other(full)]);
        assert_eq!(Certificate::from_json("c.json", &certificate.to_json()), Ok(certificate));
    }
}

/// Every mistake is told with the file and what to do; none is taken for a certificate.
#[test]
fn what_is_no_certificate_is_told_as_such() {
    let text = Certificate::new(vec![run(false).1]).to_json();
    let refused = |text: &str| Certificate::from_json("c.json", text).unwrap_err().to_string();
    for cut in [1, text.len() / 2, text.len() - 3] {
        let told = refused(&text[..cut]);
        assert!(told.starts_with("c.json:") && told.contains("the file is cut short"), "{told}");
    }
    assert!(refused("garbage").contains("not a certificate"), "{}", refused("garbage"));
    assert!(refused("{}").contains("it has no `format`"), "{}", refused("{}"));
    let with = |from: &str, to: &str| {
        assert!(text.contains(from), "{text}");
        refused(&text.replacen(from, to, 1))
    };
    assert_eq!(
        with("\"format\": 1", "\"format\": 2"),
        "c.json: the certificate is of format 2, and this is format 1; only equal versions can be compared"
    );
    let version = with(&format!("\"onceproof\": \"{VERSION}\""), "\"onceproof\": \"9.9.9\"");
    assert!(version.contains("is of onceproof 9.9.9"), "{version}");
    assert!(with("\"records\":3", "\"records\":4").contains("4 records and marks for 3"));
    assert!(with("\"records\":3", "\"recrods\":3").contains("unknown field `recrods`"));
    assert!(with("\"faults\":\"calm\"", "\"faults\":\"clam\"").contains("clam"));
    assert!(with("\"after_others\": 1000", "\"after_others\": 10").contains("`after_others` is 10"));
    let doubled = Certificate::new(vec![run(false).1, other(false), run(false).1]).to_json();
    assert!(refused(&doubled).contains("seed 1 is in it more than once"), "{}", refused(&doubled));
    let empty = Certificate::new(Vec::new()).to_json();
    assert!(refused(&empty).contains("no runs"));
}
