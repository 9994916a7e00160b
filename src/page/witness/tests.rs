use super::*;
use crate::page::witness::samples;
use crate::report::twin::{Beat, Belief, Kind, Lease, Message, Tick};

/// What a reader sees of a page, a line for each piece of text.
fn visible(page: &str) -> String {
    let body = page.split_once("<body>").map_or("", |parts| parts.1);
    let body = body.split("<script>").next().unwrap_or_default();
    let text = body.replace("><", ">\n<");
    let mut shown = String::new();
    let mut inside = false;
    for c in text.chars() {
        match c {
            '<' => inside = true,
            '>' => inside = false,
            c if !inside => shown.push(c),
            _ => {}
        }
    }
    let lines = shown.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_text_of_a_page() {
    insta::assert_snapshot!(visible(&page(&samples::pause()).into_string()));
}

#[test]
fn text_from_elsewhere_is_shown_and_never_run() {
    let mut twin = samples::pause();
    let evil = "<script>alert(1)</script>\"'";
    for text in [&mut twin.label, &mut twin.about, &mut twin.faults, &mut twin.sentence, &mut twin.replay, &mut twin.test, &mut twin.digest]
    {
        evil.clone_into(text);
    }
    twin.beats[0].text = evil.to_owned();
    twin.violations[0].what = evil.to_owned();
    twin.ticks[0].what = evil.to_owned();
    twin.hosts[0].name = evil.to_owned();
    twin.bands[0].what = evil.to_owned();
    twin.knobs[0].value = evil.to_owned();
    let page = page(&twin).into_string();
    assert_eq!(page.matches("<script").count(), 1);
    assert!(page.matches("&lt;script&gt;alert(1)").count() > 12);
}

/// A run of 10,000 events, of which each is a message, a tick and a line of the story.
fn large() -> Twin {
    let mut twin = samples::partition();
    twin.ends_ms = 1_300_000_000;
    for i in 0..10_000_u64 {
        let at_ms = 600_000 + i * 129_000;
        twin.messages.push(Message {
            from: "n0".to_owned(),
            to: "db".to_owned(),
            step: "settle.read".to_owned(),
            sent_ms: at_ms,
            reached_ms: Some(at_ms + 3),
            seen_ms: (i % 3 > 0).then_some(at_ms + 7),
        });
        twin.ticks.push(Tick {
            at_ms,
            host: "db".to_owned(),
            by: Some(format!("n{}", i % 3)),
            kind: Kind::Settled,
            what: "n0 settles 2026-01-10".to_owned(),
            wrong: false,
        });
        twin.beats.push(Beat {
            at_ms,
            voice: "db".to_owned(),
            text: format!("commits number {i} of very many, with a text of usual length"),
            believed_unix_ms: Some(at_ms as i64),
        });
    }
    for i in 0..1000_u64 {
        let at_ms = 600_000 + i * 1_290_000;
        let belief = Belief { from_ms: at_ms, to_ms: at_ms + 400_000, ..twin.beliefs[0].clone() };
        let lease = Lease { from_ms: at_ms, to_ms: at_ms + 300_000, ..twin.leases[0].clone() };
        twin.beliefs.push(belief);
        twin.leases.push(lease);
    }
    twin
}

#[test]
fn ten_thousand_events_before_and_after_stay_below_two_megabytes() {
    let mut twin = large();
    twin.before = Some(Box::new(large()));
    let page = page(&twin).into_string();
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    assert!(page.contains("messages not drawn"));
    assert!(page.contains("lines are left out here"));
}

#[test]
fn the_switch_is_there_only_if_there_is_something_to_switch_to() {
    let mut twin = samples::pause();
    assert!(page(&twin).into_string().contains("lanes-before"));
    twin.before = None;
    let page = page(&twin).into_string();
    assert!(!page.contains("lanes-before") && !page.contains("name=\"which\""));
}

/// Nothing that differs between the two runs stands there for both.
#[test]
fn each_run_has_its_own_counts_facts_and_violations() {
    let mut twin = samples::pause();
    let before = twin.before.as_mut().unwrap();
    "the-digest-before".clone_into(&mut before.digest);
    "onceproof replay --seed 77".clone_into(&mut before.replay);
    before.violations[0].what = "broken before".to_owned();
    before.messages.truncate(1);
    let page = page(&twin).into_string();
    let shown = |text: &str| {
        let place = page.find(text).unwrap_or_else(|| panic!("{text}"));
        page[..place].rfind("class=\"after\"") < page[..place].rfind("class=\"before\"")
    };
    for text in ["the-digest-before", "onceproof replay --seed 77", "broken before", "1</span>)"] {
        assert!(shown(text), "{text} is of the run before");
    }
    assert!(!shown(&twin.digest) && !shown(&twin.replay));
    assert!(page.contains("After shrinking:"));
}

/// The class in the title says more than the plan, if the faults were made milder.
#[test]
fn faults_of_another_kind_are_explained_below_the_headline() {
    let mut twin = samples::pause();
    let says = |twin: &Twin| page(twin).into_string().contains("replaced faults by milder kinds");
    assert!(!says(&twin));
    twin.shrunk.get_or_insert_default().milder = true;
    assert!(says(&twin));
}

/// Whoever spaces letters wider lets a text leave its box, and has to be able to read the rest.
#[test]
fn no_text_of_a_picture_can_be_read_on_its_box_alone() {
    let on_its_box = |line: &&str| line.contains(" text") && (line.contains("fill: var(--paper)") || line.contains("stroke: none"));
    assert_eq!(STYLE.lines().filter(on_its_box).collect::<Vec<_>>(), Vec::<&str>::new());
}

#[test]
fn no_id_is_there_twice() {
    let page = page(&samples::pause()).into_string();
    let mut ids: Vec<&str> = page.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all);
}

