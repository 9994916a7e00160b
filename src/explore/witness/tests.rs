use super::*;
use crate::explore::made_up::{MadeUp, WRONG};
use crate::explore::{Subject, observe};
use crate::invariant::InvariantId;

/// A seed that does not fit TOML's integers, on purpose.
const SEED: Seed = Seed(u64::MAX - 3);

fn witness() -> Witness {
    let subject = MadeUp::of(&WRONG).breaking(|_, _| &[InvariantId::SettledOnce, InvariantId::PaidOnce]);
    let plan = subject.pinned(FaultClass::Pause).remove(0);
    let seen = observe(&subject, FaultClass::Pause, SEED, &plan).unwrap();
    let story = ["00:00  n0 pauses".to_owned(), "00:40  n0 settles \"again\"".to_owned()];
    Witness::of(&Scenario::calm("no-guard"), FaultClass::Pause, EngineKind::Event, &plan, &seen, &story)
}

#[test]
fn a_witness_survives_its_file() {
    let text = witness().to_toml();
    assert_eq!(Witness::from_toml("w.toml", &text), Ok(witness()));
    insta::assert_snapshot!(text);
}

/// Replaces the first line that starts with `from` and reads the result.
fn spoilt(from: &str, to: &str) -> String {
    let text = witness().to_toml();
    let line = text.lines().find(|l| l.starts_with(from)).unwrap_or_else(|| panic!("no line starts with `{from}`"));
    Witness::from_toml("w.toml", &text.replacen(line, to, 1)).unwrap_err().to_string()
}

/// Each mistake names the file, the line and the cure.
#[test]
fn mistakes_name_their_place() {
    let mistakes = [
        ("format", "format = 9"),
        ("format", "format = \"one\""),
        ("format", ""),
        ("seed", "seed = -7"),
        ("seed", "seed = \"seven\""),
        ("digest", "digest = \"xyz\""),
        ("faults", "faults = \"tornado\""),
        ("engine", "engine = \"steam\""),
        ("nodes", "nodes = \"three\""),
        ("nodes", "nodes = 400"),
        ("players", "plaiers = 3"),
        ("poll", "poll = \"soon\""),
        ("at_ms", "at_ms = [1"),
        ("lasts", "lasts = 40"),
        ("kind", "kind = \"flood\""),
    ];
    let told: Vec<String> = mistakes.iter().map(|(from, to)| format!("{to:24} -> {}", spoilt(from, to))).collect();
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn anything_at_all_is_read_without_a_panic() {
    let text = witness().to_toml();
    for cut in (0..text.len()).filter(|n| text.is_char_boundary(*n)) {
        let _ = Witness::from_toml("w.toml", &text[..cut]);
    }
    assert!(Witness::from_toml("w.toml", "\u{0}\u{fffd}[[[").is_err());
}
