use super::*;
use crate::page::sample;
use crate::page::source::verdicts::Verdicts;

fn told(verdicts: &Verdicts) -> String {
    let sentence = |witness: &str| (witness == "witnesses/table-key@innodb--crash.toml").then(|| "n1 < n2, and both settle".to_owned());
    xml(verdicts, &Place { reports: "my reports", sentence: &sentence })
}

#[test]
fn every_kind_of_cell_is_a_test_case() {
    insta::assert_snapshot!(told(&sample::verdicts()));
}

/// What XML forbids is left out or replaced; what has a meaning in XML is escaped.
#[test]
fn nothing_that_xml_forbids_gets_through() {
    let nasty = "<script>\u{0}\u{1b}[31m\u{b}\u{fffe}\u{ffff}\"&'\n]]></script>";
    let xml = told(&sample::named(nasty, nasty));
    assert!(xml.contains("&lt;script&gt;") && !xml.contains("<script>"), "{xml}");
    let legal = |c: char| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
    assert_eq!(xml.chars().find(|c| !legal(*c)), None);
    assert!(!xml.contains("]]>"), "{xml}");
}

/// The numbers that a CI system shows are those of the cells.
#[test]
fn the_counts_are_those_of_the_cells() {
    let report = told(&sample::verdicts());
    assert!(report.contains(r#"<testsuites name="onceproof" tests="12" skipped="2" failures="5" errors="0">"#), "{report}");
}

#[test]
fn there_is_no_time_in_it() {
    let report = told(&sample::verdicts());
    for word in ["time=", "timestamp=", "uuid="] {
        assert!(!report.contains(word), "{word}");
    }
}