#[test]
fn an_empty_twin_has_a_page() {
    let page = page(&Twin::default()).into_string();
    assert!(page.contains("nothing broke"));
}

#[test]
fn the_page_asks_for_nothing_and_says_nothing() {
    let page = page(&samples::partition()).into_string();
    for word in ["http:", "https:", "console.", " onclick", "fetch(", "eval("] {
        assert!(!page.contains(word), "{word}");
    }
}

/// Files are edited by hand, too.
#[test]
fn times_that_cannot_be_are_shown_somewhere() {
    let mut twin = samples::pause();
    twin.origin_unix_ms = i64::MIN;
    twin.ticks[0].at_ms = u64::MAX;
    twin.beliefs[0].to_ms = 0;
    twin.leases[0].from_ms = u64::MAX;
    twin.bands[0].to_ms = 0;
    twin.messages[0].seen_ms = Some(0);
    twin.clocks[0].points = vec![(9, i64::MAX), (3, i64::MIN), (3, 5)];
    twin.violations[0].at_ms = u64::MAX;
    for ends_ms in [0, 1, twin.ends_ms, u64::MAX] {
        twin.ends_ms = ends_ms;
        let page = page(&twin).into_string();
        assert!(!page.contains("NaN") && page.contains("settled-once"), "ends at {ends_ms}");
    }
}

#[test]
fn a_time_that_nobody_knows_and_an_unknown_zone_are_told() {
    let twin = |origin_unix_ms, zone: &str| Twin { origin_unix_ms, zone: zone.to_owned(), ..samples::pause() };
    let unknown = page(&twin(i64::MAX, "UTC")).into_string();
    assert!(unknown.contains("it is unknown when that was") && unknown.contains("time unknown") && unknown.contains("+0:"));
    assert!(!unknown.contains("1970-"), "the first of January 1970 is no answer");
    let nowhere = page(&twin(samples::pause().origin_unix_ms, "Nowhere/Atall")).into_string();
    assert!(nowhere.contains("True time in UTC (the zone “Nowhere/Atall” is unknown) runs to the right."));
}
